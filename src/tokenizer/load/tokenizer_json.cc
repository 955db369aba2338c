// Hugging Face tokenizer.json: https://huggingface.co/docs/tokenizers (the serialised pipeline).
#include "base/json.h"
#include "tokenizer/load/build.h"
#include "tokenizer/load/load.h"

namespace sotto::tokenizer {
namespace {

using nlohmann::json;

bool absent_or_null(const json& object, std::string_view name) {
  const json* member = json_member(object, name);
  return member == nullptr || member->is_null();
}

bool is_true(const json& object, std::string_view name) {
  const json* member = json_member(object, name);
  return member != nullptr && member->is_boolean() && member->get<bool>();
}

bool is_filled_string(const json& object, std::string_view name) {
  const std::string* text = json_string(object, name);
  return text != nullptr && !text->empty();
}

/// Refuses pipelines that would split or rewrite text in another way than Tokenizer does: wrong ids
/// are worse than none.
Status check_pipeline(const json& root, const json& model) {
  const std::string* type = json_string(model, "type");
  if (type != nullptr && *type != "BPE") return unsupported("its model is " + *type + ", not BPE");
  if (is_true(model, "byte_fallback") || is_filled_string(model, "continuing_subword_prefix") ||
      is_filled_string(model, "end_of_word_suffix")) {
    return unsupported("its BPE is not the byte-level kind");
  }
  if (!absent_or_null(root, "normalizer")) return unsupported("it normalises text");
  const json* pre = json_member(root, "pre_tokenizer");
  const std::string* pre_type = pre == nullptr ? nullptr : json_string(*pre, "type");
  if (pre_type == nullptr || *pre_type != "ByteLevel") {
    return unsupported("its pre_tokenizer is not ByteLevel");
  }
  if (is_true(*pre, "add_prefix_space")) return unsupported("its pre_tokenizer adds a space");
  const json* use_regex = json_member(*pre, "use_regex");
  if (use_regex != nullptr && use_regex->is_boolean() && !use_regex->get<bool>()) {
    return unsupported("its pre_tokenizer does not split by GPT-2's expression");
  }
  return {};
}

/// Merges are "left right" or, since tokenizers 0.20, ["left", "right"].
Status read_merges(const json& model, BpeData& data) {
  const json* merges = json_member(model, "merges");
  if (merges == nullptr || !merges->is_array() || merges->empty()) {
    return corrupt("it has no list of merges");
  }
  data.merges.reserve(merges->size());
  for (const json& merge : *merges) {
    if (const auto* line = merge.get_ptr<const std::string*>(); line != nullptr) {
      SOTTO_RETURN_IF_ERROR(add_merge_line(data, *line));
    } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() &&
               merge[1].is_string()) {
      SOTTO_RETURN_IF_ERROR(add_merge(data, *merge[0].get_ptr<const std::string*>(),
                                      *merge[1].get_ptr<const std::string*>()));
    } else {
      return corrupt("merge " + std::to_string(data.merges.size()) + " is neither text nor a pair");
    }
  }
  return {};
}

/// Added tokens are written literally and may repeat an entry of the vocabulary.
Status read_added_tokens(const json& root, BpeData& data) {
  const json* added = json_member(root, "added_tokens");
  if (added == nullptr || added->is_null()) return {};
  if (!added->is_array()) return corrupt("added_tokens is not a list");
  for (const json& token : *added) {
    const json* id = json_member(token, "id");
    const std::string* content = json_string(token, "content");
    if (id == nullptr || !id->is_number_integer() || content == nullptr || content->empty()) {
      return corrupt("an added token lacks its id or content");
    }
    SOTTO_RETURN_IF_ERROR(add_token(data, id->get<int64_t>(), *content));
    data.special.emplace(*content, static_cast<int>(id->get<int64_t>()));
  }
  return {};
}

Result<BpeData> read(const json& root) {
  const json* model = json_member(root, "model");
  const json* vocabulary = model == nullptr ? nullptr : json_member(*model, "vocab");
  if (vocabulary == nullptr) return corrupt("it has no model with a vocab");
  SOTTO_RETURN_IF_ERROR(check_pipeline(root, *model));
  BpeData data;
  SOTTO_RETURN_IF_ERROR(add_vocabulary_object(data, *vocabulary));
  SOTTO_RETURN_IF_ERROR(read_merges(*model, data));
  SOTTO_RETURN_IF_ERROR(read_added_tokens(root, data));
  return data;
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> from_tokenizer_json(std::string_view json_text) {
  SOTTO_ASSIGN_OR_RETURN(const json root, parse_json(json_text, "tokenizer.json"));
  auto data = read(root);
  if (!data.ok()) return data.status().with_context("tokenizer.json");
  auto tokenizer = build(std::move(data).value());
  if (!tokenizer.ok()) return tokenizer.status().with_context("tokenizer.json");
  return tokenizer;
}

}  // namespace sotto::tokenizer
