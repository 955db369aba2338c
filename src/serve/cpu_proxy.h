// The way out of a busy or failed device: another speech-to-text server (whisper.cpp's, say) on a
// CPU gets the original bytes of the request.
#ifndef SOTTO_SERVE_CPU_PROXY_H_
#define SOTTO_SERVE_CPU_PROXY_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "serve/app.h"

namespace sotto::serve {

struct CpuProxyOptions {
  std::string url;  ///< Of the other server's /inference; empty: no fallback
  std::chrono::milliseconds busy_wait{2000};  ///< For the own device, before the other is asked
  std::chrono::seconds timeout{600};          ///< For the other's whole answer
};

/// The options of the environment: STT_CPU_URL, STT_BUSY_WAIT_MS, and NPU_STT_ before the same
/// names as aliases. kInvalidArgument names the variable.
Result<CpuProxyOptions> cpu_proxy_options_from_environment();
/// kInvalidArgument: no http or https URL.
Status check_cpu_proxy_url(const std::string& url);

class CpuProxy final : public SpeechFallback {
 public:
  explicit CpuProxy(CpuProxyOptions options);
  ~CpuProxy() override;

  Task<std::optional<Response>> answer(const Request& request, const Form& form,
                                       std::string_view reason) override;
  [[nodiscard]] std::chrono::milliseconds busy_wait() const override { return options_.busy_wait; }
  void stop() override;

  /// Adds "cpu_url" and the counters to /health. `served_npu`: requests that this server answered
  /// itself.
  void add_health(nlohmann::ordered_json& health, int64_t served_npu) const;

 private:
  struct Thread;

  /// Ends the threads whose request is done; with `all`, waits for the others.
  void reap(bool all);

  CpuProxyOptions options_;
  std::atomic<int64_t> busy_{0}, error_{0}, decode_{0}, proxy_failed_{0};
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::vector<std::unique_ptr<Thread>> threads_;
};

}  // namespace sotto::serve

#endif  // SOTTO_SERVE_CPU_PROXY_H_
