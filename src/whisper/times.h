// Units of time in Whisper.
#ifndef SOTTO_WHISPER_TIMES_H_
#define SOTTO_WHISPER_TIMES_H_

#include <cstdint>

namespace sotto::whisper {

inline constexpr int kFramesPerSecond = 100;  ///< Mel frames
inline constexpr double kSecondsPerFrame = 0.01;
inline constexpr int kFramesPerPosition =
    2;  ///< Mel frames of an encoder position and of a timestamp token
inline constexpr double kSecondsPerPosition = 0.02;

/// A part of the recording, in mel frames.
struct FrameSpan {
  int64_t begin = 0;
  int64_t frames = 0;

  [[nodiscard]] int64_t end() const { return begin + frames; }
  [[nodiscard]] double start_s() const { return static_cast<double>(begin) * kSecondsPerFrame; }
  [[nodiscard]] double end_s() const { return static_cast<double>(end()) * kSecondsPerFrame; }
  bool operator==(const FrameSpan&) const = default;
};

}  // namespace sotto::whisper

#endif  // SOTTO_WHISPER_TIMES_H_
