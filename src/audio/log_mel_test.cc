#include "audio/log_mel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <numbers>
#include <string>
#include <vector>

#include "audio/real_fft.h"

namespace sotto::audio {
namespace {

struct FilterRow {
  int row, first_bin;
  std::vector<float> values;
};

#include "audio/testdata/mel_golden.inc"

// The signal of tools/golden/make_mel.py.
SampleBuffer synthetic() {
  constexpr int kSamples = 20000;
  std::vector<float> samples;
  uint32_t state = 1;
  for (int i = 0; i < kSamples; ++i) {
    state = state * 1664525U + 1013904223U;
    const double noise = (state >> 8) / 8388608.0 - 1.0;
    double x = 0.3 * std::sin(2 * std::numbers::pi * 440 * i / kSampleRate);
    if (i % 8000 < 4000) x += 0.2 * std::sin(2 * std::numbers::pi * 1234.5 * i / kSampleRate + 1);
    samples.push_back(static_cast<float>(x + 0.01 * noise));
  }
  SampleBuffer buffer;
  buffer.append(samples);
  return buffer;
}

LogMel compute(const SampleBuffer& samples, int n_mels, int threads = 1) {
  ThreadPool pool(threads);
  auto mel = LogMel::compute(samples, n_mels, pool);
  EXPECT_TRUE(mel.ok()) << mel.status().message();
  return std::move(mel).value();
}

std::vector<float> window(const LogMel& mel, int64_t first, int64_t n,
                          Beyond beyond = Beyond::kSilence) {
  std::vector<float> out(static_cast<size_t>(n * mel.n_mels()));
  mel.window(first, n, out, beyond);
  return out;
}

void expect_frames(const LogMel& mel, std::span<const int> frames, std::span<const float> golden) {
  const auto bands = static_cast<size_t>(mel.n_mels());
  ASSERT_EQ(golden.size(), frames.size() * bands);
  for (size_t f = 0; f < frames.size(); ++f) {
    const std::vector<float> row = window(mel, frames[f], 1);
    for (size_t m = 0; m < bands; ++m) {
      ASSERT_NEAR(row[m], golden[f * bands + m], 1e-4) << "frame " << frames[f] << " band " << m;
    }
  }
}

TEST(LogMel, SyntheticSignalMatchesTheFormula) {
  const SampleBuffer samples = synthetic();
  expect_frames(compute(samples, 80), kSyntheticFrames, kSynthetic80);
  expect_frames(compute(samples, 128), kSyntheticFrames, kSynthetic128);
}

TEST(LogMelModel, JfkMatchesTheFormula) {
  const char* folder = std::getenv("SOTTO_TEST_MODELS");
  ASSERT_NE(folder, nullptr) << "set SOTTO_TEST_MODELS (scripts/test does)";
  auto recording = decode_file(std::string(folder) + "/jfk.wav", {});
  ASSERT_TRUE(recording.ok()) << recording.status().message();
  expect_frames(compute(recording->mono, 80), kJfkFrames, kJfk80);
  expect_frames(compute(recording->mono, 128), kJfkFrames, kJfk128);
}

TEST(LogMel, ThreadsDoNotChangeTheResult) {
  SampleBuffer samples;
  for (int i = 0; i < 10; ++i) {
    std::vector<float> part(20000);
    synthetic().read(0, part);
    samples.append(part);
  }
  const LogMel one = compute(samples, 80, 1);
  const LogMel four = compute(samples, 80, 4);
  ASSERT_EQ(one.frames(), 1250);
  EXPECT_EQ(window(one, 0, one.frames()), window(four, 0, four.frames()));
}

TEST(LogMel, CountsFramesAndFillsWindows) {
  SampleBuffer samples;
  samples.append(std::vector<float>(1000, 0.5f));
  const LogMel mel = compute(samples, 80);
  EXPECT_EQ(mel.frames(), 6);  // 1000 / 160
  const std::vector<float> silence = window(mel, 100, 1);
  EXPECT_EQ(window(mel, 3000, 1), silence);
  EXPECT_EQ(window(mel, -1, 1), silence);
  EXPECT_NE(window(mel, 7, 1), silence)
      << "frame 7 begins at sample 920 and so still reaches into the recording";
  EXPECT_EQ(window(mel, 8, 1), silence);
  EXPECT_EQ(window(mel, 6, 1, Beyond::kZero), std::vector<float>(80, 0.0f));
  EXPECT_EQ(window(mel, 5, 1, Beyond::kZero), window(mel, 5, 1));
}

TEST(LogMel, EmptyAndVeryShortRecordings) {
  const LogMel empty = compute(SampleBuffer(), 80);
  EXPECT_EQ(empty.frames(), 0);
  // The maximum is that of silence, -10, so nothing is clamped: (-10 + 4) / 4.
  EXPECT_EQ(window(empty, 0, 1), std::vector<float>(80, -1.5f));
  SampleBuffer one;
  one.append(std::vector<float>{1.0f});
  const LogMel mel = compute(one, 80);
  EXPECT_EQ(mel.frames(), 0);
  for (float x : window(mel, 0, 3))
    EXPECT_TRUE(std::isfinite(x));
}

TEST(LogMel, RefusesWrongSizes) {
  ThreadPool pool(1);
  EXPECT_EQ(LogMel::compute(SampleBuffer(), 0, pool).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(LogMel::compute(SampleBuffer(), 202, pool).status().code(),
            StatusCode::kInvalidArgument);
  const std::vector<float> filters(80 * 200);
  EXPECT_EQ(LogMel::compute(SampleBuffer(), 80, pool, filters).status().code(),
            StatusCode::kInvalidArgument);
}

TEST(LogMel, StopsWhenAsked) {
  ThreadPool pool(1);
  EXPECT_EQ(LogMel::compute(synthetic(), 80, pool, {}, [] { return true; }).status().code(),
            StatusCode::kCancelled);
}

TEST(LogMel, TakesTheModelsOwnFilters) {
  ThreadPool pool(1);
  const SampleBuffer samples = synthetic();
  std::vector<float> filters = mel_filters(80);
  auto same = LogMel::compute(samples, 80, pool, filters);
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(window(*same, 0, 100), window(compute(samples, 80), 0, 100));
  for (float& w : filters)
    w *= 0.1f;  // a tenth of the energy is one less in log10; maximum and clamp move along
  auto tenth = LogMel::compute(samples, 80, pool, filters);
  ASSERT_TRUE(tenth.ok());
  EXPECT_NEAR(window(*tenth, 60, 1)[10], window(*same, 60, 1)[10] - 0.25f, 1e-5);
}

void expect_rows(const std::vector<float>& filters, std::span<const FilterRow> rows) {
  for (const FilterRow& expected : rows) {
    for (int k = 0; k < kSpectrumBins; ++k) {
      const int i = k - expected.first_bin;
      const bool inside = i >= 0 && i < static_cast<int>(expected.values.size());
      const float value = filters[static_cast<size_t>(expected.row * kSpectrumBins + k)];
      ASSERT_NEAR(value, inside ? expected.values[static_cast<size_t>(i)] : 0.0f, 1e-7)
          << "row " << expected.row << " bin " << k;
    }
  }
}

TEST(MelFilters, AreOpenAis) {
  expect_rows(mel_filters(80), kOpenAi80);
  expect_rows(mel_filters(128), kOpenAi128);
}

TEST(RealFft400, MatchesTheDefinition) {
  RealFft400 fft;
  std::vector<RealFft400::Lanes> in(RealFft400::kSize), power(RealFft400::kBins);
  for (size_t i = 0; i < in.size(); ++i) {
    for (size_t l = 0; l < RealFft400::kLanes; ++l) {
      in[i][l] =
          std::sin(static_cast<float>(i * (l + 1))) + 0.1f * static_cast<float>((i * 7 + l) % 13);
    }
  }
  fft.power(in.data(), power.data());
  for (size_t l = 0; l < RealFft400::kLanes; ++l) {
    for (size_t k = 0; k < power.size(); ++k) {
      double re = 0, im = 0;
      for (size_t i = 0; i < in.size(); ++i) {
        const double angle = 2 * std::numbers::pi * static_cast<double>(i * k % RealFft400::kSize) /
                             RealFft400::kSize;
        re += in[i][l] * std::cos(angle);
        im -= in[i][l] * std::sin(angle);
      }
      ASSERT_NEAR(std::sqrt(power[k][l]), std::hypot(re, im), 2e-4) << "bin " << k << " lane " << l;
    }
  }
}

}  // namespace
}  // namespace sotto::audio
