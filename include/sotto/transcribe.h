// Speech to text: load a model once, transcribe many recordings with it.
#ifndef SOTTO_TRANSCRIBE_H_
#define SOTTO_TRANSCRIBE_H_

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sotto/status.h"
#include "sotto/transcript.h"
#include "sotto/vad.h"

namespace sotto {

/// Where and how a model runs.
struct LoadOptions {
  std::string device = "auto";   ///< auto | cpu | npu | sim
  std::string compute = "auto";  ///< auto | f32 | bf16 | int8
  int threads = 0;               ///< 0: one per physical core
  /// Weights of the voice activity detector: a path, or "auto" for the installed ones.
  std::string vad_model = "auto";
};

/// Whether a model could be loaded with these options on this machine, without loading one: tells a
/// wrong device name (kInvalidArgument) and an absent device (kUnsupported, kUnavailable) from a
/// faulty model. An empty or "auto" device is that of the environment variable SOTTO_DEVICE, else
/// the best one.
Status check_device(const LoadOptions& options);

/// Whisper's code ("en") of a code, English name, alias or locale ("EN", "english", "en-US").
/// Otherwise kInvalidArgument with the list of all languages.
Result<std::string> parse_language(std::string_view name);

enum class Task { kTranscribe, kTranslate };

/// Whether what holds no speech is left out before the model hears the rest.
enum class VadMode {
  kAuto,  ///< If the detector's weights are installed; else a warning says that they are not
  kOn,    ///< kNotFound without weights
  kOff
};

/// Everything that steers one transcription. Defaults are those of OpenAI's program except that the
/// language is always detected when none is given.
struct TranscribeOptions {
  /// As an audio_ctx: as many positions as the longest of the clips needs, and a margin.
  static constexpr int kAudioCtxAuto = -1;

  Task task = Task::kTranscribe;
  std::string language;                ///< Whisper code or English name; empty: detect
  std::vector<std::string> languages;  ///< Detection is restricted to these; empty: all
  bool multilingual = false;  ///< Detect for each window; one that is unsure stays with the last

  // Search.
  int beam_size = 5;      ///< At temperature 0; 1 or less: greedy
  int best_of = 5;        ///< Candidates sampled at temperatures above 0
  float patience = 1.0f;  ///< https://arxiv.org/abs/2204.05424
  std::optional<float>
      length_penalty;  ///< alpha of https://arxiv.org/abs/1609.08144; none: divide by length
  float repetition_penalty = 1.0f;  ///< https://arxiv.org/abs/1909.05858; 1: off
  int no_repeat_ngram_size = 0;     ///< 0: off
  uint64_t seed = 0;                ///< For sampling; equal seeds give equal text

  // Fallback: the next temperature is tried when a threshold says that the window failed.
  std::vector<float> temperatures = {0.0f, 0.2f, 0.4f, 0.6f, 0.8f, 1.0f};
  std::optional<float> compression_ratio_threshold = 2.4f;
  std::optional<float> logprob_threshold = -1.0f;
  std::optional<float> no_speech_threshold = 0.6f;
  std::optional<float>
      entropy_threshold;  ///< whisper-cli's -et; none: compression ratio alone decides

  // Context.
  bool condition_on_previous_text = true;
  float prompt_reset_on_temperature =
      0.5f;                     ///< A window decoded above this is not handed on as context
  int max_context_tokens = -1;  ///< -1: half of the text context
  std::string initial_prompt;
  bool carry_initial_prompt = false;
  std::string prefix;    ///< Start of the first window's text
  std::string hotwords;  ///< Put before each window's context

  // Tokens.
  bool without_timestamps = false;
  float max_initial_timestamp = 1.0f;       ///< Seconds
  std::vector<int> suppress_tokens = {-1};  ///< -1 stands for the model's non-speech list
  bool suppress_blank = true;
  std::string suppress_regex;  ///< Tokens whose text matches are never sampled; empty: off
  int max_new_tokens = 0;      ///< Per window; 0: half of the text context

  bool drop_made_up_text = true;  ///< See docs/decisions/0004-made-up-text.md

  // What part of the recording.
  std::vector<std::pair<double, double>>
      clips;          ///< [start, end) in seconds; end < 0: to the end. Empty: all
  int audio_ctx = 0;  ///< Encoder positions of 20 ms; 0: all 1500; or kAudioCtxAuto
  VadMode vad_mode = VadMode::kAuto;
  VadOptions vad;

  /// Stereo: each segment is of "Speaker 0" (left), "Speaker 1" (right) or "Speaker ?", by the
  /// louder channel.
  bool diarize = false;

  // Words.
  bool word_timestamps = false;
  std::string prepend_punctuations = "\"'“¿([{-";
  std::string append_punctuations = "\"'.。,，!！?？:：”)]}、";
  std::optional<float> hallucination_silence_threshold;  ///< Seconds
};

/// Raw samples: 16 kHz, mono, in [-1, 1].
using Samples = std::span<const float>;

/// Called from the thread that transcribes. All members are optional.
struct TranscribeCallbacks {
  /// The recording is decoded: failures from now on are not its fault.
  std::function<void(double duration_s)> on_audio;
  std::function<void(const Segment&)> on_segment;  ///< As soon as it is final
  std::function<void(double done_s, double total_s)> on_progress;
  std::function<void(const std::string& code, float probability)> on_language;
  std::function<bool()> should_stop;  ///< true: stop at the next token; kCancelled is returned
  /// Between two windows of a recording. Unlike all other callbacks it may run another
  /// transcription of the same model before it returns: this is how a short job gets in between.
  std::function<void()> at_window_border;
};

/// Where the recording comes from. Exactly one of the sources is set.
struct AudioSource {
  std::string path;                  ///< A file; "-" is standard input
  std::span<const std::byte> bytes;  ///< A whole encoded file in memory
  Samples samples;                   ///< Decoded already
  /// For headerless input ("s16le" | "f32le" | ...); empty: the container says
  std::string raw_format;
  int raw_rate = 16000;
  int raw_channels = 1;
};

/// A loaded Whisper model. One transcription at a time; thread-safe only across instances.
class SpeechModel {
 public:
  /// `path`: a file or folder of a supported format. Model names are resolved by sotto/models.h.
  static Result<std::unique_ptr<SpeechModel>> load(const std::string& path,
                                                   const LoadOptions& options);
  virtual ~SpeechModel() = default;

  virtual Result<Transcript> transcribe(const AudioSource& source, const TranscribeOptions& options,
                                        const TranscribeCallbacks& callbacks) = 0;
  /// True when the model knows other languages than English (and so can translate and detect).
  [[nodiscard]] virtual bool multilingual() const = 0;
  [[nodiscard]] virtual ModelSizes sizes() const = 0;
  /// Device and compute type in use, e.g. "cpu (avx512_bf16), bf16, 2 threads".
  [[nodiscard]] virtual std::string description() const = 0;
  /// Set-up and peak rates of the device; measured now, which takes about a tenth of a second.
  virtual DeviceProfile measure_profile() { return {}; }
};

}  // namespace sotto

#endif  // SOTTO_TRANSCRIBE_H_
