// Byte-level BPE as GPT-2 and Whisper use it: text <-> token ids. Knows no file formats (see
// load/).
#ifndef SOTTO_TOKENIZER_TOKENIZER_H_
#define SOTTO_TOKENIZER_TOKENIZER_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sotto/status.h"

namespace sotto::tokenizer {

/// What a tokenizer is built from. Merges are given either as ranks of the merged token (lower
/// merges first; Whisper's ids of ordinary tokens are such ranks) or as an explicit list of pairs.
struct BpeData {
  std::vector<std::string> tokens;  ///< Raw bytes by id; special tokens included; "" is a hole
  std::unordered_map<std::string, int> special;  ///< Literal text -> id, never produced by encode()
  std::vector<std::pair<std::string, std::string>> merges;  ///< Raw bytes; empty: rank is the id
};

class Tokenizer {
 public:
  /// kCorrupt when one of the 256 bytes has no token (encode() could not write every text), when a
  /// merge names or makes a token that is not there, or when a special id is out of range.
  static Result<std::unique_ptr<Tokenizer>> create(BpeData data);

  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  /// Ids of `text`; special tokens written out in it are encoded as ordinary text. Invalid UTF-8 is
  /// encoded bytewise.
  [[nodiscard]] std::vector<int> encode(std::string_view text) const;
  /// Bytes of the ids, special tokens left out. May end inside a UTF-8 character (see base/utf8.h,
  /// Utf8Stream).
  [[nodiscard]] std::string decode(std::span<const int> ids) const;
  /// Raw bytes of one token; the literal text of a special token; "" when out of range.
  [[nodiscard]] std::string_view token_bytes(int id) const;
  /// Id of a special token by its literal text, or -1.
  [[nodiscard]] int special_id(std::string_view literal) const;
  [[nodiscard]] bool is_special(int id) const;
  [[nodiscard]] int vocabulary_size() const;

 private:
  struct Merge {
    int rank = 0;  ///< Lower is merged first
    int id = 0;    ///< Of the merged token
  };
  struct Symbol;  // A token in the making: see tokenizer.cc
  struct Workspace;

  Tokenizer() = default;
  Status index_tokens();
  Status index_merges(std::span<const std::pair<std::string, std::string>> merges);
  [[nodiscard]] std::optional<Merge> find_merge(std::string_view piece, const Symbol& left,
                                                const Symbol& right) const;
  void propose(std::string_view piece, int left, int right, Workspace& work) const;
  void merge_symbols(std::string_view piece, Workspace& work) const;
  void encode_piece(std::string_view piece, Workspace& work, std::vector<int>& ids) const;

  std::vector<std::string> tokens_;
  std::vector<bool> special_;
  std::map<std::string, int, std::less<>> special_ids_;
  std::unordered_map<std::string_view, int> id_of_;  // ordinary tokens; views into tokens_
  std::unordered_map<uint64_t, Merge> merges_;  // left id << 32 | right id; empty: rank is the id
  std::array<int, 256> byte_ids_{};
};

}  // namespace sotto::tokenizer

#endif  // SOTTO_TOKENIZER_TOKENIZER_H_
