#include "serve/engine.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>

namespace sotto::serve {
namespace {

using std::chrono::milliseconds;

/// A gate that a test opens step by step.
class Turnstile {
 public:
  void open(int passes) {
    const std::lock_guard lock(mutex_);
    passes_ += passes;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return passes_ > 0; });
    --passes_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int passes_ = 0;
};

/// What happened, in order.
class Journal {
 public:
  void write(std::string entry) {
    const std::lock_guard lock(mutex_);
    entries_.push_back(std::move(entry));
    changed_.notify_all();
  }
  void await(const std::string& entry) {
    std::unique_lock lock(mutex_);
    changed_.wait(
        lock, [&] { return std::find(entries_.begin(), entries_.end(), entry) != entries_.end(); });
  }
  std::vector<std::string> entries() {
    const std::lock_guard lock(mutex_);
    return entries_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> entries_;
};

/// A model whose recordings have as many windows as they have samples; each waits at the turnstile.
class FakeSpeech final : public SpeechModel {
 public:
  FakeSpeech(Turnstile& windows, Journal& journal) : windows_(windows), journal_(journal) {}
  ~FakeSpeech() override { journal_.write("unloaded"); }

  Result<Transcript> transcribe(const AudioSource& source, const TranscribeOptions& options,
                                const TranscribeCallbacks& callbacks) override {
    const size_t count = source.samples.size();
    for (size_t i = 0; i < count; ++i) {
      journal_.write(options.initial_prompt + std::to_string(i));
      windows_.pass();
      if (callbacks.should_stop()) return cancelled("stopped");
      callbacks.on_progress(static_cast<double>(i + 1), static_cast<double>(count));
      if (i + 1 < count && callbacks.at_window_border) callbacks.at_window_border();
    }
    if (options.initial_prompt == "throw") throw std::bad_alloc();
    Transcript transcript;
    transcript.text = options.initial_prompt;
    return transcript;
  }
  bool multilingual() const override { return true; }
  ModelSizes sizes() const override { return {}; }
  std::string description() const override { return "fake"; }

 private:
  Turnstile& windows_;
  Journal& journal_;
};

class EngineTest : public ::testing::Test {
 protected:
  void TearDown() override { windows_.open(1000); }

  Engine& engine() {
    if (engine_ == nullptr) {
      engine_ = std::make_unique<Engine>(
          options_,
          [this](const ModelInfo& model) -> Result<std::unique_ptr<SpeechModel>> {
            journal_.write("load " + model.name);
            if (model.name == "broken") return corrupt("bad magic");
            return std::unique_ptr<SpeechModel>(std::make_unique<FakeSpeech>(windows_, journal_));
          },
          metrics_);
    }
    return *engine_;
  }

  JobRequest request(const std::string& id, Lane lane, size_t windows = 1) {
    JobRequest job;
    job.id = id;
    job.model.name = "m";
    job.lane = lane;
    job.audio.samples.assign(windows, 0.0f);
    job.options.initial_prompt = id;
    job.events.on_end = [this, id](const Status& status, JobResult* result) {
      EXPECT_EQ(status.ok(), result != nullptr);
      journal_.write(id + " " + std::string(status_code_name(status.code())));
    };
    return job;
  }

  std::shared_ptr<Job> submit(const std::string& id, Lane lane, size_t windows = 1) {
    auto job = engine().submit(request(id, lane, windows));
    EXPECT_TRUE(job.ok()) << job.status().message();
    return job.ok() ? *job : nullptr;
  }

  EngineOptions options_;
  Metrics metrics_;
  Turnstile windows_;
  Journal journal_;
  std::unique_ptr<Engine> engine_;
};

TEST_F(EngineTest, InteractiveJobsGetInAtWindowBorders) {
  submit("long", Lane::kBatch, 3);
  journal_.await("long0");
  submit("file", Lane::kBatch);
  submit("clip", Lane::kInteractive);
  EXPECT_EQ(engine().progress("file")->position, 1);
  windows_.open(5);
  journal_.await("file ok");
  EXPECT_EQ(journal_.entries(),
            (std::vector<std::string>{"load m", "long0", "clip0", "clip ok", "long1", "long2",
                                      "long ok", "file0", "file ok"}));
  EXPECT_EQ(engine().progress("long")->state, JobState::kDone);
}

TEST_F(EngineTest, ABatchJobGoesOnUnderAStreamOfClips) {
  options_.max_queue = 100;
  submit("long", Lane::kBatch, 2);
  journal_.await("long0");
  for (int i = 0; i < 20; ++i)
    submit("clip" + std::to_string(i) + ".", Lane::kInteractive);
  windows_.open(100);
  journal_.await("clip19. ok");
  const auto entries = journal_.entries();
  const auto at = [&](const std::string& entry) {
    return std::find(entries.begin(), entries.end(), entry) - entries.begin();
  };
  EXPECT_LT(at("long1"), at("clip10.0"));
}

TEST_F(EngineTest, TheQueueIsBounded) {
  options_.max_queue = 2;
  submit("a", Lane::kBatch);
  journal_.await("a0");
  submit("b", Lane::kBatch);
  submit("c", Lane::kInteractive);
  const auto refused = engine().submit(request("d", Lane::kInteractive));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), StatusCode::kResourceExhausted);
  EXPECT_EQ(refused.status().message(), "2 jobs are waiting (limit 2)");
  EXPECT_EQ(engine().waiting(), 2);
  EXPECT_GE(engine().retry_after_s(), 1);
  windows_.open(3);
  journal_.await("b ok");
  submit("e", Lane::kBatch);
  windows_.open(1);
  journal_.await("e ok");
}

TEST_F(EngineTest, AJobThatStartsAtOnceNeedsNoPlaceInTheQueue) {
  options_.max_queue = 0;
  submit("a", Lane::kBatch);
  EXPECT_FALSE(engine().submit(request("b", Lane::kBatch)).ok());
  windows_.open(1);
  journal_.await("a ok");
}

TEST_F(EngineTest, CancelTakesAJobOutOfTheQueueOrStopsIt) {
  const auto running = submit("a", Lane::kBatch, 5);
  journal_.await("a0");
  const auto waiting = submit("b", Lane::kBatch);
  engine().cancel(waiting);
  journal_.await("b cancelled");
  EXPECT_EQ(engine().waiting(), 0);
  EXPECT_TRUE(engine().cancel("a").ok());
  windows_.open(1);
  journal_.await("a cancelled");
  EXPECT_EQ(engine().cancel("nobody").code(), StatusCode::kNotFound);
  EXPECT_EQ(engine().progress("a")->state, JobState::kFailed);
  EXPECT_EQ(metrics_.value(Metric::kJobs, {{"outcome", "cancelled"}}), 1);
}

TEST_F(EngineTest, TheDeadlineStopsAJob) {
  JobRequest late = request("late", Lane::kBatch, 2);
  late.deadline = Clock::now();
  ASSERT_TRUE(engine().submit(std::move(late)).ok());
  windows_.open(2);
  journal_.await("late deadline_exceeded");
}

TEST_F(EngineTest, AModelThatCannotBeLoadedFailsItsJobsOnly) {
  JobRequest job = request("x", Lane::kBatch);
  job.model.name = "broken";
  std::promise<Status> ended;
  job.events.on_end = [&](const Status& status, JobResult*) { ended.set_value(status); };
  ASSERT_TRUE(engine().submit(std::move(job)).ok());
  const Status status = ended.get_future().get();
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_EQ(status.message(), "the model broken cannot be loaded: bad magic");
  submit("y", Lane::kBatch);
  windows_.open(1);
  journal_.await("y ok");
}

TEST_F(EngineTest, AThrowingModelCostsItsJob) {
  submit("throw", Lane::kBatch);
  windows_.open(1);
  journal_.await("throw internal_error");
  submit("next", Lane::kBatch);
  windows_.open(1);
  journal_.await("next ok");
}

TEST_F(EngineTest, IdleModelsAreUnloadedAndComeBack) {
  options_.keep_alive = milliseconds(0);
  submit("a", Lane::kBatch);
  windows_.open(1);
  journal_.await("unloaded");
  submit("b", Lane::kBatch);
  windows_.open(1);
  journal_.await("b ok");
  EXPECT_EQ(journal_.entries()[4], "load m");
}

TEST_F(EngineTest, PreloadReportsAndUnloadWaitsForItsTurn) {
  std::promise<Status> loaded;
  ModelInfo model;
  model.name = "m";
  engine().preload(model, [&](const Status& status) { loaded.set_value(status); });
  EXPECT_TRUE(loaded.get_future().get().ok());
  EXPECT_EQ(engine().models().at(0).state, ModelState::kLoaded);
  submit("a", Lane::kBatch);
  engine().unload("m");
  windows_.open(1);
  journal_.await("unloaded");
  EXPECT_EQ(journal_.entries().at(2), "a ok");
}

TEST_F(EngineTest, StopRefusesWhatWaitsAndCancelsWhatRuns) {
  submit("a", Lane::kBatch, 100);
  journal_.await("a0");
  submit("b", Lane::kBatch);
  std::thread stopper([this] { engine().stop(Clock::now() + milliseconds(1)); });
  journal_.await("b unavailable");
  windows_.open(1000);
  stopper.join();
  const auto entries = journal_.entries();
  EXPECT_EQ(std::count(entries.begin(), entries.end(), "a cancelled") +
                std::count(entries.begin(), entries.end(), "a ok"),
            1);
  EXPECT_EQ(engine().submit(request("c", Lane::kBatch)).status().code(), StatusCode::kUnavailable);
}

TEST(Metrics, TextIsInThePrometheusFormat) {
  Metrics metrics;
  metrics.add(Metric::kRequests, {{"endpoint", "/x"}, {"code", "200"}}, 2);
  metrics.observe(Metric::kRealtimeFactor, {{"model", "a\"b"}}, 0.03);
  const std::string text = metrics.text();
  EXPECT_NE(text.find("# TYPE sotto_requests_total counter\n"
                      "sotto_requests_total{endpoint=\"/x\",code=\"200\"} 2\n"),
            std::string::npos);
  EXPECT_NE(text.find("sotto_realtime_factor_bucket{model=\"a\\\"b\",le=\"0.02\"} 0\n"),
            std::string::npos);
  EXPECT_NE(text.find("sotto_realtime_factor_bucket{model=\"a\\\"b\",le=\"+Inf\"} 1\n"),
            std::string::npos);
  EXPECT_NE(text.find("process_resident_memory_bytes"), std::string::npos);
}

}  // namespace
}  // namespace sotto::serve
