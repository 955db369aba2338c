// Greedy search and sampling: sequences that never compete until they have ended.
#include <algorithm>
#include <random>
#include <vector>

#include "whisper/logits.h"
#include "whisper/search.h"
#include "whisper/step_scores.h"

namespace sotto::whisper {
namespace {

class Sequences {
 public:
  /// temperature 0: the likeliest token is chosen.
  Sequences(const SearchContext& context, float temperature, int count, uint64_t seed)
      : context_(context), temperature_(temperature), hypotheses_(static_cast<size_t>(count)) {
    for (int i = 0; i < count; ++i) {
      hypotheses_[static_cast<size_t>(i)] = start_hypothesis(context.given);
      random_.emplace_back(seed + static_cast<uint64_t>(i));
      live_.push_back(i);
    }
  }

  Result<std::vector<Hypothesis>> run() {
    SOTTO_RETURN_IF_ERROR(context_.decoder.restart(static_cast<int>(hypotheses_.size())));
    for (int step = 0; step < context_.max_tokens; ++step) {
      SOTTO_RETURN_IF_ERROR(check_stop(context_));
      SOTTO_RETURN_IF_ERROR(extend_live(step == 0));
      if (live_.empty() || step + 1 == context_.max_tokens) break;
      SOTTO_RETURN_IF_ERROR(context_.decoder.step(live_, tokens_));
    }
    return std::move(hypotheses_);
  }

 private:
  /// Chooses a token for every live sequence; those that end leave `live_`.
  Status extend_live(bool first) {
    std::vector<int> still_live;
    tokens_.clear();
    for (size_t row = 0; row < live_.size(); ++row) {
      const int sequence = live_[row];
      Hypothesis& hypothesis = hypotheses_[static_cast<size_t>(sequence)];
      SOTTO_RETURN_IF_ERROR(
          scores_.compute(context_.rules, hypothesis,
                          first ? context_.decoder.prompt_logits() : context_.decoder.logits(row)));
      const int token = choose(random_[static_cast<size_t>(sequence)]);
      if (token < 0) continue;  // Nothing may follow
      hypothesis.score += scores_.rule_logprob(token);
      if (token == context_.decoder.eot()) {
        hypothesis.ended = true;
        continue;
      }
      hypothesis.tokens.push_back(token);
      hypothesis.logprobs.push_back(scores_.own_logprob(token));
      still_live.push_back(sequence);
      tokens_.push_back(token);
    }
    live_ = std::move(still_live);
    return {};
  }

  int choose(std::mt19937_64& random) const {
    if (temperature_ <= 0) return best_token(scores_.allowed()).id;
    const double uniform = static_cast<double>(random() >> 11) * 0x1.0p-53;
    return sample_token(scores_.allowed(), temperature_, uniform);
  }

  const SearchContext& context_;
  float temperature_;
  std::vector<Hypothesis> hypotheses_;
  std::vector<std::mt19937_64>
      random_;  ///< One a sequence, so that its draws do not depend on when others end
  std::vector<int> live_;
  std::vector<int> tokens_;  ///< Of the live sequences
  StepScores scores_;
};

}  // namespace

Result<Hypothesis> greedy_search(const SearchContext& context) {
  SOTTO_ASSIGN_OR_RETURN(std::vector<Hypothesis> all, Sequences(context, 0.0f, 1, 0).run());
  return std::move(all.front());
}

Result<Hypothesis> sample(const SearchContext& context, float temperature, int count,
                          uint64_t seed) {
  SOTTO_ASSIGN_OR_RETURN(std::vector<Hypothesis> all,
                         Sequences(context, temperature, std::max(count, 1), seed).run());
  return std::move(
      *std::max_element(all.begin(), all.end(), [&](const Hypothesis& a, const Hypothesis& b) {
        return rank_score(a, context.length_penalty) < rank_score(b, context.length_penalty);
      }));
}

}  // namespace sotto::whisper
