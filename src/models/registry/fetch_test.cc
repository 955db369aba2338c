#include "models/registry/fetch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zip.h>

#include <deque>

#include "models/registry/files.h"
#include "models/registry/sha256.h"
#include "models/registry/testing/temp_folder.h"
#include "models/registry/wheel.h"

namespace sotto::registry {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::span<const std::byte> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

std::string sum_of(const std::string& text) {
  Result<Sha256> sum = Sha256::create();
  sum->update(bytes_of(text));
  return sum->hex();
}

/// One scripted answer.
struct Answer {
  int status = 200;
  std::string body;
  std::string sha256;
  int64_t total = -1;
  HttpEnd end = HttpEnd::kDone;  ///< How it ends after the body
};

class ScriptedHttp final : public HttpClient {
 public:
  HttpOutcome get(const HttpRequest& request, const HttpSink& sink) override {
    requests.push_back(request);
    HttpOutcome outcome;
    if (answers.empty()) {
      outcome.status = unavailable("no answer is left");
      return outcome;
    }
    const Answer answer = answers.front();
    answers.pop_front();
    outcome.headers = HttpHeaders{answer.status, answer.status == 206 ? request.offset : 0,
                                  answer.total, answer.sha256};
    outcome.end = answer.end;
    if (answer.status == 200 || answer.status == 206) {
      outcome.status = sink.on_headers(outcome.headers);
      if (outcome.status.ok()) outcome.status = sink.on_data(bytes_of(answer.body));
      if (!outcome.status.ok()) {
        outcome.end = HttpEnd::kSink;
        return outcome;
      }
    }
    if (outcome.end != HttpEnd::kDone) outcome.status = unavailable("as told");
    return outcome;
  }

  std::deque<Answer> answers;
  std::vector<HttpRequest> requests;
};

class FetchTest : public ::testing::Test {
 protected:
  static SourceFile file(const std::string& name, int64_t bytes = -1,
                         const std::string& sha256 = "") {
    SourceFile file;
    file.name = file.path = name;
    file.bytes = bytes;
    file.sha256 = sha256;
    return file;
  }

  FetchOutcome fetch(const SourceFile& file) {
    Source source;
    source.where = "o/m";
    source.revision = "main";
    source.files = {file};
    return fetch_over_http(source, context_);
  }

  TempFolder folder_;
  PullOptions options_;
  ProgressReporter progress_{options_};
  ScriptedHttp http_;
  FetchContext context_{folder_.path(), progress_, http_, 1000};
};

TEST_F(FetchTest, ResumesAfterABreak) {
  const std::string content = "hello world";
  http_.answers = {{200, "hello", "", 11, HttpEnd::kBroken}, {206, " world", "", 11}};
  const FetchOutcome outcome = fetch(file("m", 11, sum_of(content)));
  ASSERT_TRUE(outcome.status.ok()) << outcome.status.message();
  EXPECT_EQ(http_.requests[1].offset, 5);
  EXPECT_EQ(folder_.read("m"), content);
  EXPECT_EQ(outcome.files[0].hash_from, "catalogue");
}

TEST_F(FetchTest, ProgressIsCountedAndNoBreaksAreToo) {
  // Three breaks without a byte are borne, a fourth is not; bytes in between begin the count again.
  const Answer nothing{200, "", "", 11, HttpEnd::kBroken};
  http_.answers = {nothing, nothing, {200, "hello", "", 11, HttpEnd::kBroken}, nothing, nothing};
  http_.answers[3].status = http_.answers[4].status = 206;
  http_.answers.push_back({206, " world", "", 11});
  EXPECT_TRUE(fetch(file("m", 11, sum_of("hello world"))).status.ok());
  http_.answers = {nothing, nothing, nothing, nothing, {200, "hello world", "", 11}};
  EXPECT_EQ(fetch(file("n", 11, sum_of("hello world"))).status.code(), StatusCode::kUnavailable);
  EXPECT_EQ(http_.answers.size(), 1U);
}

TEST_F(FetchTest, TheSumOfTheHubIsCheckedAndRemembered) {
  http_.answers = {{200, "hello", sum_of("hello"), 5}};
  const FetchOutcome outcome = fetch(file("m"));
  ASSERT_TRUE(outcome.status.ok()) << outcome.status.message();
  EXPECT_EQ(outcome.files[0].hash_from, "hub");
  // Complete and known: the next attempt needs no request.
  EXPECT_TRUE(fetch(file("m")).status.ok());
  EXPECT_EQ(http_.requests.size(), 1U);
  http_.answers = {{200, "hellO", sum_of("hello"), 5}};
  EXPECT_EQ(fetch(file("n")).status.code(), StatusCode::kCorrupt);
  EXPECT_FALSE(path_exists(folder_ / "n.part"));
}

TEST_F(FetchTest, WrongBytesAfterAResumeAreFetchedOnceMore) {
  folder_.write("m.part", "hELLO");
  folder_.write("m.part.sha256", sum_of("hello world"));
  http_.answers = {{206, " world", "", 11}, {200, "hello world", "", 11}};
  const FetchOutcome outcome = fetch(file("m", 11, sum_of("hello world")));
  ASSERT_TRUE(outcome.status.ok()) << outcome.status.message();
  EXPECT_EQ(http_.requests[0].offset, 5);
  EXPECT_EQ(http_.requests[1].offset, 0);
}

TEST_F(FetchTest, MoreBytesThanAnnouncedAreAnError) {
  http_.answers = {{200, "hello world and more", "", 11}};
  EXPECT_EQ(fetch(file("m")).status.code(), StatusCode::kCorrupt);
}

TEST_F(FetchTest, UnreachableServersAreNamed) {
  ScopedEnvironment environment;
  environment.set("HF_ENDPOINT", "http://hub.example:81///");
  http_.answers = {{0, "", "", -1, HttpEnd::kUnreachable}};
  EXPECT_EQ(fetch(file("m")).unreachable_origin, "http://hub.example:81");
  EXPECT_EQ(http_.requests[0].url, "http://hub.example:81/o/m/resolve/main/m");
}

TEST_F(FetchTest, AModelLargerThanTheDiskIsNotBegun) {
  const FetchOutcome outcome = fetch(file("m", int64_t{1} << 60, sum_of("")));
  EXPECT_EQ(outcome.status.code(), StatusCode::kNoSpace);
  EXPECT_THAT(outcome.status.message(), HasSubstr("not enough room"));
  EXPECT_TRUE(http_.requests.empty());
}

std::vector<std::string> choose(const std::vector<std::string>& paths, Status* status = nullptr) {
  std::vector<HubFile> listing;
  for (const std::string& path : paths)
    listing.push_back({path, 5, ""});
  const Result<std::vector<HubFile>> chosen = choose_files(listing, "o/m");
  if (status != nullptr) *status = chosen.status();
  std::vector<std::string> names;
  if (chosen.ok()) {
    for (const HubFile& file : *chosen)
      names.push_back(file.path);
  }
  return names;
}

TEST(ChooseFiles, ByFormat) {
  EXPECT_THAT(
      choose({"README.md", "config.json", "model.bin", "model.safetensors", "vocabulary.txt"}),
      ElementsAre("model.bin", "config.json", "vocabulary.txt"));
  EXPECT_THAT(
      choose({"config.json", "flax_model.msgpack", "model.safetensors", "pytorch_model.bin"}),
      ElementsAre("model.safetensors", "config.json"));
  EXPECT_THAT(
      choose({"config.json", "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors",
              "model.safetensors.index.json", "onnx/x.safetensors"}),
      ElementsAre("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors",
                  "model.safetensors.index.json", "config.json"));
  EXPECT_THAT(choose({"a.gguf"}), ElementsAre("a.gguf"));
  EXPECT_THAT(choose({"a-Q2_K.gguf", "a-q4_k_m.gguf", "a-Q8_0.gguf"}),
              ElementsAre("a-q4_k_m.gguf"));
  EXPECT_THAT(choose({"ggml-base.bin", "pytorch_model.bin"}), ElementsAre("ggml-base.bin"));
}

TEST(ChooseFiles, AsksWhenItCannotKnow) {
  Status status;
  EXPECT_TRUE(choose({"ggml-base.bin", "ggml-tiny.bin"}, &status).empty());
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("--hf o/m:ggml-base.bin"));
  choose({"README.md"}, &status);
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
}

TEST(ParseHubListing, ReadsSizesAndSums) {
  const std::string sum(64, 'a');
  const Result<std::vector<HubFile>> files = parse_hub_listing(
      R"({"siblings": [{"rfilename": "a", "size": 5}, {"rfilename": "b", "size": -1, "lfs": {"sha256": ")" +
      sum + R"("}}, {"rfilename": "c", "lfs": {"sha256": "no"}}]})");
  ASSERT_TRUE(files.ok()) << files.status().message();
  EXPECT_EQ((*files)[0].bytes, 5);
  EXPECT_EQ((*files)[1].bytes, -1);
  EXPECT_EQ((*files)[1].sha256, sum);
  EXPECT_EQ((*files)[2].sha256, "");
  for (const char* json : {"", "[]", "{}", R"({"siblings": 5})", R"({"siblings": [5]})",
                           R"({"siblings": [{}]})", R"({"siblings": [{"rfilename": 5}]})"}) {
    EXPECT_EQ(parse_hub_listing(json).status().code(), StatusCode::kCorrupt) << json;
  }
}

void write_zip(const std::string& path, const std::string& member, const std::string& content) {
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE, nullptr);
  ASSERT_NE(archive, nullptr);
  zip_source_t* source = zip_source_buffer(archive, content.data(), content.size(), 0);
  ASSERT_GE(zip_file_add(archive, member.c_str(), source, 0), 0);
  ASSERT_EQ(zip_close(archive), 0);
}

TEST(Wheel, MembersAreRead) {
  const TempFolder folder;
  const std::string content(3'000'000, 'w');
  write_zip(folder / "w.whl", "data/m", content);
  std::string got;
  const auto take = [&got](std::span<const std::byte> bytes) {
    got.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return Status();
  };
  ASSERT_TRUE(read_wheel_member(folder / "w.whl", "data/m", -1, take).ok());
  EXPECT_EQ(got, content);
  EXPECT_EQ(read_wheel_member(folder / "w.whl", "data/n", -1, take).code(), StatusCode::kNotFound);
  EXPECT_EQ(read_wheel_member(folder / "w.whl", "data/m", 2'999'999, take).code(),
            StatusCode::kCorrupt);
  const auto refuse = [](std::span<const std::byte>) { return cancelled("enough"); };
  EXPECT_EQ(read_wheel_member(folder / "w.whl", "data/m", -1, refuse).code(),
            StatusCode::kCancelled);
}

TEST(Wheel, BrokenArchivesAreCorrupt) {
  const TempFolder folder;
  const auto take = [](std::span<const std::byte>) { return Status(); };
  EXPECT_EQ(read_wheel_member(folder.write("a.whl", "no zip"), "m", -1, take).code(),
            StatusCode::kCorrupt);
  write_zip(folder / "b.whl", "m", std::string(100000, 'b'));
  std::string bytes = folder.read("b.whl");
  for (size_t i = 60; i < 70; ++i)
    bytes[i] = static_cast<char>(~bytes[i]);
  folder.write("c.whl", bytes);
  EXPECT_EQ(read_wheel_member(folder / "c.whl", "m", -1, take).code(), StatusCode::kCorrupt);
}

}  // namespace
}  // namespace sotto::registry
