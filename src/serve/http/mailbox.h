// Messages from other threads to a coroutine.
#ifndef SOTTO_SERVE_HTTP_MAILBOX_H_
#define SOTTO_SERVE_HTTP_MAILBOX_H_

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "serve/http/task.h"

namespace sotto::serve {

/// Held by std::shared_ptr, so that who sends may outlive who receives.
template <typename T>
class Mailbox : public std::enable_shared_from_this<Mailbox<T>> {
 public:
  /// `executor`: the strand on which next() is awaited.
  explicit Mailbox(const Executor& executor) : executor_(executor), wake_(executor) {}

  /// From any thread.
  void post(T message) {
    boost::asio::post(executor_,
                      [self = this->shared_from_this(), m = std::move(message)]() mutable {
                        self->messages_.push_back(std::move(m));
                        self->wake_.cancel();
                      });
  }

  /// The next message; nothing when none came in time. One waiter at a time.
  Task<std::optional<T>> next(std::chrono::steady_clock::duration timeout) {
    const auto end = std::chrono::steady_clock::now() + timeout;
    while (messages_.empty() && std::chrono::steady_clock::now() < end) {
      wake_.expires_at(end);
      boost::system::error_code ignored;
      co_await wake_.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
    }
    if (messages_.empty()) co_return std::nullopt;
    std::optional<T> message(std::move(messages_.front()));
    messages_.pop_front();
    co_return message;
  }

 private:
  Executor executor_;
  boost::asio::steady_timer wake_;
  std::deque<T> messages_;
};

}  // namespace sotto::serve

#endif  // SOTTO_SERVE_HTTP_MAILBOX_H_
