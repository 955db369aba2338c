#include "worker/messages.h"

#include <gtest/gtest.h>

namespace sotto::worker {
namespace {

std::span<const std::byte> bytes_of(const std::string& text, size_t from = 0) {
  return std::as_bytes(std::span(text)).subspan(from);
}

/// The message after a trip over the wire.
Result<Message> trip(const Message& message) {
  const Result<std::string> frame = encode_message(message);
  if (!frame.ok()) return frame.status();
  const auto head = parse_head(bytes_of(*frame).first<kFrameHead>());
  if (!head.ok()) return head.status();
  EXPECT_EQ(head->type, message.index());
  EXPECT_EQ(head->body_bytes, frame->size() - kFrameHead);
  return parse_body(head->type, bytes_of(*frame, kFrameHead));
}

TranscribeOptions unusual_options() {
  TranscribeOptions options;
  options.task = Task::kTranslate;
  options.language = "de";
  options.languages = {"de", "fr"};
  options.beam_size = 7;
  options.length_penalty = 0.25f;
  options.seed = 1ULL << 63;
  options.temperatures = {0.1f};
  options.compression_ratio_threshold.reset();
  options.condition_on_previous_text = false;
  options.clips = {{1.5, -1}};
  options.suppress_tokens = {};
  options.append_punctuations = "。";
  options.hallucination_silence_threshold = 2.0f;
  return options;
}

Transcript unusual_transcript() {
  Transcript transcript;
  transcript.text = "caf\xc3";  // part of a character, as tokens have it
  transcript.language_probabilities = {{"en", 0.75f}, {"de", 0.25f}};
  transcript.duration_after_vad = 3.5;
  Segment segment;
  segment.text = " a";
  segment.tokens = {{1, "\xc3", 0.5, 1.5, 0.25f, -1.5f}};
  segment.words = {{" a", 0.5, 1.5, 0.25f}};
  transcript.segments = {segment, segment};
  transcript.dropped = {{1, 2, "vad", ""}};
  transcript.warnings = {"w"};
  transcript.stats.ops = {{"linear", "cpu", "f32", 1, 2, 3, 4, "reason"}};
  return transcript;
}

TEST(WorkerMessages, OptionsSurviveTheTrip) {
  TranscribeRequest request;
  request.job = 9;
  request.kind = SourceKind::kSamples;
  request.bytes = 1ULL << 40;
  request.options = unusual_options();
  const Result<Message> got = trip(request);
  ASSERT_TRUE(got.ok()) << got.status().message();
  const auto& back = std::get<TranscribeRequest>(*got);
  EXPECT_EQ(back.bytes, request.bytes);
  EXPECT_EQ(back.options.task, Task::kTranslate);
  EXPECT_EQ(back.options.languages, request.options.languages);
  EXPECT_EQ(back.options.seed, request.options.seed);
  EXPECT_EQ(back.options.clips, request.options.clips);
  EXPECT_FALSE(back.options.compression_ratio_threshold.has_value());
  EXPECT_EQ(back.options.hallucination_silence_threshold, 2.0f);
  // Whatever else there is: equal bytes mean equal members, all of which the tables name.
  EXPECT_EQ(*encode_message(back), *encode_message(request));
  EXPECT_NE(*encode_message(back), *encode_message(TranscribeRequest{}));
}

TEST(WorkerMessages, TranscriptsSurviveTheTrip) {
  DoneEvent done;
  done.job = 3;
  done.transcript = unusual_transcript();
  const Result<Message> got = trip(done);
  ASSERT_TRUE(got.ok()) << got.status().message();
  const Transcript& back = std::get<DoneEvent>(*got).transcript;
  EXPECT_EQ(back.text, done.transcript.text);
  EXPECT_EQ(back.segments[1].tokens[0].text, "\xc3");
  EXPECT_EQ(back.stats.ops[0].fallback_reason, "reason");
  EXPECT_EQ(*encode_message(std::get<DoneEvent>(*got)), *encode_message(done));
}

TEST(WorkerMessages, StatusSurvivesTheTrip) {
  LoadReply reply;
  reply.status = not_found("no model");
  const Status status = std::get<LoadReply>(*trip(reply)).status.status();
  EXPECT_EQ(status.code(), StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "no model");
}

TEST(WorkerMessages, EveryCutAndEveryExtraByteIsCorrupt) {
  DoneEvent done;
  done.transcript = unusual_transcript();
  const std::string frame = *encode_message(done);
  const auto type = static_cast<uint8_t>(Message(done).index());
  const auto body = bytes_of(frame, kFrameHead);
  for (size_t length = 0; length < body.size(); ++length)
    EXPECT_EQ(parse_body(type, body.first(length)).status().code(), StatusCode::kCorrupt);
  const std::string longer = frame + '\0';
  EXPECT_FALSE(parse_body(type, bytes_of(longer, kFrameHead)).ok());
}

TEST(WorkerMessages, FalseCountsEnumsAndHeadsAreCorrupt) {
  std::string frame = *encode_message(LoadRequest{"path", {}});
  frame[kFrameHead + 7] = '\x7f';  // the top byte of the path's length
  EXPECT_FALSE(parse_body(0, bytes_of(frame, kFrameHead)).ok());

  std::string reply = *encode_message(LoadReply{});
  reply[kFrameHead] = 99;  // no such StatusCode
  EXPECT_FALSE(parse_body(1, bytes_of(reply, kFrameHead)).ok());

  std::string head(kFrameHead, '\0');
  head[4] = 50;
  EXPECT_FALSE(parse_head(bytes_of(head).first<kFrameHead>()).ok());
  head = {'\xff', '\xff', '\xff', '\xff', 0};
  EXPECT_FALSE(parse_head(bytes_of(head).first<kFrameHead>()).ok());
}

}  // namespace
}  // namespace sotto::worker
