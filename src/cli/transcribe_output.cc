#include "cli/transcribe_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>

namespace sotto::cli {
namespace {

namespace fs = std::filesystem;

/// Name of the documents of one input, without extension.
fs::path output_stem(const TranscribeArgs& args, size_t input, bool keep_extension) {
  if (input < args.output_names.size())
    return fs::path(args.output_folder) / args.output_names[input];
  const bool is_stdin = args.inputs[input] == kStandardStream;
  const fs::path source = is_stdin ? fs::path("stdin") : fs::path(args.inputs[input]);
  const fs::path name = keep_extension ? source.filename() : source.stem();
  const bool beside_input = keep_extension && args.output_folder.empty();
  return (beside_input ? source.parent_path() : fs::path(args.output_folder)) / name;
}

bool goes_to_stdout(const TranscribeArgs& args, size_t input) {
  if (input < args.output_names.size()) return args.output_names[input] == kStandardStream;
  return args.output_folder == kStandardStream;
}

/// The same text for all spellings of one place.
std::string place(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  const fs::path whole = fs::weakly_canonical(absolute, error);
  return error ? absolute.lexically_normal().string() : whole.string();
}

/// Creates a file of a new name in `folder`; the caller owns the descriptor.
Result<int> create_temporary(const fs::path& folder, std::string& path) {
  path = (folder.empty() ? fs::path(".") : folder) / ".sotto-XXXXXX";
  const int descriptor = ::mkostemp(path.data(), O_CLOEXEC);
  if (descriptor < 0)
    return status_from_errno(errno, fmt::format("cannot write into '{}'", folder.string()));
  return descriptor;
}

Status write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return status_from_errno(errno, "write");
    content.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

/// mkostemp makes files for the owner alone; results get the mode that a plainly created file would
/// have.
mode_t default_file_mode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return static_cast<mode_t>(0666 & ~mask);
}

}  // namespace

Result<std::vector<std::vector<OutputFile>>> plan_outputs(const TranscribeArgs& args) {
  std::set<std::string> sources;
  for (const std::string& input : args.inputs) {
    if (input != kStandardStream) sources.insert(place(input));
  }
  std::vector<std::vector<OutputFile>> plan(args.inputs.size());
  std::map<std::string, std::string> owners;  // place of an output -> its input
  for (size_t i = 0; i < args.inputs.size(); ++i) {
    for (const OutputRequest& request : args.outputs) {
      if (goes_to_stdout(args, i)) {
        plan[i].push_back({request.format, std::string(kStandardStream)});
        continue;
      }
      fs::path path = output_stem(args, i, request.keep_extension);
      path += fmt::format(".{}", transcript::file_extension(request.format));
      if (sources.contains(place(path))) {
        return invalid_argument(
            fmt::format("the output '{}' would overwrite an input; give -o or -of", path.string()));
      }
      const auto [owner, is_new] = owners.emplace(place(path), args.inputs[i]);
      if (!is_new) {
        return invalid_argument(
            fmt::format("'{}' and '{}' would both be written to '{}'; name the outputs with -of, "
                        "or run them apart",
                        owner->second, args.inputs[i], path.string()));
      }
      plan[i].push_back({request.format, path.string()});
    }
  }
  return plan;
}

Status prepare_outputs(const std::vector<std::vector<OutputFile>>& plan) {
  std::set<fs::path> checked;
  for (const std::vector<OutputFile>& files : plan) {
    for (const OutputFile& file : files) {
      if (file.path == kStandardStream) continue;
      std::error_code error;
      if (fs::is_directory(file.path, error)) {
        return io_error(fmt::format("cannot write '{}': a folder has that name", file.path));
      }
      if (error == std::errc::filename_too_long) {
        return io_error(fmt::format(
            "cannot write '{}': the name is too long; give a shorter one with -of", file.path));
      }
      error.clear();
      const fs::path folder = fs::path(file.path).parent_path();
      if (!checked.insert(folder).second) continue;
      if (!folder.empty()) fs::create_directories(folder, error);
      if (error)
        return status_from_errno(error.value(),
                                 fmt::format("cannot make the folder '{}'", folder.string()));
      std::string probe;
      SOTTO_ASSIGN_OR_RETURN(const int descriptor, create_temporary(folder, probe));
      ::close(descriptor);
      ::unlink(probe.c_str());
    }
  }
  return {};
}

Status write_file(const std::string& path, std::string_view content) {
  std::string temporary;
  SOTTO_ASSIGN_OR_RETURN(const int descriptor,
                         create_temporary(fs::path(path).parent_path(), temporary));
  Status status = write_all(descriptor, content);
  if (::fchmod(descriptor, default_file_mode()) != 0 && status.ok())
    status = status_from_errno(errno, "chmod");
  if (::close(descriptor) != 0 && status.ok()) status = status_from_errno(errno, "close");
  if (status.ok() && ::rename(temporary.c_str(), path.c_str()) != 0)
    status = status_from_errno(errno, "rename");
  if (!status.ok()) ::unlink(temporary.c_str());
  return status.with_context(fmt::format("cannot write '{}'", path));
}

std::string partial_path(const std::string& path) {
  const fs::path whole(path);
  fs::path partial = whole.parent_path() / whole.stem();
  partial += ".partial";
  partial += whole.extension();
  return partial.string();
}

}  // namespace sotto::cli
