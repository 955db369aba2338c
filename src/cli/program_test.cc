#include "cli/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <stdexcept>

#include "base/log.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/interrupt.h"
#include "cli/output.h"

namespace sotto::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class ProgramTest : public ::testing::Test {
 protected:
  ProgramTest() {
    init_log();
    CLI::App& app = program_.add_command("fetch", "Fetch things", [this] {
      ++runs_;
      return result_;
    });
    app.add_option("NAME", name_, "What")->required();
    app.add_flag("-q,--quiet", quiet_, "Less");
    program_.add_alias("fetch", "get");
    program_.add_raw_command("transcode", "Has its own grammar",
                             [this](const Program::Arguments& arguments) {
                               raw_ = arguments;
                               return 7;
                             });
  }

  int run(const Program::Arguments& arguments) {
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    const int code = program_.run(arguments);
    out_ = ::testing::internal::GetCapturedStdout();
    err_ = ::testing::internal::GetCapturedStderr();
    return code;
  }

  Program program_;
  std::string name_, out_, err_;
  bool quiet_ = false;
  int runs_ = 0;
  int result_ = kExitOk;
  Program::Arguments raw_;
};

TEST_F(ProgramTest, RunsTheCommandWithItsOptionsAndReturnsItsCode) {
  result_ = kExitModel;
  EXPECT_EQ(run({"fetch", "-q", "base"}), kExitModel);
  EXPECT_EQ(name_, "base");
  EXPECT_TRUE(quiet_);
  EXPECT_EQ(runs_, 1);
}

TEST_F(ProgramTest, AliasesRunTheSameCommand) {
  EXPECT_EQ(run({"get", "base"}), kExitOk);
  EXPECT_EQ(runs_, 1);
}

TEST_F(ProgramTest, RawCommandsGetTheirArgumentsUntouched) {
  EXPECT_EQ(run({"transcode", "-otxt", "-v", "--help", "--", "@file"}), 7);
  EXPECT_THAT(raw_, ElementsAre("-otxt", "-v", "--help", "--", "@file"));
}

TEST_F(ProgramTest, HelpListsCommandsAndExplainsOne) {
  EXPECT_EQ(run({"help"}), kExitOk);
  EXPECT_THAT(out_, HasSubstr("fetch"));
  EXPECT_THAT(out_, HasSubstr("Has its own grammar"));
  EXPECT_EQ(run({"--help"}), kExitOk);
  EXPECT_THAT(out_, HasSubstr("commands:"));
  EXPECT_EQ(run({"help", "fetch"}), kExitOk);
  EXPECT_THAT(out_, HasSubstr("--quiet"));
  EXPECT_EQ(run({"fetch", "--help"}), kExitOk);
  EXPECT_THAT(out_, HasSubstr("--quiet"));
  EXPECT_EQ(run({"help", "transcode"}), 7);
  EXPECT_THAT(raw_, ElementsAre("--help"));
  EXPECT_EQ(runs_, 0);
}

TEST_F(ProgramTest, CommandsWithoutSummaryWorkButAreNotListed) {
  program_.add_raw_command("hidden", "", [](const Program::Arguments&) { return 9; });
  EXPECT_EQ(run({"hidden"}), 9);
  run({"help"});
  EXPECT_THAT(out_, ::testing::Not(HasSubstr("hidden")));
  run({"hiden"});
  EXPECT_THAT(err_, ::testing::Not(HasSubstr("did you mean")));
}

TEST_F(ProgramTest, VersionIsPrintedOnStandardOutput) {
  EXPECT_EQ(run({"--version"}), kExitOk);
  EXPECT_EQ(out_, "sotto " + version() + "\n");
  EXPECT_EQ(err_, "");
}

TEST_F(ProgramTest, UnknownCommandSuggestsTheNearest) {
  EXPECT_EQ(run({"ftech", "base"}), kExitUsage);
  EXPECT_EQ(out_, "");
  EXPECT_THAT(err_, HasSubstr("unknown command 'ftech'; did you mean 'fetch'?"));
  EXPECT_EQ(run({"xyzzyx"}), kExitUsage);
  EXPECT_THAT(err_, Not(HasSubstr("did you mean")));
  EXPECT_THAT(err_, HasSubstr("  fix: `sotto help`"));
  EXPECT_EQ(run({"help", "ftech"}), kExitUsage);
}

TEST_F(ProgramTest, WrongUsageIsExplainedOnStandardError) {
  EXPECT_EQ(run({}), kExitUsage);
  EXPECT_EQ(out_, "");
  EXPECT_EQ(run({"--frobnicate", "fetch", "x"}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("--frobnicate"));
  EXPECT_EQ(run({"fetch"}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("NAME"));
  EXPECT_EQ(run({"fetch", "a", "--nope"}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("--nope"));
  EXPECT_EQ(run({"--log-level"}), kExitUsage);
  EXPECT_EQ(runs_, 0);
}

TEST_F(ProgramTest, LogLevelComesFromEitherSideOfTheCommand) {
  EXPECT_EQ(run({"-v", "fetch", "a"}), kExitOk);
  EXPECT_EQ(spdlog::get_level(), spdlog::level::info);
  EXPECT_EQ(run({"-v", "fetch", "a", "-vv"}), kExitOk);
  EXPECT_EQ(spdlog::get_level(), spdlog::level::trace);
  EXPECT_EQ(run({"--log-level", "error", "-v", "fetch", "a"}), kExitOk);
  EXPECT_EQ(spdlog::get_level(), spdlog::level::err);
  EXPECT_EQ(run({"fetch", "a", "--log-level=debug"}), kExitOk);
  EXPECT_EQ(spdlog::get_level(), spdlog::level::debug);
  EXPECT_EQ(run({"--log-level=loud", "fetch", "a"}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("loud"));
}

TEST_F(ProgramTest, LogLevelOfTheEnvironmentIsTheDefault) {
  setenv("SOTTO_LOG_LEVEL", "error", 1);
  EXPECT_EQ(run({"fetch", "a"}), kExitOk);
  EXPECT_EQ(spdlog::get_level(), spdlog::level::err);
  setenv("SOTTO_LOG_LEVEL", "loud", 1);
  EXPECT_EQ(run({"fetch", "a"}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr("SOTTO_LOG_LEVEL"));
  unsetenv("SOTTO_LOG_LEVEL");
}

TEST_F(ProgramTest, AnExceptionOfACommandEndsAsAnError) {
  program_.add_raw_command("boom", "", [](const Program::Arguments&) -> int {
    throw std::runtime_error("the inside is broken");
  });
  EXPECT_EQ(run({"boom"}), kExitProcessing);
  EXPECT_THAT(err_, HasSubstr("the inside is broken"));
}

TEST(Output, ErrorsSayWhatHappenedAndHowToFixIt) {
  ::testing::internal::CaptureStderr();
  print_error(not_found("no model is installed\nsotto pull base\nor give a path"));
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "sotto: error: no model is installed\n  fix: sotto pull base\n  or give a path\n");
}

TEST(Output, ReportMapsCodes) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(report(Status(), kExitModel), kExitOk);
  EXPECT_EQ(report(not_found("x"), kExitModel), kExitModel);
  EXPECT_EQ(report(invalid_argument("x"), kExitModel), kExitUsage);
  EXPECT_EQ(report(cancelled("x"), kExitModel), kExitInterrupted);
  set_interrupted(true);
  EXPECT_EQ(report(io_error("x"), kExitModel), kExitInterrupted);
  set_interrupted(false);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), StartsWith("sotto: error: x"));
}

}  // namespace
}  // namespace sotto::cli
