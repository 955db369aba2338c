#include "cli/transcribe_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace sotto::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TranscribeOutput : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ("transcribe_output_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  /// Paths planned for a command line, input after input.
  static std::vector<std::string> paths(const std::vector<std::string>& arguments) {
    const Result<std::vector<std::vector<OutputFile>>> plan = plan_for(arguments);
    EXPECT_TRUE(plan.ok()) << plan.status().message();
    std::vector<std::string> paths;
    if (!plan.ok()) return paths;
    for (const std::vector<OutputFile>& files : *plan) {
      for (const OutputFile& file : files)
        paths.push_back(file.path);
    }
    return paths;
  }

  static Result<std::vector<std::vector<OutputFile>>> plan_for(
      const std::vector<std::string>& arguments) {
    TranscribeArgs args;
    SOTTO_RETURN_IF_ERROR(parse_transcribe_args(arguments, args));
    return plan_outputs(args);
  }

  static std::string content(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  [[nodiscard]] size_t files_in_folder() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

TEST_F(TranscribeOutput, WhisperCliNamesStandBesideTheInput) {
  EXPECT_THAT(paths({"a/talk.mp4", "-osrt", "-oj"}),
              ElementsAre("a/talk.mp4.srt", "a/talk.mp4.json"));
  EXPECT_THAT(paths({"talk.mp4", "-osrt"}), ElementsAre("talk.mp4.srt"));
}

TEST_F(TranscribeOutput, OpenAiNamesStandInTheCurrentFolder) {
  EXPECT_THAT(paths({"a/talk.tar.mp4", "-f", "srt,tsv"}),
              ElementsAre("talk.tar.srt", "talk.tar.tsv"));
  EXPECT_THAT(paths({"/a/b/.wav", "-f", "txt"}), ElementsAre(".wav.txt"));
}

TEST_F(TranscribeOutput, AFolderHoldsBothFamilies) {
  EXPECT_THAT(paths({"a/talk.mp4", "-osrt", "-f", "srt", "-o", "out"}),
              ElementsAre("out/talk.mp4.srt", "out/talk.srt"));
}

TEST_F(TranscribeOutput, GivenNamesReplaceThoseOfTheInputs) {
  EXPECT_THAT(paths({"a.wav", "b.wav", "-otxt", "-of", "x/one"}),
              ElementsAre("x/one.txt", "b.wav.txt"));
  EXPECT_THAT(paths({"a.wav", "-f", "srt", "-of", "one", "-o", "out"}), ElementsAre("out/one.srt"));
}

TEST_F(TranscribeOutput, StandardStreamsHaveNames) {
  EXPECT_THAT(paths({"-", "-osrt"}), ElementsAre("stdin.srt"));
  EXPECT_THAT(paths({"a.wav", "-f", "srt", "-o", "-"}), ElementsAre("-"));
  EXPECT_THAT(paths({"a.wav", "b.wav", "-osrt", "-of", "-"}), ElementsAre("-", "b.wav.srt"));
}

TEST_F(TranscribeOutput, TwoDocumentsNeverShareAName) {
  const std::vector<std::vector<std::string>> clashes = {
      {"a/talk.wav", "b/talk.wav", "-f", "srt"},
      {"talk.wav", "talk.mp3", "-f", "srt"},
      {"talk.wav", "talk.wav", "-osrt"},
      {"talk.wav", "-f", "json,json-full"},
      {"a.wav", "b.wav", "-otxt", "-of", "x", "-of", "./x"}};
  for (const std::vector<std::string>& arguments : clashes) {
    const Status status = plan_for(arguments).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << arguments[0];
    EXPECT_THAT(status.message(), HasSubstr("would both be written to")) << arguments[0];
  }
}

TEST_F(TranscribeOutput, AnInputIsNeverOverwritten) {
  EXPECT_THAT(plan_for({"talk.wav", "talk.txt", "-f", "txt"}).status().message(),
              HasSubstr("overwrite an input"));
}

TEST_F(TranscribeOutput, MakesFoldersAndLeavesNothingInThem) {
  const std::string path = folder_ / "x/y/talk.srt";
  ASSERT_TRUE(prepare_outputs({{{transcript::Format::kSrt, path}}}).ok());
  EXPECT_TRUE(fs::is_directory(folder_ / "x/y"));
  EXPECT_TRUE(fs::is_empty(folder_ / "x/y"));
}

TEST_F(TranscribeOutput, FindsOutEarlyWhatCannotBeWritten) {
  std::ofstream(folder_ / "file") << "x";
  fs::create_directory(folder_ / "talk.srt");
  const std::vector<std::string> impossible = {folder_ / "file/talk.srt", folder_ / "talk.srt",
                                               "/proc/talk.srt",
                                               folder_ / (std::string(300, 'x') + ".srt")};
  for (const std::string& path : impossible) {
    EXPECT_FALSE(prepare_outputs({{{transcript::Format::kSrt, path}}}).ok()) << path;
  }
}

TEST_F(TranscribeOutput, ReplacesWholeFiles) {
  const std::string path = folder_ / "talk.srt";
  std::ofstream(path) << "something longer than what comes";
  ASSERT_TRUE(write_file(path, "new").ok());
  EXPECT_EQ(content(path), "new");
  EXPECT_EQ(files_in_folder(), 1u);
}

TEST_F(TranscribeOutput, GivesResultsTheModeOfOrdinaryFiles) {
  const std::string path = folder_ / "talk.srt";
  std::ofstream(folder_ / "ordinary") << "x";
  ASSERT_TRUE(write_file(path, "text").ok());
  EXPECT_EQ(fs::status(path).permissions(), fs::status(folder_ / "ordinary").permissions());
}

TEST_F(TranscribeOutput, KeepsTheOldFileWhenTheNewOneFails) {
  const std::string path = folder_ / "talk.srt";
  fs::create_directory(path);  // rename() onto a folder fails
  const Status status = write_file(path, "new");
  EXPECT_FALSE(status.ok());
  EXPECT_THAT(status.message(), HasSubstr("talk.srt"));
  EXPECT_EQ(files_in_folder(), 1u);
}

TEST_F(TranscribeOutput, PartialResultsHaveTheirOwnName) {
  EXPECT_EQ(partial_path("out/talk.srt"), "out/talk.partial.srt");
  EXPECT_EQ(partial_path("talk.mp4.json"), "talk.mp4.partial.json");
}

}  // namespace
}  // namespace sotto::cli
