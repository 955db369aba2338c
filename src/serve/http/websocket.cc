// The WebSocket side of a connection.
#include <boost/beast/websocket/stream.hpp>
#include <utility>

#include "serve/http/connection.h"

namespace sotto::serve {
namespace {

namespace websocket = boost::beast::websocket;
using boost::system::error_code;

auto into(error_code& error) {
  return boost::asio::redirect_error(boost::asio::use_awaitable, error);
}

class BeastWebSocket final : public WebSocket {
 public:
  BeastWebSocket(Socket& socket, size_t max_message) : stream_(socket) {
    // Pings keep the connection when nobody speaks, and find out when the other side is gone.
    stream_.set_option(websocket::stream_base::timeout::suggested(boost::beast::role_type::server));
    stream_.read_message_max(max_message);
    stream_.text(true);
  }

  template <typename Message>
  Task<bool> accept(const Message& request) {
    error_code error;
    co_await stream_.async_accept(request, into(error));
    co_return !error;
  }

  Task<Result<std::string>> read() override {
    error_code error;
    boost::beast::flat_buffer buffer;
    co_await stream_.async_read(buffer, into(error));
    if (error == websocket::error::message_too_big)
      co_return resource_exhausted("a message is longer than the limit");
    if (error) co_return unavailable("the client has gone");
    const auto data = buffer.cdata();
    co_return std::string(static_cast<const char*>(data.data()), data.size());
  }

  Task<Status> write(std::string message) override {
    error_code error;
    co_await stream_.async_write(boost::asio::buffer(message), into(error));
    co_return error ? unavailable("the client has gone") : Status();
  }

  Task<void> close(std::string reason) override {
    error_code ignored;
    const websocket::close_reason why(websocket::close_code::normal,
                                      boost::beast::string_view(reason.data(), reason.size()));
    co_await stream_.async_close(why, into(ignored));
  }

 private:
  websocket::stream<Socket&> stream_;
};

}  // namespace

Task<std::unique_ptr<WebSocket>> Connection::accept_websocket(size_t max_message) {
  upgraded_ = true;
  status_ = 101;
  auto websocket = std::make_unique<BeastWebSocket>(socket_, max_message);
  const bool accepted = co_await websocket->accept(parser_->get());
  if (!accepted) co_return nullptr;
  co_return std::unique_ptr<WebSocket>(std::move(websocket));
}

}  // namespace sotto::serve
