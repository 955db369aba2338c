#include "tokenizer/load/build.h"

#include <utility>

#include "tokenizer/load/byte_alphabet.h"
#include "tokenizer/whisper_tokens.h"

namespace sotto::tokenizer {
namespace {

bool looks_special(std::string_view token) {
  return token.size() > 4 && token.starts_with("<|") && token.ends_with("|>");
}

/// Whisper's special tokens by the ids of two of them; false when `data` is another vocabulary.
bool find_whisper_tokens(const BpeData& data, WhisperTokens& tokens) {
  const auto sot = data.special.find("<|startoftranscript|>");
  const auto no_timestamps = data.special.find("<|notimestamps|>");
  if (sot == data.special.end() || no_timestamps == data.special.end()) return false;
  const auto found = whisper_tokens(no_timestamps->second + 1 + kWhisperTimestamps);
  if (!found.ok() || found->sot != sot->second) return false;
  tokens = *found;
  return true;
}

}  // namespace

Status add_token(BpeData& data, int64_t id, std::string bytes) {
  if (id < 0 || id >= kMaxVocabulary) {
    return corrupt("token id " + std::to_string(id) + " is outside of 0.." +
                   std::to_string(kMaxVocabulary - 1));
  }
  const auto index = static_cast<size_t>(id);
  if (index >= data.tokens.size()) data.tokens.resize(index + 1);
  if (!data.tokens[index].empty() && data.tokens[index] != bytes) {
    return corrupt("two tokens have id " + std::to_string(id));
  }
  data.tokens[index] = std::move(bytes);
  return {};
}

Status add_alphabet_token(BpeData& data, int64_t id, std::string_view text) {
  auto bytes = bytes_of_alphabet(text);
  if (!bytes) {
    return corrupt("token " + std::to_string(id) +
                   " is not written in the byte alphabet; only byte-level BPE is read");
  }
  return add_token(data, id, std::move(*bytes));
}

Status add_vocabulary_object(BpeData& data, const nlohmann::json& vocabulary) {
  if (!vocabulary.is_object()) return corrupt("the vocabulary is not an object of token: id");
  data.tokens.reserve(vocabulary.size());
  for (const auto& [text, id] : vocabulary.items()) {
    if (!id.is_number_integer()) return corrupt("the id of a token is not an integer");
    SOTTO_RETURN_IF_ERROR(add_alphabet_token(data, id.get<int64_t>(), text));
  }
  return {};
}

Status add_merge(BpeData& data, std::string_view left, std::string_view right) {
  auto left_bytes = bytes_of_alphabet(left);
  auto right_bytes = bytes_of_alphabet(right);
  if (!left_bytes || !right_bytes) {
    return corrupt("merge " + std::to_string(data.merges.size()) +
                   " is not written in the byte alphabet");
  }
  data.merges.emplace_back(std::move(*left_bytes), std::move(*right_bytes));
  return {};
}

Status add_merge_line(BpeData& data, std::string_view line) {
  const size_t space = line.find(' ');
  if (space == 0 || space == std::string_view::npos || space + 1 == line.size()) {
    return corrupt("merge " + std::to_string(data.merges.size()) +
                   " is not two tokens with a space between");
  }
  return add_merge(data, line.substr(0, space), line.substr(space + 1));
}

void mark_special_tokens(BpeData& data) {
  for (size_t id = 0; id < data.tokens.size(); ++id) {
    if (looks_special(data.tokens[id])) data.special.emplace(data.tokens[id], static_cast<int>(id));
  }
}

Result<std::unique_ptr<Tokenizer>> build(BpeData data) {
  if (WhisperTokens tokens; find_whisper_tokens(data, tokens)) {
    set_whisper_specials(tokens, data);
    // Whisper's ids are the ranks it was trained with. Hugging Face's list of merges for the
    // multilingual vocabulary lacks the first, " t", so that " they" would come out in pieces that
    // the model never saw.
    data.merges.clear();
  }
  return Tokenizer::create(std::move(data));
}

}  // namespace sotto::tokenizer
