#include "cli/transcribe_args.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

namespace sotto::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using transcript::Format;

class TranscribeArgsTest : public ::testing::Test {
 protected:
  void parse(const std::vector<std::string>& arguments) {
    const Status status = parse_transcribe_args(arguments, args);
    ASSERT_TRUE(status.ok()) << status.message();
  }

  static Status failure(const std::vector<std::string>& arguments) {
    TranscribeArgs fresh;
    return parse_transcribe_args(arguments, fresh);
  }

  [[nodiscard]] std::vector<std::pair<Format, bool>> outputs() const {
    std::vector<std::pair<Format, bool>> list;
    for (const OutputRequest& request : args.outputs)
      list.emplace_back(request.format, request.keep_extension);
    return list;
  }

  TranscribeArgs args;
};

TEST_F(TranscribeArgsTest, ReadsACommandLineOfWhisperCli) {
  parse({"-m",       "models/ggml-base.en.bin",
         "-f",       "a.wav",
         "-f",       "b.wav",
         "-l",       "EN",
         "-t",       "4",
         "-p",       "1",
         "-ot",      "1500",
         "-d",       "10000",
         "-on",      "7",
         "-mc",      "64",
         "-bo",      "2",
         "-bs",      "3",
         "-ac",      "768",
         "-et",      "2.8",
         "-lpt",     "-0.9",
         "-nth",     "0.5",
         "-tp",      "0.2",
         "-tpi",     "0.4",
         "-osrt",    "-oj",
         "-of",      "x",
         "-of",      "y",
         "-np",      "-nt",
         "--prompt", "Ask not",
         "-tr"});
  EXPECT_EQ(args.model, "models/ggml-base.en.bin");
  EXPECT_THAT(args.inputs, ElementsAre("a.wav", "b.wav"));
  EXPECT_EQ(args.options.language, "en");
  EXPECT_EQ(args.options.task, Task::kTranslate);
  EXPECT_EQ(args.load.threads, 4);
  EXPECT_THAT(args.options.clips, ElementsAre(Pair(1.5, 11.5)));
  EXPECT_EQ(args.writer.first_index, 8);
  EXPECT_EQ(args.options.max_context_tokens, 64);
  EXPECT_EQ(args.options.best_of, 2);
  EXPECT_EQ(args.options.beam_size, 3);
  EXPECT_EQ(args.options.audio_ctx, 768);
  EXPECT_EQ(args.options.entropy_threshold, 2.8f);
  EXPECT_EQ(args.options.logprob_threshold, -0.9f);
  EXPECT_EQ(args.options.no_speech_threshold, 0.5f);
  EXPECT_THAT(args.options.temperatures,
              ElementsAre(0.2f, FloatNear(0.6f, 1e-6f), FloatNear(1.0f, 1e-6f)));
  EXPECT_THAT(outputs(), ElementsAre(Pair(Format::kSrt, true), Pair(Format::kJsonCli, true)));
  EXPECT_THAT(args.output_names, ElementsAre("x", "y"));
  EXPECT_TRUE(args.display.quiet);
  EXPECT_FALSE(args.display.timestamps);
  EXPECT_EQ(args.options.initial_prompt, "Ask not");
  EXPECT_THAT(args.notes, IsEmpty());
}

TEST_F(TranscribeArgsTest, AudioContextCanBeAutomatic) {
  parse({"--audio-ctx", "auto", "a.wav"});
  EXPECT_EQ(args.options.audio_ctx, TranscribeOptions::kAudioCtxAuto);
}

TEST_F(TranscribeArgsTest, ReadsACommandLineOfOpenAiWhisper) {
  parse({"talk.mp3",   "--model",
         "turbo",      "--output_dir",
         "out",        "--output_format",
         "vtt",        "--verbose",
         "False",      "--task",
         "transcribe", "--language",
         "German",     "--temperature",
         "0",          "--best_of",
         "None",       "--beam_size",
         "1",          "--patience",
         "2",          "--length_penalty",
         "0.5",        "--suppress_tokens",
         "-1,50257",   "--initial_prompt",
         "Hallo",      "--condition_on_previous_text",
         "False",      "--temperature_increment_on_fallback",
         "None",       "--compression_ratio_threshold",
         "None",       "--logprob_threshold",
         "-2",         "--no_speech_threshold",
         "0.1",        "--threads",
         "2",          "--clip_timestamps",
         "0,5,10",     "--word_timestamps",
         "False",      "--hotwords",
         "sotto"});
  EXPECT_THAT(args.inputs, ElementsAre("talk.mp3"));
  EXPECT_EQ(args.output_folder, "out");
  EXPECT_THAT(outputs(), ElementsAre(Pair(Format::kVtt, false)));
  EXPECT_FALSE(args.display.lines);
  EXPECT_EQ(args.options.language, "de");
  EXPECT_THAT(args.options.temperatures, ElementsAre(0.0f));
  EXPECT_EQ(args.options.best_of, 1);
  EXPECT_EQ(args.options.beam_size, 1);
  EXPECT_EQ(args.options.patience, 2.0f);
  EXPECT_EQ(args.options.length_penalty, 0.5f);
  EXPECT_THAT(args.options.suppress_tokens, ElementsAre(-1, 50257));
  EXPECT_FALSE(args.options.condition_on_previous_text);
  EXPECT_FALSE(args.options.compression_ratio_threshold.has_value());
  EXPECT_THAT(args.options.clips, ElementsAre(Pair(0.0, 5.0), Pair(10.0, -1.0)));
  EXPECT_EQ(args.options.hotwords, "sotto");
}

TEST_F(TranscribeArgsTest, DefaultsAreThoseOfTheLibrary) {
  parse({"a.wav"});
  EXPECT_THAT(args.outputs, IsEmpty());
  EXPECT_TRUE(args.display.lines);
  EXPECT_TRUE(args.options.language.empty());
  const std::vector<float> expected = TranscribeOptions().temperatures;
  ASSERT_EQ(args.options.temperatures.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(args.options.temperatures[i], expected[i], 1e-6f);
  EXPECT_THAT(args.options.suppress_tokens, ElementsAre(-1));
  EXPECT_EQ(args.writer.first_index, 1);
}

TEST_F(TranscribeArgsTest, FallbackCanBeSwitchedOff) {
  parse({"a.wav", "-nf", "-tp", "0.4"});
  EXPECT_THAT(args.options.temperatures, ElementsAre(0.4f));
}

TEST_F(TranscribeArgsTest, AutoAndNothingDetectTheLanguage) {
  for (const std::string name : {"auto", "", "None"}) {
    TranscribeArgs fresh;
    ASSERT_TRUE(parse_transcribe_args(std::vector<std::string>{"a.wav", "-l", name}, fresh).ok());
    EXPECT_EQ(fresh.options.language, "") << name;
  }
}

TEST_F(TranscribeArgsTest, UnknownLanguageIsRefusedWithTheList) {
  EXPECT_THAT(failure({"a.wav", "-l", "xx"}).message(), HasSubstr("fr (french)"));
  EXPECT_FALSE(failure({"a.wav", "--languages", "en,xx"}).ok());
}

TEST_F(TranscribeArgsTest, ShortFIsAFormatOnlyIfItCanOnlyBeOne) {
  parse({"-f", "a.wav", "-f", "srt", "-f", "json,txt"});
  EXPECT_THAT(args.inputs, ElementsAre("a.wav"));
  EXPECT_THAT(outputs(), ElementsAre(Pair(Format::kSrt, false), Pair(Format::kJson, false),
                                     Pair(Format::kTxt, false)));
}

TEST_F(TranscribeArgsTest, ShortFIsAFileIfOneHasTheNameOfAFormat) {
  const std::filesystem::path before = std::filesystem::current_path();
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "transcribe_args_f";
  std::filesystem::create_directories(folder);
  std::filesystem::current_path(folder);
  std::ofstream("srt") << "x";
  parse({"-f", "srt", "-f", "vtt"});
  std::filesystem::current_path(before);
  std::filesystem::remove_all(folder);
  EXPECT_THAT(args.inputs, ElementsAre("srt"));
  EXPECT_THAT(outputs(), ElementsAre(Pair(Format::kVtt, false)));
}

TEST_F(TranscribeArgsTest, AllIsSixFormats) {
  parse({"a.wav", "-f", "all", "-o", "out"});
  EXPECT_EQ(args.outputs.size(), 6u);
}

TEST_F(TranscribeArgsTest, AFolderAloneAsksForAllFormats) {
  parse({"a.wav", "-o", "out"});
  EXPECT_EQ(args.outputs.size(), 6u);
}

TEST_F(TranscribeArgsTest, FullJsonIncludesJson) {
  parse({"a.wav", "-oj", "-ojf", "-otxt", "-otxt"});
  EXPECT_THAT(outputs(), ElementsAre(Pair(Format::kJsonFull, true), Pair(Format::kTxt, true)));
}

TEST_F(TranscribeArgsTest, StandardOutputHoldsOneDocument) {
  parse({"a.wav", "-f", "srt", "-o", "-"});
  EXPECT_FALSE(args.display.lines);
  EXPECT_FALSE(failure({"a.wav", "-f", "srt,txt", "-o", "-"}).ok());
  EXPECT_FALSE(failure({"a.wav", "b.wav", "-osrt", "-o", "-"}).ok());
  EXPECT_FALSE(failure({"a.wav", "-o", "-", "-of", "x"}).ok());
  EXPECT_TRUE(failure({"a.wav", "b.wav", "-f", "txt", "-o", "-"}).ok());
}

TEST_F(TranscribeArgsTest, StandardOutputIsTextUnlessAFormatIsGiven) {
  parse({"a.wav", "-of", "-"});
  EXPECT_THAT(outputs(), ElementsAre(Pair(Format::kTxt, false)));
}

TEST_F(TranscribeArgsTest, JsonIsALineOnStandardOutput) {
  parse({"a.wav", "b.wav", "--json"});
  EXPECT_EQ(args.output_folder, "-");
  EXPECT_THAT(outputs(), ElementsAre(Pair(Format::kJson, false)));
  EXPECT_FALSE(failure({"a.wav", "--json", "-osrt"}).ok());
}

TEST_F(TranscribeArgsTest, FlagsWithoutEffectLeaveANote) {
  parse({"a.wav", "-ng", "-fa", "-nfa", "-dev", "1", "-ls", "--fp16", "False", "--device", "0",
         "-p", "4"});
  EXPECT_EQ(args.notes.size(), 8u);
  for (const std::string& note : args.notes)
    EXPECT_THAT(note, HasSubstr("has no effect"));
  EXPECT_EQ(args.load.device, "auto");
}

TEST_F(TranscribeArgsTest, ShortPIsAlsoPrettyJson) {
  parse({"a.wav", "-p", "True"});
  EXPECT_TRUE(args.writer.pretty);
}

TEST_F(TranscribeArgsTest, FeaturesThatDoNotWorkYetAreRefusedByName) {
  const std::vector<std::vector<std::string>> refused = {
      {"-tdrz"},        {"--hf-token", "x"},           {"-owts"},     {"--grammar", "g"},
      {"-dtw", "base"}, {"--live_transcribe", "True"}, {"-wt", "0.5"}};
  for (std::vector<std::string> flags : refused) {
    const std::string name = flags[0];
    flags.insert(flags.begin(), "a.wav");
    const Status status = failure(flags);
    EXPECT_EQ(status.code(), StatusCode::kUnsupported) << name;
    EXPECT_THAT(status.message(), HasSubstr(name));
  }
}

TEST_F(TranscribeArgsTest, FeaturesThatDoNotWorkYetMayBeSwitchedOff) {
  parse({"a.wav", "--word_timestamps", "False", "--vad_filter", "false", "-ml", "0",
         "--max_line_width", "None"});
}

TEST_F(TranscribeArgsTest, VoiceActivityIsOnWhereItCanBe) {
  parse({"a.wav"});
  EXPECT_EQ(args.options.vad_mode, VadMode::kAuto);
  parse({"a.wav", "--vad"});
  EXPECT_EQ(args.options.vad_mode, VadMode::kOn);
  parse({"a.wav", "--vad_filter", "False"});
  EXPECT_EQ(args.options.vad_mode, VadMode::kOff);
}

TEST_F(TranscribeArgsTest, VadFlagsOfBothFamiliesOverrideThePreset) {
  parse({"a.wav", "-vt", "0.6", "-vspd", "100", "-vp", "40", "--vad-preset", "faster-whisper",
         "--vad_min_silence_duration_ms", "700", "-vmsd", "25.5", "-vo", "0.2"});
  const VadOptions& vad = args.options.vad;
  EXPECT_FLOAT_EQ(vad.threshold, 0.6f);
  EXPECT_EQ(vad.min_speech_ms, 100);
  EXPECT_EQ(vad.speech_pad_ms, 40);
  EXPECT_EQ(vad.min_silence_ms, 700);
  EXPECT_DOUBLE_EQ(vad.max_speech_s, 25.5);
  EXPECT_FLOAT_EQ(static_cast<float>(vad.samples_overlap_s), 0.2f);
  EXPECT_DOUBLE_EQ(vad.min_gap_s, 0);
  EXPECT_THAT(failure({"a.wav", "--vad-preset", "loud"}).message(), HasSubstr("whisper.cpp"));
  EXPECT_FALSE(failure({"a.wav", "-vt", "0.2", "--vad-neg-threshold", "0.3"}).ok());
}

TEST_F(TranscribeArgsTest, ShortSegmentsAskForWordTimes) {
  parse({"a.wav", "-ml", "20", "-sow"});
  EXPECT_EQ(args.max_segment_length, 20);
  EXPECT_TRUE(args.options.word_timestamps);
}

TEST_F(TranscribeArgsTest, LineRulesNeedWordTimes) {
  parse({"a.wav", "--word_timestamps", "True", "--max_line_width", "40", "--highlight_words",
         "True"});
  EXPECT_TRUE(args.options.word_timestamps);
  EXPECT_EQ(args.writer.max_line_width, 40);
  EXPECT_TRUE(args.writer.highlight_words);
  EXPECT_THAT(failure({"a.wav", "--max_line_width", "40"}).message(),
              HasSubstr("--word_timestamps"));
  EXPECT_FALSE(failure({"a.wav", "--hallucination_silence_threshold", "2"}).ok());
}

TEST_F(TranscribeArgsTest, WrongValuesAreRefused) {
  EXPECT_FALSE(failure({"a.wav", "--task", "summarise"}).ok());
  EXPECT_FALSE(failure({"a.wav", "--clip_timestamps", "5,2"}).ok());
  EXPECT_FALSE(failure({"a.wav", "--clip_timestamps", "a"}).ok());
  EXPECT_FALSE(failure({"a.wav", "--clip_timestamps", "0,2", "-ot", "100"}).ok());
  EXPECT_FALSE(failure({"a.wav", "--suppress_tokens", "1,x"}).ok());
  EXPECT_FALSE(failure({"a.wav", "--output_format", "docx"}).ok());
  EXPECT_FALSE(failure({"a.wav", "-osrt", "-of", "x", "-of", "y"}).ok());
}

TEST_F(TranscribeArgsTest, AVocabularyFileAddsHotwords) {
  const std::string path = ::testing::TempDir() + "/vocabulary.txt";
  std::ofstream(path) << "# names\nsotto\r\n\nComfyUI  \n";
  parse({"a.wav", "--hotwords", "Silero", "--vocabulary", path});
  EXPECT_EQ(args.options.hotwords, "Silero, sotto, ComfyUI");
  EXPECT_EQ(failure({"a.wav", "--vocabulary", "/no/such/file"}).code(), StatusCode::kNotFound);
  EXPECT_EQ(failure({"a.wav", "--vocabulary", "/"}).code(), StatusCode::kNotFound);
}

TEST_F(TranscribeArgsTest, SpeakersLanguagesAndGuardsCanBeChosen) {
  parse({"a.wav", "-di", "--multilingual", "True", "--languages", "en,German",
         "--drop_made_up_text", "False"});
  EXPECT_TRUE(args.options.diarize);
  EXPECT_TRUE(args.options.multilingual);
  EXPECT_FALSE(args.options.drop_made_up_text);
  EXPECT_THAT(args.options.languages, ElementsAre("en", "de"));
}

TEST_F(TranscribeArgsTest, ReadsArgumentsFromAFile) {
  const std::string path = ::testing::TempDir() + "/transcribe_args.rsp";
  std::ofstream(path) << "-f\nmy talk.wav\r\n-osrt\n\n";
  parse({"@" + path});
  EXPECT_THAT(args.inputs, ElementsAre("my talk.wav"));
  EXPECT_EQ(args.outputs.size(), 1u);
  EXPECT_EQ(failure({"@/no/such/file"}).code(), StatusCode::kNotFound);
}

TEST_F(TranscribeArgsTest, NoSpellingBelongsToTwoFlags) {
  std::set<std::string> seen;
  for (const FlagSection& section : transcribe_flags(args)) {
    for (const Flag& flag : section.flags) {
      std::string names(flag.names);
      for (size_t space = 0; space != std::string::npos;
           names.erase(0, space == std::string::npos ? space : space + 1)) {
        space = names.find(' ');
        const std::string name = names.substr(0, space);
        EXPECT_TRUE(seen.insert(name).second) << name;
        EXPECT_EQ(name.find('_'), std::string::npos) << name << " would never be found";
        if (space == std::string::npos) break;
      }
    }
  }
}

TEST_F(TranscribeArgsTest, HelpNamesBothFamilies) {
  const std::string help = transcribe_help(100);
  for (const char* flag :
       {"-osrt", "--output-dir", "--beam-size", "--clip-timestamps", "--raw-format"}) {
    EXPECT_THAT(help, HasSubstr(flag));
  }
}

}  // namespace
}  // namespace sotto::cli
