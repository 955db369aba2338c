// vocab.json + merges.txt (GPT-2), vocabulary.txt/.json (CTranslate2) and the vocabulary of a ggml
// file.
#include "base/json.h"
#include "tokenizer/load/build.h"
#include "tokenizer/load/load.h"
#include "tokenizer/whisper_tokens.h"

namespace sotto::tokenizer {
namespace {

/// Calls `use(line)` for each line without its end; a last line that is empty is none.
template <typename Use>
Status for_each_line(std::string_view text, Use use) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    SOTTO_RETURN_IF_ERROR(use(line));
  }
  return {};
}

Status read_merges_txt(std::string_view text, BpeData& data) {
  return for_each_line(text, [&data](std::string_view line) -> Status {
    // The version line comes first; "#" also begins real merges.
    if (line.empty() || (data.merges.empty() && line.starts_with("#version"))) return {};
    return add_merge_line(data, line);
  });
}

Result<std::unique_ptr<Tokenizer>> build_from_ranks(BpeData data, Status status,
                                                    std::string_view name) {
  if (!status.ok()) return status.with_context(name);
  mark_special_tokens(data);
  auto tokenizer = build(std::move(data));
  if (!tokenizer.ok()) return tokenizer.status().with_context(name);
  return tokenizer;
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> from_vocab_and_merges(std::string_view vocab_json,
                                                         std::string_view merges_txt) {
  SOTTO_ASSIGN_OR_RETURN(const nlohmann::json vocabulary, parse_json(vocab_json, "vocab.json"));
  BpeData data;
  Status status = add_vocabulary_object(data, vocabulary).with_context("vocab.json");
  if (status.ok()) status = read_merges_txt(merges_txt, data).with_context("merges.txt");
  if (status.ok() && data.merges.empty()) status = corrupt("merges.txt holds no merges");
  return build_from_ranks(std::move(data), std::move(status), "vocab.json and merges.txt");
}

Result<std::unique_ptr<Tokenizer>> from_ggml_vocabulary(const std::vector<std::string>& tokens,
                                                        int vocabulary_size) {
  SOTTO_ASSIGN_OR_RETURN(const WhisperTokens whisper, whisper_tokens(vocabulary_size));
  if (tokens.size() < static_cast<size_t>(whisper.eot)) {
    return corrupt("the ggml file lists " + std::to_string(tokens.size()) + " tokens; a model of " +
                   std::to_string(vocabulary_size) + " needs " + std::to_string(whisper.eot));
  }
  BpeData data;
  data.tokens.assign(tokens.begin(), tokens.begin() + whisper.eot);
  set_whisper_specials(whisper, data);
  return Tokenizer::create(std::move(data));
}

Result<std::unique_ptr<Tokenizer>> from_vocabulary_txt(std::string_view text) {
  BpeData data;
  int64_t id = 0;
  Status status = for_each_line(
      text, [&](std::string_view line) { return add_alphabet_token(data, id++, line); });
  return build_from_ranks(std::move(data), std::move(status), "vocabulary.txt");
}

Result<std::unique_ptr<Tokenizer>> from_vocabulary_json(std::string_view json_text) {
  SOTTO_ASSIGN_OR_RETURN(const nlohmann::json list, parse_json(json_text, "vocabulary.json"));
  BpeData data;
  Status status;
  if (!list.is_array()) status = corrupt("it is not a list of tokens");
  for (size_t id = 0; status.ok() && id < list.size(); ++id) {
    const auto* text = list[id].get_ptr<const std::string*>();
    status = text == nullptr ? corrupt("token " + std::to_string(id) + " is not text")
                             : add_alphabet_token(data, static_cast<int64_t>(id), *text);
  }
  return build_from_ranks(std::move(data), std::move(status), "vocabulary.json");
}

}  // namespace sotto::tokenizer
