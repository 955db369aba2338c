// A socket between a worker process and its parent that carries whole messages and memory files.
#ifndef SOTTO_WORKER_CHANNEL_H_
#define SOTTO_WORKER_CHANNEL_H_

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "sotto/status.h"
#include "worker/messages.h"

namespace sotto::worker {

/// A file descriptor that is closed with its owner.
class OwnedFd {
 public:
  OwnedFd() = default;
  explicit OwnedFd(int fd) : fd_(fd) {}
  ~OwnedFd() { reset(); }
  OwnedFd(OwnedFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool valid() const { return fd_ >= 0; }
  void reset();

 private:
  int fd_ = -1;
};

struct Received {
  Message message;
  OwnedFd file;  ///< What came with a TranscribeRequest
};

/// One end. One thread at a time.
class Channel {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  explicit Channel(OwnedFd socket) : socket_(std::move(socket)) {}

  /// `file`: sent along when it is not -1; stays the caller's. kUnavailable: the other end is gone,
  /// or took nothing for a minute.
  Status send(const Message& message, int file = -1);

  /// The next message, or nothing when `until` came first. kUnavailable: the other end is gone;
  /// kCorrupt: it sent what is no message.
  Result<std::optional<Received>> receive(TimePoint until);

  /// Whether receive() would find a message (or the end) at once.
  [[nodiscard]] bool readable() const;
  [[nodiscard]] int fd() const { return socket_.get(); }

 private:
  Status read_exactly(std::span<std::byte> into, OwnedFd* file);

  OwnedFd socket_;
};

/// Two connected ends, neither inherited by programs that are started.
Result<std::pair<OwnedFd, OwnedFd>> make_socket_pair();

/// A sealed memory file with a copy of `bytes`: neither side can change it any more.
Result<OwnedFd> make_memory_file(std::span<const std::byte> bytes);

/// A memory file that another process made, in this process's memory.
class MappedMemoryFile {
 public:
  /// kCorrupt: not sealed against shrinking, or not `bytes` bytes long.
  static Result<MappedMemoryFile> map(const OwnedFd& file, uint64_t bytes);
  MappedMemoryFile() = default;
  ~MappedMemoryFile();
  MappedMemoryFile(MappedMemoryFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  MappedMemoryFile& operator=(MappedMemoryFile&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace sotto::worker

#endif  // SOTTO_WORKER_CHANNEL_H_
