// The server as one object: every route on one port.
#ifndef SOTTO_SERVE_SERVER_H_
#define SOTTO_SERVE_SERVER_H_

#include <memory>
#include <string>
#include <vector>

#include "serve/app.h"
#include "serve/http/router.h"
#include "serve/http/server.h"

namespace sotto::serve {

class Server {
 public:
  /// `catalogue` must outlive the server.
  Server(ServerOptions options, const ModelCatalogue& catalogue, ModelLoader loader);
  ~Server();

  /// More routes and parts of the app may be added before start().
  [[nodiscard]] Router& router() { return router_; }
  [[nodiscard]] App& app() { return app_; }

  /// Opens the sockets; the server then works on threads of its own. kInvalidArgument: an option is
  /// wrong; kUnavailable: the address is in use.
  Status start();
  /// Ends what runs within options.grace, refuses what waits.
  void stop();
  /// New options: all but those of the sockets.
  Status reconfigure(ServerOptions options);

  [[nodiscard]] int port() const { return http_->port(); }
  [[nodiscard]] std::vector<std::string> addresses() const { return http_->addresses(); }
  [[nodiscard]] HttpServer& http() { return *http_; }

 private:
  /// Every request: who may ask, where it goes, what is counted.
  Task<void> handle(Exchange& exchange);
  Task<void> dispatch(Exchange& exchange, std::string& endpoint);

  App app_;
  Router router_;
  std::unique_ptr<HttpServer> http_;
};

/// kInvalidArgument names the option that is wrong.
Status check_options(const ServerOptions& options);

}  // namespace sotto::serve

#endif  // SOTTO_SERVE_SERVER_H_
