// The command line of `sotto serve`, and what it means for the server.
#ifndef SOTTO_CLI_SERVE_OPTIONS_H_
#define SOTTO_CLI_SERVE_OPTIONS_H_

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "serve/app.h"
#include "sotto/models.h"
#include "sotto/transcribe.h"

namespace sotto::cli {

struct ServeOptions {
  std::string model;
  LoadOptions load;
  std::string host = "127.0.0.1";
  int port = 52625;
  std::string socket_path;
  bool insecure = false;
  std::string api_keys;  ///< Joined by commas
  std::string api_key_file;
  std::string cors = "localhost";
  std::vector<std::string> allowed_hosts;
  std::string max_body = "256M";
  int max_queue = 10;
  int max_connections = 1024;
  std::string keep_alive = "5m";
  int request_timeout_s = 0;
  int grace_s = 30;
  std::string language;
  int beam_size = 5, best_of = 5;
  std::string inference_path = "/inference", request_path;
  bool lenient_models = false, allow_model_path = false;
  bool no_preload = false, no_metrics = false;
  bool quiet = false;
  bool in_process = false;
  std::string wyoming;  ///< URI; empty: off
  std::string cpu_url;
};

void declare_serve_options(CLI::App& app, ServeOptions& options);

/// Reads key files and the environment (SOTTO_API_KEY, FLM_SERVE_PORT), so it is called again on
/// reload. kInvalidArgument names the option that is wrong.
Result<serve::ServerOptions> server_options(const ServeOptions& options);

/// "5m", "90", "1h30m", "-1" as milliseconds; -1: for ever.
Result<std::chrono::milliseconds> parse_duration(std::string_view text);
/// "256M", "1G", "65536": powers of 1024.
Result<uint64_t> parse_bytes(std::string_view text);

/// The store's models, and the one file or folder that --model may name.
class StoreCatalogue final : public serve::ModelCatalogue {
 public:
  static Result<StoreCatalogue> open(const std::string& model);
  [[nodiscard]] Result<std::vector<ModelInfo>> installed() const override;
  [[nodiscard]] Result<ModelInfo> find(std::string_view name) const override;

 private:
  explicit StoreCatalogue(ModelStore store) : store_(std::move(store)) {}
  ModelStore store_;
  std::vector<ModelInfo> extra_;
};

}  // namespace sotto::cli

#endif  // SOTTO_CLI_SERVE_OPTIONS_H_
