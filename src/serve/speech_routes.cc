// POST /v1/audio/transcriptions, /v1/audio/translations and whisper.cpp's /inference.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <utility>
#include <variant>

#include "serve/app.h"
#include "serve/clip_length.h"
#include "serve/http/mailbox.h"
#include "serve/speech_response.h"

namespace sotto::serve {
namespace {

constexpr std::chrono::seconds kPingInterval{15};
constexpr std::chrono::hours kLong{24 * 365};
/// An idle model takes its job up in less.
constexpr std::chrono::milliseconds kStartTime{100};
/// Files of unknown length up to this size are taken for clips; see kInteractiveSeconds.
constexpr int64_t kClipBytes = int64_t{1} << 20;

struct ClientGone {};
struct Ended {
  Status status;
  std::optional<JobResult> result;
};
struct Decoded {
  double seconds = 0;
};
struct Started {};
using Event = std::variant<ClientGone, Started, Decoded, Segment, Ended>;

/// "audio/L16;rate=24000;channels=1" and "audio/pcm" say what the bytes themselves cannot.
void read_raw_format(std::string_view content_type, JobAudio& audio) {
  const ParameterisedValue type = parse_parameterised(content_type);
  const bool is_l16 = type.value == "audio/l16";
  if (!is_l16 && type.value != "audio/pcm") return;
  audio.raw_format = is_l16 ? "s16be" : "s16le";  // RFC 3551: L16 is in network order
  const auto parameter = [&](const char* name, int otherwise) {
    const auto found = type.parameters.find(name);
    const int value = found == type.parameters.end() ? 0 : std::atoi(found->second.c_str());
    return value > 0 ? value : otherwise;
  };
  audio.raw_rate = parameter("rate", 16000);
  audio.raw_channels = parameter("channels", 1);
}

/// Seconds of a file by its header, or of headerless samples; negative: not known.
double expected_length(const JobAudio& audio) {
  const int64_t size = audio.bytes->size();
  if (!audio.raw_format.empty()) {
    constexpr int kSampleBytes = 2;  // Of both formats of read_raw_format()
    return static_cast<double>(size) / kSampleBytes / audio.raw_channels / audio.raw_rate;
  }
  double seconds = -1;
  // The first piece is enough; the failure ends the reading.
  [[maybe_unused]] const Status first = audio.bytes->read([&](std::string_view head) {
    seconds = length_by_header(head, size);
    return cancelled("seen enough");
  });
  return seconds;
}

Lane lane_of(const JobAudio& audio, double expected_s) {
  const bool is_clip =
      expected_s >= 0 ? expected_s < kInteractiveSeconds : audio.bytes->size() <= kClipBytes;
  return is_clip ? Lane::kInteractive : Lane::kBatch;
}

/// Models that were not trained to translate give the source language back.
std::optional<ApiError> check_translation(const ModelInfo& model) {
  const std::string& name = model.name;
  const bool english_only = name.size() > 3 && name.substr(name.size() - 3) == ".en";
  const bool is_turbo = name.find("turbo") != std::string::npos;
  const bool is_distilled = name.find("distil") != std::string::npos;
  if (!english_only && !is_turbo && !is_distilled) return std::nullopt;
  return bad_request("unsupported_combination",
                     fmt::format("the model {} cannot translate; use one that can, such as base, "
                                 "small, medium or large-v3",
                                 name),
                     "model");
}

/// One request on its way from its form to its answer.
class SpeechExchange {
 public:
  SpeechExchange(App& app, Exchange& exchange) : app_(app), exchange_(exchange) {}

  Task<void> run(SpeechApi api, sotto::Task task);

 private:
  [[nodiscard]] std::optional<ApiError> read_request(SpeechApi api, sotto::Task task);
  [[nodiscard]] JobRequest job_request();
  Task<Result<std::shared_ptr<Job>>> submit();
  Task<void> answer_whole();
  Task<void> answer_stream();
  [[nodiscard]] bool is_behind_others() const;
  Task<void> refuse(const Status& status);
  Task<void> fail(ApiError error, std::string_view reason);
  [[nodiscard]] ApiError failure(const Status& status) const {
    // Where the server keeps an upload is of no use to the client.
    std::string message = status.message();
    const std::string& path = form_.file->bytes->path();
    if (const size_t at = message.find(path); !path.empty() && at != std::string::npos)
      message.replace(at, path.size(), "audio");
    return job_error(Status(status.code(), message), decoded_, app_.engine().retry_after_s());
  }

  App& app_;
  Exchange& exchange_;
  Form form_;
  SpeechRequest request_;
  ModelInfo model_;
  bool decoded_ = false;
  bool started_ = false;
  std::optional<Clock::time_point> patience_;  ///< Until then the fallback is not asked
  std::shared_ptr<Mailbox<Event>> events_;
  std::shared_ptr<Job> job_;
};

std::optional<ApiError> SpeechExchange::read_request(SpeechApi api, sotto::Task task) {
  FieldReader fields(form_);
  const auto options = app_.options();
  if (api == SpeechApi::kWhisperCpp) {
    read_whisper_cpp_request(fields, options->speech, request_);
  } else {
    read_openai_request(fields, task, options->speech, request_);
  }
  check_file(form_, fields);
  if (fields.error()) return fields.error();
  if (const std::string ignored = fields.ignored(); !ignored.empty())
    exchange_.add_header("X-Ignored-Fields", ignored);
  ModelOrError chosen = app_.choose_model(request_.model);
  if (const auto* error = std::get_if<ApiError>(&chosen)) return *error;
  model_ = std::get<ModelInfo>(std::move(chosen));
  if (request_.options.task == sotto::Task::kTranslate) return check_translation(model_);
  return std::nullopt;
}

JobRequest SpeechExchange::job_request() {
  JobRequest job;
  job.id = request_.id.empty() ? exchange_.request().id : request_.id;
  job.model = model_;
  job.audio.bytes = form_.file->bytes;
  read_raw_format(form_.file->content_type, job.audio);
  job.options = request_.options;
  job.expected_s = expected_length(job.audio);
  job.lane = lane_of(job.audio, job.expected_s);
  if (const auto limit = app_.options()->request_timeout; limit.count() > 0)
    job.deadline = Clock::now() + limit;
  job.events.on_start = [events = events_] { events->post(Started{}); };
  job.events.on_audio = [events = events_](double seconds) { events->post(Decoded{seconds}); };
  if (request_.stream)
    job.events.on_segment = [events = events_](const Segment& segment) { events->post(segment); };
  job.events.on_end = [events = events_](const Status& status, JobResult* result) {
    Ended ended{status, std::nullopt};
    if (result != nullptr) ended.result = std::move(*result);
    events->post(std::move(ended));
  };
  return job;
}

Task<void> SpeechExchange::fail(ApiError error, std::string_view reason) {
  constexpr int kUnsupportedAudio = 415;
  if (app_.fallback != nullptr && (error.status >= 500 || error.status == kUnsupportedAudio)) {
    std::optional<Response> other =
        co_await app_.fallback->answer(exchange_.request(), form_, reason);
    if (other) {
      co_await exchange_.respond(std::move(*other));
      co_return;
    }
  }
  co_await exchange_.respond(error_response(error, exchange_.request().path));
}

Task<void> SpeechExchange::run(SpeechApi api, sotto::Task task) {
  std::optional<FormOrError> form = co_await read_form(exchange_);
  if (!form) co_return;
  std::optional<ApiError> error;
  if (const auto* broken = std::get_if<ApiError>(&*form)) {
    error = *broken;
  } else {
    form_ = std::get<Form>(std::move(*form));
    error = read_request(api, task);
  }
  if (error) {
    co_await exchange_.respond(error_response(*error, exchange_.request().path));
    co_return;
  }
  events_ = std::make_shared<Mailbox<Event>>(exchange_.executor());
  // A stream has begun before the fallback could be asked.
  if (app_.fallback != nullptr && !request_.stream)
    patience_ = Clock::now() + app_.fallback->busy_wait();
  const Result<std::shared_ptr<Job>> job = co_await submit();
  if (!job.ok()) {
    co_await refuse(job.status());
    co_return;
  }
  job_ = *job;
  exchange_.watch_client([events = events_] { events->post(ClientGone{}); });
  if (request_.stream) {
    co_await answer_stream();
  } else {
    co_await answer_whole();
  }
}

/// A full queue is tried again while there is patience.
Task<Result<std::shared_ptr<Job>>> SpeechExchange::submit() {
  constexpr std::chrono::milliseconds kStep{50};
  for (;;) {
    Result<std::shared_ptr<Job>> job = app_.engine().submit(job_request());
    const bool is_full = job.status().code() == StatusCode::kResourceExhausted;
    if (!is_full || !patience_ || Clock::now() >= *patience_) co_return job;
    boost::asio::steady_timer timer(exchange_.executor(), kStep);
    co_await timer.async_wait(boost::asio::use_awaitable);
  }
}

/// Waits for a job, not for its model.
bool SpeechExchange::is_behind_others() const {
  return job_->progress().state == JobState::kQueued && app_.engine().running() > 0;
}

Task<void> SpeechExchange::refuse(const Status& status) {
  const int retry_after_s = app_.engine().retry_after_s();
  ApiError refused = status.code() == StatusCode::kResourceExhausted
                         ? queue_full(status.message(), retry_after_s)
                         : unavailable_error("device_busy", status.message(), retry_after_s);
  co_await fail(std::move(refused), "busy");
}

Task<void> SpeechExchange::answer_whole() {
  for (;;) {
    const bool may_give_up = patience_ && !started_;
    std::optional<Event> event = co_await events_->next(
        may_give_up ? std::max<Clock::duration>(*patience_ - Clock::now(), kStartTime) : kLong);
    if (!event && may_give_up && is_behind_others()) {
      app_.engine().cancel(job_);
      exchange_.unwatch_client();
      co_await refuse(unavailable("the device was busy with other requests"));
      co_return;
    }
    if (!event) continue;
    if (std::holds_alternative<Started>(*event)) {
      started_ = true;
    } else if (const auto* decoded = std::get_if<Decoded>(&*event)) {
      decoded_ = decoded->seconds >= 0;
    } else if (std::holds_alternative<ClientGone>(*event)) {
      app_.engine().cancel(job_);
      co_return;
    } else if (auto* ended = std::get_if<Ended>(&*event)) {
      exchange_.unwatch_client();
      if (!ended->result) {
        co_await fail(failure(ended->status), decoded_ ? "error" : "decode");
        co_return;
      }
      Response response = speech_response(ended->result->transcript, request_, model_.name);
      add_run_headers(*ended->result, model_.name, response.headers);
      co_await exchange_.respond(std::move(response));
      co_return;
    }
  }
}

Task<void> SpeechExchange::answer_stream() {
  Response head;
  head.content_type = "text/event-stream";
  head.headers.add("Cache-Control", "no-cache");
  head.headers.add("X-Accel-Buffering", "no");
  head.headers.add("X-STT-Model", model_.name);
  Status sent = co_await exchange_.begin_stream(std::move(head));
  SpeechEvents writer(request_);
  while (sent.ok()) {
    std::optional<Event> event = co_await events_->next(kPingInterval);
    std::string text;
    bool is_last = false;
    if (!event) {
      text = ": ping\n\n";
    } else if (std::holds_alternative<Started>(*event)) {
      continue;
    } else if (const auto* decoded = std::get_if<Decoded>(&*event)) {
      decoded_ = true;
      writer.set_duration(decoded->seconds);
    } else if (const auto* segment = std::get_if<Segment>(&*event)) {
      text = writer.segment(*segment);
    } else if (const auto* ended = std::get_if<Ended>(&*event)) {
      is_last = true;
      text = ended->result ? writer.done(ended->result->transcript)
                           : "data: {\"error\":" + error_json(failure(ended->status)) + "}\n\n";
    } else {
      break;  // The client has gone
    }
    if (!text.empty()) sent = co_await exchange_.write(std::move(text));
    if (!is_last || !sent.ok()) continue;
    exchange_.unwatch_client();
    co_await exchange_.end_stream();
    co_return;
  }
  app_.engine().cancel(job_);
}

Handler speech_handler(App& app, SpeechApi api, sotto::Task task) {
  return [&app, api, task](Exchange& exchange) -> Task<void> {
    SpeechExchange speech(app, exchange);
    co_await speech.run(api, task);
  };
}

}  // namespace

void add_speech_routes(Router& router, App& app) {
  const auto options = app.options();
  const std::string& prefix = options->request_path;
  router.add("POST", prefix + "/v1/audio/transcriptions",
             speech_handler(app, SpeechApi::kOpenAi, sotto::Task::kTranscribe));
  router.add("POST", prefix + "/v1/audio/translations",
             speech_handler(app, SpeechApi::kOpenAi, sotto::Task::kTranslate));
  // People point whisper.cpp's path at OpenAI's; the API is then that of the path.
  const std::string inference = prefix + options->inference_path;
  if (inference != prefix + "/v1/audio/transcriptions") {
    router.add("POST", inference,
               speech_handler(app, SpeechApi::kWhisperCpp, sotto::Task::kTranscribe));
  }
}

}  // namespace sotto::serve
