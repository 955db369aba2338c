#include "cli/run_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/json.h"

namespace sotto::cli {
namespace {

namespace fs = std::filesystem;

/// Only what this user alone can write tells the truth about servers.
bool is_own_folder(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::getuid() &&
         (info.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/// The process lives and is a server: its number may have come to mean another program.
bool is_server(int pid) {
  std::ifstream file(fmt::format("/proc/{}/cmdline", pid));
  const std::string words((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return pid > 0 && words.find(std::string("\0serve\0", 7)) != std::string::npos;
}

RunningServer read_note(const fs::path& path) {
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const Result<nlohmann::json> json = parse_json(text, path.string());
  RunningServer server;
  if (!json.ok()) return server;
  if (const std::string* url = json_string(*json, "url")) server.url = *url;
  if (const std::string* version = json_string(*json, "version")) server.version = *version;
  const nlohmann::json* pid = json_member(*json, "pid");
  if (pid != nullptr && pid->is_number_integer()) server.pid = pid->get<int>();
  return server;
}

}  // namespace

std::string run_folder() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime != '\0') return std::string(runtime) + "/sotto";
  return {};
}

Status RunFile::write(const RunningServer& server) {
  const std::string folder = run_folder();
  if (folder.empty()) return {};
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return status_from_errno(errno, folder);
  if (!is_own_folder(folder))
    return invalid_argument(folder + ": is not a folder of this user's alone");
  const std::string path = fmt::format("{}/serve-{}.json", folder, server.pid);
  const std::string text =
      nlohmann::json{{"url", server.url}, {"pid", server.pid}, {"version", server.version}}.dump();
  // Whole or not at all: readers may come at any time.
  const std::string temporary = path + ".new";
  {
    std::ofstream file(temporary, std::ios::trunc);
    file << text << "\n";
    if (!file.flush()) return status_from_errno(errno, temporary);
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) return status_from_errno(errno, path);
  path_ = path;
  return {};
}

void RunFile::remove() {
  if (!path_.empty()) ::unlink(path_.c_str());
  path_.clear();
}

std::vector<RunningServer> running_servers() {
  std::vector<std::pair<fs::file_time_type, RunningServer>> found;
  const std::string folder = run_folder();
  if (!is_own_folder(folder)) return {};
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("serve-") || !name.ends_with(".json")) continue;
    RunningServer server = read_note(entry.path());
    if (is_server(server.pid) && !server.url.empty()) {
      found.emplace_back(entry.last_write_time(error), std::move(server));
    } else {
      fs::remove(entry.path(), error);
    }
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<RunningServer> servers;
  for (auto& [time, server] : found)
    servers.push_back(std::move(server));
  return servers;
}

}  // namespace sotto::cli
