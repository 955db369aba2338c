// SpeechModel over the Whisper graph: the place where a device, a checkpoint and a recording meet.
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "api/audio_source.h"
#include "api/device.h"
#include "api/speakers.h"
#include "api/voice_activity.h"
#include "audio/log_mel.h"
#include "audio/recording.h"
#include "base/stopwatch.h"
#include "base/thread_pool.h"
#include "sotto/transcribe.h"
#include "whisper/model.h"
#include "whisper/transcriber.h"

namespace sotto {
namespace {

/// Adds `sign` times the numbers of `more`, matched by operation and device.
void add_counters(std::vector<ops::OpCounter>& sum, const std::vector<ops::OpCounter>& more,
                  int sign) {
  for (const ops::OpCounter& counter : more) {
    auto found = std::find_if(sum.begin(), sum.end(), [&](const ops::OpCounter& other) {
      return other.op == counter.op && other.device == counter.device;
    });
    if (found == sum.end()) {
      found = sum.emplace(found);
      found->op = counter.op;
      found->device = counter.device;
      found->type = counter.type;
      found->fallback_reason = counter.fallback_reason;
    }
    found->calls += sign * counter.calls;
    found->seconds += sign * counter.seconds;
    found->flops += sign * counter.flops;
    found->fallbacks += sign * counter.fallbacks;
  }
}

/// What a transcription costs, without the other transcriptions that run at its window borders.
class OwnCost {
 public:
  explicit OwnCost(ops::Backend& backend) : backend_(backend), others_(backend.counters()) {}

  void run_others(const std::function<void()>& others) {
    const Stopwatch watch;
    add_counters(others_, backend_.counters(), -1);
    others();
    add_counters(others_, backend_.counters(), +1);
    others_ms_ += watch.ms();
  }

  [[nodiscard]] double ms() const { return total_.ms() - others_ms_; }

  /// Most expensive first.
  [[nodiscard]] std::vector<OpStats> ops() const {
    std::vector<ops::OpCounter> own = backend_.counters();
    add_counters(own, others_, -1);
    std::vector<OpStats> stats;
    for (const ops::OpCounter& counter : own) {
      if (counter.calls == 0) continue;
      stats.push_back({counter.op, counter.device, counter.type, counter.calls,
                       counter.seconds * 1000, counter.flops, counter.fallbacks,
                       counter.fallback_reason});
    }
    std::sort(stats.begin(), stats.end(),
              [](const OpStats& a, const OpStats& b) { return a.ms > b.ms; });
    return stats;
  }

 private:
  ops::Backend& backend_;
  std::vector<ops::OpCounter> others_;  ///< Before this transcription, and during others
  Stopwatch total_;
  double others_ms_ = 0;
};

ModelSizes sizes_of(const whisper::Config& config) {
  ModelSizes sizes;
  sizes.vocabulary = config.n_vocab;
  sizes.audio_ctx = config.n_audio_ctx;
  sizes.audio_state = config.d_model;
  sizes.audio_head = config.n_head;
  sizes.audio_layer = config.encoder_layers;
  sizes.text_ctx = config.n_text_ctx;
  sizes.text_state = config.d_model;
  sizes.text_head = config.n_text_head;
  sizes.text_layer = config.decoder_layers;
  sizes.mels = config.n_mels;
  return sizes;
}

class WhisperModel final : public SpeechModel {
 public:
  WhisperModel(std::unique_ptr<whisper::Model> model, const api::DeviceChoice& device,
               const std::string& vad_model)
      : model_(std::move(model)),
        device_(device.name),
        pool_(device.cpu.threads),
        voice_activity_(vad_model) {}

  void set_load_ms(double ms) { load_ms_ = ms; }

  Result<Transcript> transcribe(const AudioSource& source, const TranscribeOptions& options,
                                const TranscribeCallbacks& callbacks) override {
    OwnCost cost(model_->backend());
    Features features;
    SOTTO_RETURN_IF_ERROR(prepare(source, options, callbacks, features));
    TranscribeCallbacks own_callbacks = on_clock_of_recording(callbacks, features);
    if (callbacks.at_window_border) {
      own_callbacks.at_window_border = [&] { cost.run_others(callbacks.at_window_border); };
    }
    TranscribeOptions own_options = options;
    if (features.parts) own_options.clips = features.parts->clips();
    SOTTO_ASSIGN_OR_RETURN(
        Transcript transcript,
        whisper::transcribe(*model_, *features.mel, features.heard_s, own_options, own_callbacks));
    restore_clock(features, transcript);
    transcript.warnings.insert(transcript.warnings.begin(), features.warnings.begin(),
                               features.warnings.end());
    TranscriptStats& stats = transcript.stats;
    stats.audio_s = features.seconds;
    stats.load_ms = load_ms_;
    stats.decode_audio_ms = features.decode_ms;
    stats.vad_ms = features.vad_ms;
    stats.mel_ms = features.mel_ms;
    stats.device = device_;
    stats.ops = cost.ops();
    stats.total_ms = cost.ms();
    return transcript;
  }

  [[nodiscard]] bool multilingual() const override { return model_->tokens().multilingual; }
  [[nodiscard]] ModelSizes sizes() const override { return sizes_of(model_->config()); }
  [[nodiscard]] std::string description() const override { return model_->backend().description(); }
  DeviceProfile measure_profile() override { return model_->backend().measure_profile(); }

 private:
  /// What is kept of a recording: its samples are freed before the model runs.
  struct Features {
    std::optional<audio::LogMel> mel;
    double seconds = 0;                     ///< Of the recording
    double heard_s = 0;                     ///< Of what the model hears
    std::optional<api::SpeechParts> parts;  ///< None: it hears the recording as it is
    bool has_vad = false;
    std::optional<api::ChannelSpeakers> speakers;  ///< If asked for
    double decode_ms = 0, vad_ms = 0, mel_ms = 0;
    std::vector<std::string> warnings;
  };

  Status prepare(const AudioSource& source, const TranscribeOptions& options,
                 const TranscribeCallbacks& callbacks, Features& features) {
    const Stopwatch decoding;
    audio::DecodeOptions decode_options;
    decode_options.should_stop = callbacks.should_stop;
    decode_options.keep_stereo = options.diarize;
    SOTTO_ASSIGN_OR_RETURN(audio::Recording recording, api::decode(source, decode_options));
    features.decode_ms = decoding.ms();
    features.seconds = recording.seconds();
    features.warnings = std::move(recording.warnings);
    if (callbacks.on_audio) callbacks.on_audio(features.seconds);
    if (options.diarize) {
      features.speakers.emplace(std::move(recording.left), std::move(recording.right));
      if (!features.speakers->is_stereo())
        features.warnings.push_back("speakers are told apart only in a recording of two channels");
    }

    SOTTO_RETURN_IF_ERROR(leave_out_silence(options, callbacks, recording.mono, features));
    features.heard_s = static_cast<double>(recording.mono.size()) / audio::kSampleRate;

    const Stopwatch analysing;
    SOTTO_ASSIGN_OR_RETURN(features.mel,
                           audio::LogMel::compute(recording.mono, model_->config().n_mels, pool_,
                                                  /*filters=*/{}, callbacks.should_stop));
    features.mel_ms = analysing.ms();
    return {};
  }

  Status leave_out_silence(const TranscribeOptions& options, const TranscribeCallbacks& callbacks,
                           audio::SampleBuffer& samples, Features& features) {
    const Stopwatch detecting;
    SOTTO_ASSIGN_OR_RETURN(
        std::optional<api::SpeechParts> parts,
        voice_activity_.find(samples, options, callbacks.should_stop, features.warnings));
    if (!parts) return {};
    features.has_vad = true;
    if (!parts->is_whole()) {
      samples = parts->map().join(samples);
      features.parts = std::move(parts);
    }
    features.vad_ms = detecting.ms();
    return {};
  }

  static TranscribeCallbacks on_clock_of_recording(const TranscribeCallbacks& callbacks,
                                                   const Features& features) {
    TranscribeCallbacks own = callbacks;
    if (callbacks.on_segment) {
      own.on_segment = [&](const Segment& segment) {
        Segment finished = segment;
        finish(features, finished);
        callbacks.on_segment(finished);
      };
    }
    if (callbacks.on_progress && features.parts) {
      own.on_progress = [&](double done_s, double /*total_s*/) {
        const bool is_done = done_s >= features.heard_s;
        callbacks.on_progress(is_done ? features.seconds : features.parts->restore(done_s),
                              features.seconds);
      };
    }
    return own;
  }

  /// Puts a segment on the recording's clock and says who speaks.
  static void finish(const Features& features, Segment& segment) {
    if (features.parts) features.parts->restore(segment);
    if (features.speakers) features.speakers->label(segment);
  }

  static void restore_clock(const Features& features, Transcript& transcript) {
    transcript.duration = features.seconds;
    if (features.has_vad) transcript.duration_after_vad = features.heard_s;
    for (Segment& segment : transcript.segments)
      finish(features, segment);
    if (!features.parts) return;
    for (DroppedSpan& dropped : transcript.dropped)
      features.parts->restore(dropped);
    for (RetriedSpan& retried : transcript.retried)
      features.parts->restore(retried);
    const std::vector<DroppedSpan> left_out = features.parts->left_out();
    transcript.dropped.insert(transcript.dropped.end(), left_out.begin(), left_out.end());
    std::stable_sort(transcript.dropped.begin(), transcript.dropped.end(),
                     [](const DroppedSpan& a, const DroppedSpan& b) { return a.start < b.start; });
  }

  std::unique_ptr<whisper::Model> model_;
  std::string device_;
  ThreadPool pool_;
  api::VoiceActivity voice_activity_;
  double load_ms_ = 0;
};

}  // namespace

Status check_device(const LoadOptions& options) {
  return api::choose_device(options).status();
}

Result<std::unique_ptr<SpeechModel>> SpeechModel::load(const std::string& path,
                                                       const LoadOptions& options) {
  const Stopwatch loading;
  SOTTO_ASSIGN_OR_RETURN(const api::DeviceChoice choice, api::choose_device(options));
  SOTTO_ASSIGN_OR_RETURN(std::unique_ptr<ops::Backend> backend, api::open_device(choice));
  SOTTO_ASSIGN_OR_RETURN(std::unique_ptr<whisper::Model> model,
                         whisper::load_model(path, std::move(backend)));
  auto speech = std::make_unique<WhisperModel>(std::move(model), choice, options.vad_model);
  speech->set_load_ms(loading.ms());
  return Result<std::unique_ptr<SpeechModel>>(std::move(speech));
}

}  // namespace sotto
