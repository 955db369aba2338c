// libav writes its complaints to standard error by default; this keeps the last one for our own
// messages instead.
#ifndef SOTTO_AUDIO_AV_LOG_H_
#define SOTTO_AUDIO_AV_LOG_H_

#include <string>

namespace sotto::audio {

/// While alive, collects what libav reports from this thread. The first object silences libav for
/// the whole process.
class AvLogCapture {
 public:
  AvLogCapture();
  ~AvLogCapture();
  AvLogCapture(const AvLogCapture&) = delete;
  AvLogCapture& operator=(const AvLogCapture&) = delete;

  /// The last error line in printable ASCII without its line end; empty when there was none.
  [[nodiscard]] const std::string& last_error() const { return last_error_; }

 private:
  friend struct AvLogSink;
  std::string last_error_;
  AvLogCapture* outer_;
};

}  // namespace sotto::audio

#endif  // SOTTO_AUDIO_AV_LOG_H_
