// What a worker process and its parent say to each other.
//
//   parent                      worker
//   LoadRequest            ->
//                          <-   LoadReply
//   TranscribeRequest (+fd)->
//                          <-   AudioEvent, LanguageEvent, SegmentEvent, ProgressEvent, AliveEvent
//   StopRequest (any time) ->
//                          <-   BorderEvent: waits for ResumeRequest; until then the parent may
//                          send
//                               another TranscribeRequest, which is done first
//   ResumeRequest          ->
//                          <-   DoneEvent
//
// A frame is the body's length in bytes (uint32), the message's index in the variant (uint8) and
// the body. The recording travels beside the TranscribeRequest as a sealed memory file.
#ifndef SOTTO_WORKER_MESSAGES_H_
#define SOTTO_WORKER_MESSAGES_H_

#include <cstdint>
#include <span>
#include <string>
#include <variant>

#include "sotto/status.h"
#include "sotto/transcribe.h"
#include "worker/wire.h"

namespace sotto {

// Types of the installed API. One list of members a type, in their order.
SOTTO_WIRE_FIELDS(LoadOptions, device, compute, threads, vad_model)
SOTTO_WIRE_FIELDS(VadOptions, threshold, neg_threshold, min_speech_ms, min_silence_ms, max_speech_s,
                  speech_pad_ms, cut_at_longest_silence, min_gap_s, samples_overlap_s, joint_s)
SOTTO_WIRE_FIELDS(TranscribeOptions, task, language, languages, multilingual, beam_size, best_of,
                  patience, length_penalty, repetition_penalty, no_repeat_ngram_size, seed,
                  temperatures, compression_ratio_threshold, logprob_threshold, no_speech_threshold,
                  entropy_threshold, condition_on_previous_text, prompt_reset_on_temperature,
                  max_context_tokens, initial_prompt, carry_initial_prompt, prefix, hotwords,
                  without_timestamps, max_initial_timestamp, suppress_tokens, suppress_blank,
                  suppress_regex, max_new_tokens, drop_made_up_text, clips, audio_ctx, vad_mode,
                  vad, diarize, word_timestamps, prepend_punctuations, append_punctuations,
                  hallucination_silence_threshold)
SOTTO_WIRE_FIELDS(Token, id, text, start, end, probability, logprob)
SOTTO_WIRE_FIELDS(Word, text, start, end, probability)
SOTTO_WIRE_FIELDS(Segment, id, seek, start, end, text, tokens, words, speaker, language,
                  temperature, avg_logprob, compression_ratio, no_speech_prob)
SOTTO_WIRE_FIELDS(DroppedSpan, start, end, reason, text)
SOTTO_WIRE_FIELDS(RetriedSpan, start, end, reason, temperature)
SOTTO_WIRE_FIELDS(OpStats, op, device, type, calls, ms, flops, fallbacks, fallback_reason)
SOTTO_WIRE_FIELDS(TranscriptStats, audio_s, load_ms, decode_audio_ms, mel_ms, vad_ms, encode_ms,
                  generate_ms, total_ms, windows, fallbacks, device, fallback_reason, ops)
SOTTO_WIRE_FIELDS(ModelSizes, vocabulary, audio_ctx, audio_state, audio_head, audio_layer, text_ctx,
                  text_state, text_head, text_layer, mels, ftype)
SOTTO_WIRE_FIELDS(Transcript, text, language, language_probability, language_probabilities, task,
                  duration, duration_after_vad, segments, dropped, retried, warnings, stats)

}  // namespace sotto

namespace sotto::worker {

/// A body larger than this is not sent and not read.
inline constexpr uint32_t kMaxBody = uint32_t{256} << 20;

enum class SourceKind { kPath, kBytes, kSamples };

template <>
inline constexpr int kWireEnumCount<Task> = 2;
template <>
inline constexpr int kWireEnumCount<VadMode> = 3;
template <>
inline constexpr int kWireEnumCount<StatusCode> = 13;
template <>
inline constexpr int kWireEnumCount<SourceKind> = 3;

/// A Status, whose members are its own.
struct WireStatus {
  StatusCode code = StatusCode::kOk;
  std::string message;

  WireStatus() = default;
  WireStatus(const Status& status)  // NOLINT: implicit by design
      : code(status.code()), message(status.message()) {}
  [[nodiscard]] Status status() const {
    return code == StatusCode::kOk ? Status() : Status(code, message);
  }
};

struct LoadRequest {
  std::string path;
  LoadOptions options;
};
struct LoadReply {
  WireStatus status;
  bool multilingual = false;
  ModelSizes sizes;
  std::string description;
};
struct TranscribeRequest {
  uint32_t job = 0;
  SourceKind kind = SourceKind::kPath;
  std::string path;    ///< kPath
  uint64_t bytes = 0;  ///< kBytes, kSamples: size of the memory file that comes with the message
  std::string raw_format;
  int raw_rate = 0;
  int raw_channels = 0;
  TranscribeOptions options;
  bool wants_borders = false;  ///< BorderEvent is sent, and an answer waited for
};
struct StopRequest {
  uint32_t job = 0;
};
struct ResumeRequest {
  uint32_t job = 0;
};
struct AudioEvent {
  uint32_t job = 0;
  double duration_s = 0;
};
struct LanguageEvent {
  uint32_t job = 0;
  std::string code;
  float probability = 0;
};
struct SegmentEvent {
  uint32_t job = 0;
  Segment segment;
};
struct ProgressEvent {
  uint32_t job = 0;
  double done_s = 0, total_s = 0;
};
/// The model's thread works, although there is nothing to tell.
struct AliveEvent {
  uint32_t job = 0;
};
struct BorderEvent {
  uint32_t job = 0;
};
struct DoneEvent {
  uint32_t job = 0;
  WireStatus status;
  Transcript transcript;
};

SOTTO_WIRE_FIELDS(WireStatus, code, message)
SOTTO_WIRE_FIELDS(LoadRequest, path, options)
SOTTO_WIRE_FIELDS(LoadReply, status, multilingual, sizes, description)
SOTTO_WIRE_FIELDS(TranscribeRequest, job, kind, path, bytes, raw_format, raw_rate, raw_channels,
                  options, wants_borders)
SOTTO_WIRE_FIELDS(StopRequest, job)
SOTTO_WIRE_FIELDS(ResumeRequest, job)
SOTTO_WIRE_FIELDS(AudioEvent, job, duration_s)
SOTTO_WIRE_FIELDS(LanguageEvent, job, code, probability)
SOTTO_WIRE_FIELDS(SegmentEvent, job, segment)
SOTTO_WIRE_FIELDS(ProgressEvent, job, done_s, total_s)
SOTTO_WIRE_FIELDS(AliveEvent, job)
SOTTO_WIRE_FIELDS(BorderEvent, job)
SOTTO_WIRE_FIELDS(DoneEvent, job, status, transcript)

using Message =
    std::variant<LoadRequest, LoadReply, TranscribeRequest, StopRequest, ResumeRequest, AudioEvent,
                 LanguageEvent, SegmentEvent, ProgressEvent, AliveEvent, BorderEvent, DoneEvent>;

/// Bytes of a frame before its body.
inline constexpr size_t kFrameHead = 5;

struct FrameHead {
  uint32_t body_bytes = 0;
  uint8_t type = 0;
};

/// The whole frame. kResourceExhausted: the body would be larger than kMaxBody.
Result<std::string> encode_message(const Message& message);

/// kCorrupt: no such message, or a body larger than kMaxBody.
Result<FrameHead> parse_head(std::span<const std::byte, kFrameHead> bytes);

/// kCorrupt: the bytes are not exactly one body of that type.
Result<Message> parse_body(uint8_t type, std::span<const std::byte> bytes);

}  // namespace sotto::worker

#endif  // SOTTO_WORKER_MESSAGES_H_
