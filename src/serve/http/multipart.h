// multipart/form-data (RFC 7578, RFC 2046 5.1) as it arrives: bytes are pushed in, parts come out.
#ifndef SOTTO_SERVE_HTTP_MULTIPART_H_
#define SOTTO_SERVE_HTTP_MULTIPART_H_

#include <string>
#include <string_view>

#include "sotto/status.h"

namespace sotto::serve {

struct PartHeader {
  std::string name;
  std::string filename;
  bool has_filename = false;
  std::string content_type;
};

/// Takes the parts. A failure of any call ends the parsing with it.
class PartSink {
 public:
  virtual ~PartSink() = default;
  virtual Status begin_part(const PartHeader& header) = 0;
  /// The next bytes of the part that was begun last; any number of calls.
  virtual Status part_data(std::string_view bytes) = 0;
  virtual Status end_part() = 0;
};

/// Holds back only what may be the beginning of a boundary, so memory does not grow with the body.
class MultipartParser {
 public:
  static constexpr size_t kMaxHeaderBytes = 16384;  ///< Of one part
  static constexpr int kMaxParts = 1024;

  /// `boundary` without its leading dashes. `sink` must outlive the parser.
  MultipartParser(std::string_view boundary, PartSink& sink);

  /// The boundary of a Content-Type; kInvalidArgument when it is no multipart/form-data or has no
  /// boundary of 1 to 70 characters.
  static Result<std::string> boundary_of(std::string_view content_type);

  /// kInvalidArgument: the body breaks the format.
  Status feed(std::string_view bytes);
  /// At the end of the body. kInvalidArgument when the closing boundary has not come.
  Status finish();

 private:
  enum class State { kPreamble, kAfterBoundary, kHeaders, kData, kEpilogue };

  /// One step over `pending_`; sets `stalled` when more bytes are needed.
  Status step(bool& stalled);
  Status step_preamble(bool& stalled);
  Status step_after_boundary(bool& stalled);
  Status step_headers(bool& stalled);
  Status step_data(bool& stalled);
  Status read_header_block(std::string_view block);
  [[nodiscard]] std::string_view rest() const {
    return std::string_view(pending_).substr(position_);
  }

  std::string delimiter_;  ///< CR LF "--" boundary
  PartSink& sink_;
  State state_ = State::kPreamble;
  std::string pending_;  ///< Bytes not yet taken, from position_ on
  size_t position_ = 0;
  int parts_ = 0;
};

}  // namespace sotto::serve

#endif  // SOTTO_SERVE_HTTP_MULTIPART_H_
