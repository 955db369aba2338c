// The Wyoming protocol over TCP, a Unix socket or standard input and output, before the same queue
// as HTTP.
#ifndef SOTTO_SERVE_WYOMING_SERVER_H_
#define SOTTO_SERVE_WYOMING_SERVER_H_

#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "serve/app.h"
#include "sotto/status.h"
#include "worker/channel.h"

namespace sotto::serve {

/// Where to listen, from "tcp://HOST:PORT", "unix:///PATH" or "stdio://".
struct WyomingAddress {
  enum class Kind { kTcp, kUnix, kStdio };
  Kind kind = Kind::kTcp;
  std::string host;  ///< kTcp
  int port = 10300;  ///< kTcp; 0: one that is free
  std::string path;  ///< kUnix
};

/// kInvalidArgument shows the forms.
Result<WyomingAddress> parse_wyoming_uri(const std::string& uri);

class WyomingServer {
 public:
  /// More clients at once wait in the kernel's queue.
  static constexpr int kMaxConnections = 64;

  /// `app` must outlive the server.
  explicit WyomingServer(App& app);
  ~WyomingServer();
  WyomingServer(const WyomingServer&) = delete;
  WyomingServer& operator=(const WyomingServer&) = delete;

  /// Starts to answer on threads of its own. kUnavailable: the address is in use.
  Status start(const WyomingAddress& address);
  /// Closes all connections; their jobs are cancelled.
  void stop();
  /// "tcp://127.0.0.1:10300".
  [[nodiscard]] const std::string& address() const { return name_; }
  /// True once standard input, being the only client, has ended.
  [[nodiscard]] bool finished() const { return finished_; }

 private:
  class Connection;

  Status listen_tcp(const WyomingAddress& address);
  Status listen_unix(const std::string& path);
  Status begin_accepting();
  void accept_clients();
  /// Joins the threads of clients that left; the number that is left.
  size_t reap(bool all);

  App& app_;
  std::string name_, unix_path_;
  worker::OwnedFd listener_, wake_;
  std::thread acceptor_;
  std::atomic<bool> stopping_{false}, finished_{false};
  std::mutex mutex_;
  std::list<std::unique_ptr<Connection>> connections_;
};

}  // namespace sotto::serve

#endif  // SOTTO_SERVE_WYOMING_SERVER_H_
