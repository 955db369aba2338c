#include "models/registry/partial_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace sotto::registry {
namespace {}  // namespace

std::string PartialFile::noted_sha256(const std::string& path) {
  constexpr int64_t kLimit = 200;
  const Result<std::string> text = read_text_file(path + ".part.sha256", kLimit);
  return text.ok() && is_sha256_hex(*text) ? *text : "";
}

Result<PartialFile> PartialFile::open(const std::string& path, const std::string& sha256,
                                      const std::function<bool()>& should_stop) {
  const std::string part_path = path + ".part";
  Descriptor file(::open(part_path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (file.get() < 0) return store_error(errno, "cannot create", part_path, -1);
  SOTTO_ASSIGN_OR_RETURN(Sha256 sum, Sha256::create());
  PartialFile partial(path, std::move(file), std::move(sum));
  const std::string noted = noted_sha256(path);
  if (noted.empty() || (!sha256.empty() && noted != sha256)) {
    SOTTO_RETURN_IF_ERROR(partial.restart());
    if (!sha256.empty()) SOTTO_RETURN_IF_ERROR(partial.promise(sha256));
    return partial;
  }
  partial.promised_ = noted;
  const auto take = [&partial](std::span<const std::byte> bytes) {
    partial.sum_.update(bytes);
    partial.size_ += static_cast<int64_t>(bytes.size());
    return Status();
  };
  SOTTO_RETURN_IF_ERROR(read_chunks(part_path, take, should_stop));
  partial.kept_ = partial.size_;
  return partial;
}

Status PartialFile::promise(const std::string& sha256) {
  if (promised_ == sha256) return {};
  SOTTO_RETURN_IF_ERROR(write_file_atomically(promise_path(), sha256));
  promised_ = sha256;
  return {};
}

Status PartialFile::append(std::span<const std::byte> bytes, int64_t remaining) {
  while (!bytes.empty()) {
    const ssize_t put = write_ ? write_(file_.get(), bytes.data(), bytes.size())
                               : ::write(file_.get(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      const int error_number = errno;
      const auto here = static_cast<int64_t>(bytes.size());
      return store_error(error_number, "cannot write", part_path(),
                         remaining < 0 ? -1 : remaining + here);
    }
    const std::span<const std::byte> written = bytes.first(static_cast<size_t>(put));
    sum_.update(written);
    size_ += put;
    bytes = bytes.subspan(written.size());
  }
  return {};
}

Status PartialFile::restart() {
  if (::ftruncate(file_.get(), 0) != 0) return store_error(errno, "cannot write", part_path(), -1);
  ::unlink(promise_path().c_str());
  promised_.clear();
  sum_.reset();
  size_ = 0;
  kept_ = 0;
  return {};
}

Status PartialFile::finish() {
  // Some file systems find out only here that the disk is full.
  if (::fsync(file_.get()) != 0) return store_error(errno, "cannot write", part_path(), 0);
  return rename_path(part_path(), path_);
}

void PartialFile::discard() {
  ::unlink(part_path().c_str());
  ::unlink(promise_path().c_str());
}

}  // namespace sotto::registry
