#include "whisper/rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "whisper/logits.h"
#include "whisper/testing/fake_model.h"

namespace sotto::whisper {
namespace {

using testing::FakeModel;

class RulesTest : public ::testing::Test {
 protected:
  RulesTest() : model_({}) { options_.suppress_tokens = {}; }

  /// Logits after the rules; all start at `fill`.
  std::vector<float> apply(const std::vector<int>& history, size_t given = 0, float fill = 0.0f) {
    std::vector<float> logits(static_cast<size_t>(model_.config().n_vocab), fill);
    apply(history, given, logits);
    return logits;
  }

  void apply(const std::vector<int>& history, size_t given, std::vector<float>& logits) {
    const auto rules = LogitRules::create(model_, options_, 1500);
    EXPECT_TRUE(rules.ok()) << rules.status().message();
    const float all = log_sum_exp(logits);
    const RuleMasses masses = rules->apply(history, given, logits);
    EXPECT_NEAR(masses.allowed, log_sum_exp(logits), 1e-4);
    if (!rules->changes_allowed()) {
      EXPECT_NEAR(masses.all, all, 1e-4);
    }
  }

  [[nodiscard]] int time(double seconds) const { return model_.time(seconds); }
  [[nodiscard]] int word(std::string_view text) const { return model_.word(text); }
  static bool allowed(const std::vector<float>& logits, int id) {
    return logits[static_cast<size_t>(id)] != kNever;
  }

  FakeModel model_;
  TranscribeOptions options_;
};

TEST_F(RulesTest, TranscriptBeginsWithAnEarlyTimestamp) {
  const auto logits = apply({});
  EXPECT_FALSE(allowed(logits, word(" hello")));
  EXPECT_FALSE(allowed(logits, model_.tokens().eot));
  EXPECT_TRUE(allowed(logits, time(0)));
  EXPECT_TRUE(allowed(logits, time(1.0)));
  EXPECT_FALSE(allowed(logits, time(1.02)));
}

TEST_F(RulesTest, NoLimitOnTheFirstTimestampWhenTheOptionIsZero) {
  options_.max_initial_timestamp = 0;
  EXPECT_TRUE(allowed(apply({}), time(30.0)));
}

TEST_F(RulesTest, TextOrEndFollowsTheFirstTimestamp) {
  std::vector<float> logits(static_cast<size_t>(model_.config().n_vocab), 0.0f);
  apply({time(0)}, 0, logits);
  EXPECT_TRUE(allowed(logits, word(" hello")));
  EXPECT_TRUE(allowed(logits, model_.tokens().eot));
  EXPECT_FALSE(allowed(logits, time(0)));
  EXPECT_FALSE(allowed(logits, time(5)));
}

TEST_F(RulesTest, ASegmentIsNeverEmptyAndTimeDoesNotDecrease) {
  std::vector<float> logits(static_cast<size_t>(model_.config().n_vocab), 0.0f);
  apply({time(2), word(" hello")}, 0, logits);
  EXPECT_FALSE(allowed(logits, time(1.98)));
  EXPECT_FALSE(allowed(logits, time(2)));
  EXPECT_TRUE(allowed(logits, time(2.02)));
}

TEST_F(RulesTest, AnEndTimestampIsFollowedByItsPairOrTheEnd) {
  const auto logits = apply({time(0), word(" hello"), time(2)});
  EXPECT_FALSE(allowed(logits, word(" hello")));
  EXPECT_FALSE(allowed(logits, time(1.98)));
  EXPECT_TRUE(allowed(logits, time(2)));  // The next segment may begin where this one ends
  EXPECT_TRUE(allowed(logits, time(30)));
}

TEST_F(RulesTest, TextFollowsAPair) {
  const auto logits = apply({time(0), word(" hello"), time(2), time(2)});
  EXPECT_TRUE(allowed(logits, word(" hello")));
  EXPECT_FALSE(allowed(logits, time(2)));
  EXPECT_FALSE(allowed(logits, time(29)));
}

TEST_F(RulesTest, TimestampsTogetherOutweighTheLikeliestWord) {
  // 1400 timestamps at logit 0 weigh log(1400) = 7.2.
  std::vector<float> logits(static_cast<size_t>(model_.config().n_vocab), 0.0f);
  logits[static_cast<size_t>(word(" world"))] = 7.0f;
  apply({time(2), word(" hello")}, 0, logits);
  EXPECT_FALSE(allowed(logits, word(" world")));
  EXPECT_TRUE(allowed(logits, time(3)));

  std::fill(logits.begin(), logits.end(), 0.0f);
  logits[static_cast<size_t>(word(" world"))] = 7.5f;
  apply({time(2), word(" hello")}, 0, logits);
  EXPECT_TRUE(allowed(logits, word(" world")));
  EXPECT_TRUE(allowed(logits, time(3)));
}

TEST_F(RulesTest, BlankIsSuppressedOnlyAtTheFirstChosenToken) {
  options_.without_timestamps = true;
  EXPECT_FALSE(allowed(apply({}), model_.tokens().eot));
  EXPECT_FALSE(allowed(apply({}), ' '));
  EXPECT_TRUE(allowed(apply({word(" hello")}), model_.tokens().eot));
  EXPECT_FALSE(
      allowed(apply({word(" hello")}, 1), model_.tokens().eot));  // After a prefix of one token
  options_.suppress_blank = false;
  EXPECT_TRUE(allowed(apply({}), model_.tokens().eot));
}

TEST_F(RulesTest, ControlTokensAreNeverPartOfATranscript) {
  const auto& tokens = model_.tokens();
  const auto logits = apply({time(0)});
  for (const int id :
       {tokens.sot, tokens.translate, tokens.transcribe, tokens.sot_lm, tokens.sot_prev,
        tokens.no_speech, tokens.no_timestamps, tokens.first_language, tokens.first_language + 2}) {
    EXPECT_FALSE(allowed(logits, id)) << id;
  }
}

TEST_F(RulesTest, WithoutTimestampsNoneIsAllowed) {
  options_.without_timestamps = true;
  const auto logits = apply({word(" hello")});
  EXPECT_FALSE(allowed(logits, time(0)));
  EXPECT_TRUE(allowed(logits, word(" hello")));
}

TEST_F(RulesTest, SuppressListsAndExpressions) {
  options_.suppress_tokens = {word(" one"), -1};
  options_.suppress_regex = " t.*";
  const auto logits = apply({time(0)});
  EXPECT_FALSE(allowed(logits, word(" one")));
  EXPECT_FALSE(allowed(logits, word(" two")));
  EXPECT_FALSE(allowed(logits, word(" three")));
  EXPECT_FALSE(allowed(logits, word("[")));  // Non-speech
  EXPECT_TRUE(allowed(logits, word(" four")));
}

TEST_F(RulesTest, TheModelsOwnListsGoBeforeDerivedOnes) {
  model_.mutable_config().suppress_tokens = {word(" six"), -5, 1000000};  // As in a broken file
  model_.mutable_config().suppress_at_begin = {word(" five")};
  options_.suppress_tokens = {-1};
  options_.without_timestamps = true;
  EXPECT_FALSE(allowed(apply({word(" one")}), word(" six")));
  EXPECT_TRUE(allowed(apply({word(" one")}), word("[")));
  EXPECT_FALSE(allowed(apply({}), word(" five")));
  EXPECT_TRUE(allowed(apply({}), model_.tokens().eot));
}

TEST_F(RulesTest, WrongListsAreRefused) {
  options_.suppress_tokens = {model_.config().n_vocab};
  EXPECT_EQ(LogitRules::create(model_, options_, 1500).status().code(),
            StatusCode::kInvalidArgument);
  options_.suppress_tokens = {-2};
  EXPECT_EQ(LogitRules::create(model_, options_, 1500).status().code(),
            StatusCode::kInvalidArgument);
  options_.suppress_tokens = {};
  options_.suppress_regex = "(";
  EXPECT_EQ(LogitRules::create(model_, options_, 1500).status().code(),
            StatusCode::kInvalidArgument);
}

TEST_F(RulesTest, ExpressionsCannotBlowUp) {
  options_.suppress_regex = "(( +)+)+x";
  EXPECT_TRUE(LogitRules::create(model_, options_, 1500).ok());
  options_.suppress_regex = "(((a{900}){900}){900})";
  EXPECT_EQ(LogitRules::create(model_, options_, 1500).status().code(),
            StatusCode::kInvalidArgument);
}

TEST_F(RulesTest, RepetitionPenaltyWeakensWhatWasSaid) {
  options_.repetition_penalty = 2;
  options_.without_timestamps = true;
  auto logits = apply({word(" one"), word(" one")}, 0, 4.0f);
  EXPECT_EQ(logits[static_cast<size_t>(word(" one"))], 2.0f);
  EXPECT_EQ(logits[static_cast<size_t>(word(" two"))], 4.0f);
  logits = apply({word(" one")}, 0, -4.0f);
  EXPECT_EQ(logits[static_cast<size_t>(word(" one"))], -8.0f);
}

TEST_F(RulesTest, NoNgramIsSaidTwice) {
  options_.without_timestamps = true;
  options_.no_repeat_ngram_size = 2;
  auto logits = apply({word(" one"), word(" two"), word(" three"), word(" one")});
  EXPECT_FALSE(allowed(logits, word(" two")));
  EXPECT_TRUE(allowed(logits, word(" three")));
  options_.no_repeat_ngram_size = 1;
  logits = apply({word(" one")});
  EXPECT_FALSE(allowed(logits, word(" one")));
  options_.no_repeat_ngram_size = 9;
  EXPECT_TRUE(allowed(apply({word(" one")}), word(" one")));
}

TEST_F(RulesTest, TimestampsBeyondAShortenedWindowAreForbidden) {
  const auto rules = LogitRules::create(model_, options_, 500);
  ASSERT_TRUE(rules.ok());
  std::vector<float> logits(static_cast<size_t>(model_.config().n_vocab), 0.0f);
  const std::vector<int> history = {time(0), word(" one"), time(2)};
  rules->apply(history, 0, logits);
  EXPECT_TRUE(allowed(logits, time(10)));
  EXPECT_FALSE(allowed(logits, time(10.02)));
}

/// Whether a whole transcript obeys the grammar: (timestamp text+ timestamp)* with time that moves
/// on.
void expect_legal(const std::vector<int>& ids, const FakeModel& model) {
  const int begin = model.tokens().timestamp_begin;
  ASSERT_FALSE(ids.empty());
  ASSERT_GE(ids[0], begin) << "must begin with a timestamp";
  EXPECT_LE(ids[0], model.time(1.0));
  int run = 1;          // Timestamps in a row
  int opened = ids[0];  // Start of the open segment
  bool text = false;    // Since the last timestamp
  int latest = ids[0];
  for (size_t i = 1; i < ids.size(); ++i) {
    if (ids[i] < begin) {
      ASSERT_LT(ids[i], model.tokens().eot) << "control token inside";
      ASSERT_FALSE(run == 1 && i > 1) << "text straight after an end timestamp at " << i;
      run = 0;
      text = true;
      continue;
    }
    ASSERT_GE(ids[i], latest) << "time goes back at " << i;
    if (text) {
      ASSERT_GT(ids[i], opened) << "segment without duration at " << i;
    }
    ++run;
    ASSERT_LE(run, 2) << "three timestamps in a row at " << i;
    if (run == 2) opened = ids[i];
    text = false;
    latest = ids[i];
  }
}

TEST_F(RulesTest, AnyLogitsGiveALegalTranscript) {
  options_.suppress_tokens = {-1};
  const auto rules = LogitRules::create(model_, options_, 1500);
  ASSERT_TRUE(rules.ok());
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    // Some rounds favour timestamps, some text, some are flat.
    std::normal_distribution<float> normal(0, 1.0f + static_cast<float>(round % 6));
    const float bias = static_cast<float>(round % 5 - 2) * 4.0f;
    std::vector<int> ids;
    for (int step = 0; step < 60; ++step) {
      std::vector<float> logits(static_cast<size_t>(model_.config().n_vocab));
      for (float& x : logits)
        x = normal(random);
      for (size_t i = 0; i < static_cast<size_t>(model_.tokens().timestamp_begin); ++i)
        logits[i] += bias;
      rules->apply(ids, 0, logits);
      const int next = best_token(logits).id;
      ASSERT_GE(next, 0) << "nothing may follow after " << ids.size();
      if (next == model_.tokens().eot) break;
      ids.push_back(next);
    }
    expect_legal(ids, model_);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace sotto::whisper
