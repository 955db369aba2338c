#include "serve/wyoming_server.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <utility>

#include "base/languages.h"
#include "base/log.h"
#include "wyoming/session.h"

namespace sotto::serve {
namespace {

using worker::OwnedFd;

constexpr int kWriteTimeoutMs = 30'000;
constexpr size_t kReadBytes = 64 * 1024;

OwnedFd make_wake_fd() {
  return OwnedFd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
}

void wake(const OwnedFd& fd) {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(fd.get(), &one, sizeof(one));
}

std::vector<wyoming::ModelEntry> model_entries(const ModelCatalogue& catalogue) {
  std::vector<wyoming::ModelEntry> entries;
  const Result<std::vector<ModelInfo>> models = catalogue.installed();
  if (!models.ok()) return entries;
  for (const ModelInfo& model : *models) {
    if (model.kind != ModelKind::kWhisper) continue;
    wyoming::ModelEntry entry{model.name, model.description, {}};
    const bool english_only = model.name.ends_with(".en");
    for (const Language& language : languages())
      if (!english_only || language.code == "en") entry.languages.emplace_back(language.code);
    entries.push_back(std::move(entry));
  }
  return entries;
}

/// What the queue is asked for an utterance.
Result<JobRequest> job_request(App& app, wyoming::Utterance utterance) {
  JobRequest job;
  ModelOrError model = app.choose_model(utterance.model);
  if (const auto* error = std::get_if<ApiError>(&model)) return not_found(error->message);
  job.model = std::get<ModelInfo>(std::move(model));
  if (!utterance.language.empty() && utterance.language != "auto") {
    SOTTO_ASSIGN_OR_RETURN(job.options.language, parse_language(utterance.language));
  }
  job.options.hotwords = std::move(utterance.hotwords);
  job.expected_s = utterance.seconds();
  auto bytes = std::make_shared<Spool>();
  SOTTO_RETURN_IF_ERROR(bytes->append(utterance.pcm));
  job.audio.bytes = std::move(bytes);
  job.audio.raw_format = utterance.raw_format;
  job.audio.raw_rate = utterance.rate;
  job.audio.raw_channels = utterance.channels;
  job.lane = Lane::kInteractive;  // somebody stands there and waits
  return job;
}

}  // namespace

/// A client: a thread that reads its events, and the answers that other threads have for it.
class WyomingServer::Connection {
 public:
  Connection(App& app, OwnedFd in, OwnedFd out)
      : app_(app), in_(std::move(in)), out_(std::move(out)), outbox_(std::make_shared<Outbox>()) {}

  void start() {
    thread_ = std::thread([this] { run(); });
  }
  void stop() {
    stopping_ = true;
    wake(outbox_->wake);
  }
  void join() { thread_.join(); }
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  /// An utterance whose transcript is on its way. Answers go out in the order of the questions.
  struct Question {
    std::shared_ptr<Job> job;
    std::optional<wyoming::Event> answer;
  };
  /// Shared with the jobs, which may outlive the connection.
  struct Outbox {
    std::mutex mutex;
    std::deque<std::shared_ptr<Question>> questions;
    OwnedFd wake = make_wake_fd();
  };

  void run() {
    wyoming::Session session(
        {[this](const wyoming::Event& event) { write(wyoming::encode_event(event)); },
         [this] {
           return wyoming::describe_answer(app_.options()->version,
                                           model_entries(app_.catalogue()));
         },
         [this](wyoming::Utterance utterance) { ask(std::move(utterance)); }});
    wyoming::EventReader reader;
    while (!stopping_ && !broken_ && wait_and_read(reader) && handle_events(reader, session))
      answer_questions();
    cancel_questions();
    // Only now, so that a last `error` was sent before the end.
    in_.reset();
    out_.reset();
    ended_ = true;
  }

  /// False: the client has left.
  bool wait_and_read(wyoming::EventReader& reader) {
    pollfd entries[] = {{in_.get(), POLLIN, 0}, {outbox_->wake.get(), POLLIN, 0}};
    if (::poll(entries, 2, -1) < 0) return errno == EINTR;
    if (entries[1].revents != 0) {
      uint64_t count = 0;
      [[maybe_unused]] const ssize_t drained = ::read(outbox_->wake.get(), &count, sizeof(count));
    }
    if (entries[0].revents == 0) return true;
    std::string bytes(kReadBytes, '\0');
    const ssize_t got = ::read(in_.get(), bytes.data(), bytes.size());
    if (got < 0) return errno == EINTR || errno == EAGAIN;
    reader.feed(std::string_view(bytes).substr(0, static_cast<size_t>(got)));
    return got > 0;
  }

  /// False: the connection is to be closed.
  bool handle_events(wyoming::EventReader& reader, wyoming::Session& session) {
    for (;;) {
      const Result<std::optional<wyoming::Event>> event = reader.next();
      if (!event.ok()) {
        write(wyoming::encode_event(wyoming::error_event(event.status())));
        return false;
      }
      if (!event->has_value()) return true;
      const Status status = session.handle(**event);
      if (status.code() == StatusCode::kResourceExhausted) return false;
    }
  }

  void ask(wyoming::Utterance utterance) {
    auto question = std::make_shared<Question>();
    {
      const std::lock_guard lock(outbox_->mutex);
      outbox_->questions.push_back(question);
    }
    Result<JobRequest> request = job_request(app_, std::move(utterance));
    Status status = request.status();
    if (status.ok()) {
      request->events.on_end = [question, outbox = outbox_](const Status& end, JobResult* result) {
        settle(*outbox, *question,
               result == nullptr ? wyoming::error_event(end)
                                 : wyoming::transcript_event(result->transcript.text,
                                                             result->transcript.language));
      };
      Result<std::shared_ptr<Job>> job = app_.engine().submit(std::move(*request));
      status = job.status();
      if (job.ok()) {
        const std::lock_guard lock(outbox_->mutex);
        question->job = std::move(*job);
      }
    }
    if (!status.ok()) settle(*outbox_, *question, wyoming::error_event(status));
  }

  static void settle(Outbox& outbox, Question& question, wyoming::Event answer) {
    const std::lock_guard lock(outbox.mutex);
    question.answer = std::move(answer);
    wake(outbox.wake);
  }

  void answer_questions() {
    for (;;) {
      wyoming::Event answer;
      {
        const std::lock_guard lock(outbox_->mutex);
        if (outbox_->questions.empty() || !outbox_->questions.front()->answer) return;
        answer = std::move(*outbox_->questions.front()->answer);
        outbox_->questions.pop_front();
      }
      write(wyoming::encode_event(answer));
    }
  }

  void cancel_questions() {
    std::deque<std::shared_ptr<Question>> left;
    {
      const std::lock_guard lock(outbox_->mutex);
      left.swap(outbox_->questions);
    }
    for (const auto& question : left)
      if (question->job != nullptr) app_.engine().cancel(question->job);
  }

  void write(std::string_view bytes) {
    const int fd = out_.valid() ? out_.get() : in_.get();
    while (!bytes.empty() && !broken_) {
      pollfd entry{fd, POLLOUT, 0};
      const int ready = ::poll(&entry, 1, kWriteTimeoutMs);
      if (ready < 0 && errno == EINTR) continue;
      const ssize_t sent = ready > 0 ? ::write(fd, bytes.data(), bytes.size()) : -1;
      if (sent >= 0) {
        bytes.remove_prefix(static_cast<size_t>(sent));
      } else if (ready <= 0 || (errno != EINTR && errno != EAGAIN)) {
        broken_ = true;  // nobody reads any more
      }
    }
  }

  App& app_;
  OwnedFd in_, out_;  ///< `out_` only where it differs
  std::shared_ptr<Outbox> outbox_;
  std::thread thread_;
  std::atomic<bool> stopping_{false}, ended_{false};
  bool broken_ = false;
};

WyomingServer::WyomingServer(App& app) : app_(app) {}

WyomingServer::~WyomingServer() {
  stop();
}

Result<WyomingAddress> parse_wyoming_uri(const std::string& uri) {
  const Status wrong = invalid_argument(fmt::format(
      "--wyoming {}\nuse tcp://HOST:PORT (10300 by custom), unix:///PATH or stdio://", uri));
  WyomingAddress address;
  if (uri == "stdio://" || uri == "stdio") {
    address.kind = WyomingAddress::Kind::kStdio;
    return address;
  }
  if (uri.starts_with("unix://")) {
    address.kind = WyomingAddress::Kind::kUnix;
    address.path = uri.substr(7);
    if (address.path.empty()) return wrong;
    return address;
  }
  if (!uri.starts_with("tcp://")) return wrong;
  const std::string place = uri.substr(6);
  const size_t colon = place.rfind(':');
  address.host = place.substr(0, colon);
  if (address.host.starts_with('[') && address.host.ends_with(']'))
    address.host = address.host.substr(1, address.host.size() - 2);
  if (address.host.empty()) return wrong;
  if (colon == std::string::npos) return address;
  const std::string port = place.substr(colon + 1);
  if (port.empty() || port.size() > 5 ||
      port.find_first_not_of("0123456789") != std::string::npos || std::stoi(port) > 65535) {
    return wrong;
  }
  address.port = std::stoi(port);
  return address;
}

Status WyomingServer::start(const WyomingAddress& address) {
  wake_ = make_wake_fd();
  if (address.kind == WyomingAddress::Kind::kStdio) {
    name_ = "stdio://";
    connections_.push_back(std::make_unique<Connection>(app_, OwnedFd(::dup(STDIN_FILENO)),
                                                        OwnedFd(::dup(STDOUT_FILENO))));
    connections_.front()->start();
    acceptor_ = std::thread([this] {
      connections_.front()->join();
      finished_ = true;
    });
    return {};
  }
  if (address.kind == WyomingAddress::Kind::kUnix) return listen_unix(address.path);
  return listen_tcp(address);
}

Status WyomingServer::listen_tcp(const WyomingAddress& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(address.port);
  if (const int error = ::getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found);
      error != 0) {
    return invalid_argument(
        fmt::format("--wyoming tcp://{}: {}", address.host, ::gai_strerror(error)));
  }
  listener_ = OwnedFd(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  ::setsockopt(listener_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  const bool bound = ::bind(listener_.get(), found->ai_addr, found->ai_addrlen) == 0;
  const int error = errno;
  ::freeaddrinfo(found);
  if (!bound) {
    const std::string what = fmt::format("--wyoming tcp://{}:{}", address.host, address.port);
    return error == EADDRINUSE ? unavailable(what + " is in use by another program")
                               : status_from_errno(error, what);
  }
  sockaddr_storage actual{};
  socklen_t size = sizeof(actual);
  ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&actual), &size);
  const uint16_t bound_port = actual.ss_family == AF_INET6
                                  ? reinterpret_cast<sockaddr_in6*>(&actual)->sin6_port
                                  : reinterpret_cast<sockaddr_in*>(&actual)->sin_port;
  name_ = fmt::format("tcp://{}:{}", address.host, ntohs(bound_port));
  return begin_accepting();
}

Status WyomingServer::listen_unix(const std::string& path) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  if (path.size() >= sizeof(name.sun_path))
    return invalid_argument(fmt::format("--wyoming unix://{}: the path is too long", path));
  std::memcpy(name.sun_path, path.data(), path.size());
  listener_ = OwnedFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto* address = reinterpret_cast<const sockaddr*>(&name);
  if (::connect(listener_.get(), address, sizeof(name)) == 0)
    return unavailable(fmt::format("--wyoming unix://{} is in use by another program", path));
  // A socket that nobody answers is a leftover; anything else is not ours to delete.
  struct stat info {};
  if (::lstat(path.c_str(), &info) == 0 && S_ISSOCK(info.st_mode)) ::unlink(path.c_str());
  listener_ = OwnedFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::bind(listener_.get(), address, sizeof(name)) != 0)
    return status_from_errno(errno, fmt::format("--wyoming unix://{}", path));
  unix_path_ = path;
  name_ = "unix://" + path;
  return begin_accepting();
}

Status WyomingServer::begin_accepting() {
  if (::listen(listener_.get(), SOMAXCONN) != 0) return status_from_errno(errno, name_);
  acceptor_ = std::thread([this] { accept_clients(); });
  return {};
}

void WyomingServer::accept_clients() {
  constexpr int kReapEveryMs = 1000;
  while (!stopping_) {
    const bool has_room = reap(/*all=*/false) < kMaxConnections;
    pollfd entries[] = {{wake_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
    const int ready = ::poll(entries, has_room ? 2 : 1, kReapEveryMs);
    if (stopping_ || ready <= 0 || !has_room || entries[1].revents == 0) continue;
    OwnedFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!client.valid()) continue;
    const std::lock_guard lock(mutex_);
    connections_.push_back(std::make_unique<Connection>(app_, std::move(client), OwnedFd()));
    connections_.back()->start();
  }
}

size_t WyomingServer::reap(bool all) {
  const std::lock_guard lock(mutex_);
  for (auto connection = connections_.begin(); connection != connections_.end();) {
    if (all || (*connection)->ended()) {
      (*connection)->join();
      connection = connections_.erase(connection);
    } else {
      ++connection;
    }
  }
  return connections_.size();
}

void WyomingServer::stop() {
  if (stopping_.exchange(true)) return;
  if (wake_.valid()) wake(wake_);
  {
    const std::lock_guard lock(mutex_);
    for (const auto& connection : connections_)
      connection->stop();
  }
  if (acceptor_.joinable()) acceptor_.join();
  if (name_ != "stdio://") reap(/*all=*/true);
  listener_.reset();
  if (!unix_path_.empty()) ::unlink(unix_path_.c_str());
}

}  // namespace sotto::serve
