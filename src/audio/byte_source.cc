#include "audio/byte_source.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace sotto::audio {
namespace {

class FileSource final : public ByteSource {
 public:
  FileSource(int fd, int64_t size, std::string name, std::function<bool()> should_stop)
      : fd_(fd), size_(size), name_(std::move(name)), should_stop_(std::move(should_stop)) {}
  ~FileSource() override { ::close(fd_); }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  Read read(std::span<std::byte> out) override {
    for (;;) {
      if (should_stop_ && should_stop_()) return {Outcome::kStopped};
      if (size_ < 0 && !wait_for_bytes()) continue;
      const ssize_t n = ::read(fd_, out.data(), out.size());
      if (n > 0) return {Outcome::kBytes, static_cast<size_t>(n)};
      if (n == 0) return {Outcome::kEnd};
      if (errno == EINTR || errno == EAGAIN) continue;
      failure_ = status_from_errno(errno, "read " + name_);
      return {Outcome::kFailed};
    }
  }

  int64_t size() const override { return size_; }
  bool seek(int64_t position) override { return ::lseek(fd_, position, SEEK_SET) == position; }

 private:
  // A pipe may stay silent for ever; waking up in between lets should_stop be asked.
  bool wait_for_bytes() const {
    constexpr int kAskEveryMs = 100;
    pollfd p{fd_, POLLIN, 0};
    return ::poll(&p, 1, kAskEveryMs) > 0;  // a signal is no byte: read() would block
  }

  int fd_;
  int64_t size_;
  std::string name_;
  std::function<bool()> should_stop_;
};

class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::span<const std::byte> bytes) : bytes_(bytes) {}

  Read read(std::span<std::byte> out) override {
    const size_t n = std::min(out.size(), bytes_.size() - position_);
    if (n == 0) return {Outcome::kEnd};
    std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(position_), n, out.begin());
    position_ += n;
    return {Outcome::kBytes, n};
  }

  int64_t size() const override { return static_cast<int64_t>(bytes_.size()); }
  bool seek(int64_t position) override {
    if (position < 0) return false;
    position_ = std::min(static_cast<size_t>(position), bytes_.size());
    return true;
  }

 private:
  std::span<const std::byte> bytes_;
  size_t position_ = 0;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> open_file_source(const std::string& path,
                                                     std::function<bool()> should_stop) {
  const bool is_stdin = path == "-";
  const std::string name = is_stdin ? "standard input" : path;
  const int fd = is_stdin ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                          : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return status_from_errno(errno, "open " + name);
  struct stat info {};
  if (::fstat(fd, &info) != 0) {
    const int error = errno;
    ::close(fd);
    return status_from_errno(error, "open " + name);
  }
  if (S_ISDIR(info.st_mode)) {
    ::close(fd);
    return invalid_argument(name + ": is a folder, not a recording");
  }
  const int64_t size = S_ISREG(info.st_mode) ? static_cast<int64_t>(info.st_size) : -1;
  return std::unique_ptr<ByteSource>(
      std::make_unique<FileSource>(fd, size, name, std::move(should_stop)));
}

std::unique_ptr<ByteSource> memory_source(std::span<const std::byte> bytes) {
  return std::make_unique<MemorySource>(bytes);
}

Result<std::vector<std::byte>> read_all(ByteSource& source, size_t limit) {
  constexpr size_t kStep = size_t{1} << 20;
  std::vector<std::byte> all;
  for (;;) {
    const size_t have = all.size();
    all.resize(have + kStep);
    const ByteSource::Read got = source.read(std::span(all).subspan(have));
    all.resize(have + got.count);
    switch (got.outcome) {
      case ByteSource::Outcome::kBytes:
        break;
      case ByteSource::Outcome::kEnd:
        return all;
      case ByteSource::Outcome::kStopped:
        return cancelled("stopped while reading");
      case ByteSource::Outcome::kFailed:
        return source.failure();
    }
    if (all.size() > limit) {
      return resource_exhausted(
          "more than " + std::to_string(limit >> 20) +
          " MiB came through a pipe in a format that must be read whole; save it to a file first");
    }
  }
}

}  // namespace sotto::audio
