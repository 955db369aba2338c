// Files and folders of the store, as operations that report a Status.
#ifndef SOTTO_MODELS_REGISTRY_FILES_H_
#define SOTTO_MODELS_REGISTRY_FILES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sotto/status.h"

namespace sotto::registry {

/// A file descriptor that is closed at the end of its scope.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() { reset(-1); }
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] int release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }
  void reset(int fd);

 private:
  int fd_;
};

/// $XDG_CONFIG_HOME/sotto, else ~/.config/sotto.
std::string config_folder();
/// $SOTTO_HOME, else $XDG_DATA_HOME/sotto, else ~/.local/share/sotto. kNotFound without a home.
Result<std::string> default_store_root();

bool path_exists(const std::string& path);
bool is_folder(const std::string& path);
/// Bytes of a regular file (links are followed), or -1.
int64_t file_bytes(const std::string& path);

/// A whole file of at most `limit` bytes.
Result<std::string> read_text_file(const std::string& path, int64_t limit);

/// Hands a file's bytes to `take`, chunk after chunk, until one call fails or should_stop (may be
/// empty) is true: kCancelled.
Status read_chunks(const std::string& path,
                   const std::function<Status(std::span<const std::byte>)>& take,
                   const std::function<bool()>& should_stop);

/// Creates `path` and what is missing above it.
Status make_folders(const std::string& path);
/// Writes `text` under another name, makes it durable, then renames it to `path`.
Status write_file_atomically(const std::string& path, std::string_view text);
/// Makes the entries of a folder durable.
Status sync_folder(const std::string& path);
Status rename_path(const std::string& from, const std::string& to);
/// Deletes a file or a folder with all in it; nothing there is success.
Status remove_tree(const std::string& path);

/// Names of a folder's entries, sorted; none when it does not exist.
Result<std::vector<std::string>> folder_entries(const std::string& path);
/// Bytes of all regular files below a folder.
int64_t tree_bytes(const std::string& path);
/// Bytes that the file system of `path`, or of the nearest folder above it, has for this user; -1
/// when it does not say.
int64_t available_bytes(const std::string& path);

/// a + b, or the largest number where that is too large. Neither is negative. Sizes that come from
/// outside need not be small.
int64_t add_bytes(int64_t a, int64_t b);

/// "145.2 MB": powers of 1000, as disks and networks count.
std::string format_bytes(int64_t bytes);

/// An error of writing to the store, with what to do about it. `needed` bytes are still to be
/// written (-1: not known).
Status store_error(int error_number, std::string_view what, const std::string& path,
                   int64_t needed);

}  // namespace sotto::registry

#endif  // SOTTO_MODELS_REGISTRY_FILES_H_
