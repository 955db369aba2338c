#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>
#include <thread>
#include <vector>

#include "audio/recording.h"

namespace sotto::audio {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

// The folder that tools/make_test_audio.py filled; CTest sets it.
std::string folder() {
  const char* path = std::getenv("SOTTO_TEST_AUDIO");
  EXPECT_NE(path, nullptr) << "set SOTTO_TEST_AUDIO to what tools/make_test_audio.py wrote";
  return path != nullptr ? path : ".";
}

std::string file(const std::string& name) {
  return folder() + "/" + name;
}

std::vector<std::byte> bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::vector<char> chars((std::istreambuf_iterator<char>(in)),
                                std::istreambuf_iterator<char>());
  const auto* data = reinterpret_cast<const std::byte*>(chars.data());
  return {data, data + chars.size()};
}

std::vector<float> samples_of(const SampleBuffer& buffer) {
  std::vector<float> out(static_cast<size_t>(buffer.size()));
  buffer.read(0, out);
  return out;
}

struct Tone {
  double amplitude;  // of 440 Hz
  double share;      // of the energy that is 440 Hz
};

Tone analyse(std::span<const float> x) {
  double re = 0, im = 0, energy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double angle = 2 * std::numbers::pi * 440 * static_cast<double>(i) / kSampleRate;
    re += x[i] * std::cos(angle);
    im += x[i] * std::sin(angle);
    energy += x[i] * x[i];
  }
  const auto n = static_cast<double>(x.size());
  const double amplitude = 2 * std::hypot(re, im) / n;
  return {amplitude, energy > 0 ? amplitude * amplitude / 2 * n / energy : 0};
}

void check_expected(const nlohmann::json& expected, const Result<Recording>& result) {
  const std::string name = expected.at("file");
  SCOPED_TRACE(name);
  if (expected.contains("error")) {
    ASSERT_FALSE(result.ok());
    if (expected["error"] != "any") {
      EXPECT_EQ(status_code_name(result.status().code()), expected["error"].get<std::string>());
    }
    EXPECT_THAT(result.status().message(), HasSubstr(expected.value("message", "")));
    EXPECT_THAT(result.status().message(), HasSubstr(name)) << "the message names the file";
    return;
  }
  ASSERT_TRUE(result.ok()) << result.status().message();
  const Recording& recording = *result;
  if (expected.contains("seconds")) {
    EXPECT_NEAR(recording.seconds(), expected["seconds"].get<double>(),
                expected.value("tolerance", 0.001));
  }
  if (expected.contains("warning")) {
    EXPECT_THAT(recording.warnings, Contains(HasSubstr(expected["warning"].get<std::string>())));
  } else {
    EXPECT_THAT(recording.warnings, IsEmpty());
  }
  const std::vector<float> samples = samples_of(recording.mono);
  for (float x : samples)
    ASSERT_LE(std::fabs(x), 1.0f);
  if (!expected.value("tone", false)) return;
  // Encoders and filters need a moment at both ends.
  ASSERT_GT(samples.size(), 4000U);
  const Tone tone = analyse(std::span(samples).subspan(1600, samples.size() / 160 * 160 - 3200));
  EXPECT_GT(tone.share, 0.98);
  if (expected.contains("level")) {
    EXPECT_NEAR(tone.amplitude / expected["level"].get<double>(), 1, 0.05);
  }
}

TEST(Decode, FilesOfAllKindsFromDiskAndFromMemory) {
  std::ifstream in(file("expected.json"));
  const nlohmann::json expected = nlohmann::json::parse(in);
  ASSERT_GT(expected.size(), 60U);
  testing::internal::CaptureStderr();
  for (const nlohmann::json& entry : expected) {
    const std::string name = entry.at("file");
    check_expected(entry, decode_file(file(name), {}));
    check_expected(entry, decode_memory(bytes_of(file(name)), name, {}));
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "") << "libav stays silent";
}

TEST(Decode, SamplesOf16BitAreExact) {
  auto recording = decode_file(file("s16.wav"), {});
  ASSERT_TRUE(recording.ok());
  const std::vector<std::byte> bytes = bytes_of(file("s16.wav"));
  const std::vector<float> samples = samples_of(recording->mono);
  ASSERT_EQ(bytes.size(), 44 + 2 * samples.size());
  for (size_t i = 0; i < samples.size(); ++i) {
    int16_t value;
    std::memcpy(&value, &bytes[44 + 2 * i], 2);
    ASSERT_EQ(samples[i], static_cast<float>(value) / 32768.0f) << i;
  }
  EXPECT_EQ(recording->container, "wav");
  EXPECT_EQ(recording->codec, "pcm_s16le");
  EXPECT_EQ(recording->source_rate, 16000);
  EXPECT_EQ(recording->source_channels, 1);
}

TEST(Decode, PipesWork) {
  for (const char* name : {"tone.mp3", "s16.wav", "size_ffffffff.wav", "tone.flac", "live.webm",
                           "tone.ogg", "tone.m4a"}) {
    SCOPED_TRACE(name);
    const std::string fifo =
        testing::TempDir() + "sotto_decode_test_fifo" + std::to_string(::getpid());
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    std::thread writer([&] {
      std::ofstream out(fifo, std::ios::binary);
      const std::vector<std::byte> bytes = bytes_of(file(name));
      out.write(reinterpret_cast<const char*>(bytes.data()),
                static_cast<std::streamsize>(bytes.size()));
    });
    auto recording = decode_file(fifo, {});
    writer.join();
    std::filesystem::remove(fifo);
    ASSERT_TRUE(recording.ok()) << recording.status().message();
    EXPECT_NEAR(recording->seconds(), 2.0, 0.1);
    const std::vector<float> samples = samples_of(recording->mono);
    EXPECT_GT(analyse(std::span(samples).subspan(1600, 28000)).share, 0.98);
  }
}

TEST(Decode, StandardInputIsADash) {
  const int saved = ::dup(STDIN_FILENO);
  const int fd = ::open(file("s16_44100.wav").c_str(), O_RDONLY);
  ASSERT_GE(fd, 0);
  ::dup2(fd, STDIN_FILENO);
  ::close(fd);
  auto recording = decode_file("-", {});
  ::dup2(saved, STDIN_FILENO);
  ::close(saved);
  ASSERT_TRUE(recording.ok()) << recording.status().message();
  EXPECT_EQ(recording->mono.size(), 32000);
}

TEST(Decode, OneMemoryAndFileGiveTheSame) {
  auto a = decode_file(file("stereo.wav"), {});
  auto b = decode_memory(bytes_of(file("stereo.wav")), "upload", {});
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(samples_of(a->mono), samples_of(b->mono));
}

TEST(Decode, RefusalsOfTheSystemKeepTheirCause) {
  EXPECT_EQ(decode_file(file("no such file"), {}).status().code(), StatusCode::kNotFound);
  const Status is_folder = decode_file(folder(), {}).status();
  EXPECT_EQ(is_folder.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(is_folder.message(), HasSubstr("folder"));
}

TEST(Decode, StartAndLengthCutExactly) {
  auto whole = decode_file(file("s16_48000.wav"), {});
  DecodeOptions options;
  options.start_s = 0.5;
  options.length_s = 0.25;
  auto part = decode_file(file("s16_48000.wav"), options);
  ASSERT_TRUE(whole.ok() && part.ok());
  EXPECT_EQ(part->mono.size(), 4000);
  std::vector<float> expected(4000);
  whole->mono.read(8000, expected);
  EXPECT_EQ(samples_of(part->mono), expected);
  EXPECT_THAT(part->warnings, IsEmpty());
  options.start_s = 100;
  auto beyond = decode_file(file("s16_48000.wav"), options);
  ASSERT_TRUE(beyond.ok());
  EXPECT_EQ(beyond->mono.size(), 0);
}

TEST(Decode, KeepsLeftAndRightOnRequest) {
  DecodeOptions options;
  options.keep_stereo = true;
  auto stereo = decode_file(file("stereo_left_only.wav"), options);
  ASSERT_TRUE(stereo.ok());
  ASSERT_EQ(stereo->left.size(), 32000);
  ASSERT_EQ(stereo->right.size(), 32000);
  EXPECT_GT(analyse(samples_of(stereo->left)).amplitude, 0.49);
  EXPECT_EQ(samples_of(stereo->right), std::vector<float>(32000, 0.0f));
  auto mono = decode_file(file("s16.wav"), options);
  ASSERT_TRUE(mono.ok());
  EXPECT_EQ(mono->left.size(), 0);
}

TEST(Decode, RawSamples) {
  const std::vector<std::byte> wav = bytes_of(file("s16.wav"));
  const auto samples = std::span(wav).subspan(44);
  DecodeOptions options;
  options.raw = RawFormat{"s16le", 16000, 1};
  auto recording = decode_memory(samples, "raw", options);
  ASSERT_TRUE(recording.ok()) << recording.status().message();
  EXPECT_EQ(samples_of(recording->mono), samples_of(decode_file(file("s16.wav"), {})->mono));
  options.raw = RawFormat{"s16le", 48000, 2};
  recording = decode_memory(samples, "raw", options);
  ASSERT_TRUE(recording.ok());
  EXPECT_NEAR(recording->seconds(), 1.0 / 3, 0.001);
  recording = decode_memory(samples.first(4001), "raw", options);
  ASSERT_TRUE(recording.ok()) << "half a sample at the end is left out";
  for (const RawFormat& bad :
       {RawFormat{"s17", 16000, 1}, RawFormat{"bluray", 16000, 1}, RawFormat{"s16le", 0, 1},
        RawFormat{"s16le", 16000, 0}, RawFormat{"s16le", 16000, 65}, RawFormat{"", 16000, 1}}) {
    options.raw = bad;
    EXPECT_FALSE(decode_memory(samples, "raw", options).ok())
        << bad.format << " " << bad.rate << " " << bad.channels;
  }
  options.raw = RawFormat{"f32le", 16000, 1};
  recording = decode_memory(samples.first(0), "raw", options);
  ASSERT_TRUE(recording.ok());
  EXPECT_EQ(recording->mono.size(), 0);
}

TEST(Decode, StopsWhenAsked) {
  DecodeOptions options;
  options.should_stop = [] { return true; };
  EXPECT_EQ(decode_file(file("s16.wav"), options).status().code(), StatusCode::kCancelled);
  EXPECT_EQ(decode_memory(bytes_of(file("tone.mp3")), "x", options).status().code(),
            StatusCode::kCancelled);
  options.raw = RawFormat{};
  options.raw->format = "s16le";
  EXPECT_EQ(decode_file(file("s16.wav"), options).status().code(), StatusCode::kCancelled);
}

TEST(Decode, StopsWaitingForASilentPipe) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  DecodeOptions options;
  int asked = 0;
  options.should_stop = [&asked] { return ++asked > 2; };
  const Status status = decode_file("/dev/fd/" + std::to_string(ends[0]), options).status();
  ::close(ends[0]);
  ::close(ends[1]);
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
}

TEST(Decode, RefusesMoreThanTheLimit) {
  DecodeOptions options;
  options.limit_s = 1.5;
  const Status status = decode_file(file("tone.flac"), options).status();
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
}

TEST(SampleBuffer, ReadsAcrossBlocksAndBeyondBothEnds) {
  SampleBuffer buffer;
  std::vector<float> numbers(300000);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<float>(i + 1);
  buffer.append(std::span(numbers).first(1000));
  buffer.append(std::span(numbers).subspan(1000));
  ASSERT_EQ(buffer.size(), 300000);
  EXPECT_EQ(samples_of(buffer), numbers);
  std::vector<float> out(10, -1.0f);
  buffer.read(-5, out);
  EXPECT_EQ(out, (std::vector<float>{0, 0, 0, 0, 0, 1, 2, 3, 4, 5}));
  buffer.read(299997, out);
  EXPECT_EQ(out, (std::vector<float>{299998, 299999, 300000, 0, 0, 0, 0, 0, 0, 0}));
  buffer.read(400000, out);
  EXPECT_EQ(out, std::vector<float>(10, 0.0f));
  buffer.read(-400000, out);
  EXPECT_EQ(out, std::vector<float>(10, 0.0f));
}

}  // namespace
}  // namespace sotto::audio
