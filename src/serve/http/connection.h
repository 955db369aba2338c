// One client's connection: requests one after another, each handed to the handler as an Exchange.
#ifndef SOTTO_SERVE_HTTP_CONNECTION_H_
#define SOTTO_SERVE_HTTP_CONNECTION_H_

#include <atomic>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "serve/http/exchange.h"
#include "serve/http/server.h"

namespace sotto::serve {

using Socket = boost::asio::generic::stream_protocol::socket;

/// Cuts off operations on a socket that take too long. The timer runs on the socket's strand.
class TimeLimit {
 public:
  explicit TimeLimit(Socket& socket) : socket_(socket), timer_(socket.get_executor()) {}
  void arm(std::chrono::steady_clock::duration limit);
  void disarm();
  /// The operation since arm() was cut off.
  [[nodiscard]] bool expired() const { return expired_; }

 private:
  Socket& socket_;
  boost::asio::steady_timer timer_;
  std::shared_ptr<int> round_ = std::make_shared<int>(0);
  bool expired_ = false;
};

class Connection final : public Exchange, public std::enable_shared_from_this<Connection> {
 public:
  Connection(Socket socket, std::string remote, const HttpOptions& options, const Handler& handler);

  /// Until the connection is closed. The caller keeps the object for as long.
  Task<void> run();
  /// From any thread: close when no request is in work, else after it.
  void close_when_idle();
  /// From any thread.
  void close_now();

  [[nodiscard]] const Request& request() const override { return request_; }
  [[nodiscard]] Executor executor() const override { return executor_; }
  Task<Result<std::string_view>> read_body() override;
  Task<void> respond(Response response) override;
  Task<Status> begin_stream(Response response) override;
  Task<Status> write(std::string piece) override;
  Task<void> end_stream() override;
  void add_header(std::string name, std::string value) override {
    extra_headers_.add(std::move(name), std::move(value));
  }
  [[nodiscard]] int status() const override { return status_; }
  void watch_client(std::function<void()> gone) override;
  void unwatch_client() override;
  Task<std::unique_ptr<WebSocket>> accept_websocket(size_t max_message) override;

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::buffer_body>;

  /// False: nothing came, or nothing that can be answered.
  Task<bool> read_header();
  bool fill_request();
  Task<void> handle();
  /// True when another request may follow.
  Task<bool> finish_request();
  /// Reads and drops what the client still sends, so that it sees the answer before the end.
  Task<void> linger();
  Task<Status> send(std::string bytes);
  enum class Framing { kLength, kChunked, kUntilClose };
  [[nodiscard]] std::string render_head(const Response& response, Framing framing);
  [[nodiscard]] bool keeps_alive() const;
  void close_socket();

  Executor executor_;
  Socket socket_;
  TimeLimit limit_;
  const HttpOptions& options_;
  const Handler& handler_;
  std::string remote_;
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  std::string piece_;

  // Of the current request.
  Request request_;
  Headers extra_headers_;
  int status_ = 0;
  uint64_t received_ = 0;
  std::chrono::steady_clock::time_point body_deadline_;
  bool continue_sent_ = false;
  bool chunked_ = false;
  bool broken_ = false;  ///< Nothing more can be sent or read
  bool upgraded_ = false;
  std::shared_ptr<std::function<void()>> watcher_;

  bool idle_ = true;
  std::atomic<bool> closing_{false};
};

}  // namespace sotto::serve

#endif  // SOTTO_SERVE_HTTP_CONNECTION_H_
