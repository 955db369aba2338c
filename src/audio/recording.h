// Decoded audio: 16 kHz, mono, f32 in [-1, 1], from anything libav reads.
#ifndef SOTTO_AUDIO_RECORDING_H_
#define SOTTO_AUDIO_RECORDING_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
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
  const RawFormat* raw = nullptr;  ///< Null: the container says
  bool keep_stereo = false;        ///< Also keep left and right apart (for labels by channel)
  double start_s = 0;              ///< Skip this much
  double length_s = -1;            ///< At most this much; negative: all
  std::function<bool()> should_stop;
};

struct Recording {
  SampleBuffer mono;
  SampleBuffer left, right;  ///< Filled only with keep_stereo and a source of exactly two channels
  std::string container, codec;  ///< libav's names of what was found
  int source_rate = 0;
  int source_channels = 0;
  std::vector<std::string> warnings;  ///< E.g. "the file ends inside a frame; 5.2 s decoded"
  [[nodiscard]] double seconds() const { return static_cast<double>(mono.size()) / kSampleRate; }
};

/// Decodes the first audio stream of a file ("-" is standard input; fifos work). What decodes
/// before a fault is kept and reported in warnings; nothing decodable is an error: kNotFound (no
/// such file), kUnsupported (not audio: the message says what was found), kInvalidArgument (no
/// audio stream, empty file).
Result<Recording> decode_file(const std::string& path, const DecodeOptions& options);
/// The same from memory; `label` names it in messages.
Result<Recording> decode_memory(std::span<const std::byte> bytes, const std::string& label,
                                const DecodeOptions& options);

}  // namespace sotto::audio

#endif  // SOTTO_AUDIO_RECORDING_H_
