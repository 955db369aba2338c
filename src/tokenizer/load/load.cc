#include "tokenizer/load/load.h"

#include <filesystem>
#include <system_error>

#include "base/mapped_file.h"

namespace sotto::tokenizer {
namespace {

namespace fs = std::filesystem;

std::string_view text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

fs::path folder_of(const std::string& model_path) {
  std::error_code error;
  const fs::path path(model_path);
  return fs::is_directory(path, error) ? path : path.parent_path();
}

using TokenizerResult = Result<std::unique_ptr<Tokenizer>>;

template <typename Read>
TokenizerResult read_file(const fs::path& path, Read read) {
  SOTTO_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path.string()));
  return read(text_of(file));
}

TokenizerResult read_vocabulary(const fs::path& folder) {
  if (is_file(folder / "vocabulary.txt")) {
    return read_file(folder / "vocabulary.txt", from_vocabulary_txt);
  }
  return read_file(folder / "vocabulary.json", from_vocabulary_json);
}

TokenizerResult read_vocab_and_merges(const fs::path& folder) {
  return read_file(folder / "vocab.json", [&folder](std::string_view vocab) {
    return read_file(folder / "merges.txt", [vocab](std::string_view merges) {
      return from_vocab_and_merges(vocab, merges);
    });
  });
}

TokenizerResult read_folder(const fs::path& folder, bool ctranslate2) {
  // CTranslate2's own list goes first: the weights are indexed by it, and it loads ten times
  // faster.
  const bool has_vocabulary =
      is_file(folder / "vocabulary.txt") || is_file(folder / "vocabulary.json");
  if (ctranslate2 && has_vocabulary) return read_vocabulary(folder);
  if (is_file(folder / "tokenizer.json")) {
    return read_file(folder / "tokenizer.json", from_tokenizer_json);
  }
  if (is_file(folder / "vocab.json") && is_file(folder / "merges.txt")) {
    return read_vocab_and_merges(folder);
  }
  return not_found(
      "no tokenizer beside the model: put its tokenizer.json there (or vocab.json and merges.txt, "
      "or the vocabulary.txt or vocabulary.json that CTranslate2 writes)");
}

/// n_vocab of a ggml header; -1 when the reader did not store it.
int ggml_vocabulary_size(const models::ModelFile& model) {
  const auto found = model.metadata.find("n_vocab");
  if (found == model.metadata.end()) return -1;
  if (const auto* value = std::get_if<int64_t>(&found->second)) return static_cast<int>(*value);
  if (const auto* value = std::get_if<uint64_t>(&found->second)) return static_cast<int>(*value);
  return -1;
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> load_for_model(const models::ModelFile& model) {
  const fs::path folder = folder_of(model.path);
  auto tokenizer = model.vocabulary.empty()
                       ? read_folder(folder, model.format == models::FileFormat::kCTranslate2)
                       : from_ggml_vocabulary(model.vocabulary, ggml_vocabulary_size(model));
  if (!tokenizer.ok()) return tokenizer.status().with_context(model.path);
  return tokenizer;
}

}  // namespace sotto::tokenizer
