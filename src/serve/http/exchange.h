// One request and its answer, as a handler sees them.
#ifndef SOTTO_SERVE_HTTP_EXCHANGE_H_
#define SOTTO_SERVE_HTTP_EXCHANGE_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "serve/http/message.h"
#include "serve/http/task.h"
#include "sotto/status.h"

namespace sotto::serve {

/// A WebSocket connection of text messages.
class WebSocket {
 public:
  virtual ~WebSocket() = default;
  /// The next message. kUnavailable: the other side has gone; kResourceExhausted: too long.
  virtual Task<Result<std::string>> read() = 0;
  virtual Task<Status> write(std::string message) = 0;
  virtual Task<void> close(std::string reason) = 0;
};

/// A handler's coroutine runs on the strand of its connection. A failed write means that the client
/// has gone: the handler just returns.
class Exchange {
 public:
  virtual ~Exchange() = default;

  [[nodiscard]] virtual const Request& request() const = 0;
  [[nodiscard]] virtual Executor executor() const = 0;

  /// The next piece of the body, valid until the next call; "" at its end. kResourceExhausted: over
  /// the limit; kDeadlineExceeded: too slow; kUnavailable: the client has gone; kInvalidArgument:
  /// broken framing.
  virtual Task<Result<std::string_view>> read_body() = 0;

  /// A whole answer. May be called while the body is unread.
  virtual Task<void> respond(Response response) = 0;

  /// An answer in pieces; response.body is not used.
  virtual Task<Status> begin_stream(Response response) = 0;
  virtual Task<Status> write(std::string piece) = 0;
  virtual Task<void> end_stream() = 0;

  /// Added to whatever answer comes.
  virtual void add_header(std::string name, std::string value) = 0;
  /// 0 before the answer has begun.
  [[nodiscard]] virtual int status() const = 0;

  /// Calls `gone` once when the client closes the connection, until unwatch(). The body must have
  /// been read.
  virtual void watch_client(std::function<void()> gone) = 0;
  virtual void unwatch_client() = 0;

  /// Answers the upgrade of a request that wants_websocket. Null: it failed. `max_message`: bytes.
  virtual Task<std::unique_ptr<WebSocket>> accept_websocket(size_t max_message) = 0;
};

using Handler = std::function<Task<void>(Exchange&)>;

}  // namespace sotto::serve

#endif  // SOTTO_SERVE_HTTP_EXCHANGE_H_
