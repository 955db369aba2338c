#include <algorithm>
#include <cmath>

#include "base/languages.h"
#include "transcript/formats.h"
#include "transcript/json_writer.h"
#include "transcript/tidy.h"

namespace sotto::transcript {
namespace {

constexpr int kTimeDigits = 3;
constexpr int kProbabilityDigits = 6;

void write_span(JsonWriter& json, double start, double end) {
  json.key("start").decimal(start, kTimeDigits);
  json.key("end").decimal(end, kTimeDigits);
}

void write_words(JsonWriter& json, const std::vector<Word>& words, bool keep_space) {
  for (const Word& word : words) {
    json.begin_object();
    json.key("word").string(keep_space ? std::string_view(word.text) : trim(word.text));
    write_span(json, word.start, word.end);
    json.key("probability").decimal(word.probability, kProbabilityDigits);
    json.end_object();
  }
}

/// The members that openai-whisper's and the API's segments share.
void write_segment(JsonWriter& json, const Segment& segment, bool words) {
  json.begin_object();
  json.key("id").integer(segment.id);
  json.key("seek").integer(segment.seek);
  write_span(json, segment.start, segment.end);
  json.key("text").string(segment.text);
  json.key("tokens").begin_list();
  for (const Token& token : segment.tokens)
    json.integer(token.id);
  json.end_list();
  json.key("temperature").decimal(segment.temperature, kProbabilityDigits);
  json.key("avg_logprob").decimal(segment.avg_logprob, kProbabilityDigits);
  json.key("compression_ratio").decimal(segment.compression_ratio, kProbabilityDigits);
  json.key("no_speech_prob").decimal(segment.no_speech_prob, kProbabilityDigits);
  if (words) {
    json.key("words").begin_list();
    write_words(json, segment.words, /*keep_space=*/true);
    json.end_list();
  }
  if (!segment.speaker.empty()) json.key("speaker").string(segment.speaker);
  if (!segment.language.empty()) json.key("language").string(segment.language);
  json.end_object();
}

void write_segments(JsonWriter& json, const Transcript& transcript, bool words) {
  json.key("segments").begin_list();
  for (const Segment& segment : transcript.segments)
    write_segment(json, segment, words);
  json.end_list();
}

/// Speech that was thrown away must not vanish silently; other programs ignore the member.
void write_dropped(JsonWriter& json, const Transcript& transcript) {
  if (transcript.dropped.empty()) return;
  json.key("dropped").begin_list();
  for (const DroppedSpan& span : transcript.dropped) {
    json.begin_object();
    write_span(json, span.start, span.end);
    json.key("reason").string(span.reason);
    json.key("text").string(span.text);
    json.end_object();
  }
  json.end_list();
}

void write_retried(JsonWriter& json, const Transcript& transcript) {
  if (transcript.retried.empty()) return;
  json.key("retried").begin_list();
  for (const RetriedSpan& span : transcript.retried) {
    json.begin_object();
    write_span(json, span.start, span.end);
    json.key("reason").string(span.reason);
    json.key("temperature").decimal(span.temperature, kProbabilityDigits);
    json.end_object();
  }
  json.end_list();
}

bool has_words(const Transcript& transcript) {
  return std::any_of(transcript.segments.begin(), transcript.segments.end(),
                     [](const Segment& segment) { return !segment.words.empty(); });
}

void write_cli_times(JsonWriter& json, double start, double end) {
  json.key("timestamps").begin_object();
  json.key("from").string(format_time(start, ','));
  json.key("to").string(format_time(end, ','));
  json.end_object();
  json.key("offsets").begin_object();
  json.key("from").integer(to_ms(start));
  json.key("to").integer(to_ms(end));
  json.end_object();
}

/// whisper-cli names the first timestamp "[_BEG_]".
std::string_view cli_token_text(std::string_view text) {
  return text == "[_TT_0]" ? "[_BEG_]" : text;
}

void write_cli_tokens(JsonWriter& json, const std::vector<Token>& tokens) {
  json.key("tokens").begin_list();
  for (const Token& token : tokens) {
    json.begin_object();
    json.key("text").string(cli_token_text(token.text));
    write_cli_times(json, token.start, token.end);
    json.key("id").integer(token.id);
    json.key("p").general(token.probability);
    json.key("t_dtw").integer(-1);  // times come with the token; the separate ones are not made
    json.end_object();
  }
  json.end_list();
}

void write_cli_part(JsonWriter& json, std::string_view name, int ctx, int state, int head,
                    int layer) {
  json.key(name).begin_object();
  json.key("ctx").integer(ctx);
  json.key("state").integer(state);
  json.key("head").integer(head);
  json.key("layer").integer(layer);
  json.end_object();
}

void write_cli_header(JsonWriter& json, const Transcript& transcript,
                      const WriterOptions& options) {
  const ModelSizes& sizes = options.model_sizes;
  json.key("systeminfo").string(options.system_info);
  json.key("model").begin_object();
  json.key("type").string(options.model_type);
  json.key("multilingual").boolean(options.model_multilingual);
  json.key("vocab").integer(sizes.vocabulary);
  write_cli_part(json, "audio", sizes.audio_ctx, sizes.audio_state, sizes.audio_head,
                 sizes.audio_layer);
  write_cli_part(json, "text", sizes.text_ctx, sizes.text_state, sizes.text_head, sizes.text_layer);
  json.key("mels").integer(sizes.mels);
  json.key("ftype").integer(sizes.ftype);
  json.end_object();
  json.key("params").begin_object();
  json.key("model").string(options.model_path);
  json.key("language").string(options.requested_language);
  json.key("translate").boolean(transcript.task == "translate");
  json.end_object();
  json.key("result").begin_object();
  json.key("language").string(transcript.language);
  json.end_object();
}

}  // namespace

std::string write_json(const Transcript& transcript, const WriterOptions& options) {
  JsonWriter json(options.pretty ? kPrettyPythonJson : kPythonJson);
  std::string text;
  for (const Segment& segment : transcript.segments)
    text += segment.text;
  json.begin_object();
  json.key("text").string(text);
  write_segments(json, transcript, has_words(transcript));
  json.key("language").string(transcript.language);
  write_dropped(json, transcript);
  write_retried(json, transcript);
  json.end_object();
  return json.take();
}

std::string write_verbose_json(const Transcript& transcript, const WriterOptions& options) {
  JsonWriter json(kCompactJson);
  json.begin_object();
  json.key("task").string(transcript.task);
  json.key("language").string(language_name(transcript.language));
  json.key("duration").decimal(transcript.duration, kTimeDigits);
  json.key("text").string(transcript.text);
  if (options.segment_granularity) write_segments(json, transcript, options.word_granularity);
  if (options.word_granularity) {
    json.key("words").begin_list();
    for (const Segment& segment : transcript.segments) {
      write_words(json, segment.words, /*keep_space=*/false);
    }
    json.end_list();
  }
  json.key("usage").begin_object();
  json.key("type").string("duration");
  json.key("seconds").integer(static_cast<int64_t>(std::ceil(transcript.duration)));
  json.end_object();
  json.key("language_code").string(transcript.language);
  json.key("language_probability").decimal(transcript.language_probability, kProbabilityDigits);
  if (transcript.duration_after_vad) {
    json.key("duration_after_vad").decimal(*transcript.duration_after_vad, kTimeDigits);
  }
  write_dropped(json, transcript);
  write_retried(json, transcript);
  json.end_object();
  return json.take();
}

std::string write_cli_json(const Transcript& transcript, const WriterOptions& options, bool full) {
  JsonWriter json(kWhisperCliJson);
  json.begin_object();
  write_cli_header(json, transcript, options);
  json.key("transcription").begin_list();
  for (const Segment& segment : transcript.segments) {
    json.begin_object();
    write_cli_times(json, segment.start, segment.end);
    json.key("text").string(segment.text);
    if (full) write_cli_tokens(json, segment.tokens);
    if (!segment.speaker.empty()) json.key("speaker").string(segment.speaker);
    json.end_object();
  }
  json.end_list();
  json.end_object();
  return json.take();
}

}  // namespace sotto::transcript
