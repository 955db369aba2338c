// A file that is still arriving: appended to, hashed as it grows, kept when the process ends early.
#ifndef SOTTO_MODELS_REGISTRY_PARTIAL_FILE_H_
#define SOTTO_MODELS_REGISTRY_PARTIAL_FILE_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "models/registry/files.h"
#include "models/registry/sha256.h"
#include "sotto/status.h"

namespace sotto::registry {

/// Stands at PATH.part until it is complete. Beside it, PATH.part.sha256 holds the sum that its
/// source promised, where there is one: only with it can a later process tell that the rest it is
/// offered belongs to what is already there.
class PartialFile {
 public:
  /// write(2); a test puts a full disk in its place.
  using WriteFunction = std::function<ssize_t(int fd, const void* bytes, size_t count)>;

  /// Opens `path`.part. What an earlier process left is kept, and hashed, when it was promised
  /// under `sha256`, or when `sha256` is empty and that process noted a sum; otherwise it is
  /// thrown away.
  static Result<PartialFile> open(const std::string& path, const std::string& sha256,
                                  const std::function<bool()>& should_stop);

  /// The sum noted for `path`, whether it is still partial or complete by now; "" when there is
  /// none.
  static std::string noted_sha256(const std::string& path);

  void set_write_function(WriteFunction write) { write_ = std::move(write); }

  [[nodiscard]] int64_t size() const { return size_; }
  /// Bytes that were there when the file was opened; 0 after restart().
  [[nodiscard]] int64_t kept() const { return kept_; }
  /// The sum that was promised; empty: none.
  [[nodiscard]] const std::string& promised_sha256() const { return promised_; }
  /// The sum of what is there.
  [[nodiscard]] std::string sha256() const { return sum_.hex(); }

  /// Notes the sum that the source promises.
  Status promise(const std::string& sha256);
  /// `remaining`: bytes still to come after these (-1: not known), for the message of a full disk.
  Status append(std::span<const std::byte> bytes, int64_t remaining);
  /// Begins again from nothing; what was promised is forgotten.
  Status restart();
  /// Makes the bytes durable and renames the file to its path; the object is done with then. The
  /// noted sum stays.
  Status finish();
  /// Deletes the file; the object is done with then.
  void discard();

 private:
  PartialFile(std::string path, Descriptor file, Sha256 sum)
      : path_(std::move(path)), file_(std::move(file)), sum_(std::move(sum)) {}
  [[nodiscard]] std::string part_path() const { return path_ + ".part"; }
  [[nodiscard]] std::string promise_path() const { return path_ + ".part.sha256"; }

  std::string path_;
  Descriptor file_;
  Sha256 sum_;
  WriteFunction write_;
  std::string promised_;
  int64_t size_ = 0;
  int64_t kept_ = 0;
};

}  // namespace sotto::registry

#endif  // SOTTO_MODELS_REGISTRY_PARTIAL_FILE_H_
