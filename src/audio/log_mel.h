// Whisper's log-mel features. Source: https://arxiv.org/abs/2212.04356, section 2.2; filters as
// librosa's Slaney form.
#ifndef SOTTO_AUDIO_LOG_MEL_H_
#define SOTTO_AUDIO_LOG_MEL_H_

#include <cstdint>
#include <span>
#include <vector>

#include "audio/recording.h"
#include "base/thread_pool.h"
#include "sotto/status.h"

namespace sotto::audio {

inline constexpr int kFrameSamples = 400;   ///< 25 ms window
inline constexpr int kHopSamples = 160;     ///< 10 ms a frame
inline constexpr int kWindowFrames = 3000;  ///< 30 s, what the encoder sees

/// log10 mel energies of a whole recording, normalised over the whole recording as Whisper does:
/// clamp to (maximum - 8), then (x + 4) / 4, where the maximum is over the recording followed by 30
/// s of zeros.
class LogMel {
 public:
  /// n_mels: 80 or 128 (any positive number up to 201 works). Centre-padded by reflection, periodic
  /// Hann window.
  static Result<LogMel> compute(const SampleBuffer& samples, int n_mels, ThreadPool& pool);

  [[nodiscard]] int n_mels() const { return n_mels_; }
  /// Frames of the recording itself: ceil or floor as Whisper counts them (samples / 160), without
  /// the padding.
  [[nodiscard]] int64_t frames() const { return frames_; }

  /// Frames [first, first + n) as time-major rows [n, n_mels]; frames beyond the recording are
  /// those of the zero padding, further ones repeat the padded value of silence.
  void window(int64_t first, int64_t n, std::span<float> out) const;

 private:
  int n_mels_ = 0;
  int64_t frames_ = 0;
  float maximum_ = 0;
  std::vector<float> log_energy_;  ///< [frames incl. what padding makes different from silence,
                                   ///< n_mels], unnormalised
};

/// The mel filter bank [n_mels, 201] for 16 kHz and 400-point spectra (Slaney's scale and area
/// normalisation).
std::vector<float> mel_filters(int n_mels);

}  // namespace sotto::audio

#endif  // SOTTO_AUDIO_LOG_MEL_H_
