#include "models/registry/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <system_error>

namespace sotto::registry {
namespace {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// $HOME, else what the user database says; "" when there is none.
std::string home_folder() {
  std::string home = environment("HOME");
  if (!home.empty()) return home;
  const passwd* user = getpwuid(getuid());
  return user == nullptr || user->pw_dir == nullptr ? "" : user->pw_dir;
}

}  // namespace

void Descriptor::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

std::string config_folder() {
  const std::string xdg = environment("XDG_CONFIG_HOME");
  return (xdg.empty() ? home_folder() + "/.config" : xdg) + "/sotto";
}

Result<std::string> default_store_root() {
  if (std::string root = environment("SOTTO_HOME"); !root.empty()) return root;
  if (const std::string xdg = environment("XDG_DATA_HOME"); !xdg.empty()) return xdg + "/sotto";
  const std::string home = home_folder();
  if (home.empty()) {
    return not_found("no folder for models: this user has no home\nset SOTTO_HOME to a folder");
  }
  return home + "/.local/share/sotto";
}

bool path_exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

bool is_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

int64_t file_bytes(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return -1;
  return info.st_size;
}

Status read_chunks(const std::string& path,
                   const std::function<Status(std::span<const std::byte>)>& take,
                   const std::function<bool()>& should_stop) {
  // Plain reads, not a mapping: a bad disk then is an error and not a signal.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return status_from_errno(errno, path);
  std::vector<std::byte> buffer(size_t{1} << 20);
  for (;;) {
    if (should_stop && should_stop()) return cancelled("reading " + path + " was interrupted");
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return status_from_errno(errno, "cannot read " + path);
    if (got == 0) return {};
    SOTTO_RETURN_IF_ERROR(take(std::span(buffer).first(static_cast<size_t>(got))));
  }
}

Result<std::string> read_text_file(const std::string& path, int64_t limit) {
  std::string text;
  const auto append = [&](std::span<const std::byte> bytes) -> Status {
    text.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (static_cast<int64_t>(text.size()) <= limit) return {};
    return corrupt(path + ": larger than " + format_bytes(limit));
  };
  SOTTO_RETURN_IF_ERROR(read_chunks(path, append, nullptr));
  return text;
}

Status make_folders(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return store_error(error.value(), "cannot create", path, -1);
  return {};
}

Status write_file_atomically(const std::string& path, std::string_view text) {
  const std::string temporary = path + ".new";
  {
    const Descriptor file(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (file.get() < 0) return store_error(errno, "cannot create", temporary, -1);
    for (std::string_view rest = text; !rest.empty();) {
      const ssize_t put = ::write(file.get(), rest.data(), rest.size());
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) {
        return store_error(errno, "cannot write", temporary, static_cast<int64_t>(rest.size()));
      }
      rest.remove_prefix(static_cast<size_t>(put));
    }
    if (::fsync(file.get()) != 0) return store_error(errno, "cannot write", temporary, -1);
  }
  return rename_path(temporary, path);
}

Status sync_folder(const std::string& path) {
  const Descriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0) return store_error(errno, "cannot open", path, -1);
  // Some file systems cannot sync a folder and say EINVAL; their renames are as durable as it gets.
  if (::fsync(folder.get()) != 0 && errno != EINVAL) {
    return store_error(errno, "cannot write", path, -1);
  }
  return {};
}

Status rename_path(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) return store_error(errno, "cannot create", to, -1);
  return {};
}

Status remove_tree(const std::string& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) return store_error(error.value(), "cannot delete", path, -1);
  return {};
}

Result<std::vector<std::string>> folder_entries(const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entries(path, error);
  if (error == std::errc::no_such_file_or_directory) return names;
  for (const fs::directory_iterator end; !error && entries != end; entries.increment(error)) {
    names.push_back(entries->path().filename().string());
  }
  if (error) return status_from_errno(error.value(), "cannot list " + path);
  std::sort(names.begin(), names.end());
  return names;
}

int64_t tree_bytes(const std::string& path) {
  int64_t sum = 0;
  std::error_code error;
  fs::recursive_directory_iterator entries(path, error);
  for (const fs::recursive_directory_iterator end; !error && entries != end;
       entries.increment(error)) {
    sum += std::max<int64_t>(0, file_bytes(entries->path().string()));
  }
  return sum;
}

int64_t available_bytes(const std::string& path) {
  fs::path place = fs::path(path).lexically_normal();
  struct statvfs info {};
  while (::statvfs(place.c_str(), &info) != 0) {
    if (errno != ENOENT || !place.has_relative_path()) return -1;
    place = place.has_parent_path() ? place.parent_path() : fs::path(".");
  }
  return static_cast<int64_t>(info.f_bavail) * static_cast<int64_t>(info.f_frsize);
}

int64_t add_bytes(int64_t a, int64_t b) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  return a > kMost - b ? kMost : a + b;
}

std::string format_bytes(int64_t bytes) {
  constexpr std::array<const char*, 4> kUnits = {"kB", "MB", "GB", "TB"};
  if (bytes < 1000) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1000;
  size_t unit = 0;
  while (value >= 999.95 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

Status store_error(int error_number, std::string_view what, const std::string& path,
                   int64_t needed) {
  Status status = status_from_errno(error_number, fmt::format("{} {}", what, path));
  std::string message = status.message();
  switch (status.code()) {
    case StatusCode::kNoSpace: {
      const int64_t available = available_bytes(path);
      if (needed >= 0) message += fmt::format("; {} more are needed", format_bytes(needed));
      if (available >= 0) message += fmt::format(", {} are free", format_bytes(available));
      message += "\nmake room there, or set SOTTO_HOME to a folder on a larger disk";
      break;
    }
    case StatusCode::kPermissionDenied:
      message += "\nset SOTTO_HOME to a folder that you may write to";
      break;
    default:
      break;
  }
  return {status.code(), std::move(message)};
}

}  // namespace sotto::registry
