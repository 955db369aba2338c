// One transcription that somebody asked the server for, whatever the protocol.
#ifndef SOTTO_SERVE_JOB_H_
#define SOTTO_SERVE_JOB_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "serve/spool.h"
#include "sotto/models.h"
#include "sotto/transcribe.h"

namespace sotto::serve {

using Clock = std::chrono::steady_clock;

/// Which queue a job waits in. Interactive jobs go first, and get in at the window borders of a
/// batch job that is running.
enum class Lane { kInteractive, kBatch };

/// Clips shorter than this are interactive.
inline constexpr double kInteractiveSeconds = 30;

/// A recording that the job owns.
struct JobAudio {
  std::shared_ptr<const Spool> bytes;  ///< An encoded file, or headerless samples
  std::vector<float> samples;          ///< 16 kHz, mono; counts when it is not empty
  std::string raw_format;              ///< As in AudioSource: "s16le" for headerless bytes
  int raw_rate = 16000;
  int raw_channels = 1;

  /// Valid as long as this object.
  [[nodiscard]] AudioSource source() const;
};

struct JobResult {
  Transcript transcript;
  double queue_ms = 0;    ///< From submit() to the start
  double process_ms = 0;  ///< From the start to the end, without jobs that got in between
};

/// All are optional. on_end comes last and exactly once for each job that was accepted. They are
/// called from the model's thread, on_end of a job that never started also from the thread that
/// cancels it or stops the engine; they must return soon and not call the engine.
struct JobEvents {
  std::function<void()> on_start;
  std::function<void(double duration_s)> on_audio;  ///< It was decoded
  std::function<void(const std::string& code, float probability)> on_language;
  std::function<void(const Segment&)> on_segment;
  std::function<void(const Status& status, JobResult* result)> on_end;  ///< result: null on failure
};

struct JobRequest {
  std::string id;   ///< The request's id, for progress, cancel and logs
  ModelInfo model;  ///< Its name and path
  JobAudio audio;
  TranscribeOptions options;
  Lane lane = Lane::kBatch;
  double expected_s = -1;  ///< Length of the recording where it is known before decoding
  std::optional<Clock::time_point> deadline;  ///< After it: kDeadlineExceeded
  JobEvents events;
};

enum class JobState { kQueued, kRunning, kDone, kFailed };

/// "queued", "running", "done", "error".
std::string_view job_state_name(JobState state);

/// Where a job stands.
struct JobProgress {
  JobState state = JobState::kQueued;
  int position = 0;     ///< Jobs before it in its model's queue
  double progress = 0;  ///< 0..1
  double audio_s = -1;  ///< -1: not known yet
};

/// An accepted job. Shared by the engine and whoever waits for it; all members may be called from
/// any thread.
class Job {
 public:
  explicit Job(JobRequest request)
      : request_(std::move(request)), submitted_(Clock::now()), audio_s_(request_.expected_s) {}

  [[nodiscard]] const JobRequest& request() const { return request_; }
  [[nodiscard]] const std::string& id() const { return request_.id; }
  [[nodiscard]] Clock::time_point submitted() const { return submitted_; }

  [[nodiscard]] bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }
  [[nodiscard]] bool overdue() const {
    return request_.deadline && Clock::now() >= *request_.deadline;
  }

  /// position is 0: only the queue knows it.
  [[nodiscard]] JobProgress progress() const;

  // For the engine.
  void set_cancelled() { cancelled_.store(true, std::memory_order_relaxed); }
  void set_state(JobState state) { state_.store(state, std::memory_order_relaxed); }
  void set_progress(double fraction) { fraction_.store(fraction, std::memory_order_relaxed); }
  void set_audio_s(double seconds) { audio_s_.store(seconds, std::memory_order_relaxed); }
  /// Frees the recording and the events once the job has ended.
  void release();

 private:
  JobRequest request_;
  Clock::time_point submitted_;
  std::atomic<bool> cancelled_{false};
  std::atomic<JobState> state_{JobState::kQueued};
  std::atomic<double> fraction_{0};
  std::atomic<double> audio_s_;
};

}  // namespace sotto::serve

#endif  // SOTTO_SERVE_JOB_H_
