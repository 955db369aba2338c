// Decoded audio: 16 kHz, mono, f32 in [-1, 1], from anything libav reads.
#ifndef SOTTO_AUDIO_RECORDING_H_
#define SOTTO_AUDIO_RECORDING_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sotto/status.h"

namespace sotto::audio {

inline constexpr int kSampleRate = 16000;

/// A growing store of samples in fixed blocks, so that growth never copies and a 10-hour file is
/// held once.
class SampleBuffer {
 public:
  [[nodiscard]] int64_t size() const { return size_; }
  void append(std::span<const float> samples);
  /// Copies samples [first, first + out.size()); places before 0 or beyond the end read as 0.
  void read(int64_t first, std::span<float> out) const;

 private:
  static constexpr int64_t kBlock = int64_t{1} << 18;
  std::vector<std::unique_ptr<float[]>> blocks_;
  int64_t size_ = 0;
};

/// Headerless samples: what the container cannot say.
struct RawFormat {
  std::string
      format;  ///< libav's name without "pcm_": "s16le", "s24le", "f32le", "u8", "mulaw", "alaw", …
  int rate = kSampleRate;
  int channels = 1;
};

struct DecodeOptions {
  std::optional<RawFormat> raw;  ///< None: the container says
  bool keep_stereo = false;      ///< Also keep left and right apart (for labels by channel)
  double start_s = 0;            ///< Skip this much
  double length_s = -1;          ///< At most this much; negative: all
  double limit_s =
      48 * 3600;  ///< More is kResourceExhausted: a small file can hold days of silence
  std::function<bool()> should_stop;  ///< true: stop soon; kCancelled is returned
};

/// How channels become one: two are averaged, unless the right one is the left one inverted (then
/// it is flipped first, so that they do not cancel); more channels with known places are weighted 1
/// for the centre, sqrt(1/2) for front left and right, 1/2 for the others, 0 for low-frequency
/// effects; channels without known places are averaged.
struct Recording {
  SampleBuffer mono;
  SampleBuffer left, right;  ///< Filled only with keep_stereo and a source of exactly two channels
  std::string container, codec;  ///< libav's names of what was found
  int source_rate = 0;           ///< Hz; of the first frame where it changes
  int source_channels = 0;
  std::vector<std::string>
      warnings;  ///< E.g. "the file seems to be cut off: 5.2 s of 11.0 s decoded"
  [[nodiscard]] double seconds() const { return static_cast<double>(mono.size()) / kSampleRate; }
};

/// Decodes the first audio stream of a file ("-" is standard input; fifos work). The kind of file
/// is decided by its bytes, never by its name. What decodes before a fault is kept and reported in
/// warnings; a sound container without a single sample gives an empty recording and a warning.
/// Errors: kNotFound and kPermissionDenied from the operating system, kUnsupported (not audio: the
/// message says what was found; or no decoder), kInvalidArgument (no audio stream, empty file,
/// unknown raw format), kCorrupt (audio, but nothing of it decodes), kResourceExhausted,
/// kCancelled.
Result<Recording> decode_file(const std::string& path, const DecodeOptions& options);
/// The same from memory; `label` names it in messages.
Result<Recording> decode_memory(std::span<const std::byte> bytes, const std::string& label,
                                const DecodeOptions& options);

}  // namespace sotto::audio

#endif  // SOTTO_AUDIO_RECORDING_H_
