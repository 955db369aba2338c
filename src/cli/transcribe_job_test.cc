// The loop over inputs, driven by a scripted model: what is printed, written and returned.
#include "cli/transcribe_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/interrupt.h"
#include "cli/transcribe_stats.h"

namespace sotto::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::internal::CaptureStderr;
using ::testing::internal::CaptureStdout;
using ::testing::internal::GetCapturedStderr;
using ::testing::internal::GetCapturedStdout;

Segment make_segment(double start, double end, std::string text) {
  Segment segment;
  segment.start = start;
  segment.end = end;
  segment.text = std::move(text);
  return segment;
}

/// Says two segments, after `behaviour` had its way.
class ScriptedModel : public SpeechModel {
 public:
  enum class Behaviour {
    kSucceed,
    kUndecodable,
    kFailAfterOneSegment,
    kInterruptAfterOneSegment,
    kWrongOptions
  };

  Result<Transcript> transcribe(const AudioSource& source, const TranscribeOptions&,
                                const TranscribeCallbacks& callbacks) override {
    if (behaviour == Behaviour::kUndecodable)
      return invalid_argument(source.path + ": no audio stream");
    callbacks.on_audio(20);
    if (behaviour == Behaviour::kWrongOptions) return invalid_argument("prefix too long");
    callbacks.on_language("en", 0.9f);
    if (callbacks.should_stop()) return cancelled("stopped");
    Transcript transcript;
    transcript.language = "en";
    transcript.duration = 20;
    transcript.text = "Hello there. Bye.";
    transcript.warnings = {"the file is cut"};
    transcript.segments = {make_segment(0, 10.66, " Hello there."),
                           make_segment(10.66, 20, " Bye.")};
    for (const Segment& segment : transcript.segments) {
      callbacks.on_segment(segment);
      callbacks.on_progress(segment.end, 20);
      if (behaviour == Behaviour::kFailAfterOneSegment) return internal_error("lost an invariant");
      if (behaviour == Behaviour::kInterruptAfterOneSegment) set_interrupted(true);
      if (callbacks.should_stop()) return cancelled("stopped");
    }
    return transcript;
  }
  [[nodiscard]] bool multilingual() const override { return is_multilingual; }
  [[nodiscard]] ModelSizes sizes() const override { return {}; }
  [[nodiscard]] std::string description() const override { return "scripted"; }

  Behaviour behaviour = Behaviour::kSucceed;
  bool is_multilingual = true;
};

class TranscribeJobTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("transcribe_job_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override {
    set_interrupted(false);
    fs::remove_all(folder_);
  }

  /// Runs the first input of a command line.
  ExitCode run(const std::vector<std::string>& arguments) {
    TranscribeArgs args;
    const Status parsed = parse_transcribe_args(arguments, args);
    EXPECT_TRUE(parsed.ok()) << parsed.message();
    const Result<std::vector<std::vector<OutputFile>>> plan = plan_outputs(args);
    EXPECT_TRUE(plan.ok()) << plan.status().message();
    Display display(args.display);
    TranscribeJob job(args, *plan, model_, display);
    CaptureStdout();
    CaptureStderr();
    const ExitCode code = job.run(0);
    out_ = GetCapturedStdout();
    err_ = GetCapturedStderr();
    return code;
  }

  [[nodiscard]] std::string content(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder_ / name).rdbuf();
    return text.str();
  }

  ScriptedModel model_;
  fs::path folder_;
  std::string out_, err_;
};

TEST_F(TranscribeJobTest, PrintsLinesLikeWhisperCli) {
  EXPECT_EQ(run({"a.wav"}), kExitOk);
  EXPECT_EQ(out_,
            "[00:00:00.000 --> 00:00:10.660]   Hello there.\n"
            "[00:00:10.660 --> 00:00:20.000]   Bye.\n");
  EXPECT_THAT(err_, HasSubstr("a.wav: the file is cut"));
}

TEST_F(TranscribeJobTest, PrintsBareTextOnOneLine) {
  EXPECT_EQ(run({"a.wav", "-np", "-nt"}), kExitOk);
  EXPECT_EQ(out_, "Hello there. Bye.\n");
  EXPECT_EQ(err_, "");
}

TEST_F(TranscribeJobTest, StandardOutputHoldsOnlyTheDocument) {
  EXPECT_EQ(run({"a.wav", "-f", "txt", "-o", "-"}), kExitOk);
  EXPECT_EQ(out_, "Hello there.\nBye.\n");
}

TEST_F(TranscribeJobTest, WritesFiles) {
  EXPECT_EQ(run({"a.wav", "-f", "txt", "-osrt", "-o", folder_.string(), "--verbose", "False"}),
            kExitOk);
  EXPECT_EQ(out_, "");
  EXPECT_EQ(content("a.txt"), "Hello there.\nBye.\n");
  EXPECT_THAT(content("a.wav.srt"), HasSubstr("00:00:10,660 --> 00:00:20,000"));
}

TEST_F(TranscribeJobTest, PrintsProgressInSteps) {
  EXPECT_EQ(run({"a.wav", "-pp"}), kExitOk);
  EXPECT_THAT(err_, HasSubstr("progress =  50%\n"));
  EXPECT_THAT(err_, HasSubstr("progress = 100%\n"));
}

TEST_F(TranscribeJobTest, AnUndecodableInputIsAnInputError) {
  model_.behaviour = ScriptedModel::Behaviour::kUndecodable;
  EXPECT_EQ(run({"a.wav"}), kExitInput);
  EXPECT_EQ(err_, "sotto: error: a.wav: no audio stream\n");
}

TEST_F(TranscribeJobTest, NamesInMessagesCannotForgeLines) {
  model_.behaviour = ScriptedModel::Behaviour::kUndecodable;
  EXPECT_EQ(run({"a\nsotto: all is well\033[2J.wav"}), kExitInput);
  EXPECT_EQ(err_, "sotto: error: a?sotto: all is well?[2J.wav: no audio stream\n");
}

TEST_F(TranscribeJobTest, WrongOptionsAreUsageErrors) {
  model_.behaviour = ScriptedModel::Behaviour::kWrongOptions;
  EXPECT_EQ(run({"a.wav"}), kExitUsage);
}

TEST_F(TranscribeJobTest, AFailureKeepsTheTextSoFar) {
  model_.behaviour = ScriptedModel::Behaviour::kFailAfterOneSegment;
  EXPECT_EQ(run({"a.wav", "-f", "txt", "-o", folder_.string()}), kExitProcessing);
  EXPECT_EQ(content("a.partial.txt"), "Hello there.\n");
  EXPECT_FALSE(fs::exists(folder_ / "a.txt"));
  EXPECT_THAT(err_, HasSubstr("lost an invariant"));
}

TEST_F(TranscribeJobTest, AnInterruptKeepsTheTextSoFar) {
  model_.behaviour = ScriptedModel::Behaviour::kInterruptAfterOneSegment;
  EXPECT_EQ(run({"a.wav", "-f", "txt", "-o", folder_.string()}), kExitInterrupted);
  EXPECT_THAT(out_, HasSubstr("Hello there."));
  EXPECT_EQ(content("a.partial.txt"), "Hello there.\n");
  EXPECT_THAT(err_, HasSubstr("stopped after 10.7 of 20.0 s"));
}

TEST_F(TranscribeJobTest, DetectsTheLanguageOnly) {
  EXPECT_EQ(run({"a.wav", "-dl"}), kExitOk);
  EXPECT_EQ(out_, "en\t0.900\ta.wav\n");
  model_.is_multilingual = false;
  EXPECT_EQ(run({"a.wav", "-dl"}), kExitUsage);
}

TEST_F(TranscribeJobTest, PrintsStatistics) {
  EXPECT_EQ(run({"a.wav", "--stats"}), kExitOk);
  EXPECT_THAT(err_, HasSubstr("total time ="));
}

TEST(RenderText, StylesWholeCharacters) {
  Segment segment = make_segment(0, 1, " é!");
  Token begin, first, second, last;
  begin.text = "[_TT_0]";
  first.text = " \xC3";
  first.probability = 0.9f;
  second.text = "\xA9";
  second.probability = 0.1f;
  last.text = "!";
  last.probability = 1;
  segment.tokens = {begin, first, second, last};
  DisplayOptions options;
  EXPECT_EQ(render_text(segment, options), " é!");
  options.confidence = true;
  EXPECT_EQ(render_text(segment, options), "\033[7m é\033[0m\033[2m!\033[0m");
  options.colours = true;
  EXPECT_EQ(render_text(segment, options), "\033[38;5;196m é\033[0m\033[38;5;46m!\033[0m");
  options = {};
  options.special_tokens = true;
  EXPECT_EQ(render_text(segment, options), "[_TT_0] é!");
}

TEST(RenderStats, ListsStagesOperationsAndDroppedSpans) {
  Transcript transcript;
  transcript.stats.audio_s = 10;
  transcript.stats.total_ms = 500;
  transcript.stats.windows = 2;
  transcript.stats.ops = {{"linear", "cpu", "f32", 12, 100, 2e9, 1, "busy"}};
  transcript.dropped = {{1, 2.5, "no_speech", " you"}};
  transcript.retried = {{3, 4, "loop", 0.4f}};
  const std::string text = render_stats("a.wav", transcript, "cpu, f32", {});
  EXPECT_THAT(text, HasSubstr("a.wav: 10.00 s of audio, cpu, f32"));
  EXPECT_THAT(text, HasSubstr("real-time factor 0.050; 2 windows"));
  EXPECT_THAT(text, HasSubstr("linear"));
  EXPECT_THAT(text, HasSubstr("20.0"));  // GFLOP/s
  EXPECT_THAT(text, HasSubstr("busy"));
  EXPECT_THAT(text, HasSubstr("dropped 00:00:01.000 --> 00:00:02.500 (no_speech):  you"));
  EXPECT_THAT(text,
              HasSubstr("retried 00:00:03.000 --> 00:00:04.000 (loop), text of temperature 0.4"));
}

}  // namespace
}  // namespace sotto::cli
