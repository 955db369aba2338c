#include "sotto/convert.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "models/convert/checkpoint.h"
#include "models/convert/side_files.h"
#include "models/convert/targets.h"
#include "models/formats/output_file.h"

namespace sotto {
namespace {

namespace fs = std::filesystem;
using convert::Checkpoint;
using convert::Target;
using models::FileFormat;

/// Refuses what would be overwritten before any work is done.
Status check_output(const fs::path& output, const Target& target, bool overwrite) {
  std::error_code error;
  const bool is_folder = fs::is_directory(output, error);
  if (target.format == FileFormat::kGgml) {
    if (is_folder) {
      return invalid_argument(output.string() + " is a folder\nname the file to write, e.g. " +
                              (output / "ggml-model.bin").string());
    }
  } else if (!is_folder && fs::exists(output, error)) {
    return invalid_argument(output.string() + " is a file\nname a folder to write the model to");
  }
  if (overwrite) return {};
  for (const std::string& name : convert::output_files(target.format)) {
    const fs::path file = name.empty() ? output : output / name;
    if (fs::exists(file, error)) {
      return invalid_argument(file.string() +
                              " exists already\nname another output, or replace it with --force");
    }
  }
  return {};
}

/// A folder beside `output` in which a model grows until it is complete.
class Staging {
 public:
  explicit Staging(const fs::path& output) : output_(output), folder_(output) {
    if (!folder_.has_filename()) folder_ = folder_.parent_path();  // "out/"
    folder_ += ".partial";
  }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  ~Staging() {
    std::error_code error;
    fs::remove_all(folder_, error);
  }

  [[nodiscard]] const fs::path& folder() const { return folder_; }

  [[nodiscard]] Status create() const {
    std::error_code error;
    fs::create_directories(folder_, error);
    return error ? status_from_errno(error.value(), "cannot create the folder " + folder_.string())
                 : Status();
  }

  /// Gives the files their final names. A folder that is new appears in one step; into one that
  /// exists the weights, which come first in `names`, are moved last.
  [[nodiscard]] Status commit(const std::vector<std::string>& names) const {
    std::error_code error;
    if (!fs::exists(output_, error)) {
      fs::rename(folder_, output_, error);
    } else {
      for (auto name = names.rbegin(); name != names.rend() && !error; ++name)
        fs::rename(folder_ / *name, output_ / *name, error);
    }
    return error ? status_from_errno(error.value(), "cannot write to " + output_.string())
                 : Status();
  }

 private:
  fs::path output_, folder_;
};

Status write_text(const fs::path& path, std::string_view text) {
  SOTTO_ASSIGN_OR_RETURN(models::OutputFile out, models::OutputFile::create(path.string()));
  SOTTO_RETURN_IF_ERROR(out.write(text));
  return out.commit();
}

/// The text of a file beside the source's weights, else `derived()`.
Result<std::string> kept_or(const Checkpoint& checkpoint, const std::string& name,
                            const std::function<std::string(const Checkpoint&)>& derived) {
  std::error_code error;
  const fs::path path = fs::path(checkpoint.folder) / name;
  if (checkpoint.folder.empty() || !fs::is_regular_file(path, error)) return derived(checkpoint);
  SOTTO_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path.string()));
  return std::string(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
}

Result<std::string> side_file(const Checkpoint& checkpoint, const Target& target,
                              const std::string& name) {
  if (name == "config.json") {
    if (target.format == FileFormat::kCTranslate2) return convert::ctranslate2_config(checkpoint);
    return convert::transformers_config(checkpoint, target.encoding.rest);
  }
  if (name == "vocabulary.json") return convert::ctranslate2_vocabulary(checkpoint);
  if (name == "preprocessor_config.json") return convert::preprocessor_config(checkpoint);
  if (name == "tokenizer.json")
    return kept_or(checkpoint, "tokenizer.json", convert::tokenizer_json);
  // What Transformers wrote is kept, as it may hold more than sotto knows.
  using Derive = std::string (*)(const Checkpoint&);
  static constexpr std::pair<std::string_view, Derive> kTransformersFiles[] = {
      {"generation_config.json", convert::transformers_generation_config},
      {"tokenizer_config.json", convert::transformers_tokenizer_config},
      {"vocab.json", convert::transformers_vocabulary},
      {"merges.txt", convert::transformers_merges},
      {"added_tokens.json", convert::transformers_added_tokens}};
  const auto* file =
      std::ranges::find(kTransformersFiles, name, [](const auto& row) { return row.first; });
  if (checkpoint.file.format != FileFormat::kSafetensors) return file->second(checkpoint);
  return kept_or(checkpoint, name, file->second);
}

Result<int64_t> write_weights(const Checkpoint& checkpoint, FileFormat format,
                              const convert::WeightsRequest& request) {
  switch (format) {
    case FileFormat::kCTranslate2:
      return convert::write_ctranslate2_checkpoint(checkpoint, request);
    case FileFormat::kSafetensors:
      return convert::write_transformers_checkpoint(checkpoint, request);
    default:
      return convert::write_ggml_checkpoint(checkpoint, request);
  }
}

Result<int64_t> write_folder(const Checkpoint& checkpoint, const Target& target,
                             const std::string& output, const ConvertOptions& options) {
  const std::vector<std::string> names = convert::output_files(target.format);
  const Staging staging(output);
  SOTTO_RETURN_IF_ERROR(staging.create());
  SOTTO_ASSIGN_OR_RETURN(const int64_t tensors,
                         write_weights(checkpoint, target.format,
                                       {(staging.folder() / names[0]).string(), target.encoding,
                                        options.should_stop}));
  for (const std::string& name : std::span(names).subspan(1)) {
    SOTTO_ASSIGN_OR_RETURN(const std::string text, side_file(checkpoint, target, name));
    SOTTO_RETURN_IF_ERROR(write_text(staging.folder() / name, text));
  }
  SOTTO_RETURN_IF_ERROR(staging.commit(names));
  return tensors;
}

}  // namespace

Result<ConvertResult> convert_model(const std::string& input, const std::string& output,
                                    const ConvertOptions& options) {
  SOTTO_ASSIGN_OR_RETURN(const Target target, convert::parse_target(options));
  if (output.empty()) return invalid_argument("no output is named");
  SOTTO_RETURN_IF_ERROR(check_output(output, target, options.overwrite));
  SOTTO_ASSIGN_OR_RETURN(const Checkpoint checkpoint, convert::open_checkpoint(input));

  ConvertResult result;
  if (target.format == FileFormat::kGgml) {
    SOTTO_ASSIGN_OR_RETURN(
        result.tensors,
        write_weights(checkpoint, target.format, {output, target.encoding, options.should_stop}));
  } else {
    SOTTO_ASSIGN_OR_RETURN(result.tensors, write_folder(checkpoint, target, output, options));
  }
  for (const std::string& name : convert::output_files(target.format))
    result.files.push_back(name.empty() ? output : (fs::path(output) / name).string());
  std::error_code error;
  result.bytes = static_cast<int64_t>(fs::file_size(result.files[0], error));
  return result;
}

}  // namespace sotto
