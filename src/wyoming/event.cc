#include "wyoming/event.h"

#include <fmt/format.h>

#include <utility>

#include "base/json.h"

namespace sotto::wyoming {
namespace {

/// A length of the frame's line: 0 when it is absent or null.
Result<size_t> length_of(const nlohmann::json& line, std::string_view name, size_t limit) {
  const nlohmann::json* member = json_member(line, name);
  if (member == nullptr || member->is_null()) return size_t{0};
  if (!member->is_number_unsigned())
    return corrupt(fmt::format("Wyoming event: {} is no whole number", name));
  const auto length = member->get<uint64_t>();
  if (length > limit) {
    return resource_exhausted(
        fmt::format("Wyoming event: {} is {}, the limit is {}", name, length, limit));
  }
  return static_cast<size_t>(length);
}

}  // namespace

std::string encode_event(const Event& event) {
  // Bytes that are no UTF-8 must not keep an answer from being written.
  constexpr auto kReplace = nlohmann::json::error_handler_t::replace;
  nlohmann::ordered_json line = {{"type", event.type}, {"version", kProtocolVersion}};
  std::string data;
  if (!event.data.empty()) {
    data = event.data.dump(-1, ' ', false, kReplace);
    line["data_length"] = data.size();
  }
  if (!event.payload.empty()) line["payload_length"] = event.payload.size();
  return line.dump(-1, ' ', false, kReplace) + "\n" + data + event.payload;
}

Status EventReader::begin_frame(size_t line_end) {
  SOTTO_ASSIGN_OR_RETURN(
      nlohmann::json line,
      parse_json(std::string_view(pending_).substr(0, line_end), "Wyoming event"));
  const std::string* type = json_string(line, "type");
  if (type == nullptr) return corrupt("Wyoming event: the line has no \"type\"");
  event_ = {};
  event_.type = *type;
  if (const nlohmann::json* data = json_member(line, "data"); data != nullptr && !data->is_null()) {
    if (!data->is_object()) return corrupt("Wyoming event: \"data\" is no object");
    event_.data = *data;
  }
  SOTTO_ASSIGN_OR_RETURN(data_bytes_, length_of(line, "data_length", kMaxLine));
  SOTTO_ASSIGN_OR_RETURN(payload_bytes_, length_of(line, "payload_length", kMaxPayload));
  pending_.erase(0, line_end + 1);
  searched_ = 0;
  in_frame_ = true;
  return {};
}

Result<std::optional<Event>> EventReader::next() {
  if (!in_frame_) {
    const size_t line_end = pending_.find('\n', searched_);
    if ((line_end == std::string::npos ? pending_.size() : line_end) > kMaxLine) {
      return resource_exhausted(fmt::format("Wyoming event: no end of line in {} bytes", kMaxLine));
    }
    if (line_end == std::string::npos) {
      searched_ = pending_.size();
      return std::optional<Event>();
    }
    SOTTO_RETURN_IF_ERROR(begin_frame(line_end));
  }
  if (pending_.size() < data_bytes_ + payload_bytes_) return std::optional<Event>();
  if (data_bytes_ > 0) {
    SOTTO_ASSIGN_OR_RETURN(
        const nlohmann::json data,
        parse_json(std::string_view(pending_).substr(0, data_bytes_), "data of a Wyoming event"));
    if (!data.is_object()) return corrupt("data of a Wyoming event is no JSON object");
    event_.data.update(data);
  }
  event_.payload = pending_.substr(data_bytes_, payload_bytes_);
  pending_.erase(0, data_bytes_ + payload_bytes_);
  in_frame_ = false;
  return std::optional<Event>(std::exchange(event_, {}));
}

}  // namespace sotto::wyoming
