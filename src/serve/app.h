// What the handlers of the server's routes share.
#ifndef SOTTO_SERVE_APP_H_
#define SOTTO_SERVE_APP_H_

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "serve/access.h"
#include "serve/engine.h"
#include "serve/form.h"
#include "serve/http/router.h"
#include "serve/http/server.h"
#include "serve/metrics.h"
#include "serve/speech_request.h"
#include "sotto/models.h"

namespace sotto::serve {

/// The models of this machine. Thread-safe.
class ModelCatalogue {
 public:
  virtual ~ModelCatalogue() = default;
  [[nodiscard]] virtual Result<std::vector<ModelInfo>> installed() const = 0;
  /// Installed or not, by any of its names.
  [[nodiscard]] virtual Result<ModelInfo> find(std::string_view name) const = 0;
};

/// Another server that may answer when this one cannot.
class SpeechFallback {
 public:
  virtual ~SpeechFallback() = default;
  /// `reason`: "busy", "error", … Nothing: this server's own answer is given.
  virtual Task<std::optional<Response>> answer(const Request& request, const Form& form,
                                               std::string_view reason) = 0;
  /// How long a request may wait for this server before the other one is asked.
  [[nodiscard]] virtual std::chrono::milliseconds busy_wait() const = 0;
  /// Gives up what is on its way. Called once the connections are closed.
  virtual void stop() = 0;
};

struct ServerOptions {
  HttpOptions http;
  AccessPolicy access;
  EngineOptions engine;
  SpeechDefaults speech;
  std::string model;  ///< The default one; empty: the best that is installed
  bool preload = true;
  bool lenient_models = false;    ///< An unknown model is the default one
  bool allow_model_path = false;  ///< /load takes any path
  bool metrics = true;
  std::string inference_path = "/inference";
  std::string request_path;                 ///< Prefix of every route
  std::chrono::seconds request_timeout{0};  ///< For a transcription, with its wait; 0: none
  std::chrono::seconds grace{30};           ///< For running requests when the server stops
  std::string version;
};

using ModelOrError = std::variant<ModelInfo, ApiError>;

class App {
 public:
  App(ServerOptions options, const ModelCatalogue& catalogue, ModelLoader loader)
      : catalogue_(catalogue),
        engine_(options.engine, std::move(loader), metrics_),
        options_(std::make_shared<const ServerOptions>(std::move(options))) {}

  [[nodiscard]] std::shared_ptr<const ServerOptions> options() const;
  /// Takes what can change while the server runs: keys, origins, limits, models.
  void reconfigure(ServerOptions options);

  [[nodiscard]] Engine& engine() { return engine_; }
  [[nodiscard]] Metrics& metrics() { return metrics_; }
  [[nodiscard]] const ModelCatalogue& catalogue() const { return catalogue_; }

  /// The model that a client means by `name`, by its own spelling of it.
  [[nodiscard]] ModelOrError choose_model(std::string_view name) const;
  [[nodiscard]] Result<ModelInfo> default_model() const;
  void set_default_model(ModelInfo model);

  /// Set before the server starts; may stay null.
  std::shared_ptr<SpeechFallback> fallback;
  /// Each adds its part to /health. Must not wait for a device.
  std::vector<std::function<void(nlohmann::ordered_json&)>> health_parts;

  [[nodiscard]] double uptime_s() const {
    return std::chrono::duration<double>(Clock::now() - started_).count();
  }

 private:
  const ModelCatalogue& catalogue_;
  Metrics metrics_;
  Engine engine_;
  Clock::time_point started_ = Clock::now();

  mutable std::mutex mutex_;
  std::shared_ptr<const ServerOptions> options_;
  std::optional<ModelInfo> default_model_;  ///< Chosen by /load
};

/// Each adds its routes to the router. `app` must outlive it.
void add_speech_routes(Router& router, App& app);
void add_info_routes(Router& router, App& app);
void add_model_routes(Router& router, App& app);

}  // namespace sotto::serve

#endif  // SOTTO_SERVE_APP_H_
