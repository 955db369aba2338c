#include "whisper/rules.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <regex>
#include <string>

#include "whisper/logits.h"
#include "whisper/times.h"

namespace sotto::whisper {
namespace {

void sort_unique(std::vector<int>& ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

/// Lists come from model files: ids outside the vocabulary are left out.
void add_known(const std::vector<int>& ids, int n_vocab, std::vector<int>& list) {
  std::copy_if(ids.begin(), ids.end(), std::back_inserter(list),
               [n_vocab](int id) { return id >= 0 && id < n_vocab; });
}

/// Special tokens that steer the model and are never part of a transcript.
void add_control_tokens(const tokenizer::WhisperTokens& tokens, std::vector<int>& ids) {
  for (int i = 0; i < tokens.language_count; ++i)
    ids.push_back(tokens.first_language + i);
  for (const int id : {tokens.sot, tokens.translate, tokens.transcribe, tokens.sot_lm,
                       tokens.sot_prev, tokens.no_speech, tokens.no_timestamps}) {
    ids.push_back(id);
  }
}

}  // namespace

Result<LogitRules> LogitRules::create(const Model& model, const TranscribeOptions& options,
                                      int positions) {
  const tokenizer::WhisperTokens& tokens = model.tokens();
  LogitRules rules;
  rules.n_vocab_ = model.config().n_vocab;
  rules.eot_ = tokens.eot;
  rules.timestamp_begin_ = tokens.timestamp_begin;
  rules.timestamp_last_ = std::min(tokens.timestamp_begin + positions, model.config().n_vocab - 1);
  rules.timestamps_ = !options.without_timestamps;
  rules.repetition_penalty_ = options.repetition_penalty;
  rules.ngram_size_ = static_cast<size_t>(options.no_repeat_ngram_size);
  rules.initial_timestamp_last_ = rules.timestamp_last_;
  if (options.max_initial_timestamp > 0) {
    const double steps = std::round(options.max_initial_timestamp / kSecondsPerPosition);
    rules.initial_timestamp_last_ =
        tokens.timestamp_begin + static_cast<int>(std::min(steps, 1.0 * positions));
  }
  SOTTO_RETURN_IF_ERROR(rules.add_suppressed(model, options));
  if (options.suppress_blank) {
    add_known(model.config().suppress_at_begin, model.config().n_vocab, rules.suppressed_at_begin_);
    if (rules.suppressed_at_begin_.empty()) {
      rules.suppressed_at_begin_ = model.tokenizer().encode(" ");
      rules.suppressed_at_begin_.push_back(tokens.eot);
    }
  }
  return rules;
}

Status LogitRules::add_suppressed(const Model& model, const TranscribeOptions& options) {
  const int n_vocab = model.config().n_vocab;
  for (const int id : options.suppress_tokens) {
    if (id == -1) {
      add_known(model.config().suppress_tokens.empty()
                    ? tokenizer::non_speech_tokens(model.tokenizer())
                    : model.config().suppress_tokens,
                n_vocab, suppressed_);
    } else if (id >= 0 && id < n_vocab) {
      suppressed_.push_back(id);
    } else {
      return invalid_argument("suppress_tokens: " + std::to_string(id) +
                              " is no token of this model (0 to " + std::to_string(n_vocab - 1) +
                              ", or -1 for the model's non-speech list)");
    }
  }
  add_control_tokens(model.tokens(), suppressed_);
  if (!options.suppress_regex.empty())
    SOTTO_RETURN_IF_ERROR(add_matching(model, options.suppress_regex));
  sort_unique(suppressed_);
  return {};
}

Status LogitRules::add_matching(const Model& model, const std::string& regex) {
  auto flags = std::regex::ECMAScript;
#ifdef __GLIBCXX__
  // Without it a pattern such as (\s+)+x takes exponential time on the vocabulary's long runs of
  // spaces.
  flags |= std::regex_constants::__polynomial;
#endif
  try {
    const std::regex pattern(regex, flags);
    for (int id = 0; id < model.tokens().eot; ++id) {
      const std::string_view text = model.tokenizer().token_bytes(id);
      if (std::regex_match(text.begin(), text.end(), pattern)) suppressed_.push_back(id);
    }
  } catch (const std::regex_error& error) {
    return invalid_argument("suppress_regex \"" + regex + "\": " + error.what());
  }
  return {};
}

RuleMasses LogitRules::apply(std::span<const int> history, size_t given,
                             std::span<float> logits) const {
  if (changes_allowed()) penalise_repetition(history, logits);
  TokenMask mask(logits);
  if (ngram_size_ > 0) forbid_repeated_ngrams(history, mask);
  mask.forbid(suppressed_);
  if (history.size() == given) mask.forbid(suppressed_at_begin_);
  if (timestamps_) {
    forbid_by_timestamps(history, mask);
  } else {
    mask.forbid(timestamp_begin_, n_vocab_);
  }
  const auto boundary = static_cast<size_t>(timestamp_begin_);
  const std::span<float> text = logits.first(boundary);
  const float text_mass = log_sum_exp(text);
  const float timestamp_mass = log_sum_exp(logits.subspan(boundary));
  const float either = log_add(text_mass, timestamp_mass);
  RuleMasses masses{either, log_add(either, mask.mass())};
  if (timestamp_mass > largest(text)) {
    std::fill(text.begin(), text.end(), kNever);
    masses.allowed = timestamp_mass;
  }
  return masses;
}

void LogitRules::penalise_repetition(std::span<const int> history, std::span<float> logits) const {
  std::vector<int> seen(history.begin(), history.end());
  sort_unique(seen);
  for (const int id : seen) {
    float& logit = logits[static_cast<size_t>(id)];
    logit = logit < 0 ? logit * repetition_penalty_ : logit / repetition_penalty_;
  }
}

void LogitRules::forbid_repeated_ngrams(std::span<const int> history, TokenMask& mask) const {
  if (history.size() < ngram_size_) return;
  const std::span<const int> tail = history.last(ngram_size_ - 1);
  for (size_t i = 0; i + ngram_size_ <= history.size(); ++i) {
    if (std::equal(tail.begin(), tail.end(), history.begin() + static_cast<std::ptrdiff_t>(i))) {
      mask.forbid(history[i + ngram_size_ - 1]);
    }
  }
}

void LogitRules::forbid_by_timestamps(std::span<const int> history, TokenMask& mask) const {
  if (history.empty()) {
    mask.forbid(0, timestamp_begin_);
    mask.forbid(initial_timestamp_last_ + 1, n_vocab_);
    return;
  }
  mask.forbid(timestamp_last_ + 1, n_vocab_);
  const bool after_timestamp = history.back() >= timestamp_begin_;
  const bool after_pair =
      after_timestamp && (history.size() < 2 || history[history.size() - 2] >= timestamp_begin_);
  if (after_pair) {
    mask.forbid(timestamp_begin_, n_vocab_);
    return;
  }
  if (after_timestamp) mask.forbid(0, eot_);
  const auto latest = std::find_if(history.rbegin(), history.rend(),
                                   [this](int id) { return id >= timestamp_begin_; });
  if (latest != history.rend()) {
    // The second of a pair may repeat the first; a segment's end may not repeat its start.
    mask.forbid(timestamp_begin_, after_timestamp ? *latest : *latest + 1);
  }
}

}  // namespace sotto::whisper
