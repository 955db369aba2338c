#include "serve/speech_response.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/languages.h"
#include "base/utf8.h"
#include "transcript/split.h"
#include "transcript/tidy.h"
#include "transcript/writers.h"

namespace sotto::serve {
namespace {

using Json = nlohmann::ordered_json;
using transcript::Format;

/// Rounded, and finite whatever it was.
double rounded(double value, double steps) {
  return std::isfinite(value) ? std::round(value * steps) / steps : 0;
}
double seconds(double value) {
  return rounded(value, 1e3);
}
double probability(double value) {
  return rounded(value, 1e6);
}

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json usage(const Transcript& transcript) {
  return {{"type", "duration"},
          {"seconds", static_cast<int64_t>(std::ceil(std::max(0.0, transcript.duration)))}};
}

std::string joined_text(const Transcript& transcript) {
  std::string text;
  for (const Segment& segment : transcript.segments)
    text += segment.text;
  return utf8_repair(transcript::trim(text));
}

/// A segment of a stream with its words, as verbose_json has it.
Json segment_json(const Segment& segment) {
  Json words = Json::array();
  for (const Word& word : segment.words) {
    words.push_back({{"word", utf8_repair(word.text)},
                     {"start", seconds(word.start)},
                     {"end", seconds(word.end)},
                     {"probability", probability(word.probability)}});
  }
  return {{"id", segment.id},
          {"seek", segment.seek},
          {"start", seconds(segment.start)},
          {"end", seconds(segment.end)},
          {"text", utf8_repair(segment.text)},
          {"temperature", probability(segment.temperature)},
          {"avg_logprob", probability(segment.avg_logprob)},
          {"compression_ratio", probability(segment.compression_ratio)},
          {"no_speech_prob", probability(segment.no_speech_prob)},
          {"words", std::move(words)}};
}

Json logprob_of(const Token& token) {
  Json bytes = Json::array();
  for (const char c : token.text)
    bytes.push_back(static_cast<unsigned char>(c));
  return {{"token", utf8_repair(token.text)},
          {"logprob", probability(token.logprob)},
          {"bytes", std::move(bytes)}};
}

Json logprobs_of(const std::vector<Token>& tokens) {
  Json list = Json::array();
  for (const Token& token : tokens)
    if (!transcript::is_special(token)) list.push_back(logprob_of(token));
  return list;
}

Format writer_format(SpeechFormat format) {
  switch (format) {
    case SpeechFormat::kSrt:
      return Format::kSrt;
    case SpeechFormat::kVtt:
      return Format::kVtt;
    case SpeechFormat::kTsv:
      return Format::kTsv;
    case SpeechFormat::kCsv:
      return Format::kCsv;
    case SpeechFormat::kLrc:
      return Format::kLrc;
    default:
      return Format::kVerboseJson;
  }
}

/// What only sotto tells, added to OpenAI's object.
std::string with_run(std::string verbose_json, const Transcript& transcript,
                     const std::string& model) {
  const TranscriptStats& stats = transcript.stats;
  Json run = {{"path", stats.device},
              {"model", model},
              {"encode_ms", seconds(stats.encode_ms)},
              {"generate_ms", seconds(stats.generate_ms)}};
  if (!stats.fallback_reason.empty()) run["fallback"] = stats.fallback_reason;
  verbose_json.resize(verbose_json.rfind('}'));
  return verbose_json + ",\"x_stt\":" + dump(run) + "}\n";
}

Response openai_response(const Transcript& transcript, const SpeechRequest& request,
                         const std::string& model) {
  Response response;
  switch (request.format) {
    case SpeechFormat::kJson: {
      Json body = {{"text", joined_text(transcript)}};
      if (request.logprobs) {
        Json all = Json::array();
        for (const Segment& segment : transcript.segments)
          for (Json& entry : logprobs_of(segment.tokens))
            all.push_back(std::move(entry));
        body["logprobs"] = std::move(all);
      }
      body["usage"] = usage(transcript);
      response.content_type = "application/json";
      response.body = dump(body);
      break;
    }
    case SpeechFormat::kText:
      response.content_type = "text/plain; charset=utf-8";
      response.body = joined_text(transcript) + "\n";
      break;
    case SpeechFormat::kVerboseJson: {
      transcript::WriterOptions options;
      options.word_granularity = request.words;
      options.segment_granularity = request.segments;
      response.content_type = "application/json";
      response.body =
          with_run(transcript::write(transcript, Format::kVerboseJson, options), transcript, model);
      break;
    }
    default:
      response.content_type = request.format == SpeechFormat::kVtt ? "text/vtt; charset=utf-8"
                                                                   : "text/plain; charset=utf-8";
      response.body = transcript::write(transcript, writer_format(request.format), {});
  }
  return response;
}

Json whisper_cpp_words(const Segment& segment) {
  Json words = Json::array();
  for (const Word& word : segment.words) {
    words.push_back({{"word", word.text},
                     {"start", seconds(word.start)},
                     {"end", seconds(word.end)},
                     {"t_dtw", -1},
                     {"probability", probability(word.probability)}});
  }
  return words;
}

Json whisper_cpp_segment(const Segment& segment, bool has_times) {
  Json tokens = Json::array();
  for (const Token& token : segment.tokens)
    if (!transcript::is_special(token)) tokens.push_back(token.id);
  Json out = {{"id", segment.id}, {"text", segment.text}};
  if (has_times) {
    out["start"] = seconds(segment.start);
    out["end"] = seconds(segment.end);
  }
  out["tokens"] = std::move(tokens);
  out["words"] = whisper_cpp_words(segment);
  out["temperature"] = probability(segment.temperature);
  out["avg_logprob"] = probability(segment.avg_logprob);
  out["no_speech_prob"] = probability(segment.no_speech_prob);
  out["seek"] = segment.seek;
  out["compression_ratio"] = probability(segment.compression_ratio);
  return out;
}

/// One segment a line, each with its leading space.
std::string whisper_cpp_text(const Transcript& transcript) {
  std::string text;
  for (const Segment& segment : transcript.segments)
    text += segment.text + "\n";
  return text;
}

std::string whisper_cpp_verbose(const Transcript& transcript, const SpeechRequest& request) {
  Json segments = Json::array();
  for (const Segment& segment : transcript.segments)
    segments.push_back(whisper_cpp_segment(segment, !request.options.without_timestamps));
  Json body = {{"task", transcript.task},
               {"language", language_name(transcript.language)},
               {"duration", seconds(transcript.duration)},
               {"text", whisper_cpp_text(transcript)},
               {"segments", std::move(segments)}};
  if (request.language_probabilities) {
    body["detected_language"] = language_name(transcript.language);
    body["detected_language_probability"] = probability(transcript.language_probability);
    Json probabilities = Json::object();
    constexpr float kLeast = 0.001f;
    for (const auto& [code, value] : transcript.language_probabilities)
      if (value > kLeast) probabilities[code] = probability(value);
    body["language_probabilities"] = std::move(probabilities);
  }
  body["usage"] = usage(transcript);
  return dump(body);
}

std::string whisper_cpp_cues(const Transcript& transcript, bool is_vtt) {
  std::string out = is_vtt ? "WEBVTT\n\n" : "";
  const char point = is_vtt ? '.' : ',';
  int number = 0;
  for (const Segment& segment : transcript.segments) {
    if (!is_vtt) out += std::to_string(++number) + "\n";
    out += fmt::format("{} --> {}\n{}\n\n", transcript::format_time(segment.start, point),
                       transcript::format_time(segment.end, point),
                       transcript::replace_all(segment.text, "-->", "->"));
  }
  return out;
}

Response whisper_cpp_response(const Transcript& transcript, const SpeechRequest& request) {
  Response response;
  switch (request.format) {
    case SpeechFormat::kText:
      response.content_type = "text/plain; charset=utf-8";
      response.body = whisper_cpp_text(transcript);
      break;
    case SpeechFormat::kSrt:
      response.content_type = "application/x-subrip";
      response.body = whisper_cpp_cues(transcript, /*is_vtt=*/false);
      break;
    case SpeechFormat::kVtt:
      response.content_type = "text/vtt";
      response.body = whisper_cpp_cues(transcript, /*is_vtt=*/true);
      break;
    case SpeechFormat::kVerboseJson:
      response.content_type = "application/json";
      response.body = whisper_cpp_verbose(transcript, request);
      break;
    case SpeechFormat::kJson:
      response.content_type = "application/json";
      response.body = dump({{"text", whisper_cpp_text(transcript)}});
      break;
    default:
      response.content_type = "text/plain; charset=utf-8";
      response.body = transcript::write(transcript, writer_format(request.format), {});
  }
  return response;
}

}  // namespace

Response speech_response(const Transcript& transcript, const SpeechRequest& request,
                         const std::string& model) {
  Transcript tidied = transcript::tidy(transcript);
  if (request.max_segment_length > 0) {
    std::vector<Segment> pieces;
    for (const Segment& segment : tidied.segments) {
      for (Segment& piece : transcript::split_segment(segment, request.max_segment_length)) {
        piece.id = static_cast<int>(pieces.size());
        pieces.push_back(std::move(piece));
      }
    }
    tidied.segments = std::move(pieces);
  }
  return request.api == SpeechApi::kWhisperCpp ? whisper_cpp_response(tidied, request)
                                               : openai_response(tidied, request, model);
}

void add_run_headers(const JobResult& result, const std::string& model, Headers& headers) {
  const TranscriptStats& stats = result.transcript.stats;
  headers.add("X-STT-Path", stats.device);
  if (!stats.fallback_reason.empty()) headers.add("X-STT-Fallback", stats.fallback_reason);
  headers.add("X-STT-Model", model);
  headers.add("X-STT-Audio-S", fmt::format("{:.3f}", stats.audio_s));
  headers.add("X-STT-Queue-Ms", fmt::format("{:.0f}", result.queue_ms));
  headers.add("X-STT-Process-Ms", fmt::format("{:.0f}", result.process_ms));
  headers.add("Server-Timing",
              fmt::format("decode;dur={:.1f}, encode;dur={:.1f}, generate;dur={:.1f}",
                          stats.decode_audio_ms, stats.encode_ms, stats.generate_ms));
}

std::string SpeechEvents::cue(const Segment& segment) {
  Transcript one;
  one.duration = std::max(duration_, segment.end);
  one.segments = {segment};
  transcript::WriterOptions options;
  options.first_index = ++cues_;
  const Format format = writer_format(request_.format);
  std::string text = transcript::write(one, format, options);
  constexpr std::string_view kVttHead = "WEBVTT\n\n";
  if (format == Format::kVtt && cues_ > 1 && text.substr(0, kVttHead.size()) == kVttHead)
    text.erase(0, kVttHead.size());
  return text;
}

std::string SpeechEvents::delta(std::string text, const Segment& segment) {
  text_ += text;
  Json event = {{"type", "transcript.text.delta"}, {"delta", std::move(text)}};
  const std::vector<Token>& tokens = segment.tokens;
  if (request_.words) event["segment"] = segment_json(segment);
  if (request_.logprobs) {
    const Json logprobs = logprobs_of(tokens);
    for (const Json& entry : logprobs)
      logprobs_ += (logprobs_.empty() ? "" : ",") + dump(entry);
    event["logprobs"] = logprobs;
  }
  return "data: " + dump(event) + "\n\n";
}

std::string SpeechEvents::segment(const Segment& segment) {
  if (request_.format == SpeechFormat::kSrt || request_.format == SpeechFormat::kVtt)
    return delta(cue(segment), segment);
  // The whole text is trimmed at both ends.
  std::string text = held_ + utf8_repair(segment.text);
  if (text_.empty()) text.erase(0, text.find_first_not_of(" \t\r\n"));
  const std::string_view kept = transcript::trim(text);
  const size_t end =
      kept.empty() ? 0 : static_cast<size_t>(kept.data() - text.data()) + kept.size();
  held_ = text.substr(end);
  text.resize(end);
  return text.empty() ? std::string() : delta(std::move(text), segment);
}

std::string SpeechEvents::done(const Transcript& transcript) {
  Json event = {{"type", "transcript.text.done"}, {"text", text_}};
  if (request_.words) {
    event["language"] = transcript.language;
    event["language_probability"] = probability(transcript.language_probability);
    event["duration"] = seconds(transcript.duration);
  }
  std::string logprobs = request_.logprobs ? ",\"logprobs\":[" + logprobs_ + "]" : "";
  std::string head = dump(event);
  head.pop_back();
  return "data: " + head + logprobs + ",\"usage\":" + dump(usage(transcript)) + "}\n\n";
}

}  // namespace sotto::serve
