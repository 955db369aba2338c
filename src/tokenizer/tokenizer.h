// Byte-level BPE as GPT-2 and Whisper use it: text <-> token ids. Knows no file formats (see
// load/).
#ifndef SOTTO_TOKENIZER_TOKENIZER_H_
#define SOTTO_TOKENIZER_TOKENIZER_H_

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sotto/status.h"

namespace sotto::tokenizer {

/// How text is split before merging.
enum class PreTokenizer {
  kGpt2,  ///< Contractions, letters, digits, other, white space (GPT-2, Whisper)
};

/// What a tokenizer is built from. Merges are given either as ranks of the merged token (lower
/// merges first; Whisper's ids of ordinary tokens are such ranks) or as an explicit list of pairs.
struct BpeData {
  std::vector<std::string> tokens;               ///< Raw bytes by id; special tokens included
  std::unordered_map<std::string, int> special;  ///< Literal text -> id, never produced by encode()
  std::vector<std::pair<std::string, std::string>> merges;  ///< Raw bytes; empty: rank is the id
  PreTokenizer pre = PreTokenizer::kGpt2;
};

class Tokenizer {
 public:
  static Result<std::unique_ptr<Tokenizer>> create(BpeData data);

  /// Ids of `text`; special tokens written out in it are encoded as ordinary text. Invalid UTF-8 is
  /// encoded bytewise.
  [[nodiscard]] std::vector<int> encode(std::string_view text) const;
  /// Bytes of the ids, special tokens left out. May end inside a UTF-8 character.
  [[nodiscard]] std::string decode(std::span<const int> ids) const;
  /// Raw bytes of one token; the literal text of a special token; "" when out of range.
  [[nodiscard]] std::string_view token_bytes(int id) const;
  /// Id of a special token by its literal text, or -1.
  [[nodiscard]] int special_id(std::string_view literal) const;
  [[nodiscard]] bool is_special(int id) const;
  [[nodiscard]] int vocabulary_size() const;

 private:
  Tokenizer() = default;
  BpeData data_;
  std::unordered_map<std::string_view, int> id_of_;
  std::unordered_map<std::string, int> merge_rank_;
};

}  // namespace sotto::tokenizer

#endif  // SOTTO_TOKENIZER_TOKENIZER_H_
