// HTTP/1.1 and WebSocket over TCP and Unix sockets: connections, framing, limits, time limits. The
// only part that knows Boost.Beast.
#ifndef SOTTO_SERVE_HTTP_SERVER_H_
#define SOTTO_SERVE_HTTP_SERVER_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "serve/http/exchange.h"
#include "sotto/status.h"

namespace sotto::serve {

struct HttpOptions {
  std::string host = "127.0.0.1";  ///< An address or a name; empty: no TCP
  int port = 52625;                ///< 0: one that is free
  std::string socket_path;         ///< Of a Unix socket; empty: none
  std::vector<int> listening_fds;  ///< Sockets that systemd opened; then host and path are not used
  int io_threads = 2;
  int max_connections = 1024;  ///< More are refused with 503
  uint64_t max_body = uint64_t{256} << 20;
  std::chrono::seconds idle_timeout{75};   ///< Between requests, and for a request's header
  std::chrono::seconds piece_timeout{30};  ///< For the next bytes of a body, or to take ours
  std::chrono::seconds body_timeout{600};  ///< For a whole body
};

class HttpServer {
 public:
  /// `handler` gets every request, from any of the I/O threads.
  HttpServer(HttpOptions options, Handler handler);
  /// As stop() without patience.
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// Opens the sockets and starts the threads. kUnavailable: the address is in use.
  Status start();
  /// The TCP port that is in use; 0 without one.
  [[nodiscard]] int port() const;
  /// "http://127.0.0.1:52625", "unix:/run/sotto.sock".
  [[nodiscard]] std::vector<std::string> addresses() const;
  [[nodiscard]] int connections() const;
  /// Where timers and other servers may run.
  [[nodiscard]] Executor executor();

  /// Takes no more connections, closes idle ones, lets requests in work end until `deadline`, then
  /// cuts them off and ends the threads.
  void stop(std::chrono::steady_clock::time_point deadline);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sotto::serve

#endif  // SOTTO_SERVE_HTTP_SERVER_H_
