// Where encoded bytes come from: a file, standard input, a pipe, or memory.
#ifndef SOTTO_AUDIO_BYTE_SOURCE_H_
#define SOTTO_AUDIO_BYTE_SOURCE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sotto/status.h"

namespace sotto::audio {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  enum class Outcome { kBytes, kEnd, kStopped, kFailed };
  struct Read {
    Outcome outcome;
    size_t count = 0;  ///< Bytes placed, at least 1 with kBytes
  };
  /// Places up to out.size() (not 0) bytes. May return fewer.
  virtual Read read(std::span<std::byte> out) = 0;

  /// Total bytes, or -1 when that cannot be known (then seek() must not be called).
  [[nodiscard]] virtual int64_t size() const = 0;
  /// The next read begins at byte `position`; false when the system refuses.
  virtual bool seek(int64_t position) = 0;

  /// Why a read failed; success after any other outcome.
  [[nodiscard]] const Status& failure() const { return failure_; }

 protected:
  Status failure_;
};

/// A regular file, a fifo, or with "-" standard input. Reads of pipes look at `should_stop` while
/// they wait.
Result<std::unique_ptr<ByteSource>> open_file_source(const std::string& path,
                                                     std::function<bool()> should_stop);

/// `bytes` must outlive the source.
std::unique_ptr<ByteSource> memory_source(std::span<const std::byte> bytes);

/// Everything that `source` still holds. Above `limit` bytes: kResourceExhausted.
Result<std::vector<std::byte>> read_all(ByteSource& source, size_t limit);

}  // namespace sotto::audio

#endif  // SOTTO_AUDIO_BYTE_SOURCE_H_
