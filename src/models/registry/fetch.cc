#include "models/registry/fetch.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/registry/files.h"
#include "models/registry/partial_file.h"
#include "models/registry/sha256.h"

namespace sotto::registry {

Result<std::optional<ModelFile>> take_staged_file(const SourceFile& file, FetchContext& context) {
  const std::string path = context.staging + "/" + file.name;
  const int64_t bytes = file_bytes(path);
  const std::string expected = file.sha256.empty() ? PartialFile::noted_sha256(path) : file.sha256;
  if (bytes < 0 || expected.empty()) return std::optional<ModelFile>();
  const auto should_stop = [&context] { return context.progress.should_stop(); };
  SOTTO_ASSIGN_OR_RETURN(const std::string sum, sha256_of_file(path, should_stop));
  if (sum != expected) return std::optional<ModelFile>();
  const char* hash_from = file.sha256.empty() ? "hub" : "catalogue";
  return std::optional<ModelFile>(ModelFile{file.name, bytes, sum, hash_from});
}

Status check_space(int64_t bytes, const FetchContext& context) {
  const int64_t available = available_bytes(context.staging);
  if (bytes < 0 || available < 0 || bytes <= available) return {};
  return {StatusCode::kNoSpace,
          fmt::format("{}: not enough room: {} are needed, {} are free\n"
                      "make room there, or set SOTTO_HOME to a folder on a larger disk",
                      context.staging, format_bytes(bytes), format_bytes(available))};
}

int64_t missing_bytes(const Source& source, const FetchContext& context) {
  int64_t sum = 0;
  for (const SourceFile& file : source.files) {
    const std::string path = context.staging + "/" + file.name;
    const int64_t there = std::max(file_bytes(path), file_bytes(path + ".part"));
    sum = add_bytes(sum, std::max<int64_t>(0, file.bytes - std::max<int64_t>(0, there)));
  }
  return sum;
}

}  // namespace sotto::registry
