#include "whisper/options_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sotto::whisper {
namespace {

constexpr int kMaxSequences =
    64;  // Of the decoder's batch; bounds the memory that a caller can ask for
constexpr double kMaxSeconds = 1e8;  // Three years: keeps frame numbers far from overflow

Status out_of_range(const char* name, double value, const char* allowed) {
  return invalid_argument(fmt::format("{} is {:g}; it must be {}", name, value, allowed));
}

bool within(double value, double low, double high) {
  return value >= low && value <= high;
}  // False for NaN

Status check_search(const TranscribeOptions& o) {
  if (o.beam_size > kMaxSequences) return out_of_range("beam_size", o.beam_size, "at most 64");
  if (o.best_of > kMaxSequences) return out_of_range("best_of", o.best_of, "at most 64");
  if (!(o.patience > 0 && o.patience <= 100))
    return out_of_range("patience", o.patience, "above 0 and at most 100");
  if (o.length_penalty && !within(*o.length_penalty, 0, 1)) {
    return out_of_range("length_penalty", *o.length_penalty, "between 0 and 1");
  }
  if (!(o.repetition_penalty > 0 && o.repetition_penalty <= 100)) {
    return out_of_range("repetition_penalty", o.repetition_penalty, "above 0 and at most 100");
  }
  if (o.no_repeat_ngram_size < 0) {
    return out_of_range("no_repeat_ngram_size", o.no_repeat_ngram_size, "0 (off) or more");
  }
  if (o.max_new_tokens < 0)
    return out_of_range("max_new_tokens", o.max_new_tokens, "0 (no limit) or more");
  return {};
}

Status check_fallback(const TranscribeOptions& o) {
  if (o.temperatures.empty())
    return invalid_argument("temperatures is empty; give at least one, such as 0");
  for (const float t : o.temperatures) {
    if (!within(t, 0, 10)) return out_of_range("temperature", t, "between 0 and 10");
  }
  for (const auto& [name, value] :
       {std::pair{"compression_ratio_threshold", o.compression_ratio_threshold},
        std::pair{"logprob_threshold", o.logprob_threshold},
        std::pair{"no_speech_threshold", o.no_speech_threshold},
        std::pair{"entropy_threshold", o.entropy_threshold},
        std::pair{"hallucination_silence_threshold", o.hallucination_silence_threshold}}) {
    if (value && std::isnan(*value)) return out_of_range(name, *value, "a number");
  }
  return {};
}

Status check_clips(const TranscribeOptions& o) {
  double earliest = 0;
  for (const auto& [start, end] : o.clips) {
    if (!within(start, 0, kMaxSeconds))
      return out_of_range("clip start", start, "0 seconds or more");
    if (std::isnan(end) || end > kMaxSeconds)
      return out_of_range("clip end", end, "a number of seconds");
    if (end >= 0 && end <= start) {
      return invalid_argument(
          fmt::format("the clip {:g},{:g} is empty; its end must be after its start", start, end));
    }
    if (start < earliest) {
      return invalid_argument(fmt::format(
          "the clip at {:g} s begins before the one before it ends; clips must be in order",
          start));
    }
    earliest = end < 0 ? kMaxSeconds : end;
  }
  return {};
}

int64_t frame_at(double seconds) {
  return std::llround(seconds * kFramesPerSecond);
}

}  // namespace

Status check_options(const Model& model, const TranscribeOptions& options) {
  if (options.task == Task::kTranslate && !model.tokens().multilingual) {
    return invalid_argument(
        "this model knows only English and cannot translate; use a multilingual model");
  }
  SOTTO_RETURN_IF_ERROR(check_search(options));
  SOTTO_RETURN_IF_ERROR(check_fallback(options));
  SOTTO_RETURN_IF_ERROR(check_clips(options));
  if (std::isnan(options.max_initial_timestamp)) {
    return out_of_range("max_initial_timestamp", options.max_initial_timestamp,
                        "a number of seconds");
  }
  if (options.audio_ctx < TranscribeOptions::kAudioCtxAuto ||
      options.audio_ctx > model.config().n_audio_ctx) {
    return invalid_argument(fmt::format("audio_ctx is {}; this model allows 1 to {}, or 0 for all",
                                        options.audio_ctx, model.config().n_audio_ctx));
  }
  return {};
}

std::vector<FrameSpan> resolve_clips(const TranscribeOptions& options, int64_t frames) {
  std::vector<FrameSpan> spans;
  if (options.clips.empty()) {
    spans.push_back({0, frames});
  }
  for (const auto& [start, end] : options.clips) {
    const int64_t first = frame_at(start);
    const int64_t last = end < 0 ? frames : std::min(frame_at(end), frames);
    spans.push_back({first, last - first});
  }
  std::erase_if(spans, [](const FrameSpan& span) { return span.frames <= 0; });
  return spans;
}

std::vector<std::string> option_warnings(const Model& model, const TranscribeOptions& options) {
  std::vector<std::string> warnings;
  const Config& config = model.config();
  // Models with a cut-down decoder (large-v3-turbo, distil-whisper) were trained on transcription
  // only.
  if (options.task == Task::kTranslate && config.decoder_layers < config.encoder_layers) {
    warnings.push_back(
        fmt::format("this model has a cut-down decoder ({} of {} layers), as large-v3-turbo has, "
                    "and was not trained to translate; "
                    "the text may stay in the language spoken",
                    config.decoder_layers, config.encoder_layers));
  }
  if (options.task == Task::kTranslate && options.word_timestamps) {
    warnings.push_back(
        "word times of a translation are rough: the words are not those that were spoken");
  }
  return warnings;
}

}  // namespace sotto::whisper
