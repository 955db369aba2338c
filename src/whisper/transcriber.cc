#include "whisper/transcriber.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/stopwatch.h"
#include "whisper/fallback.h"
#include "whisper/guards.h"
#include "whisper/hallucination.h"
#include "whisper/language.h"
#include "whisper/options_check.h"
#include "whisper/prompt.h"
#include "whisper/rules.h"
#include "whisper/segments.h"
#include "whisper/text.h"
#include "whisper/times.h"
#include "whisper/window_decoder.h"
#include "whisper/word_times.h"

namespace sotto::whisper {
namespace {

/// Adds the time until its end of life to a counter of milliseconds.
class AddedTime {
 public:
  explicit AddedTime(double& total_ms) : total_ms_(total_ms) {}
  ~AddedTime() { total_ms_ += watch_.ms(); }
  AddedTime(const AddedTime&) = delete;
  AddedTime& operator=(const AddedTime&) = delete;

 private:
  double& total_ms_;
  Stopwatch watch_;
};

/// Different for every window, equal in every run: splitmix64's finaliser.
uint64_t window_seed(uint64_t seed, int64_t begin) {
  uint64_t z = seed + 0x9E3779B97F4A7C15u * (static_cast<uint64_t>(begin) + 1);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/// Positions of the encoder for windows of these clips.
int encoder_positions(int audio_ctx, int all, const std::vector<FrameSpan>& clips) {
  if (audio_ctx > 0) return audio_ctx;
  if (audio_ctx != TranscribeOptions::kAudioCtxAuto) return all;
  // Whisper was trained on windows that end in silence, and needs some to know the end of a
  // sentence.
  constexpr int64_t kMargin = 128;  // 2.6 s
  int64_t longest = 0;
  for (const FrameSpan& clip : clips)
    longest = std::max(longest, clip.frames);
  return static_cast<int>(
      std::min<int64_t>(all, (longest + kFramesPerPosition - 1) / kFramesPerPosition + kMargin));
}

/// One recording on its way through the model.
class Transcription {
 public:
  Transcription(Model& model, const audio::LogMel& mel, double duration_s,
                const TranscribeOptions& options, const TranscribeCallbacks& callbacks)
      : model_(model),
        mel_(mel),
        options_(options),
        callbacks_(callbacks),
        clips_(resolve_clips(options, mel.frames())),
        positions_(encoder_positions(options.audio_ctx, model.config().n_audio_ctx, clips_)),
        sequences_(std::max({options.beam_size, options.best_of, 1})),
        duration_s_(duration_s) {}

  Result<Transcript> run() {
    SOTTO_RETURN_IF_ERROR(check_options(model_, options_));
    SOTTO_ASSIGN_OR_RETURN(LanguageChoice choice, resolve_language(model_, options_));
    SOTTO_ASSIGN_OR_RETURN(LogitRules rules, LogitRules::create(model_, options_, positions_));
    rules_ = std::move(rules);
    transcript_.task = options_.task == Task::kTranslate ? "translate" : "transcribe";
    transcript_.duration = duration_s_;
    transcript_.warnings = option_warnings(model_, options_);

    for (const FrameSpan& clip : clips_)
      total_frames_ += clip.frames;
    SOTTO_ASSIGN_OR_RETURN(decoder_, model_.create_decoder(sequences_));
    allowed_languages_ = choice.allowed;
    SOTTO_RETURN_IF_ERROR(settle_language(choice));
    language_ = transcript_.language;
    prompts_.emplace(model_, options_, language_);
    for (const FrameSpan& clip : clips_)
      SOTTO_RETURN_IF_ERROR(transcribe_clip(clip));

    // What a language was heard in was no speech.
    const bool was_detected = !transcript_.language_probabilities.empty();
    if (transcript_.segments.empty() && was_detected) {
      transcript_.language.clear();
      transcript_.language_probability = 0;
    }
    std::string text;
    for (const Segment& segment : transcript_.segments)
      text += segment.text;
    transcript_.text = trimmed(text);
    return std::move(transcript_);
  }

 private:
  [[nodiscard]] int64_t window_frames() const { return int64_t{positions_} * kFramesPerPosition; }

  [[nodiscard]] FrameSpan window_at(int64_t begin, const FrameSpan& clip) const {
    return {begin, std::min(window_frames(), clip.end() - begin)};
  }

  Status settle_language(const LanguageChoice& choice) {
    transcript_.language = choice.given;
    transcript_.language_probability = choice.given.empty() ? 0.0f : 1.0f;
    if (!choice.given.empty() || clips_.empty()) return {};
    SOTTO_RETURN_IF_ERROR(encode(window_at(clips_.front().begin, clips_.front())));
    AddedTime time(transcript_.stats.generate_ms);
    SOTTO_ASSIGN_OR_RETURN(DetectedLanguage detected,
                           detect_language(model_, *decoder_, *encoded_, choice.allowed));
    transcript_.language = detected.code;
    transcript_.language_probability = detected.probability;
    transcript_.language_probabilities = std::move(detected.probabilities);
    if (callbacks_.on_language)
      callbacks_.on_language(transcript_.language, transcript_.language_probability);
    return {};
  }

  /// Makes `encoded_` the encoder's output for `span`; what the window holds beyond it is zero, as
  /// in openai/whisper.
  Status encode(const FrameSpan& span) {
    if (encoded_ != nullptr && encoded_span_ == span) return {};
    if (callbacks_.should_stop && callbacks_.should_stop())
      return cancelled("the transcription was stopped");
    AddedTime time(transcript_.stats.encode_ms);
    const auto width = static_cast<size_t>(mel_.n_mels());
    features_.assign(static_cast<size_t>(window_frames()) * width, 0.0f);
    mel_.window(span.begin, span.frames,
                std::span(features_).first(static_cast<size_t>(span.frames) * width));
    SOTTO_ASSIGN_OR_RETURN(encoded_, model_.encode(features_, positions_));
    encoded_span_ = span;
    ++transcript_.stats.windows;
    return {};
  }

  Status transcribe_clip(const FrameSpan& clip) {
    int64_t begin = clip.begin;
    while (begin < clip.end()) {
      SOTTO_ASSIGN_OR_RETURN(const int64_t next, transcribe_window(window_at(begin, clip)));
      done_frames_ += std::min(next, clip.end()) - begin;
      begin = next;
      if (callbacks_.on_progress) {
        callbacks_.on_progress(static_cast<double>(done_frames_) * kSecondsPerFrame,
                               static_cast<double>(total_frames_) * kSecondsPerFrame);
      }
      if (begin < clip.end() && callbacks_.at_window_border) callbacks_.at_window_border();
    }
    return {};
  }

  /// Returns the frame at which the next window begins.
  Result<int64_t> transcribe_window(const FrameSpan& span) {
    SOTTO_RETURN_IF_ERROR(encode(span));
    if (options_.multilingual) SOTTO_RETURN_IF_ERROR(follow_language());
    SOTTO_ASSIGN_OR_RETURN(WindowText decoded, decode_unrepeated(span));
    if (const auto reason = reason_to_drop(decoded, options_)) {
      drop({span.start_s(), span.end_s(), std::string(*reason), decoded.text});
      return span.end();
    }
    if (options_.drop_made_up_text && leave_loop(span, decoded)) return span.end();
    WindowSegments window = split_segments(decoded, span, model_.tokenizer(), model_.tokens());
    join_split_characters(window.segments);
    if (options_.word_timestamps) {
      SOTTO_RETURN_IF_ERROR(add_words(span, window));
      if (skip_silence(span, window)) return window.next;
    }
    for (Segment& segment : window.segments)
      add_segment(std::move(segment));
    if (!options_.condition_on_previous_text || has_left_loop_ ||
        decoded.temperature > options_.prompt_reset_on_temperature) {
      prompts_->forget();
    }
    return window.next;
  }

  /// Detects the language of the window; when unsure it stays that of the window before.
  Status follow_language() {
    constexpr float kSure = 0.5f;
    AddedTime time(transcript_.stats.generate_ms);
    SOTTO_ASSIGN_OR_RETURN(const DetectedLanguage detected,
                           detect_language(model_, *decoder_, *encoded_, allowed_languages_));
    if (detected.code == language_ || detected.probability < kSure) return {};
    language_ = detected.code;
    prompts_->set_language(language_);
    prompts_->forget();  // text in another language would pull the model back to it
    return {};
  }

  /// A window that says the same as the one before may only be carried on by it: then it says
  /// something else without that context.
  Result<WindowText> decode_unrepeated(const FrameSpan& span) {
    SOTTO_ASSIGN_OR_RETURN(WindowText decoded, decode(span));
    std::string bare = bare_text(decoded.text);
    const bool repeats = !bare.empty() && bare == last_window_text_;
    if (repeats && options_.drop_made_up_text && options_.condition_on_previous_text) {
      prompts_->forget();
      SOTTO_ASSIGN_OR_RETURN(decoded, decode(span));
      report_retry(span, "repeats_window", decoded.temperature);
      bare = bare_text(decoded.text);
    }
    last_window_text_ = std::move(bare);
    return decoded;
  }

  /// Cuts a text that ran in circles. True: nothing of it is new.
  bool leave_loop(const FrameSpan& span, WindowText& decoded) {
    const bool was_in_loop = std::exchange(has_left_loop_, false);
    const std::string cut = cut_loop(decoded, model_);
    if (cut.empty()) return false;
    has_left_loop_ = true;
    const std::string kept = std::exchange(loop_text_, bare_text(decoded.text));
    const bool is_old = was_in_loop && kept == loop_text_;
    drop({span.start_s(), span.end_s(), "loop", is_old ? decoded.text : cut});
    return is_old;
  }

  /// Reports a span without text. What follows is decoded without the context that led here; an
  /// initial prompt stays until there is text.
  void drop(DroppedSpan dropped) {
    spdlog::info("dropped {:.2f}-{:.2f} s ({}): \"{}\"", dropped.start, dropped.end, dropped.reason,
                 dropped.text);
    transcript_.dropped.push_back(std::move(dropped));
    if (!transcript_.segments.empty()) prompts_->forget();
  }

  void report_retry(const FrameSpan& span, std::string_view reason, float temperature) {
    spdlog::info("decoded {:.2f}-{:.2f} s again ({}), at last at temperature {:.1f}",
                 span.start_s(), span.end_s(), reason, temperature);
    transcript_.retried.push_back({span.start_s(), span.end_s(), std::string(reason), temperature});
    ++transcript_.stats.fallbacks;
  }

  Result<WindowText> decode(const FrameSpan& span) {
    AddedTime time(transcript_.stats.generate_ms);
    const Prompt prompt = prompts_->next(first_window_);
    first_window_ = false;
    WindowDecoder window_decoder(model_, *decoder_, *encoded_, sequences_);
    SOTTO_RETURN_IF_ERROR(window_decoder.prefill(prompt));
    SOTTO_ASSIGN_OR_RETURN(
        WindowText decoded,
        decode_with_fallback(window_decoder, *rules_, model_, prompt, options_,
                             window_seed(options_.seed, span.begin), callbacks_.should_stop));
    if (decoded.attempts > 1) report_retry(span, decoded.retry_reason, decoded.temperature);
    return decoded;
  }

  Status add_words(const FrameSpan& span, WindowSegments& window) {
    AddedTime time(transcript_.stats.generate_ms);
    const WordTimesRequest request{*encoded_, positions_, span, language_, last_speech_s_};
    return add_word_times(model_, *decoder_, request, options_, window);
  }

  /// Applies hallucination_silence_threshold. True: nothing of this window is kept and it begins
  /// later.
  bool skip_silence(const FrameSpan& span, WindowSegments& window) {
    if (options_.hallucination_silence_threshold) {
      const double threshold = *options_.hallucination_silence_threshold;
      const double window_end_s =
          span.start_s() + static_cast<double>(window_frames()) * kSecondsPerFrame;
      const double last_word_s = speech_end(window.segments);
      if (!window.ends_with_single_timestamp && last_word_s > span.start_s() &&
          window_end_s - last_word_s <= threshold) {
        window.next = span.end();
      }
      const SilenceVerdict verdict = judge_silence(window.segments, span, window_end_s, threshold,
                                                   last_speech_s_, mel_.frames());
      if (verdict.next) window.next = *verdict.next > span.begin ? *verdict.next : span.end();
      if (verdict.decode_again) return true;
      drop_from(verdict.keep, window.segments);
    }
    if (!window.segments.empty()) last_speech_s_ = speech_end(window.segments);
    return false;
  }

  void drop_from(size_t keep, std::vector<Segment>& segments) {
    if (keep == segments.size()) return;
    DroppedSpan dropped{segments[keep].start, segments.back().end, "hallucination_silence", {}};
    for (size_t i = keep; i < segments.size(); ++i)
      dropped.text += segments[i].text;
    dropped.text = std::string(trimmed(dropped.text));
    drop(std::move(dropped));
    segments.resize(keep);
  }

  /// Bounds the segment's times, hands it out and lets it be context of later windows.
  void add_segment(Segment segment) {
    if (trimmed(segment.text).empty()) return;
    if (segment.start == segment.end) {
      transcript_.dropped.push_back(
          {segment.start, segment.end, "no_duration", std::string(trimmed(segment.text))});
      return;
    }
    const double earliest = transcript_.segments.empty() ? 0.0 : transcript_.segments.back().start;
    segment.start = std::min(std::max(segment.start, earliest), duration_s_);
    segment.end = std::clamp(segment.end, segment.start, std::max(segment.start, duration_s_));
    std::vector<int> ids;
    for (Token& token : segment.tokens) {
      ids.push_back(token.id);
      token.start = std::clamp(token.start, segment.start, segment.end);
      token.end = std::clamp(token.end, token.start, segment.end);
    }
    for (Word& word : segment.words) {
      word.start = std::clamp(word.start, segment.start, segment.end);
      word.end = std::clamp(word.end, word.start, segment.end);
    }
    prompts_->append(ids);
    if (options_.multilingual) segment.language = language_;
    segment.id = static_cast<int>(transcript_.segments.size());
    transcript_.segments.push_back(std::move(segment));
    if (callbacks_.on_segment) callbacks_.on_segment(transcript_.segments.back());
  }

  Model& model_;
  const audio::LogMel& mel_;
  const TranscribeOptions& options_;
  const TranscribeCallbacks& callbacks_;
  std::vector<FrameSpan> clips_;
  int positions_;  ///< Of the encoder, per window
  int sequences_;  ///< That the decoder holds
  double duration_s_;

  std::optional<LogitRules> rules_;
  std::optional<PromptBuilder> prompts_;
  std::unique_ptr<Decoder> decoder_;
  std::unique_ptr<EncodedWindow> encoded_;
  FrameSpan encoded_span_;
  std::vector<float> features_;  ///< [window_frames(), n_mels]
  int64_t total_frames_ = 0, done_frames_ = 0;
  bool first_window_ = true;
  double last_speech_s_ = 0;  ///< End of the last word so far
  std::string language_;      ///< Of the window in work
  std::vector<std::string> allowed_languages_;
  std::string last_window_text_;  ///< Bare
  std::string loop_text_;         ///< Bare; what was kept of the last loop
  bool has_left_loop_ = false;    ///< The last window was cut
  Transcript transcript_;
};

}  // namespace

Result<Transcript> transcribe(Model& model, const audio::LogMel& mel, double duration_s,
                              const TranscribeOptions& options,
                              const TranscribeCallbacks& callbacks) {
  return Transcription(model, mel, duration_s, options, callbacks).run();
}

}  // namespace sotto::whisper
