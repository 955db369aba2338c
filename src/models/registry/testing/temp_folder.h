// A folder that a test may fill, gone at its end; and the environment as it was before.
#ifndef SOTTO_MODELS_REGISTRY_TESTING_TEMP_FOLDER_H_
#define SOTTO_MODELS_REGISTRY_TESTING_TEMP_FOLDER_H_

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>

namespace sotto::registry {

class TempFolder {
 public:
  TempFolder() {
    std::string pattern = ::testing::TempDir() + "sotto-registry-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  /// Writes a file, with the folders above it; its path.
  std::string write(const std::string& name, const std::string& content) const {
    const std::filesystem::path path = *this / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
    return path.string();
  }
  [[nodiscard]] std::string read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(*this / name, std::ios::binary).rdbuf();
    return text.str();
  }

 private:
  std::string path_;
};

/// Sets variables of the environment until the end of its scope.
class ScopedEnvironment {
 public:
  ScopedEnvironment() = default;
  ~ScopedEnvironment() {
    for (const auto& [name, value] : before_) {
      if (value.has_value()) {
        ::setenv(name.c_str(), value->c_str(), 1);
      } else {
        ::unsetenv(name.c_str());
      }
    }
  }
  ScopedEnvironment(const ScopedEnvironment&) = delete;
  ScopedEnvironment& operator=(const ScopedEnvironment&) = delete;

  void set(const std::string& name, const std::string& value) {
    remember(name);
    ::setenv(name.c_str(), value.c_str(), 1);
  }
  void unset(const std::string& name) {
    remember(name);
    ::unsetenv(name.c_str());
  }

 private:
  void remember(const std::string& name) {
    if (before_.count(name) > 0) return;
    const char* value = ::getenv(name.c_str());
    before_[name] = value == nullptr ? std::nullopt : std::optional<std::string>(value);
  }

  std::map<std::string, std::optional<std::string>> before_;
};

}  // namespace sotto::registry

#endif  // SOTTO_MODELS_REGISTRY_TESTING_TEMP_FOLDER_H_
