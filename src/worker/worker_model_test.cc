#include "worker/worker_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "worker/testing/fake_worker.h"

namespace sotto::worker {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class WorkerModelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/sotto-worker-XXXXXX";
    folder_ = ::mkdtemp(name);
    options_.command = {"/proc/self/exe", "worker"};
    options_.monitor = std::make_shared<WorkerMonitor>();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<WorkerModel> load() {
    Result<std::unique_ptr<WorkerModel>> model = WorkerModel::load("fake", {}, options_);
    EXPECT_TRUE(model.ok()) << model.status().message();
    return model.ok() ? std::move(*model) : nullptr;
  }
  /// A word that makes the misbehaviour of a job happen only once.
  [[nodiscard]] std::string once() const { return " once=" + folder_ + "/once"; }
  [[nodiscard]] WorkerHealth health() const { return options_.monitor->health(); }

  std::string folder_;
  WorkerOptions options_;
};

AudioSource job(const std::string& words) {
  AudioSource source;
  source.path = words;
  return source;
}

/// Keeps what the callbacks told.
struct Told {
  TranscribeCallbacks callbacks;
  std::vector<std::string> texts;
  std::vector<double> progress;
  int audio = 0, languages = 0;

  Told() {
    callbacks.on_audio = [this](double) { ++audio; };
    callbacks.on_language = [this](const std::string&, float) { ++languages; };
    callbacks.on_segment = [this](const Segment& segment) { texts.push_back(segment.text); };
    callbacks.on_progress = [this](double done_s, double) { progress.push_back(done_s); };
  }
};

TEST_F(WorkerModelTest, ForwardsOptionsCallbacksAndFacts) {
  const auto model = load();
  Told told;
  TranscribeOptions options;
  options.hotwords = " hot";
  const Result<Transcript> result = model->transcribe(job("segments=3"), options, told.callbacks);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->text, "s0 s1 s2 hot");
  EXPECT_THAT(told.texts, ElementsAre(" s0", " s1", " s2"));
  EXPECT_THAT(told.progress, ElementsAre(1, 2, 3));
  EXPECT_EQ(told.audio, 1);
  EXPECT_EQ(told.languages, 1);
  EXPECT_EQ(model->sizes().mels, 80);
  EXPECT_TRUE(model->multilingual());
  EXPECT_EQ(model->description(), "a fake");
  EXPECT_EQ(health().state, WorkerState::kReady);
  EXPECT_EQ(health().starts, 1);
}

TEST_F(WorkerModelTest, SamplesAndBytesArrive) {
  const auto model = load();
  const std::vector<float> samples(100'000, 0.5f);
  AudioSource source;
  source.samples = samples;
  EXPECT_EQ(model->transcribe(source, {}, {})->text, "samples 100000 sum 50000 bytes 0   16000");
  source = {};
  const std::string bytes = "RIFF";
  source.bytes = std::as_bytes(std::span(bytes));
  source.raw_format = "s16le";
  source.raw_rate = 8000;
  EXPECT_EQ(model->transcribe(source, {}, {})->text, "samples 0 sum 0 bytes 4 RIFF s16le 8000");
  EXPECT_EQ(model->transcribe(job("-"), {}, {}).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(WorkerModelTest, CrashIsRetriedAndNothingIsToldTwice) {
  const auto model = load();
  Told told;
  const Result<Transcript> result =
      model->transcribe(job("segments=5 at=3 crash" + once()), {}, told.callbacks);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->text, "s0 s1 s2 s3 s4");
  EXPECT_THAT(told.texts, ElementsAre(" s0", " s1", " s2", " s3", " s4"));
  EXPECT_THAT(told.progress, ElementsAre(1, 2, 3, 3, 4, 5));
  EXPECT_EQ(told.audio, 1);
  EXPECT_EQ(told.languages, 1);
  EXPECT_EQ(health().crashes, 1);
  EXPECT_EQ(health().retried_jobs, 1);
  EXPECT_EQ(health().state, WorkerState::kReady);
  EXPECT_THAT(health().last_failure, HasSubstr("signal 9"));
}

TEST_F(WorkerModelTest, KilledFromOutsideInMidJob) {
  const auto model = load();
  Told told;
  const auto keep = told.callbacks.on_segment;
  told.callbacks.on_segment = [&](const Segment& segment) {
    keep(segment);
    if (told.texts.size() == 2) ::kill(health().pid, SIGKILL);
  };
  // The border makes the worker wait for its parent, so that it is killed before it is done.
  told.callbacks.at_window_border = [] {};
  const Result<Transcript> result = model->transcribe(job("segments=6"), {}, told.callbacks);
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->text, "s0 s1 s2 s3 s4 s5");
  EXPECT_EQ(told.texts.size(), 6U);
  EXPECT_EQ(health().crashes, 1);
}

TEST_F(WorkerModelTest, SecondCrashIsAnErrorAndTheNextJobRuns) {
  const auto model = load();
  const Status status = model->transcribe(job("segments=2 at=1 crash"), {}, {}).status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), HasSubstr("second try"));
  EXPECT_EQ(health().crashes, 2);
  EXPECT_EQ(health().state, WorkerState::kFailed);
  EXPECT_EQ(model->transcribe(job("segments=1"), {}, {})->text, "s0");
  EXPECT_EQ(health().state, WorkerState::kReady);
}

TEST_F(WorkerModelTest, HangHitsTheSilenceLimit) {
  options_.silence_limit = milliseconds(1500);
  const auto model = load();
  const Result<Transcript> result = model->transcribe(job("segments=2 at=1 hang" + once()), {}, {});
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(result->text, "s0 s1");
  EXPECT_EQ(health().hangs, 1);
  EXPECT_EQ(health().crashes, 0);
  EXPECT_THAT(health().last_failure, HasSubstr("no sign of life"));
}

TEST_F(WorkerModelTest, EndlessWorkHitsTheWindowLimit) {
  options_.window_limit = milliseconds(2000);
  const auto model = load();
  const Result<Transcript> result = model->transcribe(job("segments=2 at=1 spin" + once()), {}, {});
  ASSERT_TRUE(result.ok()) << result.status().message();
  EXPECT_EQ(health().hangs, 1);
  EXPECT_THAT(health().last_failure, HasSubstr("did not finish a window"));
}

TEST_F(WorkerModelTest, KilledWhileIdle) {
  const auto model = load();
  ASSERT_EQ(::kill(health().pid, SIGKILL), 0);
  // Its end of the channel closes when the kernel has ended it.
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(health().pid), &info, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(model->transcribe(job("segments=1"), {}, {})->text, "s0");
  EXPECT_EQ(health().crashes, 1);
  EXPECT_EQ(health().retried_jobs, 0);
}

TEST_F(WorkerModelTest, StopsOnRequest) {
  const auto model = load();
  Told told;
  told.callbacks.should_stop = [&] { return !told.texts.empty(); };
  const Status status = model->transcribe(job("segments=2 at=1 spin"), {}, told.callbacks).status();
  EXPECT_EQ(status.code(), StatusCode::kCancelled);
  EXPECT_EQ(model->transcribe(job("segments=2"), {}, {})->text, "s0 s1");
  EXPECT_EQ(health().starts, 1);
}

TEST_F(WorkerModelTest, AnotherJobRunsAtTheBorder) {
  const auto model = load();
  Told outer;
  std::vector<std::string> inner;
  outer.callbacks.at_window_border = [&] {
    inner.push_back(model->transcribe(job("segments=2"), {}, {})->text);
  };
  EXPECT_EQ(model->transcribe(job("segments=3"), {}, outer.callbacks)->text, "s0 s1 s2");
  EXPECT_THAT(inner, ElementsAre("s0 s1", "s0 s1"));
  EXPECT_EQ(health().starts, 1);
}

TEST_F(WorkerModelTest, CrashOfTheJobAtTheBorderSparesTheOuterOne) {
  const auto model = load();
  Told outer;
  std::vector<std::string> inner;
  outer.callbacks.at_window_border = [&] {
    inner.push_back(model->transcribe(job("segments=2 at=1 crash" + once()), {}, {})->text);
  };
  EXPECT_EQ(model->transcribe(job("segments=2"), {}, outer.callbacks)->text, "s0 s1");
  EXPECT_THAT(outer.texts, ElementsAre(" s0", " s1"));
  EXPECT_THAT(inner, ElementsAre("s0 s1", "s0 s1"));  // at the border of both tries
  EXPECT_EQ(health().crashes, 1);
  EXPECT_EQ(health().starts, 2);
}

TEST_F(WorkerModelTest, FailuresToLoad) {
  const Status bad = WorkerModel::load("bad", {}, options_).status();
  EXPECT_EQ(bad.code(), StatusCode::kNotFound);
  EXPECT_EQ(bad.message(), "bad: no such model");
  EXPECT_EQ(WorkerModel::load("crash", {}, options_).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(health().crashes, 1);
  options_.command = {"/nowhere/sotto"};
  EXPECT_THAT(WorkerModel::load("fake", {}, options_).status().message(),
              HasSubstr("/nowhere/sotto"));
}

/// Starts this program as `parent`, which loads a worker and prints its process id.
TEST_F(WorkerModelTest, EndsWithItsParent) {
  ASSERT_EQ(::prctl(PR_SET_CHILD_SUBREAPER, 1), 0);  // the orphan comes to this process
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t parent = ::fork();
  ASSERT_GE(parent, 0);
  if (parent == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    ::execl("/proc/self/exe", "worker_model_test", "parent", nullptr);
    ::_exit(127);
  }
  ::close(ends[1]);
  FILE* output = ::fdopen(ends[0], "r");
  int worker = 0;
  ASSERT_EQ(std::fscanf(output, "%d", &worker), 1);
  std::fclose(output);
  ASSERT_EQ(::kill(worker, 0), 0);
  ::kill(parent, SIGKILL);
  int status = 0;
  EXPECT_EQ(::waitpid(parent, &status, 0), parent);
  EXPECT_EQ(::waitpid(worker, &status, 0), worker);  // ends although its model hangs
  EXPECT_TRUE(WIFEXITED(status));
}

}  // namespace

int parent_main() {
  WorkerOptions options;
  options.command = {"/proc/self/exe", "worker"};
  options.monitor = std::make_shared<WorkerMonitor>();
  const auto model = WorkerModel::load("fake", {}, options);
  if (!model.ok()) return 1;
  TranscribeCallbacks callbacks;
  callbacks.on_segment = [&](const Segment&) {
    std::printf("%d\n", options.monitor->health().pid);
    std::fflush(stdout);
  };
  AudioSource source;
  source.path = "segments=2 at=1 hang";
  return (*model)->transcribe(source, {}, callbacks).ok() ? 0 : 1;
}

}  // namespace sotto::worker

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "worker") == 0)
    return sotto::worker::testing::fake_worker_main(std::atoi(argv[3]));
  if (argc == 2 && std::strcmp(argv[1], "parent") == 0) return sotto::worker::parent_main();
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
