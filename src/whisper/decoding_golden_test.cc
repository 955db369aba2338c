// Transcripts of the sample clip against those of faster-whisper in float32
// (tools/golden/make_decoding.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "audio/log_mel.h"
#include "audio/recording.h"
#include "base/thread_pool.h"
#include "ops/cpu_backend.h"
#include "whisper/transcriber.h"

namespace sotto::whisper {
namespace {

using nlohmann::json;

json read_cases() {
  std::ifstream file(SOTTO_DECODING_GOLDEN);
  return json::parse(file);
}

TranscribeOptions options_of(const json& fields) {
  TranscribeOptions options;
  options.temperatures = {0.0f};
  options.length_penalty.reset();
  options.beam_size = fields.value("beam_size", 5);
  options.patience = fields.value("patience", 1.0f);
  options.language = fields.value("language", "");
  options.without_timestamps = fields.value("without_timestamps", false);
  options.word_timestamps = fields.value("word_timestamps", false);
  options.initial_prompt = fields.value("initial_prompt", "");
  options.hotwords = fields.value("hotwords", "");
  options.prefix = fields.value("prefix", "");
  options.repetition_penalty = fields.value("repetition_penalty", 1.0f);
  options.no_repeat_ngram_size = fields.value("no_repeat_ngram_size", 0);
  if (fields.value("task", "") == "translate") options.task = Task::kTranslate;
  if (fields.contains("clip_timestamps")) options.clips = {{3, 8}};
  return options;
}

class DecodingGoldenTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const char* folder = std::getenv("SOTTO_TEST_MODELS");
    ASSERT_NE(folder, nullptr)
        << "set SOTTO_TEST_MODELS to the folder that scripts/test-models fills";
    folder_ = folder;
    auto recording = audio::decode_file(folder_ + "/jfk.wav", {});
    ASSERT_TRUE(recording.ok()) << recording.status().message();
    recording_ = std::make_unique<audio::Recording>(std::move(recording).value());
  }

  static Model& model(const std::string& name) {
    std::unique_ptr<Model>& slot = models_[name];
    if (slot == nullptr) {
      ops::CpuBackendOptions options;
      options.isa = *cpu_isa_from_environment();
      options.compute = ops::ComputeType::kF32;
      auto backend = ops::make_cpu_backend(options);
      EXPECT_TRUE(backend.ok()) << backend.status().message();
      auto loaded = load_model(folder_ + "/" + name, std::move(backend).value());
      EXPECT_TRUE(loaded.ok()) << loaded.status().message();
      slot = std::move(loaded).value();
    }
    return *slot;
  }

  static Transcript run(const json& golden) {
    Model& whisper = model(golden["model"]);
    ThreadPool pool(2);
    const auto mel = audio::LogMel::compute(recording_->mono, whisper.config().n_mels, pool);
    EXPECT_TRUE(mel.ok());
    auto result =
        transcribe(whisper, *mel, recording_->seconds(), options_of(golden["options"]), {});
    EXPECT_TRUE(result.ok()) << result.status().message();
    return std::move(result).value();
  }

  static std::string folder_;
  static std::unique_ptr<audio::Recording> recording_;
  static std::map<std::string, std::unique_ptr<Model>> models_;
};

std::string DecodingGoldenTest::folder_;
std::unique_ptr<audio::Recording> DecodingGoldenTest::recording_;
std::map<std::string, std::unique_ptr<Model>> DecodingGoldenTest::models_;

void expect_words(const Segment& segment, const json& golden) {
  ASSERT_EQ(segment.words.size(), golden.size());
  for (size_t i = 0; i < golden.size(); ++i) {
    EXPECT_EQ(segment.words[i].text, golden[i][0].get<std::string>());
    // One encoder position of difference: the attention is rounded differently.
    EXPECT_NEAR(segment.words[i].start, golden[i][1].get<double>(), 0.021) << segment.words[i].text;
    EXPECT_NEAR(segment.words[i].end, golden[i][2].get<double>(), 0.021) << segment.words[i].text;
    EXPECT_NEAR(segment.words[i].probability, golden[i][3].get<float>(), 0.005)
        << segment.words[i].text;
  }
}

void expect_segment(const Segment& segment, const json& golden) {
  std::vector<int> ids;
  for (const Token& token : segment.tokens)
    ids.push_back(token.id);
  EXPECT_EQ(ids, golden["tokens"].get<std::vector<int>>());
  EXPECT_EQ(segment.text, golden["text"]);
  EXPECT_EQ(segment.seek, golden["seek"]);
  EXPECT_NEAR(segment.start, golden["start"].get<double>(), 0.021);
  EXPECT_NEAR(segment.end, golden["end"].get<double>(), 0.021);
  // faster-whisper divides by the given tokens (those of probability 1), too.
  const auto given = std::count_if(segment.tokens.begin(), segment.tokens.end(),
                                   [](const Token& token) { return token.logprob == 0; });
  const double counted = static_cast<double>(ids.size() + 1);
  const double sum = golden["avg_logprob"].get<double>() * (given > 0 ? counted : 1);
  EXPECT_NEAR(segment.avg_logprob, sum / (given > 0 ? counted - static_cast<double>(given) : 1),
              0.003);
  EXPECT_NEAR(segment.compression_ratio, golden["compression_ratio"].get<float>(), 1e-4);
  EXPECT_NEAR(segment.no_speech_prob, golden["no_speech_prob"].get<float>(), 0.002);
  if (golden.contains("words")) expect_words(segment, golden["words"]);
}

TEST_F(DecodingGoldenTest, EqualsFasterWhisper) {
  const json cases = read_cases();
  ASSERT_GT(cases.size(), 10u);
  for (const json& golden : cases) {
    SCOPED_TRACE(golden["model"].get<std::string>() + " " + golden["options"].dump());
    const Transcript transcript = run(golden);
    EXPECT_EQ(transcript.language, golden["language"]);
    EXPECT_NEAR(transcript.language_probability, golden["language_probability"].get<float>(),
                0.002);
    EXPECT_EQ(transcript.segments.size(), golden["segments"].size());
    const size_t count = std::min(transcript.segments.size(), golden["segments"].size());
    for (size_t i = 0; i < count; ++i)
      expect_segment(transcript.segments[i], golden["segments"][i]);
  }
}

}  // namespace
}  // namespace sotto::whisper
