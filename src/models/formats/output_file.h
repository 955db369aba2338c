// A file that appears under its name only when it is complete.
#ifndef SOTTO_MODELS_FORMATS_OUTPUT_FILE_H_
#define SOTTO_MODELS_FORMATS_OUTPUT_FILE_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/status.h"

namespace sotto::models {

/// Writes PATH.partial through a buffer; commit() renames it to PATH. Without commit() the
/// destructor deletes it, so a failed write leaves neither half a file nor damages the one that was
/// there.
class OutputFile {
 public:
  static Result<OutputFile> create(const std::string& path);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  OutputFile(const OutputFile&) = delete;
  ~OutputFile();

  Status write(std::span<const std::byte> bytes);
  Status write(std::string_view text);
  /// The bytes of a number, little-endian.
  template <typename T>
  Status write_number(T value) {
    return write(std::as_bytes(std::span(&value, 1)));
  }

  /// Bytes written so far.
  [[nodiscard]] int64_t size() const { return size_; }

  Status commit();

 private:
  OutputFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  [[nodiscard]] std::string partial_path() const { return path_ + ".partial"; }
  Status flush();

  std::string path_;
  int fd_ = -1;
  int64_t size_ = 0;
  std::vector<std::byte> buffer_;
};

}  // namespace sotto::models

#endif  // SOTTO_MODELS_FORMATS_OUTPUT_FILE_H_
