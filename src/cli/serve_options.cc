#include "cli/serve_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "cli/program.h"
#include "serve/server.h"

namespace sotto::cli {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

Result<std::vector<std::string>> api_keys(const ServeOptions& options) {
  std::string text = options.api_keys.empty() ? environment("SOTTO_API_KEY") : options.api_keys;
  std::replace(text.begin(), text.end(), ',', '\n');
  std::vector<std::string> keys = serve::parse_api_keys(text);
  if (options.api_key_file.empty()) return keys;
  std::ifstream file(options.api_key_file);
  if (!file) return status_from_errno(errno, "--api-key-file " + options.api_key_file);
  const std::string lines((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::vector<std::string> more = serve::parse_api_keys(lines);
  if (more.empty())
    return invalid_argument("--api-key-file " + options.api_key_file + ": there is no key in it");
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}

/// Sockets that systemd opened and handed over. Source: sd_listen_fds(3).
std::vector<int> handed_over_sockets() {
  constexpr int kFirst = 3;
  if (environment("LISTEN_PID") != std::to_string(::getpid())) return {};
  std::vector<int> sockets;
  const int count = std::atoi(environment("LISTEN_FDS").c_str());
  for (int i = 0; i < count; ++i)
    sockets.push_back(kFirst + i);
  return sockets;
}

/// A file or folder by a path, as a model of its own.
ModelInfo model_at(const std::string& path) {
  ModelInfo model;
  std::error_code ignored;
  model.path = std::filesystem::weakly_canonical(path, ignored).string();
  model.name = std::filesystem::path(model.path).filename().string();
  model.installed = true;
  model.rank = std::numeric_limits<int>::max();
  return model;
}

}  // namespace

Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  const Status wrong = invalid_argument(fmt::format(
      "'{}' is no length of time\nwrite seconds (300), 5m, 1h30m, 500ms, or -1 for ever", text));
  if (text == "-1") return std::chrono::milliseconds(-1);
  if (text.empty()) return wrong;
  double total_ms = 0;
  while (!text.empty()) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || number < 0) return wrong;
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    const size_t unit_end = std::min(text.find_first_of("0123456789"), text.size());
    const std::string_view unit = text.substr(0, unit_end);
    text.remove_prefix(unit_end);
    double factor = 1000;
    if (unit == "ms") {
      factor = 1;
    } else if (unit == "m") {
      factor = 60e3;
    } else if (unit == "h") {
      factor = 3600e3;
    } else if (!unit.empty() && unit != "s") {
      return wrong;
    }
    total_ms += number * factor;
  }
  constexpr double kLongest = 1e12;  // 31 years
  if (!(total_ms <= kLongest)) return wrong;
  return std::chrono::milliseconds(static_cast<int64_t>(total_ms));
}

Result<uint64_t> parse_bytes(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  int shift = -1;
  if (unit.empty()) shift = 0;
  if (unit == "K" || unit == "k") shift = 10;
  if (unit == "M" || unit == "m") shift = 20;
  if (unit == "G" || unit == "g") shift = 30;
  if (error != std::errc() || shift < 0 || number > (uint64_t{1} << 30))
    return invalid_argument(fmt::format("'{}' is no size\nwrite bytes, or 64K, 256M, 2G", text));
  return number << shift;
}

void declare_serve_options(CLI::App& app, ServeOptions& o) {
  app.add_option("-m,--model", o.model, "Default model: name or path; else the best installed one");
  app.add_option("--device", o.load.device, "auto, cpu, npu or sim");
  app.add_option("--compute", o.load.compute, "auto, f32, bf16 or int8");
  app.add_option("-t,--threads", o.load.threads, "0: one per physical core");
  app.add_flag("--in-process", o.in_process, "Run models in this process, not in workers");
  app.add_option("--host", o.host, "Address to listen at");
  app.add_option("-p,--port", o.port, "Port; 0: a free one")->envname("FLM_SERVE_PORT");
  app.add_option("--socket-path", o.socket_path, "Also listen at this Unix socket");
  app.add_flag("--insecure", o.insecure, "Listen beyond this machine without an API key");
  app.add_option("--api-key", o.api_keys, "Keys, joined by commas; or SOTTO_API_KEY");
  app.add_option("--api-key-file", o.api_key_file, "Keys, one a line");
  app.add_option("--wyoming", o.wyoming, "Also for Home Assistant: tcp://127.0.0.1:10300")
      ->type_name("URI");
  app.add_option("--cpu-url", o.cpu_url,
                 "Route of another server that gets what this one cannot do; or STT_CPU_URL")
      ->type_name("URL");
  app.add_option("--cors", o.cors, "Pages that may ask: localhost, *, none, or origins");
  app.add_option("--allowed-host", o.allowed_hosts, "Names under which this machine is reached");
  app.add_option("--max-body", o.max_body, "Largest request, e.g. 256M");
  app.add_option("-q,--max-queue,--q-len", o.max_queue, "Jobs that may wait; more get 503");
  app.add_option("--max-connections", o.max_connections, "Connections at once");
  app.add_option("--keep-alive", o.keep_alive,
                 "Unload a model without work after, e.g. 5m; -1 never");
  app.add_option("--request-timeout", o.request_timeout_s, "Seconds for a request; 0: no limit");
  app.add_option("--grace", o.grace_s, "Seconds for running requests when stopped");
  app.add_option("-l,--language", o.language, "Of requests that name none; else it is detected");
  app.add_option("--beam-size", o.beam_size, "Of requests that name none")
      ->check(CLI::Range(1, 64));
  app.add_option("--best-of", o.best_of, "Of requests that name none")->check(CLI::Range(1, 64));
  app.add_option("--inference-path", o.inference_path, "Path of whisper.cpp's API");
  app.add_option("--request-path", o.request_path, "Prefix of all paths");
  app.add_flag("--lenient-models", o.lenient_models, "Unknown model names mean the default model");
  app.add_flag("--allow-model-path", o.allow_model_path, "Let /load take any path");
  app.add_flag("--no-preload", o.no_preload, "Load the model at the first request");
  app.add_flag("--no-metrics", o.no_metrics, "Do not serve /metrics");
  app.add_flag("--quiet", o.quiet, "Log only warnings and errors");
}

Result<serve::ServerOptions> server_options(const ServeOptions& options) {
  serve::ServerOptions out;
  out.http.host = options.host;
  out.http.port = options.port;
  out.http.socket_path = options.socket_path;
  out.http.listening_fds = handed_over_sockets();
  out.http.max_connections = options.max_connections;
  SOTTO_ASSIGN_OR_RETURN(out.http.max_body, parse_bytes(options.max_body));
  SOTTO_ASSIGN_OR_RETURN(out.access.api_keys, api_keys(options));
  out.access.cors = options.cors;
  out.access.check_host = serve::is_loopback(options.host);
  out.access.allowed_hosts = options.allowed_hosts;
  out.engine.max_queue = options.max_queue;
  SOTTO_ASSIGN_OR_RETURN(out.engine.keep_alive, parse_duration(options.keep_alive));
  if (!options.language.empty() && options.language != "auto") {
    SOTTO_ASSIGN_OR_RETURN(out.speech.language, parse_language(options.language));
  }
  out.speech.beam_size = options.beam_size;
  out.speech.best_of = options.best_of;
  std::error_code ignored;
  const bool is_path = std::filesystem::exists(options.model, ignored);
  out.model = is_path ? model_at(options.model).name : options.model;
  out.preload = !options.no_preload;
  out.lenient_models = options.lenient_models;
  out.allow_model_path = options.allow_model_path;
  out.metrics = !options.no_metrics;
  out.inference_path = options.inference_path;
  out.request_path = options.request_path;
  out.request_timeout = std::chrono::seconds(options.request_timeout_s);
  out.grace = std::chrono::seconds(options.grace_s);
  out.version = version();
  if (!out.access.check_host && out.access.api_keys.empty() && !options.insecure) {
    return invalid_argument(
        fmt::format("--host {} lets other machines in, but no API key is set\n"
                    "set one with --api-key or --api-key-file, or say --insecure",
                    options.host));
  }
  SOTTO_RETURN_IF_ERROR(serve::check_options(out));
  return out;
}

Result<StoreCatalogue> StoreCatalogue::open(const std::string& model) {
  SOTTO_ASSIGN_OR_RETURN(ModelStore store, ModelStore::open_default());
  StoreCatalogue catalogue(std::move(store));
  std::error_code ignored;
  if (!model.empty() && std::filesystem::exists(model, ignored))
    catalogue.extra_.push_back(model_at(model));
  return catalogue;
}

Result<std::vector<ModelInfo>> StoreCatalogue::installed() const {
  SOTTO_ASSIGN_OR_RETURN(std::vector<ModelInfo> models, store_.installed());
  models.insert(models.begin(), extra_.begin(), extra_.end());
  return models;
}

Result<ModelInfo> StoreCatalogue::find(std::string_view name) const {
  for (const ModelInfo& model : extra_)
    if (model.name == name || model.path == name) return model;
  return store_.find(name);
}

}  // namespace sotto::cli
