// Hugging Face's files of a tokenizer, for checkpoints that carry only a vocabulary: tokenizer.json
// of its tokenizers library, and the three files of Transformers' own WhisperTokenizer.
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_map>

#include "models/convert/side_files.h"
#include "tokenizer/load/byte_alphabet.h"

namespace sotto::convert {
namespace {

using nlohmann::json;
using RankOf = std::unordered_map<std::string_view, int>;

/// The two tokens that merge into `token`: what byte-pair encoding leaves of it when only lower
/// ranks may merge. Nothing when that is not two, as for the tokens that no merge makes. (In
/// Whisper's vocabularies ids are ranks.)
std::vector<std::string_view> halves(std::string_view token, int rank, const RankOf& rank_of) {
  std::vector<std::string_view> parts;
  for (size_t i = 0; i < token.size(); ++i)
    parts.push_back(token.substr(i, 1));
  while (parts.size() > 2) {
    size_t best = 0;
    int best_rank = rank;
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      const std::string_view pair(parts[i].data(), parts[i].size() + parts[i + 1].size());
      const auto found = rank_of.find(pair);
      if (found != rank_of.end() && found->second < best_rank) {
        best = i;
        best_rank = found->second;
      }
    }
    if (best_rank == rank) return {};
    parts[best] = {parts[best].data(), parts[best].size() + parts[best + 1].size()};
    parts.erase(parts.begin() + static_cast<ptrdiff_t>(best) + 1);
  }
  return parts;
}

/// The ordinary tokens in the byte alphabet.
json vocabulary(const Checkpoint& checkpoint) {
  json out = json::object();
  for (int id = 0; id < checkpoint.tokens.eot; ++id)
    out[tokenizer::alphabet_of_bytes(checkpoint.tokenizer->token_bytes(id))] = id;
  return out;
}

/// "LEFT RIGHT" of each merge in the byte alphabet, by rank.
std::vector<std::string> merges(const Checkpoint& checkpoint) {
  RankOf rank_of;
  std::vector<std::string> out;
  for (int id = 0; id < checkpoint.tokens.eot; ++id) {
    const std::string_view token = checkpoint.tokenizer->token_bytes(id);
    rank_of.emplace(token, id);
    const std::vector<std::string_view> pair = halves(token, id, rank_of);
    if (pair.size() != 2) continue;
    out.push_back(tokenizer::alphabet_of_bytes(pair[0]) + " " +
                  tokenizer::alphabet_of_bytes(pair[1]));
  }
  return out;
}

json model_part(const Checkpoint& checkpoint) {
  return {{"type", "BPE"},
          {"dropout", nullptr},
          {"unk_token", nullptr},
          {"continuing_subword_prefix", ""},
          {"end_of_word_suffix", ""},
          {"fuse_unk", false},
          {"vocab", vocabulary(checkpoint)},
          {"merges", merges(checkpoint)}};
}

json added_tokens(const tokenizer::WhisperTokens& tokens, int n_vocab) {
  json out = json::array();
  for (int id = tokens.eot; id < n_vocab; ++id) {
    out.push_back({{"id", id},
                   {"content", tokenizer::special_token_text(tokens, id)},
                   {"single_word", false},
                   {"lstrip", false},
                   {"rstrip", false},
                   {"normalized", false},
                   // Transformers strips special tokens from texts; it treats timestamps by itself.
                   {"special", !tokens.is_timestamp(id)}});
  }
  return out;
}

/// Puts the start of transcript before a text and the end after it.
json post_processor(const tokenizer::WhisperTokens& tokens) {
  json single = json::array(), pair = json::array(), used = json::object();
  const auto special = [&](int id, int type) {
    const std::string text = tokenizer::special_token_text(tokens, id);
    used[text] = {{"id", text}, {"ids", {id}}, {"tokens", {text}}};
    return json{{"SpecialToken", {{"id", text}, {"type_id", type}}}};
  };
  const auto sequence = [](const char* name, int type) {
    return json{{"Sequence", {{"id", name}, {"type_id", type}}}};
  };
  for (json* list : {&single, &pair}) {
    list->push_back(special(tokens.sot, 0));
    list->push_back(special(tokens.no_timestamps, 0));
    list->push_back(sequence("A", 0));
  }
  single.push_back(special(tokens.eot, 0));
  pair.push_back(sequence("B", 1));
  pair.push_back(special(tokens.eot, 1));
  return {
      {"type", "TemplateProcessing"}, {"single", single}, {"pair", pair}, {"special_tokens", used}};
}

json byte_level(bool add_prefix_space) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", add_prefix_space},
          {"trim_offsets", true},
          {"use_regex", true}};
}

}  // namespace

std::string tokenizer_json(const Checkpoint& checkpoint) {
  const json out = {{"version", "1.0"},
                    {"truncation", nullptr},
                    {"padding", nullptr},
                    {"added_tokens", added_tokens(checkpoint.tokens, checkpoint.config.n_vocab)},
                    {"normalizer", nullptr},
                    {"pre_tokenizer", byte_level(false)},
                    {"post_processor", post_processor(checkpoint.tokens)},
                    {"decoder", byte_level(true)},
                    {"model", model_part(checkpoint)}};
  return out.dump() + "\n";
}

std::string transformers_vocabulary(const Checkpoint& checkpoint) {
  return vocabulary(checkpoint).dump() + "\n";
}

std::string transformers_merges(const Checkpoint& checkpoint) {
  std::string out = "#version: 0.2\n";  // the reader skips the first line
  for (const std::string& merge : merges(checkpoint))
    out += merge + "\n";
  return out;
}

std::string transformers_added_tokens(const Checkpoint& checkpoint) {
  json out = json::object();
  for (int id = checkpoint.tokens.eot; id < checkpoint.config.n_vocab; ++id)
    out[tokenizer::special_token_text(checkpoint.tokens, id)] = id;
  return out.dump() + "\n";
}

}  // namespace sotto::convert
