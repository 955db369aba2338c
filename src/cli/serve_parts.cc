#include "cli/serve_parts.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/program.h"
#include "serve/cpu_proxy.h"
#include "worker/worker_model.h"

namespace sotto::cli {
namespace {

void add_worker_health(const worker::WorkerMonitor& monitor, nlohmann::ordered_json& health) {
  const worker::WorkerHealth state = monitor.health();
  health["worker"] = {{"state", worker::worker_state_name(state.state)},
                      {"pid", state.pid},
                      {"starts", state.starts},
                      {"crashes", state.crashes},
                      {"hangs", state.hangs},
                      {"retried_jobs", state.retried_jobs},
                      {"last_failure", state.last_failure}};
  if (!state.unkillable) return;
  // The driver holds a process that cannot end; only a new boot frees the device.
  health["fallback_reason"] = "worker_unkillable";
  health["reboot_needed"] = true;
}

}  // namespace

serve::ModelLoader ServeParts::loader() const {
  if (options_.in_process) {
    return [load = options_.load](const ModelInfo& model) {
      return SpeechModel::load(model.path, load);
    };
  }
  return [load = options_.load,
          monitor = monitor_](const ModelInfo& model) -> Result<std::unique_ptr<SpeechModel>> {
    worker::WorkerOptions options;
    options.monitor = monitor;
    SOTTO_ASSIGN_OR_RETURN(std::unique_ptr<worker::WorkerModel> loaded,
                           worker::WorkerModel::load(model.path, load, std::move(options)));
    return std::unique_ptr<SpeechModel>(std::move(loaded));
  };
}

Status ServeParts::attach(serve::Server& server) {
  serve::App& app = server.app();
  if (!options_.in_process) {
    app.health_parts.push_back([monitor = monitor_](nlohmann::ordered_json& health) {
      add_worker_health(*monitor, health);
    });
  }
  SOTTO_ASSIGN_OR_RETURN(serve::CpuProxyOptions proxy, serve::cpu_proxy_options_from_environment());
  if (!options_.cpu_url.empty()) proxy.url = options_.cpu_url;
  if (!proxy.url.empty()) {
    SOTTO_RETURN_IF_ERROR(serve::check_cpu_proxy_url(proxy.url));
    auto fallback = std::make_shared<serve::CpuProxy>(std::move(proxy));
    app.fallback = fallback;
    app.health_parts.push_back([fallback, &app](nlohmann::ordered_json& health) {
      const double served = app.metrics().value(serve::Metric::kJobs, {{"outcome", "done"}});
      fallback->add_health(health, static_cast<int64_t>(served));
    });
  }
  if (!options_.wyoming.empty()) {
    SOTTO_RETURN_IF_ERROR(serve::parse_wyoming_uri(options_.wyoming).status());
    wyoming_ = std::make_unique<serve::WyomingServer>(app);
  }
  return {};
}

Status ServeParts::start(serve::Server& server) {
  if (wyoming_ != nullptr) {
    SOTTO_ASSIGN_OR_RETURN(const serve::WyomingAddress address,
                           serve::parse_wyoming_uri(options_.wyoming));
    SOTTO_RETURN_IF_ERROR(wyoming_->start(address));
    print_note(fmt::format("Wyoming at {}", wyoming_->address()));
    const bool is_local =
        address.host == "localhost" || address.host == "::1" || address.host.starts_with("127.");
    if (address.kind == serve::WyomingAddress::Kind::kTcp && !is_local)
      print_warning("Wyoming knows no keys: every machine that reaches this port may use it");
  }
  for (const std::string& address : server.addresses()) {
    if (!address.starts_with("http")) continue;
    const Status written = run_file_.write({address, ::getpid(), version()});
    if (!written.ok()) print_note("other commands will not find this server: " + written.message());
    break;
  }
  return {};
}

void ServeParts::stop() {
  if (wyoming_ != nullptr) wyoming_->stop();
}

}  // namespace sotto::cli
