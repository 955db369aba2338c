#include "worker/worker_main.h"

#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <set>
#include <thread>
#include <utility>

#include "worker/channel.h"
#include "worker/messages.h"

namespace sotto::worker {
namespace {

using Clock = std::chrono::steady_clock;

/// The parent is told so often that the model's thread is alive.
constexpr auto kHeartbeat = std::chrono::milliseconds(500);

/// "For ever", in steps.
constexpr auto kIdleStep = std::chrono::minutes(10);

class Worker {
 public:
  Worker(OwnedFd socket, const WorkerLoader& load) : channel_(std::move(socket)), load_(load) {}

  Status run() {
    for (;;) {
      SOTTO_ASSIGN_OR_RETURN(Received received, next());
      SOTTO_RETURN_IF_ERROR(handle(received));
    }
  }

 private:
  Result<Received> next() {
    for (;;) {
      SOTTO_ASSIGN_OR_RETURN(std::optional<Received> received,
                             channel_.receive(Clock::now() + kIdleStep));
      if (received) return std::move(*received);
    }
  }

  /// What may arrive between jobs and at a window's border.
  Status handle(Received& received) {
    if (const auto* request = std::get_if<LoadRequest>(&received.message)) return load(*request);
    if (const auto* stop = std::get_if<StopRequest>(&received.message)) {
      stopped_.insert(stop->job);
      return {};
    }
    if (const auto* request = std::get_if<TranscribeRequest>(&received.message))
      return transcribe(*request, received.file);
    return corrupt("worker: a message that does not belong here");
  }

  Status load(const LoadRequest& request) {
    LoadReply reply;
    model_.reset();
    Result<std::unique_ptr<SpeechModel>> model = load_(request.path, request.options);
    reply.status = model.status();
    if (model.ok()) {
      model_ = std::move(model).value();
      reply.multilingual = model_->multilingual();
      reply.sizes = model_->sizes();
      reply.description = model_->description();
    }
    return channel_.send(reply);
  }

  Status transcribe(const TranscribeRequest& request, const OwnedFd& file) {
    DoneEvent done;
    done.job = request.job;
    Result<Transcript> transcript = run_model(request, file);
    SOTTO_RETURN_IF_ERROR(channel_status_);
    done.status = transcript.status();
    if (transcript.ok()) done.transcript = std::move(transcript).value();
    stopped_.erase(request.job);
    return channel_.send(done);
  }

  Result<Transcript> run_model(const TranscribeRequest& request, const OwnedFd& file) {
    if (model_ == nullptr) return internal_error("worker: a job came before its model");
    AudioSource source;
    SOTTO_ASSIGN_OR_RETURN(const MappedMemoryFile mapped,
                           MappedMemoryFile::map(file, request.bytes));
    if (request.kind == SourceKind::kPath) source.path = request.path;
    if (request.kind == SourceKind::kBytes) source.bytes = mapped.bytes();
    if (request.kind == SourceKind::kSamples) {
      // A mapping begins at a page, so the floats are aligned.
      source.samples = {reinterpret_cast<const float*>(mapped.bytes().data()),
                        mapped.bytes().size() / sizeof(float)};
    }
    source.raw_format = request.raw_format;
    source.raw_rate = request.raw_rate;
    source.raw_channels = request.raw_channels;
    return model_->transcribe(source, request.options, callbacks(request));
  }

  TranscribeCallbacks callbacks(const TranscribeRequest& request) {
    TranscribeCallbacks callbacks;
    const uint32_t job = request.job;
    callbacks.on_audio = [this, job](double duration_s) { tell(AudioEvent{job, duration_s}); };
    callbacks.on_language = [this, job](const std::string& code, float probability) {
      tell(LanguageEvent{job, code, probability});
    };
    callbacks.on_segment = [this, job](const Segment& segment) {
      tell(SegmentEvent{job, segment});
    };
    callbacks.on_progress = [this, job](double done_s, double total_s) {
      tell(ProgressEvent{job, done_s, total_s});
    };
    callbacks.should_stop = [this, job] { return should_stop(job); };
    if (request.wants_borders) callbacks.at_window_border = [this, job] { at_border(job); };
    return callbacks;
  }

  void note(const Status& status) {
    if (channel_status_.ok()) channel_status_ = status;
  }

  void tell(const Message& message) {
    if (!channel_status_.ok()) return;
    note(channel_.send(message));
    last_told_ = Clock::now();
  }

  bool should_stop(uint32_t job) {
    if (Clock::now() - last_told_ >= kHeartbeat) tell(AliveEvent{job});
    while (channel_status_.ok() && channel_.readable()) {
      const Result<Received> received = next();
      note(received.status());
      if (!received.ok()) break;
      const auto* stop = std::get_if<StopRequest>(&received->message);
      if (stop == nullptr) {
        note(corrupt("worker: only a stop may arrive while a window is decoded"));
      } else {
        stopped_.insert(stop->job);
      }
    }
    return !channel_status_.ok() || stopped_.contains(job);
  }

  void at_border(uint32_t job) {
    tell(BorderEvent{job});
    while (channel_status_.ok()) {
      Result<Received> received = next();
      note(received.status());
      if (!received.ok()) return;
      const auto* resume = std::get_if<ResumeRequest>(&received->message);
      if (resume != nullptr && resume->job == job) return;
      note(handle(*received));
    }
  }

  Channel channel_;
  const WorkerLoader& load_;
  std::unique_ptr<SpeechModel> model_;
  std::set<uint32_t> stopped_;
  Status channel_status_;
  Clock::time_point last_told_ = Clock::now();
};

}  // namespace

Status run_worker(int fd, const WorkerLoader& load, std::function<void()> on_parent_gone) {
  std::atomic<bool> leaving{false};
  std::thread watch([fd, &leaving, &on_parent_gone] {
    pollfd entry{fd, POLLRDHUP, 0};
    while (::poll(&entry, 1, -1) <= 0) {
    }
    if (!leaving) on_parent_gone();
  });
  // The watch ends before the socket is closed: its number must not come to mean another file.
  Worker worker{OwnedFd(fd), load};
  const Status status = worker.run();
  leaving = true;
  ::shutdown(fd, SHUT_RDWR);
  watch.join();
  const bool parent_left = status.code() == StatusCode::kUnavailable;
  return parent_left ? Status() : status;
}

}  // namespace sotto::worker
