// Files that are on this machine already.
#include <filesystem>

#include "models/registry/fetch.h"
#include "models/registry/files.h"
#include "models/registry/identify.h"
#include "models/registry/names.h"
#include "models/registry/partial_file.h"

namespace sotto::registry {
namespace {

/// Paths of the files to copy.
Result<std::vector<std::string>> model_files(const std::string& path) {
  SOTTO_RETURN_IF_ERROR(identify_model(path).status());
  if (!is_folder(path)) {
    if (!self_contained_ending(path).empty()) return std::vector<std::string>{path};
    return invalid_argument(path + ": needs the other files of its folder\ngive that folder");
  }
  SOTTO_ASSIGN_OR_RETURN(const std::vector<std::string> names, folder_entries(path));
  std::vector<std::string> files;
  for (const std::string& name : names) {
    const std::string file = path + "/" + name;
    if (is_model_file_name(name) && is_plain_file_name(name) && file_bytes(file) >= 0) {
      files.push_back(file);
    }
  }
  return files;
}

Result<ModelFile> copy_file(const std::string& from, FetchContext& context) {
  std::string name = std::filesystem::path(from).filename().string();
  // In a folder weights are found by their ending; blobs of a cache have none.
  if (!is_model_file_name(name)) name += self_contained_ending(from);
  if (!is_plain_file_name(name)) {
    return invalid_argument("'" + name + "' is not a usable file name\nrename it");
  }
  const int64_t bytes = file_bytes(from);
  if (bytes < 0) return invalid_argument(from + ": is not a file");
  SOTTO_ASSIGN_OR_RETURN(PartialFile copy,
                         PartialFile::open(context.staging + "/" + name, "", nullptr));
  SOTTO_RETURN_IF_ERROR(copy.restart());
  context.progress.begin_file(name, "", bytes);
  const auto take = [&](std::span<const std::byte> chunk) -> Status {
    SOTTO_RETURN_IF_ERROR(copy.append(chunk, bytes - copy.size()));
    context.progress.advance(copy.size());
    return {};
  };
  SOTTO_RETURN_IF_ERROR(
      read_chunks(from, take, [&context] { return context.progress.should_stop(); }));
  ModelFile file{name, copy.size(), copy.sha256(), "first pull"};
  context.progress.end_file(file.bytes);
  SOTTO_RETURN_IF_ERROR(copy.finish());
  return file;
}

Result<std::vector<ModelFile>> copy_files(const std::string& path, FetchContext& context) {
  SOTTO_ASSIGN_OR_RETURN(const std::vector<std::string> paths, model_files(path));
  int64_t bytes = 0;
  for (const std::string& file : paths)
    bytes += file_bytes(file);
  SOTTO_RETURN_IF_ERROR(check_space(bytes, context));
  std::vector<ModelFile> files;
  for (const std::string& file : paths) {
    SOTTO_ASSIGN_OR_RETURN(files.emplace_back(), copy_file(file, context));
  }
  return files;
}

}  // namespace

FetchOutcome fetch_local(const std::string& path, FetchContext& context) {
  FetchOutcome outcome;
  Result<std::vector<ModelFile>> files = copy_files(path, context);
  outcome.status = files.status();
  if (files.ok()) outcome.files = std::move(*files);
  return outcome;
}

}  // namespace sotto::registry
