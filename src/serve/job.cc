#include "serve/job.h"

namespace sotto::serve {

AudioSource JobAudio::source() const {
  AudioSource source;
  if (!samples.empty()) {
    source.samples = samples;
    return source;
  }
  if (bytes != nullptr) {
    source.path = bytes->path();
    if (source.path.empty()) source.bytes = bytes->memory();
  }
  source.raw_format = raw_format;
  source.raw_rate = raw_rate;
  source.raw_channels = raw_channels;
  return source;
}

std::string_view job_state_name(JobState state) {
  switch (state) {
    case JobState::kQueued:
      return "queued";
    case JobState::kRunning:
      return "running";
    case JobState::kDone:
      return "done";
    case JobState::kFailed:
      break;
  }
  return "error";
}

JobProgress Job::progress() const {
  JobProgress progress;
  progress.state = state_.load(std::memory_order_relaxed);
  progress.progress = fraction_.load(std::memory_order_relaxed);
  progress.audio_s = audio_s_.load(std::memory_order_relaxed);
  return progress;
}

void Job::release() {
  request_.audio = JobAudio();
  request_.events = JobEvents();
}

}  // namespace sotto::serve
