#include "worker/channel.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace sotto::worker {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kSendTimeoutMs = 60'000;

Status end_of_channel() {
  return unavailable("the other end of the worker's channel is gone");
}

/// Waits until `fd` is ready for `events`; false: the time passed. A hang-up counts as ready.
Result<bool> wait_ready(int fd, short events, int timeout_ms) {
  pollfd entry{fd, events, 0};
  for (;;) {
    const int ready = ::poll(&entry, 1, timeout_ms);
    if (ready >= 0) return ready > 0;
    if (errno != EINTR) return status_from_errno(errno, "worker channel: poll");
  }
}

int milliseconds_until(Channel::TimePoint until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 1'000'000));
}

/// A message's first bytes carry the file.
ssize_t send_some(int socket, const char* data, size_t size, int file) {
  iovec part{const_cast<char*>(data), size};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (file >= 0) {
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &file, sizeof(int));
  }
  return ::sendmsg(socket, &header, MSG_NOSIGNAL);
}

ssize_t receive_some(int socket, std::span<std::byte> into, OwnedFd* file) {
  iovec part{into.data(), into.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  header.msg_control = control;
  header.msg_controllen = sizeof(control);
  const ssize_t got = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  if (got < 0) return got;
  for (cmsghdr* entry = CMSG_FIRSTHDR(&header); entry != nullptr;
       entry = CMSG_NXTHDR(&header, entry)) {
    if (entry->cmsg_level != SOL_SOCKET || entry->cmsg_type != SCM_RIGHTS) continue;
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(entry), sizeof(int));
    OwnedFd received(fd);
    if (file != nullptr) *file = std::move(received);
  }
  return got;
}

}  // namespace

void OwnedFd::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Status Channel::send(const Message& message, int file) {
  SOTTO_ASSIGN_OR_RETURN(const std::string frame, encode_message(message));
  for (size_t sent = 0; sent < frame.size();) {
    SOTTO_ASSIGN_OR_RETURN(const bool ready, wait_ready(socket_.get(), POLLOUT, kSendTimeoutMs));
    if (!ready) return unavailable("the worker's channel is full and nobody reads it");
    const ssize_t step =
        send_some(socket_.get(), frame.data() + sent, frame.size() - sent, sent == 0 ? file : -1);
    if (step >= 0) {
      sent += static_cast<size_t>(step);
    } else if (errno == EPIPE || errno == ECONNRESET) {
      return end_of_channel();
    } else if (errno != EINTR && errno != EAGAIN) {
      return status_from_errno(errno, "worker channel: send");
    }
  }
  return {};
}

bool Channel::readable() const {
  pollfd entry{socket_.get(), POLLIN, 0};
  return ::poll(&entry, 1, 0) > 0;
}

/// Once a message has begun the rest of it is on its way, unless its sender dies.
Status Channel::read_exactly(std::span<std::byte> into, OwnedFd* file) {
  while (!into.empty()) {
    SOTTO_ASSIGN_OR_RETURN(const bool ready, wait_ready(socket_.get(), POLLIN, kSendTimeoutMs));
    if (!ready) return unavailable("the other end of the worker's channel stopped in a message");
    const ssize_t got = receive_some(socket_.get(), into, file);
    if (got > 0) {
      into = into.subspan(static_cast<size_t>(got));
    } else if (got == 0 || errno == ECONNRESET) {
      return end_of_channel();
    } else if (errno != EINTR && errno != EAGAIN) {
      return status_from_errno(errno, "worker channel: receive");
    }
  }
  return {};
}

Result<std::optional<Received>> Channel::receive(TimePoint until) {
  SOTTO_ASSIGN_OR_RETURN(const bool ready,
                         wait_ready(socket_.get(), POLLIN, milliseconds_until(until)));
  if (!ready) return std::optional<Received>();
  Received received;
  std::byte head_bytes[kFrameHead];
  SOTTO_RETURN_IF_ERROR(read_exactly(head_bytes, &received.file));
  SOTTO_ASSIGN_OR_RETURN(const FrameHead head,
                         parse_head(std::span<const std::byte, kFrameHead>(head_bytes)));
  std::vector<std::byte> body(head.body_bytes);
  SOTTO_RETURN_IF_ERROR(read_exactly(body, &received.file));
  SOTTO_ASSIGN_OR_RETURN(received.message, parse_body(head.type, body));
  return std::optional<Received>(std::move(received));
}

Result<std::pair<OwnedFd, OwnedFd>> make_socket_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return status_from_errno(errno, "socketpair for a worker");
  return std::make_pair(OwnedFd(ends[0]), OwnedFd(ends[1]));
}

Result<OwnedFd> make_memory_file(std::span<const std::byte> bytes) {
  OwnedFd file(::memfd_create("sotto-audio", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.valid()) return status_from_errno(errno, "shared memory for a recording");
  while (!bytes.empty()) {
    const ssize_t step = ::write(file.get(), bytes.data(), bytes.size());
    if (step < 0 && errno == EINTR) continue;
    if (step < 0) return status_from_errno(errno, "shared memory for a recording");
    bytes = bytes.subspan(static_cast<size_t>(step));
  }
  constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
  if (::fcntl(file.get(), F_ADD_SEALS, kSeals) != 0)
    return status_from_errno(errno, "sealing shared memory");
  return file;
}

Result<MappedMemoryFile> MappedMemoryFile::map(const OwnedFd& file, uint64_t bytes) {
  MappedMemoryFile mapped;
  if (bytes == 0) return mapped;
  struct stat info {};
  // A file that could shrink would turn a read of it into SIGBUS.
  const int seals = file.valid() ? ::fcntl(file.get(), F_GET_SEALS) : -1;
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || ::fstat(file.get(), &info) != 0 ||
      static_cast<uint64_t>(info.st_size) != bytes) {
    return corrupt("worker channel: the recording is not a sealed memory file of the stated size");
  }
  void* address = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.get(), 0);
  if (address == MAP_FAILED) return status_from_errno(errno, "mapping a recording");
  mapped.bytes_ = {static_cast<const std::byte*>(address), static_cast<size_t>(bytes)};
  return mapped;
}

MappedMemoryFile::~MappedMemoryFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace sotto::worker
