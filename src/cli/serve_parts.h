// What `sotto serve` adds to the HTTP server: worker processes, the CPU server to fall back on,
// Wyoming, and the note by which other commands find it.
#ifndef SOTTO_CLI_SERVE_PARTS_H_
#define SOTTO_CLI_SERVE_PARTS_H_

#include <memory>

#include "cli/run_file.h"
#include "cli/serve_options.h"
#include "serve/server.h"
#include "serve/wyoming_server.h"
#include "worker/health.h"

namespace sotto::cli {

class ServeParts {
 public:
  explicit ServeParts(const ServeOptions& options)
      : options_(options), monitor_(std::make_shared<worker::WorkerMonitor>()) {}

  /// A model in a worker process, or in this one with --in-process.
  [[nodiscard]] serve::ModelLoader loader() const;

  /// Before the server starts. kInvalidArgument names the option that is wrong.
  Status attach(serve::Server& server);
  /// After it has started.
  Status start(serve::Server& server);
  /// Before the server is stopped. The note stays until this object goes, after the server has.
  void stop();
  /// True when the only client has gone: Wyoming on standard input.
  [[nodiscard]] bool finished() const { return wyoming_ != nullptr && wyoming_->finished(); }

 private:
  const ServeOptions& options_;
  std::shared_ptr<worker::WorkerMonitor> monitor_;
  std::unique_ptr<serve::WyomingServer> wyoming_;
  RunFile run_file_;
};

}  // namespace sotto::cli

#endif  // SOTTO_CLI_SERVE_PARTS_H_
