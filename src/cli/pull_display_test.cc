#include "cli/pull_display.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace sotto::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr double kUnknownRate = 0;

PullProgress half_of_base() {
  return {"pulling model.bin", "sha256:abc", 145'200'000, 72'600'000};
}

TEST(ProgressBar, SaysHowFarHowFastAndHowLong) {
  EXPECT_EQ(
      progress_bar(half_of_base(), 7'260'000, 100),
      "pulling model.bin  [################                 ]  50%  72.6 MB / 145.2 MB  7.3 MB/s"
      "  0:10 left");
}

TEST(ProgressBar, NeverIsWiderThanTheTerminal) {
  for (int width = 1; width <= 200; ++width) {
    for (const double rate : {0.0, 1.0, 5e9}) {
      EXPECT_LE(progress_bar(half_of_base(), rate, width).size(), static_cast<size_t>(width));
    }
  }
  // What matters most stays longest.
  EXPECT_THAT(progress_bar(half_of_base(), 5e6, 60), Not(HasSubstr("left")));
  EXPECT_THAT(progress_bar(half_of_base(), 5e6, 60), HasSubstr("50%"));
  EXPECT_THAT(progress_bar(half_of_base(), 5e6, 50), Not(HasSubstr("[")));
  EXPECT_THAT(progress_bar(half_of_base(), 5e6, 50),
              StartsWith("pulling model.bin    50%  72.6 MB / 145.2 MB"));
}

TEST(ProgressBar, EdgesOfProgress) {
  EXPECT_THAT(progress_bar({"pulling x", "", 1000, 0}, kUnknownRate, 100), HasSubstr("[     "));
  EXPECT_THAT(progress_bar({"pulling x", "", 1000, 1000}, kUnknownRate, 100), HasSubstr("100%"));
  EXPECT_THAT(progress_bar({"pulling x", "", 1000, 5000}, kUnknownRate, 100), HasSubstr("100%"));
  // Nobody knows the end.
  EXPECT_EQ(progress_bar({"pulling x", "", -1, 5000}, 1e6, 100), "pulling x  5.0 kB");
  EXPECT_EQ(progress_bar({"pulling x", "", 0, 0}, 1e6, 100), "pulling x  0 B");
  // A crawl does not print a year.
  EXPECT_THAT(progress_bar(half_of_base(), 1e-3, 150), HasSubstr("99:59:59 left"));
}

TEST(ProgressBar, NamesCannotSteerTheTerminal) {
  EXPECT_THAT(progress_bar({"pulling \x1b[2Jx", "", 10, 5}, kUnknownRate, 100),
              Not(HasSubstr("\x1b")));
}

TEST(PullJson, LeavesOutWhatIsNotKnown) {
  EXPECT_EQ(pull_json_line({"success", "", -1, -1}), "{\"status\":\"success\"}\n");
  EXPECT_EQ(pull_json_line({"pulling x", "sha256:abc", 10, 5}),
            "{\"completed\":5,\"digest\":\"sha256:abc\",\"status\":\"pulling x\",\"total\":10}\n");
  EXPECT_NO_THROW(static_cast<void>(pull_json_line({"\xff", "", -1, -1})));
}

TEST(PullDisplay, PlainLinesComeOnceATenth) {
  ::testing::internal::CaptureStderr();
  {
    PullDisplay display(PullStyle::kLines, "base");
    for (int64_t done = 0; done <= 100'000'000; done += 1'000'000) {
      display.show({"pulling model.bin", "", 100'000'000, done});
    }
    display.show({"pulling config.json", "", 2000, 0});
    display.show({"pulling config.json", "", 2000, 2000});
  }
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(text,
              StartsWith("base: pulling model.bin (100.0 MB)\nbase: pulling model.bin 10%\n"));
  EXPECT_THAT(text, HasSubstr(" 100%\nbase: pulling config.json (2.0 kB)\n"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 12);
}

TEST(PullDisplay, TheBarIsTakenOffBeforeOtherLines) {
  ::testing::internal::CaptureStderr();
  {
    PullDisplay display(PullStyle::kBar, "base");
    display.show(half_of_base());
    display.warn("beware");
    display.show(half_of_base());
  }
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(text, HasSubstr("145.2 MB\r\x1b[Ksotto: warning: beware\n"));
  EXPECT_TRUE(text.ends_with("\r\x1b[K"));
}

TEST(PullDisplay, QuietShowsOnlyWarnings) {
  ::testing::internal::CaptureStderr();
  {
    PullDisplay display(PullStyle::kQuiet, "base");
    display.show(half_of_base());
    display.warn("beware");
    display.finish(PullResult{});
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "sotto: warning: beware\n");
}

}  // namespace
}  // namespace sotto::cli
