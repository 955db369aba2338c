// A read-only memory-mapped file.
#ifndef SOTTO_BASE_MAPPED_FILE_H_
#define SOTTO_BASE_MAPPED_FILE_H_

#include <cstddef>
#include <span>
#include <string>

#include "sotto/status.h"

namespace sotto {

/// Owns the mapping; views into bytes() are valid as long as this object lives. Movable, not
/// copyable.
class MappedFile {
 public:
  /// Maps all of `path`, a regular file. An empty file gives empty bytes.
  static Result<MappedFile> open(const std::string& path);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] std::span<const std::byte> bytes() const { return {data_, size_}; }
  [[nodiscard]] const std::string& path() const { return path_; }

  /// Tells the kernel that the pages of `part` will not be needed soon, so that they leave this
  /// process's resident set; they stay readable and come back from the page cache.
  static void release_pages(std::span<const std::byte> part);

 private:
  const std::byte* data_ = nullptr;
  size_t size_ = 0;
  std::string path_;
};

}  // namespace sotto

#endif  // SOTTO_BASE_MAPPED_FILE_H_
