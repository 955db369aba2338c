#include "serve/http/connection.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/websocket/rfc6455.hpp>
#include <exception>
#include <limits>
#include <random>
#include <utility>

#include "base/log.h"

namespace sotto::serve {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;
using std::chrono::steady_clock;

constexpr uint32_t kMaxHeader = 64 * 1024;
constexpr size_t kPiece = 64 * 1024;
constexpr uint64_t kDrain = 256 * 1024;  ///< Of an unread body that is read to keep the connection
constexpr std::chrono::seconds kLinger{3};

auto into(error_code& error) {
  return asio::redirect_error(asio::use_awaitable, error);
}

Status gone() {
  return unavailable("the client has gone");
}

bool is_framing_error(const error_code& error) {
  return error.category() == http::make_error_code(http::error::bad_method).category() &&
         error != http::error::end_of_stream && error != http::error::partial_message;
}

/// The caller's own id where it can stand in a header and a log line, else a new one.
std::string request_id(std::string_view callers) {
  constexpr size_t kLongest = 128;
  const bool usable =
      !callers.empty() && callers.size() <= kLongest &&
      std::all_of(callers.begin(), callers.end(), [](char c) { return c > ' ' && c < 0x7f; });
  if (usable) return std::string(callers);
  thread_local std::mt19937_64 random{std::random_device{}()};
  return fmt::format("{:016x}", random());
}

/// CR and LF in a value would begin another header field.
std::string header_line(std::string_view name, std::string_view value) {
  std::string safe(value);
  for (char& c : safe)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = ' ';
  return fmt::format("{}: {}\r\n", name, safe);
}

}  // namespace

void TimeLimit::arm(steady_clock::duration limit) {
  expired_ = false;
  const int round = ++*round_;
  timer_.expires_after(limit);
  timer_.async_wait([this, round, current = std::weak_ptr<int>(round_)](const error_code& error) {
    const std::shared_ptr<int> now = current.lock();
    if (error || now == nullptr || *now != round) return;
    expired_ = true;
    error_code ignored;
    socket_.cancel(ignored);
  });
}

void TimeLimit::disarm() {
  ++*round_;
  timer_.cancel();
}

Connection::Connection(Socket socket, std::string remote, const HttpOptions& options,
                       const Handler& handler)
    : executor_(socket.get_executor()),
      socket_(std::move(socket)),
      limit_(socket_),
      options_(options),
      handler_(handler),
      remote_(std::move(remote)),
      piece_(kPiece, '\0') {}

Task<void> Connection::run() {
  try {
    while (!closing_) {
      const bool readable = co_await read_header();
      if (!readable) break;
      co_await handle();
      const bool again = co_await finish_request();
      if (!again) break;
    }
  } catch (const std::exception& error) {
    spdlog::error("connection of {}: {}", remote_, error.what());
  }
  close_socket();
}

Task<bool> Connection::read_header() {
  request_ = {};
  request_.remote = remote_;
  extra_headers_ = {};
  status_ = 0;
  received_ = 0;
  continue_sent_ = false;
  parser_.emplace();
  parser_->header_limit(kMaxHeader);
  // Counted here, so that the answer can name the limit. (Beast 1.74 takes "none" for "nothing".)
  parser_->body_limit(std::numeric_limits<uint64_t>::max());
  idle_ = true;
  error_code error;
  limit_.arm(options_.idle_timeout);
  co_await http::async_read_header(socket_, buffer_, *parser_, into(error));
  limit_.disarm();
  idle_ = false;
  if (!error) {
    if (fill_request()) co_return true;
  } else if (!is_framing_error(error)) {
    co_return false;
  }
  Response response;
  response.status = error == http::error::header_limit ? 431 : 400;
  response.content_type = "application/json";
  response.body =
      R"({"error":{"message":"the request cannot be read as HTTP","type":"invalid_request_error",)"
      R"("param":null,"code":"invalid_value"}})";
  broken_ = false;
  parser_.reset();
  co_await respond(std::move(response));
  co_await linger();
  co_return false;
}

bool Connection::fill_request() {
  const auto& message = parser_->get();
  request_.method = std::string(message.method_string());
  for (const auto& field : message)
    request_.headers.add(std::string(field.name_string()), std::string(field.value()));
  if (const auto length = parser_->content_length()) request_.content_length = *length;
  request_.id = request_id(request_.headers.get("X-Request-Id"));
  request_.wants_websocket = boost::beast::websocket::is_upgrade(message);
  const auto target = message.target();
  return parse_target(std::string_view(target.data(), target.size()), request_);
}

Task<void> Connection::handle() {
  body_deadline_ = steady_clock::now() + options_.body_timeout;
  bool failed = false;
  try {
    co_await handler_(*this);
  } catch (const std::exception& error) {
    spdlog::error("request {}: {}", request_.id, error.what());
    failed = true;
  }
  unwatch_client();
  if (status_ != 0 && failed) broken_ = true;  // An answer cut short must not look complete
  if (status_ != 0 || broken_) co_return;
  Response response;
  response.status = 500;
  response.content_type = "application/json";
  response.body = R"({"error":{"message":"the request failed","type":"server_error",)"
                  R"("param":null,"code":"internal_error"}})";
  co_await respond(std::move(response));
}

Task<bool> Connection::finish_request() {
  if (broken_ || upgraded_) co_return false;
  const bool body_waits_for_us = parser_->get()[http::field::expect] != "" && !continue_sent_;
  while (!parser_->is_done() && received_ < kDrain && !body_waits_for_us) {
    const auto piece = co_await read_body();
    if (!piece.ok()) break;
  }
  if (parser_->is_done() && keeps_alive()) co_return true;
  co_await linger();
  co_return false;
}

bool Connection::keeps_alive() const {
  return parser_ && parser_->is_header_done() && parser_->get().keep_alive() && !closing_;
}

Task<void> Connection::linger() {
  error_code error;
  socket_.shutdown(asio::socket_base::shutdown_send, error);
  limit_.arm(kLinger);
  while (!error)
    co_await socket_.async_read_some(asio::buffer(piece_), into(error));
  limit_.disarm();
}

Task<Result<std::string_view>> Connection::read_body() {
  if (broken_) co_return gone();
  const bool too_long = (request_.content_length && *request_.content_length > options_.max_body) ||
                        received_ > options_.max_body;
  if (too_long) {
    co_return resource_exhausted(
        fmt::format("the body is larger than the limit of {} bytes", options_.max_body));
  }
  if (!continue_sent_ && equals_ignoring_case(request_.headers.get("Expect"), "100-continue")) {
    continue_sent_ = true;
    const Status sent = co_await send("HTTP/1.1 100 Continue\r\n\r\n");
    if (!sent.ok()) co_return sent;
  }
  while (!parser_->is_done()) {
    auto& body = parser_->get().body();
    body.data = piece_.data();
    body.size = piece_.size();
    const auto left = body_deadline_ - steady_clock::now();
    error_code error;
    limit_.arm(std::min<steady_clock::duration>(left, options_.piece_timeout));
    co_await http::async_read_some(socket_, buffer_, *parser_, into(error));
    limit_.disarm();
    if (error == http::error::need_buffer) error = {};
    if (error && limit_.expired()) {
      co_return Status(StatusCode::kDeadlineExceeded, "the body did not arrive in time");
    }
    if (error && is_framing_error(error))
      co_return invalid_argument("the body's framing is broken: " + error.message());
    if (error) {
      broken_ = true;
      co_return gone();
    }
    const size_t got = piece_.size() - body.size;
    received_ += got;
    if (received_ > options_.max_body) {
      co_return resource_exhausted(
          fmt::format("the body is larger than the limit of {} bytes", options_.max_body));
    }
    if (got > 0) co_return std::string_view(piece_.data(), got);
  }
  co_return std::string_view();
}

Task<Status> Connection::send(std::string bytes) {
  if (broken_) co_return gone();
  error_code error;
  // Each piece has its own limit, so that a large answer may take long as a whole.
  for (size_t at = 0; at < bytes.size() && !error; at += kPiece) {
    limit_.arm(options_.piece_timeout);
    co_await asio::async_write(
        socket_, asio::buffer(bytes.data() + at, std::min(kPiece, bytes.size() - at)), into(error));
    limit_.disarm();
  }
  if (error) {
    broken_ = true;
    co_return gone();
  }
  co_return Status();
}

std::string Connection::render_head(const Response& response, Framing framing) {
  std::string head =
      fmt::format("HTTP/1.1 {} {}\r\n", response.status, reason_phrase(response.status));
  if (!response.content_type.empty()) head += header_line("Content-Type", response.content_type);
  const bool may_have_body = response.status != 204 && response.status != 304;
  if (framing == Framing::kChunked) head += "Transfer-Encoding: chunked\r\n";
  if (framing == Framing::kLength && may_have_body)
    head += fmt::format("Content-Length: {}\r\n", response.body.size());
  for (const auto& [name, value] : response.headers)
    head += header_line(name, value);
  for (const auto& [name, value] : extra_headers_)
    head += header_line(name, value);
  head += keeps_alive() ? "Connection: keep-alive\r\n" : "Connection: close\r\n";
  return head + "\r\n";
}

Task<void> Connection::respond(Response response) {
  status_ = response.status;
  // A body that is too long to be read and dropped ends the connection; the header must say so.
  const bool has_unread_body = parser_ && !parser_->is_done();
  if (has_unread_body && request_.content_length.value_or(0) > kDrain) closing_ = true;
  std::string bytes = render_head(response, Framing::kLength);
  if (request_.method != "HEAD") bytes += response.body;
  [[maybe_unused]] const Status sent = co_await send(std::move(bytes));
}

Task<Status> Connection::begin_stream(Response response) {
  status_ = response.status;
  chunked_ = parser_->get().version() >= 11;
  if (!chunked_) closing_ = true;  // HTTP/1.0 knows only the connection's end as the body's end
  return send(render_head(response, chunked_ ? Framing::kChunked : Framing::kUntilClose));
}

Task<Status> Connection::write(std::string piece) {
  if (piece.empty()) return send({});
  if (chunked_) piece = fmt::format("{:x}\r\n{}\r\n", piece.size(), piece);
  return send(std::move(piece));
}

Task<void> Connection::end_stream() {
  std::string last = std::exchange(chunked_, false) ? "0\r\n\r\n" : "";
  [[maybe_unused]] const Status sent = co_await send(std::move(last));
}

void Connection::watch_client(std::function<void()> gone_callback) {
  watcher_ = std::make_shared<std::function<void()>>(std::move(gone_callback));
  const std::weak_ptr<std::function<void()>> watcher = watcher_;
  socket_.async_wait(Socket::wait_read, [self = shared_from_this(), watcher](const error_code&) {
    const auto callback = watcher.lock();
    if (callback == nullptr) return;
    char byte = 0;
    const ssize_t got = ::recv(self->socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (got > 0) return;  // The next request is here already; it waits
    self->watcher_.reset();
    self->broken_ = true;
    (*callback)();
  });
}

void Connection::unwatch_client() {
  if (watcher_ == nullptr) return;
  watcher_.reset();
  error_code ignored;
  socket_.cancel(ignored);
}

void Connection::close_when_idle() {
  closing_ = true;
  asio::post(executor_, [self = shared_from_this()] {
    error_code ignored;
    if (self->idle_) self->socket_.cancel(ignored);
  });
}

void Connection::close_now() {
  closing_ = true;
  asio::post(executor_, [self = shared_from_this()] { self->close_socket(); });
}

void Connection::close_socket() {
  broken_ = true;
  error_code ignored;
  socket_.close(ignored);
}

}  // namespace sotto::serve
