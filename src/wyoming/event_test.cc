#include "wyoming/event.h"

#include <gtest/gtest.h>

namespace sotto::wyoming {
namespace {

Event must_read(EventReader& reader) {
  Result<std::optional<Event>> event = reader.next();
  EXPECT_TRUE(event.ok()) << event.status().message();
  EXPECT_TRUE(event.ok() && event->has_value());
  return event.ok() && event->has_value() ? **event : Event{};
}

StatusCode fault_of(std::string_view bytes) {
  EventReader reader;
  reader.feed(bytes);
  return reader.next().status().code();
}

TEST(WyomingEvent, ReadsBackWhatItWrites) {
  Event chunk;
  chunk.type = "audio-chunk";
  chunk.data = {{"rate", 16000}, {"width", 2}};
  chunk.payload = std::string("a\n\0b", 4);
  const std::string bytes = encode_event(chunk) + encode_event({"audio-stop", {}, {}});
  EventReader reader;
  for (size_t i = 0; i + 1 < bytes.size(); ++i)  // byte by byte, as a slow network has it
    reader.feed(bytes.substr(i, 1));
  const Event got = must_read(reader);
  EXPECT_EQ(got.type, "audio-chunk");
  EXPECT_EQ(got.data, chunk.data);
  EXPECT_EQ(got.payload, chunk.payload);
  EXPECT_FALSE(reader.next()->has_value());
  reader.feed("\n");
  EXPECT_EQ(must_read(reader).type, "audio-stop");
}

TEST(WyomingEvent, WritesTheLineOfTheProtocol) {
  EXPECT_EQ(encode_event({"pong", nlohmann::json::object(), {}}),
            "{\"type\":\"pong\",\"version\":\"1.9.0\"}\n");
  EXPECT_EQ(
      encode_event({"transcript", {{"text", "hi"}}, {}}),
      "{\"type\":\"transcript\",\"version\":\"1.9.0\",\"data_length\":13}\n{\"text\":\"hi\"}");
}

TEST(WyomingEvent, MergesDataOverInlineData) {
  EventReader reader;
  reader.feed("{\"type\":\"x\",\"data\":{\"a\":1,\"b\":2},\"data_length\":7}\n{\"b\":3}");
  EXPECT_EQ(must_read(reader).data, nlohmann::json({{"a", 1}, {"b", 3}}));
}

TEST(WyomingEvent, BadFramesAreErrors) {
  EXPECT_EQ(fault_of("no json\n"), StatusCode::kCorrupt);
  EXPECT_EQ(fault_of("{}\n"), StatusCode::kCorrupt);
  EXPECT_EQ(fault_of("[1]\n"), StatusCode::kCorrupt);
  EXPECT_EQ(fault_of("{\"type\":\"x\",\"data\":[]}\n"), StatusCode::kCorrupt);
  EXPECT_EQ(fault_of("{\"type\":\"x\",\"data_length\":-1}\n"), StatusCode::kCorrupt);
  EXPECT_EQ(fault_of("{\"type\":\"x\",\"data_length\":1}\n1"), StatusCode::kCorrupt);
  EXPECT_EQ(fault_of("{\"type\":\"x\",\"payload_length\":10485761}\n"),
            StatusCode::kResourceExhausted);
  EXPECT_EQ(fault_of("{\"type\":\"x\",\"data_length\":1048577}\n"), StatusCode::kResourceExhausted);
  EXPECT_EQ(fault_of(std::string(kMaxLine + 1, ' ')), StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace sotto::wyoming
