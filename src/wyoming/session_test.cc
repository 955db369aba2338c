#include "wyoming/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sotto::wyoming {
namespace {

using ::testing::HasSubstr;

class SessionTest : public ::testing::Test {
 protected:
  Session session_{{[this](const Event& event) { sent_.push_back(event); },
                    [] {
                      return describe_answer("1.0", {{"base", "Base", {"en", "de"}}});
                    },
                    [this](Utterance utterance) { asked_.push_back(std::move(utterance)); }}};
  std::vector<Event> sent_;
  std::vector<Utterance> asked_;
};

const nlohmann::json kFormat = {{"rate", 16000}, {"width", 2}, {"channels", 1}};

TEST_F(SessionTest, Describe) {
  ASSERT_TRUE(session_.handle({"describe", {}, {}}).ok());
  ASSERT_EQ(sent_.size(), 1U);
  const nlohmann::json& program = sent_[0].data.at("asr").at(0);
  EXPECT_EQ(program.at("models").at(0).at("languages"), nlohmann::json({"en", "de"}));
  EXPECT_EQ(program.at("supports_transcript_streaming"), false);
  EXPECT_TRUE(sent_[0].data.at("tts").is_array());
}

TEST_F(SessionTest, TwoUtterancesOnOneConnection) {
  ASSERT_TRUE(session_
                  .handle({"transcribe",
                           {{"language", "de"},
                            {"transcript_names", {"Ada"}},
                            {"transcript_terms", {"lamp", 3}}},
                           {}})
                  .ok());
  for (const char* word : {"ab", "cd"}) {
    ASSERT_TRUE(session_.handle({"audio-start", kFormat, {}}).ok());
    ASSERT_TRUE(session_.handle({"audio-chunk", kFormat, word}).ok());
    ASSERT_TRUE(session_.handle({"audio-chunk", kFormat, "xy"}).ok());
    ASSERT_TRUE(session_.handle({"audio-stop", {}, {}}).ok());
  }
  ASSERT_EQ(asked_.size(), 2U);
  EXPECT_EQ(asked_[0].pcm, "abxy");
  EXPECT_EQ(asked_[1].pcm, "cdxy");
  EXPECT_EQ(asked_[1].language, "de");
  EXPECT_EQ(asked_[0].hotwords, "Ada, lamp");
  EXPECT_DOUBLE_EQ(asked_[0].seconds(), 2.0 / 16000);
  EXPECT_TRUE(sent_.empty());
}

TEST_F(SessionTest, NoSoundIsAnEmptyTranscript) {
  ASSERT_TRUE(session_.handle({"audio-start", kFormat, {}}).ok());
  ASSERT_TRUE(session_.handle({"audio-stop", {}, {}}).ok());
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(sent_[0].type, "transcript");
  EXPECT_EQ(sent_[0].data.at("text"), "");
}

TEST_F(SessionTest, PingIsAnsweredAndStrangersAreIgnored) {
  ASSERT_TRUE(session_.handle({"ping", {{"text", "x"}}, {}}).ok());
  ASSERT_TRUE(session_.handle({"synthesize", {}, {}}).ok());
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(sent_[0].type, "pong");
  EXPECT_EQ(sent_[0].data.at("text"), "x");
}

TEST_F(SessionTest, WrongFormatsAreErrors) {
  for (const nlohmann::json& data :
       {nlohmann::json{{"rate", 0}, {"width", 2}, {"channels", 1}},
        nlohmann::json{{"rate", 16000}, {"width", 5}, {"channels", 1}},
        nlohmann::json{{"rate", "x"}, {"width", 2}, {"channels", 1}}, nlohmann::json::object()}) {
    sent_.clear();
    EXPECT_EQ(session_.handle({"audio-start", data, {}}).code(), StatusCode::kInvalidArgument);
    ASSERT_EQ(sent_.size(), 1U);
    EXPECT_EQ(sent_[0].type, "error");
    EXPECT_THAT(sent_[0].data.at("text").get<std::string>(), HasSubstr("audio-start"));
  }
}

TEST_F(SessionTest, EndlessUtterancesEnd) {
  const std::string mebibytes(size_t{8} << 20, '\0');
  Status status;
  for (int i = 0; i < 9 && status.ok(); ++i)
    status = session_.handle({"audio-chunk", kFormat, mebibytes});
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace sotto::wyoming
