#include "whisper/prompt.h"

#include <algorithm>
#include <string_view>

#include "whisper/text.h"

namespace sotto::whisper {
namespace {

/// Whisper saw text in training with a space before it.
std::vector<int> encode_text(const Model& model, std::string_view text) {
  const std::string_view content = trimmed(text);
  if (content.empty()) return {};
  return model.tokenizer().encode(" " + std::string(content));
}

void keep_first(std::vector<int>& tokens, size_t count) {
  tokens.resize(std::min(tokens.size(), count));
}

void keep_last(std::vector<int>& tokens, size_t count) {
  if (tokens.size() > count)
    tokens.erase(tokens.begin(), tokens.end() - static_cast<std::ptrdiff_t>(count));
}

void add(std::vector<int>& to, std::span<const int> tokens) {
  to.insert(to.end(), tokens.begin(), tokens.end());
}

}  // namespace

std::vector<int> start_sequence(const tokenizer::WhisperTokens& tokens, const std::string& language,
                                Task task) {
  std::vector<int> sequence = {tokens.sot};
  if (tokens.multilingual) {
    sequence.push_back(tokens.language_token(language));
    sequence.push_back(task == Task::kTranslate ? tokens.translate : tokens.transcribe);
  }
  return sequence;
}

PromptBuilder::PromptBuilder(const Model& model, const TranscribeOptions& options,
                             const std::string& language)
    : tokens_(model.tokens()),
      task_(options.task),
      without_timestamps_(options.without_timestamps),
      half_context_(static_cast<size_t>(model.config().n_text_ctx) / 2),
      max_context_(half_context_ - 1) {
  set_language(language);
  if (options.max_context_tokens >= 0) {
    max_context_ = std::min(max_context_, static_cast<size_t>(options.max_context_tokens));
  }

  prefix_ = encode_text(model, options.prefix);
  if (!prefix_.empty() && !options.without_timestamps)
    prefix_.insert(prefix_.begin(), tokens_.timestamp_begin);
  keep_first(prefix_, half_context_ - 1);

  fixed_ = encode_text(model, options.hotwords);
  keep_first(fixed_, max_context_);
  std::vector<int> initial = encode_text(model, options.initial_prompt);
  if (options.carry_initial_prompt) {
    keep_last(initial, max_context_ - fixed_.size());
    add(fixed_, initial);
  } else {
    append(initial);
  }
}

void PromptBuilder::set_language(const std::string& language) {
  start_ = start_sequence(tokens_, language, task_);
  if (without_timestamps_) start_.push_back(tokens_.no_timestamps);
}

void PromptBuilder::append(std::span<const int> tokens) {
  add(history_, tokens);
  keep_last(history_, max_context_);
}

std::vector<int> PromptBuilder::context(size_t room) const {
  std::vector<int> context = fixed_;
  keep_first(context, room);
  const size_t earlier = std::min(history_.size(), room - context.size());
  add(context, std::span(history_).last(earlier));
  return context;
}

Prompt PromptBuilder::next(bool first) const {
  Prompt prompt;
  size_t room = max_context_;
  if (first) {
    prompt.given = prefix_.size();
    // A window's text may fill half of the context; a prefix counts as such, so nothing else may
    // take its place.
    if (prompt.given > 0)
      room = std::min(room, half_context_ - std::min(half_context_, start_.size() + 1));
  }
  if (const std::vector<int> earlier = context(room); !earlier.empty()) {
    prompt.tokens.push_back(tokens_.sot_prev);
    add(prompt.tokens, earlier);
  }
  prompt.sot = prompt.tokens.size();
  add(prompt.tokens, start_);
  if (first) add(prompt.tokens, prefix_);
  return prompt;
}

}  // namespace sotto::whisper
