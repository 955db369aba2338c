#include "serve/http/multipart.h"

#include <algorithm>

#include "serve/http/message.h"

namespace sotto::serve {
namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr size_t kMaxBoundary = 70;  // RFC 2046 5.1.1

Status broken(const std::string& how) {
  return invalid_argument("the multipart body is broken: " + how);
}

}  // namespace

// A body may begin with the first boundary; the line end before it is then only thought.
MultipartParser::MultipartParser(std::string_view boundary, PartSink& sink)
    : delimiter_("\r\n--" + std::string(boundary)), sink_(sink), pending_(kLineEnd) {}

Result<std::string> MultipartParser::boundary_of(std::string_view content_type) {
  const ParameterisedValue type = parse_parameterised(content_type);
  if (type.value != "multipart/form-data") {
    return invalid_argument("the body must be multipart/form-data, not '" + type.value + "'");
  }
  const auto boundary = type.parameters.find("boundary");
  if (boundary == type.parameters.end() || boundary->second.empty() ||
      boundary->second.size() > kMaxBoundary) {
    return invalid_argument("the Content-Type has no boundary of 1 to 70 characters");
  }
  return boundary->second;
}

Status MultipartParser::feed(std::string_view bytes) {
  if (state_ == State::kEpilogue) return {};
  pending_.erase(0, position_);
  position_ = 0;
  pending_.append(bytes);
  for (bool stalled = false; !stalled && state_ != State::kEpilogue;)
    SOTTO_RETURN_IF_ERROR(step(stalled));
  return {};
}

Status MultipartParser::finish() {
  if (state_ == State::kEpilogue) return {};
  return broken(state_ == State::kPreamble ? "no boundary line was found"
                                           : "it ends before the closing boundary");
}

Status MultipartParser::step(bool& stalled) {
  switch (state_) {
    case State::kPreamble:
      return step_preamble(stalled);
    case State::kAfterBoundary:
      return step_after_boundary(stalled);
    case State::kHeaders:
      return step_headers(stalled);
    case State::kData:
      return step_data(stalled);
    case State::kEpilogue:
      break;
  }
  return {};
}

Status MultipartParser::step_preamble(bool& stalled) {
  const size_t found = rest().find(delimiter_);
  if (found != std::string_view::npos) {
    position_ += found + delimiter_.size();
    state_ = State::kAfterBoundary;
    return {};
  }
  if (rest().size() >= delimiter_.size()) position_ = pending_.size() - (delimiter_.size() - 1);
  stalled = true;
  return {};
}

Status MultipartParser::step_after_boundary(bool& stalled) {
  const std::string_view text = rest();
  if (text.substr(0, 2) == "--") {
    state_ = State::kEpilogue;
    return {};
  }
  // White space may stand between a boundary and its line end.
  const size_t end = text.find_first_not_of(" \t");
  const size_t length = end == std::string_view::npos ? text.size() : end;
  if (length > kMaxBoundary) return broken("a boundary line does not end");
  if (text.size() - length < 2) {
    if (length == 0 && text.size() == 1 && text[0] != '-' && text[0] != '\r')
      return broken("a boundary is followed by other text");
    stalled = true;
    return {};
  }
  if (text.substr(length, 2) != kLineEnd) return broken("a boundary is followed by other text");
  position_ += length + 2;
  state_ = State::kHeaders;
  return {};
}

Status MultipartParser::step_headers(bool& stalled) {
  const std::string_view text = rest();
  // A part without headers begins with the empty line.
  const bool none = text.substr(0, 2) == kLineEnd;
  const size_t end = none ? 0 : text.find("\r\n\r\n");
  if (end == std::string_view::npos || end > kMaxHeaderBytes) {
    if (text.size() > kMaxHeaderBytes) return broken("the headers of a part are too long");
    stalled = true;
    return {};
  }
  if (++parts_ > kMaxParts) return broken("it has more than 1024 parts");
  SOTTO_RETURN_IF_ERROR(read_header_block(text.substr(0, end)));
  position_ += end + (none ? 2 : 4);
  state_ = State::kData;
  return {};
}

Status MultipartParser::read_header_block(std::string_view block) {
  PartHeader header;
  bool has_name = false;
  while (!block.empty()) {
    const size_t end = std::min(block.find(kLineEnd), block.size());
    const std::string_view line = block.substr(0, end);
    block.remove_prefix(std::min(end + 2, block.size()));
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) return broken("a header of a part has no ':'");
    const std::string_view name = line.substr(0, colon);
    const ParameterisedValue value = parse_parameterised(line.substr(colon + 1));
    if (equals_ignoring_case(name, "content-type")) {
      const size_t begin = line.find_first_not_of(" \t", colon + 1);
      header.content_type = begin == std::string_view::npos ? "" : line.substr(begin);
    } else if (equals_ignoring_case(name, "content-disposition")) {
      const auto field = value.parameters.find("name");
      has_name = value.value == "form-data" && field != value.parameters.end();
      if (has_name) header.name = field->second;
      const auto filename = value.parameters.find("filename");
      header.has_filename = filename != value.parameters.end();
      if (header.has_filename) header.filename = filename->second;
    }
  }
  if (!has_name) return broken("a part has no name");
  return sink_.begin_part(header);
}

Status MultipartParser::step_data(bool& stalled) {
  const std::string_view text = rest();
  const size_t found = text.find(delimiter_);
  if (found != std::string_view::npos) {
    if (found > 0) SOTTO_RETURN_IF_ERROR(sink_.part_data(text.substr(0, found)));
    SOTTO_RETURN_IF_ERROR(sink_.end_part());
    position_ += found + delimiter_.size();
    state_ = State::kAfterBoundary;
    return {};
  }
  stalled = true;
  // All but what may be the beginning of the delimiter.
  const size_t keep = std::min(text.size(), delimiter_.size() - 1);
  const size_t candidate = text.find('\r', text.size() - keep);
  const size_t sure = candidate == std::string_view::npos ? text.size() : candidate;
  if (sure > 0) SOTTO_RETURN_IF_ERROR(sink_.part_data(text.substr(0, sure)));
  position_ += sure;
  return {};
}

}  // namespace sotto::serve
