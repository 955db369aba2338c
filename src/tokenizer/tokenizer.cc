#include "tokenizer/tokenizer.h"

#include <algorithm>
#include <limits>
#include <queue>

#include "tokenizer/pre_tokenizer.h"

namespace sotto::tokenizer {

/// One link of the chain of tokens that a piece consists of while it is being merged.
struct Tokenizer::Symbol {
  int id = 0;
  uint32_t begin = 0, end = 0;   ///< Bytes of the piece
  int previous = -1, next = -1;  ///< Neighbours in the chain, -1 at its ends
  bool alive = true;             ///< false: merged into its left neighbour
};

/// Memory that the pieces of one text share.
struct Tokenizer::Workspace {
  struct Candidate {
    int rank, left, right, id;
    uint32_t end;  ///< Of the right symbol: tells a candidate whose symbols have changed since
  };
  struct Later {
    bool operator()(const Candidate& a, const Candidate& b) const {
      return a.rank != b.rank ? a.rank > b.rank : a.left > b.left;
    }
  };
  std::vector<Symbol> symbols;
  std::priority_queue<Candidate, std::vector<Candidate>, Later> queue;
};

namespace {

uint64_t pair_key(int left, int right) {
  return static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32U | static_cast<uint32_t>(right);
}

/// Longer pieces are cut: bounds the memory of hostile text; no real word comes near.
constexpr size_t kMaxPieceBytes = size_t{1} << 20U;

}  // namespace

Result<std::unique_ptr<Tokenizer>> Tokenizer::create(BpeData data) {
  if (data.tokens.size() > static_cast<size_t>(std::numeric_limits<int>::max())) {
    return corrupt("the vocabulary has more tokens than an int can count");
  }
  std::unique_ptr<Tokenizer> tokenizer(new Tokenizer);
  tokenizer->tokens_ = std::move(data.tokens);
  tokenizer->special_.resize(tokenizer->tokens_.size());
  for (auto& [literal, id] : data.special) {
    if (id < 0 || id >= tokenizer->vocabulary_size()) {
      return corrupt("special token " + literal + " has id " + std::to_string(id) +
                     ", outside of the vocabulary");
    }
    tokenizer->special_[static_cast<size_t>(id)] = true;
    tokenizer->special_ids_.emplace(literal, id);
  }
  SOTTO_RETURN_IF_ERROR(tokenizer->index_tokens());
  SOTTO_RETURN_IF_ERROR(tokenizer->index_merges(data.merges));
  return tokenizer;
}

Status Tokenizer::index_tokens() {
  id_of_.reserve(tokens_.size());
  for (int id = 0; id < vocabulary_size(); ++id) {
    const std::string& bytes = tokens_[static_cast<size_t>(id)];
    if (!bytes.empty() && !is_special(id)) id_of_.emplace(bytes, id);
  }
  for (size_t byte = 0; byte < byte_ids_.size(); ++byte) {
    const char c = static_cast<char>(byte);
    const auto found = id_of_.find(std::string_view(&c, 1));
    if (found == id_of_.end()) {
      return corrupt("the vocabulary has no token for byte " + std::to_string(byte) +
                     "; it is not a byte-level one");
    }
    byte_ids_[byte] = found->second;
  }
  return {};
}

Status Tokenizer::index_merges(std::span<const std::pair<std::string, std::string>> merges) {
  merges_.reserve(merges.size());
  for (size_t i = 0; i < merges.size(); ++i) {
    const auto& [left, right] = merges[i];
    const auto left_id = id_of_.find(left);
    const auto right_id = id_of_.find(right);
    const auto merged_id = id_of_.find(left + right);
    if (left_id == id_of_.end() || right_id == id_of_.end() || merged_id == id_of_.end()) {
      return corrupt("merge " + std::to_string(i) + " uses a token that is not in the vocabulary");
    }
    merges_.emplace(pair_key(left_id->second, right_id->second),
                    Merge{static_cast<int>(i), merged_id->second});
  }
  return {};
}

std::optional<Tokenizer::Merge> Tokenizer::find_merge(std::string_view piece, const Symbol& left,
                                                      const Symbol& right) const {
  if (!merges_.empty()) {
    const auto found = merges_.find(pair_key(left.id, right.id));
    return found == merges_.end() ? std::nullopt : std::optional(found->second);
  }
  const auto found = id_of_.find(piece.substr(left.begin, right.end - left.begin));
  return found == id_of_.end() ? std::nullopt : std::optional(Merge{found->second, found->second});
}

void Tokenizer::propose(std::string_view piece, int left, int right, Workspace& work) const {
  if (left < 0 || right < 0) return;
  const Symbol& l = work.symbols[static_cast<size_t>(left)];
  const Symbol& r = work.symbols[static_cast<size_t>(right)];
  const auto merge = find_merge(piece, l, r);
  if (merge) work.queue.push({merge->rank, left, right, merge->id, r.end});
}

void Tokenizer::merge_symbols(std::string_view piece, Workspace& work) const {
  std::vector<Symbol>& symbols = work.symbols;
  while (!work.queue.empty()) {
    const auto best = work.queue.top();
    work.queue.pop();
    Symbol& left = symbols[static_cast<size_t>(best.left)];
    Symbol& right = symbols[static_cast<size_t>(best.right)];
    // A candidate is stale when one of its two symbols was merged since it was proposed.
    if (!left.alive || !right.alive || left.next != best.right || right.end != best.end) continue;
    left.id = best.id;
    left.end = right.end;
    left.next = right.next;
    right.alive = false;
    if (left.next >= 0) symbols[static_cast<size_t>(left.next)].previous = best.left;
    propose(piece, left.previous, best.left, work);
    propose(piece, best.left, left.next, work);
  }
}

void Tokenizer::encode_piece(std::string_view piece, Workspace& work, std::vector<int>& ids) const {
  // With ranks, a piece that is a token is that token; with merges it must be reachable by them.
  if (merges_.empty()) {
    if (const auto found = id_of_.find(piece); found != id_of_.end()) {
      ids.push_back(found->second);
      return;
    }
  }
  work.symbols.clear();
  const int count = static_cast<int>(piece.size());
  for (int i = 0; i < count; ++i) {
    const auto begin = static_cast<uint32_t>(i);
    const int id = byte_ids_[static_cast<unsigned char>(piece[begin])];
    work.symbols.push_back({id, begin, begin + 1, i - 1, i + 1 < count ? i + 1 : -1});
  }
  for (int i = 0; i + 1 < count; ++i)
    propose(piece, i, i + 1, work);
  merge_symbols(piece, work);
  for (int i = 0; i >= 0; i = work.symbols[static_cast<size_t>(i)].next) {
    ids.push_back(work.symbols[static_cast<size_t>(i)].id);
  }
}

std::vector<int> Tokenizer::encode(std::string_view text) const {
  std::vector<int> ids;
  Workspace work;
  for (size_t position = 0; position < text.size();) {
    const size_t length = std::min(next_gpt2_piece(text, position), kMaxPieceBytes);
    encode_piece(text.substr(position, length), work, ids);
    position += length;
  }
  return ids;
}

std::string Tokenizer::decode(std::span<const int> ids) const {
  std::string text;
  for (const int id : ids) {
    if (!is_special(id)) text += token_bytes(id);
  }
  return text;
}

std::string_view Tokenizer::token_bytes(int id) const {
  return id >= 0 && id < vocabulary_size() ? tokens_[static_cast<size_t>(id)] : std::string_view();
}

int Tokenizer::special_id(std::string_view literal) const {
  const auto found = special_ids_.find(literal);
  return found == special_ids_.end() ? -1 : found->second;
}

bool Tokenizer::is_special(int id) const {
  return id >= 0 && id < vocabulary_size() && special_[static_cast<size_t>(id)];
}

int Tokenizer::vocabulary_size() const {
  return static_cast<int>(tokens_.size());
}

}  // namespace sotto::tokenizer
