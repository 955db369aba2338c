#include "models/formats/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

namespace sotto::models {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;

}  // namespace

Result<OutputFile> OutputFile::create(const std::string& path) {
  OutputFile file(path, -1);
  file.fd_ = ::open(file.partial_path().c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file.fd_ < 0) return status_from_errno(errno, "cannot create " + path);
  return file;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      size_(other.size_),
      buffer_(std::move(other.buffer_)) {}

OutputFile::~OutputFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(partial_path().c_str());
}

Status OutputFile::write(std::span<const std::byte> bytes) {
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  size_ += static_cast<int64_t>(bytes.size());
  return buffer_.size() < kBufferBytes ? Status() : flush();
}

Status OutputFile::write(std::string_view text) {
  return write(std::as_bytes(std::span(text.data(), text.size())));
}

Status OutputFile::flush() {
  std::span<const std::byte> rest = buffer_;
  while (!rest.empty()) {
    const ssize_t written = ::write(fd_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return status_from_errno(errno, "cannot write " + path_);
    rest = rest.subspan(static_cast<size_t>(written));
  }
  buffer_.clear();
  return {};
}

Status OutputFile::commit() {
  SOTTO_RETURN_IF_ERROR(flush());
  // Some file systems report a full disk only here.
  if (::fsync(fd_) != 0) return status_from_errno(errno, "cannot write " + path_);
  if (::rename(partial_path().c_str(), path_.c_str()) != 0) {
    return status_from_errno(errno, "cannot create " + path_);
  }
  ::close(std::exchange(fd_, -1));
  return {};
}

}  // namespace sotto::models
