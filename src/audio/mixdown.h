// From decoded frames of any format, rate and channel count to 16 kHz mono.
#ifndef SOTTO_AUDIO_MIXDOWN_H_
#define SOTTO_AUDIO_MIXDOWN_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "audio/recording.h"
#include "sotto/status.h"

extern "C" {
struct AVFrame;
struct SwrContext;
}

namespace sotto::audio {

/// One or two planes of samples of equal length.
struct Planes {
  int channels = 1;
  std::array<std::vector<float>, 2> data;
  [[nodiscard]] size_t samples() const { return data[0].size(); }
  void clear();
};

/// Turns samples of any libav type into f32 and mixes more than two channels into one. Non-finite
/// samples become 0.
class ChannelMixer {
 public:
  /// The frame's samples: two planes for stereo, else one.
  Status convert(const AVFrame& frame, Planes& out);

  [[nodiscard]] int64_t cleaned() const { return cleaned_; }  ///< Samples that were NaN or infinite
  [[nodiscard]] int64_t beyond() const { return beyond_; }    ///< Samples outside [-1, 1]
  [[nodiscard]] int64_t total() const { return total_; }

 private:
  Status read_channel(const AVFrame& frame, int channel);

  std::vector<float> channel_;
  int64_t cleaned_ = 0, beyond_ = 0, total_ = 0;
};

/// Resamples one or two planes to 16 kHz with libswresample's default filter (what other Whisper
/// programs use).
class Resampler {
 public:
  Resampler();
  ~Resampler();
  Resampler(const Resampler&) = delete;
  Resampler& operator=(const Resampler&) = delete;

  /// Starts anew for a source of this rate; call flush() before when samples may be inside.
  Status configure(int rate, int channels);
  /// Appends to `out` what is ready after `in`.
  Status convert(const Planes& in, Planes& out);
  /// Appends the filter's rest.
  Status flush(Planes& out);

 private:
  struct Free {
    void operator()(SwrContext* context) const;
  };
  Status run(const Planes* in, Planes& out);

  std::unique_ptr<SwrContext, Free> context_;  ///< Null: the source has 16 kHz already
  int channels_ = 1;
};

/// Appends 16 kHz planes to a Recording: makes mono of stereo, clips to [-1, 1], takes only the
/// span asked for.
class RecordingSink {
 public:
  RecordingSink(const DecodeOptions& options, Recording& recording);

  void append(const Planes& planes);
  void finish();

  /// All that was asked for has been appended.
  [[nodiscard]] bool full() const;
  /// Samples seen, including those skipped before the start.
  [[nodiscard]] int64_t seen() const { return seen_; }

 private:
  enum class Polarity { kUnknown, kNormal, kInverted };
  void take(const Planes& planes);
  void decide_polarity();
  void emit_stereo(const Planes& planes);

  Recording& recording_;
  bool keep_stereo_;
  int64_t first_, last_;  ///< The span [first_, last_) of the source's 16 kHz samples to keep
  int64_t seen_ = 0;
  Polarity polarity_ = Polarity::kUnknown;
  double mid_energy_ = 0, side_energy_ = 0;
  Planes pending_;  ///< Stereo held back until the polarity is known
  std::vector<float> mono_;
};

}  // namespace sotto::audio

#endif  // SOTTO_AUDIO_MIXDOWN_H_
