// Power spectra of eight frames of 400 samples at once.
#ifndef SOTTO_AUDIO_REAL_FFT_H_
#define SOTTO_AUDIO_REAL_FFT_H_

#include <array>
#include <cstddef>
#include <vector>

namespace sotto::audio {

/// The discrete Fourier transform of 400 real numbers, for kLanes independent frames side by side:
/// element i of frame l stands at [i][l], so that every step is the same operation on kLanes
/// neighbours and the compiler vectorises it.
class RealFft400 {
 public:
  static constexpr size_t kLanes = 8;
  static constexpr size_t kSize = 400;
  static constexpr size_t kBins = kSize / 2 + 1;
  using Lanes = std::array<float, kLanes>;

  RealFft400();

  /// |X[k]|^2 for k in [0, 200]. in: [kSize], power: [kBins]. Not thread-safe: uses scratch of this
  /// object.
  void power(const Lanes* in, Lanes* power);

 private:
  static constexpr size_t kHalf =
      kSize / 2;  ///< The real transform is a complex one of half the size and a last step
  struct Complex {
    float re, im;
  };
  struct Pass {
    size_t radix;
    size_t stride;  ///< Product of the radices before
    std::vector<Complex>
        twiddles;  ///< [length / radix, radix]: w^(p * k), w = exp(-2 pi i / length)
  };
  template <size_t kRadix>
  void run(const Pass& pass, const Lanes* re, const Lanes* im, Lanes* out_re, Lanes* out_im) const;

  std::array<Pass, 4> passes_;
  std::array<Complex, kHalf + 1> last_;  ///< exp(-2 pi i k / 400)
  std::array<Lanes, kHalf> re_[2], im_[2];
};

}  // namespace sotto::audio

#endif  // SOTTO_AUDIO_REAL_FFT_H_
