// Beam search: sequences that compete at every step.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "whisper/logits.h"
#include "whisper/search.h"
#include "whisper/step_scores.h"

namespace sotto::whisper {
namespace {

/// A live beam continued by one token.
struct Candidate {
  int beam = 0;
  int token = 0;
  double score = 0;
  float own_logprob = 0;
};

class BeamSearch {
 public:
  BeamSearch(const SearchContext& context, int beams, float patience)
      : context_(context),
        beams_(static_cast<size_t>(beams)),
        wanted_(
            static_cast<size_t>(std::max(1L, std::lround(static_cast<float>(beams) * patience)))),
        live_{start_hypothesis(context.given)} {}

  Result<Hypothesis> run() {
    SOTTO_RETURN_IF_ERROR(context_.decoder.restart(static_cast<int>(beams_)));
    for (int step = 0; step < context_.max_tokens; ++step) {
      SOTTO_RETURN_IF_ERROR(check_stop(context_));
      SOTTO_RETURN_IF_ERROR(collect_candidates(step == 0));
      advance();
      if (finished_.size() >= wanted_ || live_.empty() || step + 1 == context_.max_tokens) break;
      SOTTO_RETURN_IF_ERROR(feed());
    }
    return best();
  }

 private:
  /// The beams_ + 1 best continuations of each beam: at most one of them is end-of-text, so beams_
  /// others remain.
  Status collect_candidates(bool first) {
    candidates_.clear();
    for (size_t beam = 0; beam < live_.size(); ++beam) {
      SOTTO_RETURN_IF_ERROR(scores_.compute(
          context_.rules, live_[beam],
          first ? context_.decoder.prompt_logits() : context_.decoder.logits(beam)));
      top_tokens(scores_.allowed(), static_cast<int>(beams_) + 1, top_);
      for (const ScoredToken& top : top_) {
        candidates_.push_back({static_cast<int>(beam), top.id,
                               live_[beam].score + scores_.rule_logprob(top.id),
                               scores_.own_logprob(top.id)});
      }
    }
    std::stable_sort(candidates_.begin(), candidates_.end(),
                     [](const Candidate& a, const Candidate& b) { return a.score > b.score; });
    return {};
  }

  /// Keeps the best beams_ continuations that go on. End-of-text finishes its hypothesis if it is
  /// among the best beams_ of all (as in CTranslate2; docs/decisions/0002-decoding.md).
  void advance() {
    std::vector<Hypothesis> next;
    parents_.clear();
    tokens_.clear();
    for (size_t rank = 0; rank < candidates_.size() && next.size() < beams_; ++rank) {
      const Candidate& candidate = candidates_[rank];
      const bool ends = candidate.token == context_.decoder.eot();
      if (ends && (rank >= beams_ || finished_.size() == wanted_)) continue;
      Hypothesis hypothesis = live_[static_cast<size_t>(candidate.beam)];
      hypothesis.score = candidate.score;
      if (ends) {
        hypothesis.ended = true;
        finished_.push_back(std::move(hypothesis));
        continue;
      }
      hypothesis.tokens.push_back(candidate.token);
      hypothesis.logprobs.push_back(candidate.own_logprob);
      next.push_back(std::move(hypothesis));
      parents_.push_back(candidate.beam);
      tokens_.push_back(candidate.token);
    }
    live_ = std::move(next);
  }

  Status feed() {
    SOTTO_RETURN_IF_ERROR(context_.decoder.reorder(parents_));
    std::vector<int> sequences(live_.size());
    std::iota(sequences.begin(), sequences.end(), 0);
    return context_.decoder.step(sequences, tokens_);
  }

  Hypothesis best() {
    // At the length limit the live beams stand in for hypotheses that did not end.
    if (finished_.size() < wanted_) {
      for (Hypothesis& hypothesis : live_) {
        if (finished_.size() >= beams_) break;
        finished_.push_back(std::move(hypothesis));
      }
    }
    if (finished_.empty()) return start_hypothesis(context_.given);
    return std::move(*std::max_element(
        finished_.begin(), finished_.end(), [&](const Hypothesis& a, const Hypothesis& b) {
          return rank_score(a, context_.length_penalty) < rank_score(b, context_.length_penalty);
        }));
  }

  const SearchContext& context_;
  size_t beams_;
  size_t wanted_;                 ///< Hypotheses that must end before the search does
  std::vector<Hypothesis> live_;  ///< By score; hypothesis i is sequence i of the decoder
  std::vector<Hypothesis> finished_;
  std::vector<Candidate> candidates_;
  std::vector<int> parents_, tokens_;  ///< Of the live beams
  std::vector<ScoredToken> top_;
  StepScores scores_;
};

}  // namespace

Result<Hypothesis> beam_search(const SearchContext& context, int beams, float patience) {
  return BeamSearch(context, beams, patience).run();
}

}  // namespace sotto::whisper
