// Whisper's log-mel features. Source: https://arxiv.org/abs/2212.04356, section 2.2; filters as
// librosa's Slaney form.
#ifndef SOTTO_AUDIO_LOG_MEL_H_
#define SOTTO_AUDIO_LOG_MEL_H_

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "audio/recording.h"
#include "base/thread_pool.h"
#include "sotto/status.h"

namespace sotto::audio {

inline constexpr int kFrameSamples = 400;   ///< 25 ms window
inline constexpr int kHopSamples = 160;     ///< 10 ms a frame
inline constexpr int kWindowFrames = 3000;  ///< 30 s, what the encoder sees
inline constexpr int kSpectrumBins = kFrameSamples / 2 + 1;

/// What LogMel::window() gives beyond the frames of the recording.
enum class Beyond {
  kSilence,  ///< The features of the zeros that follow the recording; Whisper detects languages on
             ///< these
  kZero,     ///< The number 0; Whisper's transcription windows are filled up with it
};

/// log10 mel energies of a whole recording, normalised over the whole recording as Whisper does:
/// clamp to (maximum - 8), then (x + 4) / 4, where the maximum is over the recording followed by 30
/// s of zeros.
class LogMel {
 public:
  /// n_mels: 80 or 128 (any positive number up to 201 works). Centre-padded by reflection, periodic
  /// Hann window. `filters`: [n_mels, 201], for model files that bring their own; empty:
  /// mel_filters(n_mels). Errors: kInvalidArgument (n_mels or the size of `filters`), kCancelled.
  static Result<LogMel> compute(const SampleBuffer& samples, int n_mels, ThreadPool& pool,
                                std::span<const float> filters = {},
                                const std::function<bool()>& should_stop = {});

  [[nodiscard]] int n_mels() const { return n_mels_; }
  /// Frames of the recording itself as Whisper counts them: samples / 160 rounded down, without the
  /// padding.
  [[nodiscard]] int64_t frames() const { return frames_; }

  /// Frames [first, first + n) as time-major rows [n, n_mels]. With kSilence the one or two frames
  /// after frames() still hold the recording's last samples; with kZero they are 0 like all that
  /// follow.
  void window(int64_t first, int64_t n, std::span<float> out,
              Beyond beyond = Beyond::kSilence) const;

 private:
  int n_mels_ = 0;
  int64_t frames_ = 0;
  float maximum_ = 0;
  std::vector<float> log_energy_;  ///< [frames that reach into the recording, n_mels], unnormalised
};

/// The mel filter bank [n_mels, 201] for 16 kHz and 400-point spectra (Slaney's scale and area
/// normalisation).
std::vector<float> mel_filters(int n_mels);

}  // namespace sotto::audio

#endif  // SOTTO_AUDIO_LOG_MEL_H_
