// Bytes of an upload: in memory while they are few, in a temporary file once they are many.
#ifndef SOTTO_SERVE_SPOOL_H_
#define SOTTO_SERVE_SPOOL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/status.h"

namespace sotto::serve {

class Spool {
 public:
  /// More bytes than this go to a file.
  static constexpr size_t kMemoryBytes = size_t{8} << 20;

  Spool() = default;
  /// `folder`: for the file; empty: $TMPDIR, else /tmp.
  explicit Spool(std::string folder, size_t memory_bytes = kMemoryBytes)
      : folder_(std::move(folder)), memory_bytes_(memory_bytes) {}
  /// Deletes the file.
  ~Spool() { clear(); }
  Spool(Spool&& other) noexcept { *this = std::move(other); }
  Spool& operator=(Spool&& other) noexcept;
  Spool(const Spool&) = delete;
  Spool& operator=(const Spool&) = delete;

  /// kNoSpace, kPermissionDenied or kIo name the file.
  Status append(std::string_view bytes);
  [[nodiscard]] int64_t size() const { return size_; }

  /// Where the bytes are: a path, or "" when they are memory().
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::span<const std::byte> memory() const;

  /// Hands all bytes to `take` piece by piece until it fails. For passing them on.
  Status read(const std::function<Status(std::string_view)>& take) const;

 private:
  Status move_to_file();
  void clear();

  std::string folder_;
  size_t memory_bytes_ = kMemoryBytes;
  std::string memory_;
  std::string path_;
  int fd_ = -1;
  int64_t size_ = 0;
};

}  // namespace sotto::serve

#endif  // SOTTO_SERVE_SPOOL_H_
