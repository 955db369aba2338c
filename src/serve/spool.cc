#include "serve/spool.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

namespace sotto::serve {
namespace {

std::string temporary_folder() {
  const char* folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

Status write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return status_from_errno(errno, "writing " + path);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

}  // namespace

Spool& Spool::operator=(Spool&& other) noexcept {
  if (this == &other) return *this;
  clear();
  folder_ = std::move(other.folder_);
  memory_bytes_ = other.memory_bytes_;
  memory_ = std::exchange(other.memory_, {});
  path_ = std::exchange(other.path_, {});
  fd_ = std::exchange(other.fd_, -1);
  size_ = std::exchange(other.size_, 0);
  return *this;
}

void Spool::clear() {
  if (fd_ >= 0) {
    ::close(fd_);
    ::unlink(path_.c_str());
  }
  fd_ = -1;
  path_.clear();
  memory_ = {};
  size_ = 0;
}

Status Spool::append(std::string_view bytes) {
  if (fd_ < 0 && memory_.size() + bytes.size() > memory_bytes_)
    SOTTO_RETURN_IF_ERROR(move_to_file());
  if (fd_ >= 0) {
    SOTTO_RETURN_IF_ERROR(write_all(fd_, bytes, path_));
  } else {
    memory_.append(bytes);
  }
  size_ += static_cast<int64_t>(bytes.size());
  return {};
}

Status Spool::move_to_file() {
  std::string path = (folder_.empty() ? temporary_folder() : folder_) + "/sotto-upload-XXXXXX";
  fd_ = ::mkostemp(path.data(), O_CLOEXEC);
  if (fd_ < 0) return status_from_errno(errno, "creating a file for the upload: " + path);
  path_ = std::move(path);
  SOTTO_RETURN_IF_ERROR(write_all(fd_, memory_, path_));
  memory_ = {};
  return {};
}

std::span<const std::byte> Spool::memory() const {
  return std::as_bytes(std::span(memory_.data(), memory_.size()));
}

Status Spool::read(const std::function<Status(std::string_view)>& take) const {
  if (fd_ < 0) return take(memory_);
  std::string piece(size_t{1} << 18, '\0');
  for (int64_t position = 0; position < size_;) {
    const ssize_t got = ::pread(fd_, piece.data(), piece.size(), position);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return status_from_errno(errno, "reading " + path_);
    if (got == 0) return io_error(path_ + ": somebody has shortened it");
    SOTTO_RETURN_IF_ERROR(take(std::string_view(piece.data(), static_cast<size_t>(got))));
    position += got;
  }
  return {};
}

}  // namespace sotto::serve
