#include "serve/http/server.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/strand.hpp>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

#include "base/log.h"
#include "serve/http/connection.h"

namespace sotto::serve {
namespace {

namespace asio = boost::asio;
using asio::generic::stream_protocol;
using boost::system::error_code;
using Acceptor = asio::basic_socket_acceptor<stream_protocol>;

constexpr std::chrono::milliseconds kAcceptRetry{100};

std::string remote_address(const Socket& socket) {
  error_code error;
  const stream_protocol::endpoint endpoint = socket.remote_endpoint(error);
  if (error || endpoint.protocol().family() == AF_UNIX) return "local socket";
  asio::ip::tcp::endpoint tcp;
  if (endpoint.size() > tcp.capacity()) return "unknown";
  std::copy_n(reinterpret_cast<const std::byte*>(endpoint.data()), endpoint.size(),
              reinterpret_cast<std::byte*>(tcp.data()));
  return tcp.address().to_string();
}

/// A socket file that a server left behind when it was killed; one that answers is in use.
bool is_stale_socket(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISSOCK(info.st_mode)) return false;
  asio::io_context context;
  asio::local::stream_protocol::socket probe(context);
  error_code error;
  probe.connect(asio::local::stream_protocol::endpoint(path), error);
  return error == asio::error::connection_refused;
}

Status listen_failure(const error_code& error, const std::string& address) {
  if (error == asio::error::address_in_use) {
    return unavailable(address +
                       " is in use: another server runs there\nchoose another port with --port, "
                       "or stop it (`sotto stop`)");
  }
  return status_from_errno(error.value(), "listening at " + address);
}

}  // namespace

struct HttpServer::Impl {
  Impl(HttpOptions http_options, Handler request_handler)
      : options(std::move(http_options)), handler(std::move(request_handler)) {}

  const HttpOptions options;
  const Handler handler;
  asio::io_context context;
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  std::list<Acceptor> acceptors;
  std::vector<std::string> addresses;
  std::string socket_file;  ///< To be deleted
  int port = 0;
  std::vector<std::thread> threads;

  std::mutex mutex;
  std::list<std::weak_ptr<Connection>> connections;
  bool stopping = false;

  Status listen_tcp();
  Status listen_unix();
  Status adopt(int fd);
  template <typename Endpoint>
  Status open(const Endpoint& endpoint, const std::string& address);
  Task<void> accept(Acceptor& acceptor);
  void start_connection(Socket socket);
  size_t living_connections();
};

template <typename Endpoint>
Status HttpServer::Impl::open(const Endpoint& endpoint, const std::string& address) {
  // Acceptors run on one strand: they are closed from another thread.
  Acceptor acceptor(asio::make_strand(context));
  error_code error;
  acceptor.open(stream_protocol(endpoint.protocol()), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) acceptor.bind(stream_protocol::endpoint(endpoint), error);
  if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error) return listen_failure(error, address);
  acceptors.push_back(std::move(acceptor));
  return {};
}

Status HttpServer::Impl::listen_tcp() {
  asio::ip::tcp::resolver resolver(context);
  error_code error;
  const auto found = resolver.resolve(options.host, std::to_string(options.port),
                                      asio::ip::resolver_base::passive, error);
  if (error || found.empty()) {
    return invalid_argument("--host " + options.host + ": " + error.message() +
                            "\ngive an address of this machine, e.g. 127.0.0.1 or 0.0.0.0");
  }
  asio::ip::tcp::endpoint endpoint = found.begin()->endpoint();
  SOTTO_RETURN_IF_ERROR(
      open(endpoint, fmt::format("{}:{}", endpoint.address().to_string(), options.port)));
  const stream_protocol::endpoint bound = acceptors.back().local_endpoint(error);
  if (!error)
    std::copy_n(reinterpret_cast<const std::byte*>(bound.data()), bound.size(),
                reinterpret_cast<std::byte*>(endpoint.data()));
  port = endpoint.port();
  const std::string host = endpoint.address().is_v6() ? "[" + endpoint.address().to_string() + "]"
                                                      : endpoint.address().to_string();
  addresses.push_back(fmt::format("http://{}:{}", host, port));
  return {};
}

Status HttpServer::Impl::listen_unix() {
  const std::string& path = options.socket_path;
  if (path.size() >= sizeof(sockaddr_un::sun_path))
    return invalid_argument("--socket-path " + path + ": longer than a socket's path may be");
  if (is_stale_socket(path)) ::unlink(path.c_str());
  SOTTO_RETURN_IF_ERROR(open(asio::local::stream_protocol::endpoint(path), path));
  socket_file = path;
  addresses.push_back("unix:" + path);
  return {};
}

Status HttpServer::Impl::adopt(int fd) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0)
    return status_from_errno(errno, fmt::format("descriptor {} is no socket", fd));
  Acceptor acceptor(asio::make_strand(context));
  error_code error;
  acceptor.assign(stream_protocol(address.ss_family, 0), fd, error);
  if (error) return status_from_errno(error.value(), fmt::format("taking socket {}", fd));
  acceptors.push_back(std::move(acceptor));
  addresses.push_back(fmt::format("descriptor {}", fd));
  return {};
}

Task<void> HttpServer::Impl::accept(Acceptor& acceptor) {
  asio::steady_timer pause(acceptor.get_executor());
  for (;;) {
    error_code error;
    Socket socket(asio::make_strand(context));
    co_await acceptor.async_accept(socket, asio::redirect_error(asio::use_awaitable, error));
    if (error == asio::error::operation_aborted || !acceptor.is_open()) co_return;
    if (error) {
      // Out of descriptors, most likely: it gets better when connections end.
      pause.expires_after(kAcceptRetry);
      co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, error));
      continue;
    }
    start_connection(std::move(socket));
  }
}

size_t HttpServer::Impl::living_connections() {
  connections.remove_if([](const auto& connection) { return connection.expired(); });
  return connections.size();
}

void HttpServer::Impl::start_connection(Socket socket) {
  error_code ignored;
  if (socket.remote_endpoint(ignored).protocol().family() != AF_UNIX)
    socket.set_option(asio::ip::tcp::no_delay(true), ignored);
  const Executor strand = socket.get_executor();
  const std::lock_guard lock(mutex);
  if (stopping || living_connections() >= static_cast<size_t>(options.max_connections)) {
    constexpr std::string_view kBody =
        R"({"error":{"message":"too many connections","type":"unavailable_error",)"
        R"("param":null,"code":"device_busy"}})";
    const std::string answer = fmt::format(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1\r\n"
        "Content-Length: {}\r\nConnection: close\r\n\r\n{}",
        kBody.size(), kBody);
    socket.non_blocking(true, ignored);
    socket.write_some(asio::buffer(answer), ignored);
    return;
  }
  std::string remote = remote_address(socket);
  auto connection =
      std::make_shared<Connection>(std::move(socket), std::move(remote), options, handler);
  connections.push_back(connection);
  // The coroutine starts later; until then only the function that makes it keeps the connection.
  asio::co_spawn(
      strand, [connection]() -> Task<void> { co_await connection->run(); }, asio::detached);
}

HttpServer::HttpServer(HttpOptions options, Handler handler)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(handler))) {}

HttpServer::~HttpServer() {
  stop(std::chrono::steady_clock::now());
}

Status HttpServer::start() {
  Impl& impl = *impl_;
  for (const int fd : impl.options.listening_fds)
    SOTTO_RETURN_IF_ERROR(impl.adopt(fd));
  if (impl.options.listening_fds.empty()) {
    if (!impl.options.host.empty()) SOTTO_RETURN_IF_ERROR(impl.listen_tcp());
    if (!impl.options.socket_path.empty()) SOTTO_RETURN_IF_ERROR(impl.listen_unix());
  }
  if (impl.acceptors.empty()) return invalid_argument("no address to listen at");
  for (Acceptor& acceptor : impl.acceptors)
    asio::co_spawn(acceptor.get_executor(), impl.accept(acceptor), asio::detached);
  for (int i = 0; i < impl.options.io_threads; ++i)
    impl.threads.emplace_back([&impl] { impl.context.run(); });
  return {};
}

int HttpServer::port() const {
  return impl_->port;
}

std::vector<std::string> HttpServer::addresses() const {
  return impl_->addresses;
}

int HttpServer::connections() const {
  const std::lock_guard lock(impl_->mutex);
  return static_cast<int>(impl_->living_connections());
}

Executor HttpServer::executor() {
  return impl_->context.get_executor();
}

void HttpServer::stop(std::chrono::steady_clock::time_point deadline) {
  Impl& impl = *impl_;
  {
    const std::lock_guard lock(impl.mutex);
    if (std::exchange(impl.stopping, true)) return;
  }
  for (Acceptor& acceptor : impl.acceptors) {
    asio::post(acceptor.get_executor(), [&acceptor] {
      error_code ignored;
      acceptor.close(ignored);
    });
  }
  const auto each = [&impl](const auto& action) {
    std::vector<std::shared_ptr<Connection>> living;
    {
      const std::lock_guard lock(impl.mutex);
      for (const auto& weak : impl.connections)
        if (auto connection = weak.lock()) living.push_back(std::move(connection));
    }
    for (const auto& connection : living)
      action(*connection);
  };
  constexpr std::chrono::milliseconds kPoll{20};
  constexpr std::chrono::seconds kCutOff{2};  // For handlers to see that their client is gone
  each([](Connection& connection) { connection.close_when_idle(); });
  while (connections() > 0 && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(kPoll);
  each([](Connection& connection) { connection.close_now(); });
  const auto end = std::chrono::steady_clock::now() + kCutOff;
  while (!impl.threads.empty() && connections() > 0 && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(kPoll);
  impl.work.reset();
  impl.context.stop();
  for (std::thread& thread : impl.threads)
    thread.join();
  impl.threads.clear();
  if (!impl.socket_file.empty()) ::unlink(impl.socket_file.c_str());
}

}  // namespace sotto::serve
