#include "audio/av_log.h"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <mutex>

extern "C" {
#include <libavutil/log.h>
}

namespace sotto::audio {

namespace {
thread_local AvLogCapture* current_capture = nullptr;
}

struct AvLogSink {
  static void receive(void* /*context*/, int level, const char* format, va_list arguments) {
    AvLogCapture* capture = current_capture;
    if (capture == nullptr || level > AV_LOG_ERROR) return;
    std::array<char, 256> line{};
    std::vsnprintf(line.data(), line.size(), format, arguments);
    std::string& text = capture->last_error_;
    text.assign(line.data());
    while (!text.empty() && (text.back() == '\n' || text.back() == '.' || text.back() == ' '))
      text.pop_back();
    for (char& c : text) {
      if (c < 0x20 || c > 0x7E) c = '?';  // a line may quote bytes of the file
    }
  }
};

AvLogCapture::AvLogCapture() : outer_(current_capture) {
  static std::once_flag installed;
  std::call_once(installed, [] { av_log_set_callback(&AvLogSink::receive); });
  current_capture = this;
}

AvLogCapture::~AvLogCapture() {
  current_capture = outer_;
}

}  // namespace sotto::audio
