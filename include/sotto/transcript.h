// What a transcription yields. Times are seconds on the clock of the input recording.
#ifndef SOTTO_TRANSCRIPT_H_
#define SOTTO_TRANSCRIPT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sotto {

/// One decoded token of a segment.
struct Token {
  int id = 0;
  std::string text;  ///< Its bytes; may be part of a UTF-8 character. Timestamps read "[_TT_n]".
  double start = 0;  ///< Seconds; equal to the segment's when token times were not asked for.
  double end = 0;
  float probability = 0;  ///< In 0..1, under the unmodified distribution of its step.
  float logprob = 0;      ///< Natural logarithm of `probability`.
};

/// One word with its time. `text` keeps its leading space, as the tokenizer gives it.
struct Word {
  std::string text;
  double start = 0;
  double end = 0;
  float probability = 0;
};

/// One subtitle-sized piece of text.
struct Segment {
  int id = 0;    ///< From 0, consecutive.
  int seek = 0;  ///< Frame (10 ms) at which the window of this segment began.
  double start = 0;
  double end = 0;
  std::string text;           ///< With its leading space.
  std::vector<Token> tokens;  ///< Text and timestamp tokens in order.
  std::vector<Word> words;    ///< Empty unless word times were asked for.
  std::string speaker;        ///< Empty unless speaker labels were asked for.
  std::string language;       ///< Whisper code; empty unless it was detected for each window.
  // These four belong to the decoded window (at most 30 s): segments of one window carry equal
  // values.
  float temperature = 0;
  float avg_logprob = 0;
  float compression_ratio = 0;
  float no_speech_prob = 0;
};

/// A span of audio that produced no text although the model was run, or text that was thrown away,
/// and why.
struct DroppedSpan {
  double start = 0;
  double end = 0;
  std::string reason;  ///< Stable identifier: "vad", "no_speech", "unsure", "stock_phrase",
                       ///< "prompt_echo", "loop", ...
  std::string text;    ///< What was thrown away, if anything was decoded.
};

/// A window that was decoded again at a higher temperature, and why.
struct RetriedSpan {
  double start = 0;
  double end = 0;
  std::string reason;     ///< "compression_ratio", "entropy", "loop" or "logprob"
  float temperature = 0;  ///< The one that gave the text
};

/// What one kind of model operation cost during a transcription, and where it ran.
struct OpStats {
  std::string op;      ///< "linear", "self_attention", ...
  std::string device;  ///< "cpu", "npu", "sim"
  std::string type;  ///< Of the factors of its products: "f32", "bf16", "int8"; empty: it has none
  int64_t calls = 0;
  double ms = 0;
  double flops = 0;       ///< 2 * multiply-accumulates
  int64_t fallbacks = 0;  ///< Calls that ran on the CPU although another device was asked for.
  std::string fallback_reason;
};

/// How a device is set up and what its arithmetic units reach at best.
struct DeviceProfile {
  std::string compute;  ///< "f32", "bf16", "int8"; empty: not known
  int threads = 0;
  /// GFLOP/s (int8: GOP/s) by type, measured by loops that touch no memory
  std::map<std::string, double> peak_gflops;
};

/// Where the work ran and what it cost; printed by --stats.
struct TranscriptStats {
  double audio_s = 0;  ///< Length of the recording.
  double load_ms = 0, decode_audio_ms = 0, mel_ms = 0, vad_ms = 0, encode_ms = 0, generate_ms = 0,
         total_ms = 0;
  int windows = 0;     ///< Encoder passes.
  int fallbacks = 0;   ///< Windows decoded again at a higher temperature.
  std::string device;  ///< "cpu", "npu", "sim", or "npu+cpu".
  std::string fallback_reason;
  std::vector<OpStats> ops;  ///< Most expensive first.
};

/// Sizes of a Whisper model, as some documents state them. 0: not known.
struct ModelSizes {
  int vocabulary = 0;
  int audio_ctx = 0, audio_state = 0, audio_head = 0, audio_layer = 0;
  int text_ctx = 0, text_state = 0, text_head = 0, text_layer = 0;
  int mels = 0;
  int ftype = 0;  ///< whisper.cpp's number of the weights' type: 0 f32, 1 f16, …
};

struct Transcript {
  std::string text;                ///< Segment texts joined as they are, trimmed at both ends.
  std::string language;            ///< Whisper code, e.g. "en".
  float language_probability = 0;  ///< 1 when the caller named the language.
  std::map<std::string, float> language_probabilities;  ///< Empty unless detection ran.
  std::string task = "transcribe";
  double duration = 0;  ///< Seconds of decoded audio.
  std::optional<double> duration_after_vad;
  std::vector<Segment> segments;
  std::vector<DroppedSpan> dropped;
  std::vector<RetriedSpan> retried;
  std::vector<std::string> warnings;
  TranscriptStats stats;
};

}  // namespace sotto

#endif  // SOTTO_TRANSCRIPT_H_
