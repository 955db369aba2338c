// The one door to Boost.Asio's coroutines.
#ifndef SOTTO_SERVE_HTTP_TASK_H_
#define SOTTO_SERVE_HTTP_TASK_H_

// Asio 1.74 uses std::exchange without including its header.
#include <utility>
// clang-format off
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
// clang-format on

namespace sotto::serve {

template <typename T>
using Task = boost::asio::awaitable<T>;
using Executor = boost::asio::any_io_executor;

}  // namespace sotto::serve

#endif  // SOTTO_SERVE_HTTP_TASK_H_
