#include "whisper/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "whisper/logits.h"
#include "whisper/testing/fake_model.h"

namespace sotto::whisper {
namespace {

using testing::FakeCall;
using testing::FakeModel;
using testing::Script;

/// Logits that look random but depend on nothing but the text so far: any search can be checked
/// against them. Only `alphabet` (end-of-text among it) has a chance.
Script hashed(std::vector<int> alphabet, uint64_t salt) {
  return [alphabet = std::move(alphabet), salt](const FakeCall& call, std::span<float> logits) {
    std::fill(logits.begin(), logits.end(), kNever);
    uint64_t hash = salt;
    for (const int id : call.text)
      hash = (hash ^ static_cast<uint64_t>(id)) * 0x100000001B3u;
    for (const int id : alphabet) {
      hash = (hash ^ static_cast<uint64_t>(id)) * 0x9E3779B97F4A7C15u;
      logits[static_cast<size_t>(id)] = static_cast<float>((hash >> 40) % 1000) / 250.0f;
    }
  };
}

/// A prefilled window of a fake model with rules that forbid nothing but timestamps and control
/// tokens.
class Bench {
 public:
  explicit Bench(Script script, int max_tokens = 6, std::vector<int> given = {})
      : model_(std::move(script)) {
    TranscribeOptions options;
    options.without_timestamps = true;
    options.suppress_tokens = {};
    options.suppress_blank = false;
    rules_.emplace(LogitRules::create(model_, options, 1500).value());
    window_ = std::move(model_.encode(std::vector<float>(3000 * 80), 1500)).value();
    decoder_ = std::move(model_.create_decoder(64)).value();
    prompt_.tokens = {model_.tokens().sot_prev,   65,
                      model_.tokens().sot,        model_.tokens().first_language,
                      model_.tokens().transcribe, model_.tokens().no_timestamps};
    prompt_.sot = 2;
    prompt_.tokens.insert(prompt_.tokens.end(), given.begin(), given.end());
    prompt_.given = given.size();
    window_decoder_.emplace(model_, *decoder_, *window_, 64);
    EXPECT_TRUE(window_decoder_->prefill(prompt_).ok());
    max_tokens_ = max_tokens;
  }

  ~Bench() { EXPECT_EQ(model_.log().misuse, ""); }

  SearchContext context() {
    return {*window_decoder_, *rules_, prompt_.transcript(), max_tokens_, penalty, stop};
  }
  FakeModel& model() { return model_; }
  WindowDecoder& window_decoder() { return *window_decoder_; }

  std::optional<float> penalty;
  std::function<bool()> stop;

 private:
  FakeModel model_;
  std::optional<LogitRules> rules_;
  std::unique_ptr<EncodedWindow> window_;
  std::unique_ptr<Decoder> decoder_;
  Prompt prompt_;
  std::optional<WindowDecoder> window_decoder_;
  int max_tokens_ = 0;
};

/// Every sequence that can be decoded, with its score: the truth a wide beam must find.
void enumerate(const Script& script, const FakeModel& model, const std::vector<int>& alphabet,
               size_t max_tokens, Hypothesis so_far, std::vector<Hypothesis>& out) {
  std::vector<float> logits(static_cast<size_t>(model.config().n_vocab));
  script({0, so_far.tokens, so_far.tokens}, logits);
  const float mass = log_sum_exp(logits);
  for (const int id : alphabet) {
    Hypothesis next = so_far;
    next.score += logits[static_cast<size_t>(id)] - mass;
    if (id == model.tokens().eot) {
      next.ended = true;
      out.push_back(next);
      continue;
    }
    next.tokens.push_back(id);
    if (next.tokens.size() == max_tokens) {
      out.push_back(next);
    } else {
      enumerate(script, model, alphabet, max_tokens, next, out);
    }
  }
}

TEST(BeamSearch, WideBeamFindsTheBestOfAllSequences) {
  for (uint64_t salt = 1; salt <= 30; ++salt) {
    for (const std::optional<float> penalty :
         {std::optional<float>(), std::optional<float>(0.6f)}) {
      FakeModel plain({});
      const std::vector<int> alphabet = {plain.word(" one"), plain.word(" two"), plain.word(" six"),
                                         plain.tokens().eot};
      const Script script = hashed(alphabet, salt);
      Bench bench(script, 4);
      bench.penalty = penalty;
      std::vector<Hypothesis> all;
      enumerate(script, plain, alphabet, 4, {}, all);
      const auto best =
          std::max_element(all.begin(), all.end(), [&](const Hypothesis& a, const Hypothesis& b) {
            return rank_score(a, penalty) < rank_score(b, penalty);
          });
      const auto found = beam_search(bench.context(), 64, 100.0f);
      ASSERT_TRUE(found.ok());
      EXPECT_EQ(found->tokens, best->tokens) << "salt " << salt;
      EXPECT_NEAR(found->score, best->score, 1e-4);
    }
  }
}

/// CTranslate2's beam search, written down in the plainest way on token sequences.
Hypothesis plain_beam_search(const Script& script, const FakeModel& model, size_t beams,
                             float patience, size_t max_tokens) {
  const auto wanted = static_cast<size_t>(std::lround(static_cast<float>(beams) * patience));
  std::vector<Hypothesis> live(1);
  std::vector<Hypothesis> finished;
  for (size_t step = 0; step < max_tokens && finished.size() < wanted && !live.empty(); ++step) {
    std::vector<Hypothesis> all;
    for (const Hypothesis& beam : live) {
      std::vector<float> logits(static_cast<size_t>(model.config().n_vocab));
      script({0, beam.tokens, beam.tokens}, logits);
      const float mass = log_sum_exp(logits);
      for (size_t id = 0; id < static_cast<size_t>(model.tokens().sot); ++id) {
        if (logits[id] == kNever) continue;
        Hypothesis next = beam;
        next.tokens.push_back(static_cast<int>(id));
        next.score += logits[id] - mass;
        all.push_back(next);
      }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.score > b.score; });
    live.clear();
    for (size_t rank = 0; rank < all.size() && live.size() < beams; ++rank) {
      Hypothesis& next = all[rank];
      if (next.tokens.back() != model.tokens().eot) {
        live.push_back(next);
      } else if (rank < beams && finished.size() < wanted) {
        next.tokens.pop_back();
        finished.push_back(next);
      }
    }
  }
  for (size_t i = 0; finished.size() < std::min(beams, wanted) && i < live.size(); ++i)
    finished.push_back(live[i]);
  return *std::max_element(finished.begin(), finished.end(), [](const auto& a, const auto& b) {
    return rank_score(a, {}) < rank_score(b, {});
  });
}

TEST(BeamSearch, EqualsAPlainImplementation) {
  for (uint64_t salt = 1; salt <= 40; ++salt) {
    for (const int beams : {2, 3, 5}) {
      for (const float patience : {1.0f, 2.0f}) {
        FakeModel plain({});
        const std::vector<int> alphabet = {plain.word(" one"), plain.word(" two"),
                                           plain.word(" six"), plain.word("."),
                                           plain.word(","),    plain.tokens().eot};
        const Script script = hashed(alphabet, salt);
        Bench bench(script, 8);
        const auto found = beam_search(bench.context(), beams, patience);
        ASSERT_TRUE(found.ok());
        const Hypothesis expected =
            plain_beam_search(script, plain, static_cast<size_t>(beams), patience, 8);
        EXPECT_EQ(found->tokens, expected.tokens) << "salt " << salt << " beams " << beams;
        EXPECT_NEAR(found->score, expected.score, 1e-4);
      }
    }
  }
}

TEST(BeamSearch, AllBeamsAreOneBatchAndThePromptRunsOnce) {
  FakeModel plain({});
  Bench bench(hashed({plain.word(" one"), plain.word(" two"), plain.word(" six"), plain.word("."),
                      plain.word(",")},
                     3),
              5);
  ASSERT_TRUE(beam_search(bench.context(), 5, 1.0f).ok());
  ASSERT_TRUE(beam_search(bench.context(), 5, 1.0f).ok());
  // Never more rows than beams, one step a token, and no second prompt for the second search.
  EXPECT_EQ(bench.model().log().batch_rows, (std::vector<size_t>{6, 5, 5, 5, 5, 5, 5, 5, 5}));
}

TEST(BeamSearch, KeepsProbabilitiesOfTheModelItself) {
  FakeModel plain({});
  const std::vector<int> alphabet = {plain.word(" one"), plain.word(" two"), plain.tokens().eot};
  const Script script = hashed(alphabet, 11);
  Bench bench(script, 5);
  const auto found = beam_search(bench.context(), 3, 1.0f);
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->logprobs.size(), found->tokens.size());
  for (size_t i = 0; i < found->tokens.size(); ++i) {
    std::vector<float> logits(static_cast<size_t>(plain.config().n_vocab));
    script({0, {}, std::span(found->tokens).first(i)}, logits);
    EXPECT_NEAR(found->logprobs[i],
                logits[static_cast<size_t>(found->tokens[i])] - log_sum_exp(logits), 1e-5);
  }
}

TEST(Search, GivenTokensStandFirstAndDoNotCount) {
  FakeModel plain({});
  const std::vector<int> given = {plain.word(" one"), plain.word(" two")};
  Bench bench(
      testing::write_windows({{given[0], given[1], plain.word(" three")}}, plain.tokens().eot), 6,
      given);
  for (const auto& found : {greedy_search(bench.context()), beam_search(bench.context(), 3, 1.0f),
                            sample(bench.context(), 0.1f, 3, 1)}) {
    ASSERT_TRUE(found.ok());
    EXPECT_EQ(found->tokens, (std::vector<int>{given[0], given[1], plain.word(" three")}));
    EXPECT_EQ(found->chosen(), 1u);
    EXPECT_EQ(found->logprobs[0], 0.0f);
  }
}

TEST(GreedySearch, TakesTheLikeliestTokenUntilTheEndOrTheLimit) {
  FakeModel plain({});
  const int one = plain.word(" one");
  Bench ends(testing::write_windows({{one, one}}, plain.tokens().eot));
  const auto ended = greedy_search(ends.context());
  ASSERT_TRUE(ended.ok());
  EXPECT_EQ(ended->tokens, (std::vector<int>{one, one}));
  EXPECT_TRUE(ended->ended);

  Bench endless(
      [one](const FakeCall&, std::span<float> logits) { logits[static_cast<size_t>(one)] = 5; }, 6);
  const auto cut = greedy_search(endless.context());
  ASSERT_TRUE(cut.ok());
  EXPECT_EQ(cut->tokens.size(), 6u);
  EXPECT_FALSE(cut->ended);
}

TEST(Sample, EqualSeedsGiveEqualTextAndOthersDiffer) {
  FakeModel plain({});
  std::vector<int> alphabet = {plain.tokens().eot};
  for (int id = 0; id < 100; ++id)
    alphabet.push_back(id);
  Bench bench(hashed(alphabet, 5), 20);
  std::map<std::vector<int>, int> seen;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const auto first = sample(bench.context(), 0.8f, 3, seed * 1000);
    const auto again = sample(bench.context(), 0.8f, 3, seed * 1000);
    ASSERT_TRUE(first.ok() && again.ok());
    EXPECT_EQ(first->tokens, again->tokens);
    ++seen[first->tokens];
  }
  EXPECT_GT(seen.size(), 4u);
}

TEST(Sample, ReturnsTheBestOfItsSequences) {
  FakeModel plain({});
  std::vector<int> alphabet = {plain.tokens().eot};
  for (int id = 0; id < 20; ++id)
    alphabet.push_back(id);
  Bench bench(hashed(alphabet, 9), 10);
  for (uint64_t seed = 0; seed < 10; ++seed) {
    double best = -1e9;
    for (uint64_t i = 0; i < 4; ++i) {
      best = std::max(best, rank_score(*sample(bench.context(), 1.0f, 1, seed * 100 + i), {}));
    }
    EXPECT_NEAR(rank_score(*sample(bench.context(), 1.0f, 4, seed * 100), {}), best, 1e-9);
  }
}

TEST(Search, StopsWhenAsked) {
  FakeModel plain({});
  const int one = plain.word(" one");
  Bench bench(
      [one](const FakeCall&, std::span<float> logits) { logits[static_cast<size_t>(one)] = 5; },
      200);
  int calls = 0;
  bench.stop = [&calls] { return ++calls > 3; };
  EXPECT_EQ(greedy_search(bench.context()).status().code(), StatusCode::kCancelled);
  EXPECT_EQ(calls, 4);
  EXPECT_EQ(beam_search(bench.context(), 2, 1).status().code(), StatusCode::kCancelled);
  EXPECT_EQ(sample(bench.context(), 1, 2, 0).status().code(), StatusCode::kCancelled);
}

TEST(Search, LogitsThatAreNoNumbersAreAnError) {
  Bench bench([](const FakeCall&, std::span<float> logits) { logits[5] = std::nanf(""); });
  EXPECT_EQ(greedy_search(bench.context()).status().code(), StatusCode::kInternal);
  EXPECT_EQ(beam_search(bench.context(), 2, 1).status().code(), StatusCode::kInternal);
}

TEST(WindowDecoder, ReportsNoSpeechWhereTheTranscriptStarts) {
  FakeModel plain({});
  const int no_speech = plain.tokens().no_speech;
  const int sot = plain.tokens().sot;
  Bench bench([=](const FakeCall& call, std::span<float> logits) {
    std::fill(logits.begin(), logits.end(), -1000.0f);
    logits[0] = 0;
    if (call.tokens.back() == sot) logits[static_cast<size_t>(no_speech)] = std::log(3.0f);
  });
  EXPECT_NEAR(bench.window_decoder().no_speech_probability(), 0.75, 1e-5);
}

TEST(RankScore, DividesByLengthOrPenalty) {
  Hypothesis h;
  h.tokens = {1, 2, 3, 4};
  h.given = 1;
  h.score = -6;
  EXPECT_DOUBLE_EQ(rank_score(h, {}), -2);
  EXPECT_NEAR(rank_score(h, 1.0f), -6 / (8.0 / 6), 1e-9);
  EXPECT_NEAR(rank_score(h, 0.0f), -6, 1e-9);
  h.tokens = {1};
  EXPECT_DOUBLE_EQ(rank_score(h, {}), -6);  // Nothing chosen: no division by 0
}

}  // namespace
}  // namespace sotto::whisper
