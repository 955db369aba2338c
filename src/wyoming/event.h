// Events of the Wyoming protocol, by which Home Assistant talks to speech programs.
// https://github.com/OHF-Voice/wyoming: a line of JSON (type, data, data_length, payload_length),
// data_length bytes of JSON that are merged over "data", payload_length raw bytes.
#ifndef SOTTO_WYOMING_EVENT_H_
#define SOTTO_WYOMING_EVENT_H_

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "sotto/status.h"

namespace sotto::wyoming {

/// The version of the protocol that is written into events.
inline constexpr std::string_view kProtocolVersion = "1.9.0";

inline constexpr size_t kMaxLine = size_t{1} << 20;      ///< Bytes, also of the data behind it
inline constexpr size_t kMaxPayload = size_t{10} << 20;  ///< Bytes

struct Event {
  std::string type;
  nlohmann::json data = nlohmann::json::object();
  std::string payload;
};

/// The event as bytes. Data always goes behind the line, as the protocol's own library writes it.
std::string encode_event(const Event& event);

/// Cuts a stream of bytes into events.
class EventReader {
 public:
  void feed(std::string_view bytes) { pending_.append(bytes); }

  /// The next event, or nothing when it has not arrived whole. kCorrupt: no such frame;
  /// kResourceExhausted: longer than the limits. After a failure the stream cannot be read on.
  Result<std::optional<Event>> next();

 private:
  Status begin_frame(size_t line_end);

  std::string pending_;
  size_t searched_ = 0;  ///< Bytes of `pending_` that hold no end of line
  // A frame whose line was read.
  bool in_frame_ = false;
  Event event_;
  size_t data_bytes_ = 0, payload_bytes_ = 0;
};

}  // namespace sotto::wyoming

#endif  // SOTTO_WYOMING_EVENT_H_
