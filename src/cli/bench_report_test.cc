#include "cli/bench_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/transcribe_stats.h"

namespace sotto::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

BenchRun run(double total_ms, double linear_ms) {
  BenchRun out;
  out.total_ms = total_ms;
  out.cpu_s = total_ms / 500;
  out.stats.audio_s = 10;
  out.stats.load_ms = 30;
  out.stats.mel_ms = 2;
  out.stats.encode_ms = total_ms / 2;
  out.stats.generate_ms = total_ms / 4;
  out.stats.windows = 1;
  out.stats.ops = {{.op = "linear",
                    .device = "cpu",
                    .type = "bf16",
                    .calls = 3,
                    .ms = linear_ms,
                    .flops = 2e9,
                    .fallbacks = 0,
                    .fallback_reason = ""},
                   {.op = "layer_norm",
                    .device = "cpu",
                    .type = "",
                    .calls = 4,
                    .ms = 15,
                    .flops = 0,
                    .fallbacks = 0,
                    .fallback_reason = ""}};
  return out;
}

BenchResult sample() {
  BenchResult result;
  result.file = "a.wav";
  result.model = "base";
  result.device = "cpu";
  result.profile = {"bf16", 2, {{"bf16", 400}, {"f32", 200}}};
  result.description = "cpu (avx2), bf16, 2 threads";
  result.beam_size = 5;
  result.warmup = 1;
  result.peak_rss_mb = 123.5;
  result.runs = {run(100, 10), run(300, 30), run(200, 20)};
  result.text = "Hello.";
  result.language = "en";
  return result;
}

TEST(BenchReport, MedianOfEvenAndOddCounts) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({9, 1, 2}), 2);
  EXPECT_EQ(median({9, 1, 2, 4}), 3);
}

TEST(BenchReport, JsonHoldsMedians) {
  const nlohmann::json json = bench_json(sample());
  EXPECT_EQ(json.at("model"), "base");
  EXPECT_EQ(json.at("device"), "cpu");
  EXPECT_EQ(json.at("compute"), "bf16");
  EXPECT_EQ(json.at("threads"), 2);
  EXPECT_EQ(json.at("audio_s"), 10);
  EXPECT_EQ(json.at("load_ms"), 30);
  EXPECT_EQ(json.at("mel_ms"), 2);
  EXPECT_EQ(json.at("encode_ms"), 100);
  EXPECT_EQ(json.at("decode_ms"), 50);
  EXPECT_EQ(json.at("total_ms"), 200);
  EXPECT_EQ(json.at("min_total_ms"), 100);
  EXPECT_DOUBLE_EQ(json.at("rtf"), 0.02);
  EXPECT_EQ(json.at("peak_rss_mb"), 123.5);
  EXPECT_DOUBLE_EQ(json.at("cpu_s"), 0.4);
  EXPECT_EQ(json.at("text"), "Hello.");
}

TEST(BenchReport, OperationsAreSortedAndComparedWithTheirPeak) {
  const nlohmann::json ops = bench_json(sample()).at("ops");
  ASSERT_EQ(ops.size(), 2U);
  EXPECT_EQ(ops[0].at("op"), "linear");
  EXPECT_EQ(ops[0].at("ms"), 20);
  EXPECT_DOUBLE_EQ(ops[0].at("gflops"), 100);  // 2e9 in 20 ms
  EXPECT_DOUBLE_EQ(ops[0].at("peak_share"), 0.25);
  EXPECT_FALSE(ops[1].contains("peak_share"));
}

TEST(BenchReport, TextShowsTheSameFigures) {
  const std::string text = bench_text(sample());
  EXPECT_THAT(text, HasSubstr("total     200.00 ms"));
  EXPECT_THAT(text, HasSubstr("median of 3 runs after 1 to warm up; fastest 100.00 ms"));
  EXPECT_THAT(text, HasSubstr("100.0     25 %"));
  EXPECT_THAT(text, HasSubstr("measured peak: bf16 400, f32 200 GFLOP/s with 2 threads"));
  EXPECT_THAT(text, Not(HasSubstr("vad")));
}

TEST(BenchReport, ControlCharactersOfNamesAreHidden) {
  BenchResult result = sample();
  result.file = "a\x1b[2J.wav";
  EXPECT_THAT(bench_text(result), Not(HasSubstr("\x1b")));
}

TEST(BenchReport, AnUnknownPeakGivesNoShare) {
  const OpStats op = sample().runs[0].stats.ops[0];
  EXPECT_FALSE(peak_share(op, {}).has_value());
  EXPECT_THAT(render_operations({op}, {}), Not(HasSubstr("%")));
}

}  // namespace
}  // namespace sotto::cli
