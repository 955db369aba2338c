#include "audio/real_fft.h"

#include <cmath>
#include <numbers>

namespace sotto::audio {
namespace {

// The transforms of 2, 4 and 5 points in place; x_re[j], x_im[j] are the inputs of one frame.
// Source of the forms: the definition, with equal products shared.
inline void dft(std::array<float, 2>& re, std::array<float, 2>& im) {
  const float r = re[0] - re[1], i = im[0] - im[1];
  re[0] += re[1];
  im[0] += im[1];
  re[1] = r;
  im[1] = i;
}

inline void dft(std::array<float, 4>& re, std::array<float, 4>& im) {
  const float sr = re[0] + re[2], si = im[0] + im[2], dr = re[0] - re[2], di = im[0] - im[2];
  const float tr = re[1] + re[3], ti = im[1] + im[3], er = re[1] - re[3], ei = im[1] - im[3];
  re = {sr + tr, dr + ei, sr - tr, dr - ei};
  im = {si + ti, di - er, si - ti, di + er};
}

inline void dft(std::array<float, 5>& re, std::array<float, 5>& im) {
  constexpr float kCos1 = 0.30901699437494745f,
                  kCos2 = -0.80901699437494745f;  // cos(2 pi / 5), cos(4 pi / 5)
  constexpr float kSin1 = 0.95105651629515357f, kSin2 = 0.58778525229247314f;  // sin of the same
  const float a_re = re[1] + re[4], a_im = im[1] + im[4], b_re = re[2] + re[3],
              b_im = im[2] + im[3];
  const float c_re = re[1] - re[4], c_im = im[1] - im[4], d_re = re[2] - re[3],
              d_im = im[2] - im[3];
  const float e_re = re[0] + kCos1 * a_re + kCos2 * b_re,
              e_im = im[0] + kCos1 * a_im + kCos2 * b_im;
  const float f_re = re[0] + kCos2 * a_re + kCos1 * b_re,
              f_im = im[0] + kCos2 * a_im + kCos1 * b_im;
  const float g_re = kSin1 * c_re + kSin2 * d_re, g_im = kSin1 * c_im + kSin2 * d_im;
  const float h_re = kSin2 * c_re - kSin1 * d_re, h_im = kSin2 * c_im - kSin1 * d_im;
  re = {re[0] + a_re + b_re, e_re + g_im, f_re + h_im, f_re - h_im, e_re - g_im};
  im = {im[0] + a_im + b_im, e_im - g_re, f_im - h_re, f_im + h_re, e_im + g_re};
}

}  // namespace

RealFft400::RealFft400() {
  constexpr std::array<size_t, 4> kRadices = {5, 5, 4, 2};
  const auto unit = [](size_t k, size_t n) {
    const double angle = -2.0 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    return Complex{static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
  };
  size_t length = kHalf, stride = 1;
  for (size_t i = 0; i < kRadices.size(); ++i) {
    Pass& pass = passes_[i];
    pass.radix = kRadices[i];
    pass.stride = stride;
    for (size_t p = 0; p < length / pass.radix; ++p) {
      for (size_t k = 0; k < pass.radix; ++k)
        pass.twiddles.push_back(unit(p * k, length));
    }
    length /= pass.radix;
    stride *= pass.radix;
  }
  for (size_t k = 0; k <= kHalf; ++k)
    last_[k] = unit(k, kSize);
}

// One pass of the self-sorting (Stockham) decimation in frequency.
// Source: P. N. Swarztrauber, "FFT algorithms for vector computers", Parallel Computing 1 (1984).
template <size_t kRadix>
void RealFft400::run(const Pass& pass, const Lanes* re, const Lanes* im, Lanes* out_re,
                     Lanes* out_im) const {
  const size_t groups = kHalf / kRadix / pass.stride;
  const Complex* w = pass.twiddles.data();
  for (size_t p = 0; p < groups; ++p, w += kRadix) {
    for (size_t q = 0; q < pass.stride; ++q) {
      const size_t from = q + pass.stride * p;
      const size_t to = q + pass.stride * kRadix * p;
      for (size_t l = 0; l < kLanes; ++l) {
        std::array<float, kRadix> x_re, x_im;
        for (size_t j = 0; j < kRadix; ++j) {
          x_re[j] = re[from + pass.stride * groups * j][l];
          x_im[j] = im[from + pass.stride * groups * j][l];
        }
        dft(x_re, x_im);
        for (size_t k = 0; k < kRadix; ++k) {
          out_re[to + pass.stride * k][l] = x_re[k] * w[k].re - x_im[k] * w[k].im;
          out_im[to + pass.stride * k][l] = x_re[k] * w[k].im + x_im[k] * w[k].re;
        }
      }
    }
  }
}

void RealFft400::power(const Lanes* in, Lanes* power) {
  // Even samples are the real parts, odd ones the imaginary parts of the half-size input.
  for (size_t i = 0; i < kHalf; ++i) {
    re_[0][i] = in[2 * i];
    im_[0][i] = in[2 * i + 1];
  }
  run<5>(passes_[0], re_[0].data(), im_[0].data(), re_[1].data(), im_[1].data());
  run<5>(passes_[1], re_[1].data(), im_[1].data(), re_[0].data(), im_[0].data());
  run<4>(passes_[2], re_[0].data(), im_[0].data(), re_[1].data(), im_[1].data());
  run<2>(passes_[3], re_[1].data(), im_[1].data(), re_[0].data(), im_[0].data());
  const Lanes* re = re_[0].data();
  const Lanes* im = im_[0].data();
  // X[k] = (Z[k] + conj Z[200 - k]) / 2 - i exp(-2 pi i k / 400) (Z[k] - conj Z[200 - k]) / 2
  for (size_t k = 0; k <= kHalf; ++k) {
    const Lanes &ar = re[k % kHalf], &ai = im[k % kHalf], &br = re[(kHalf - k) % kHalf],
                &bi = im[(kHalf - k) % kHalf];
    const Complex w = last_[k];
    for (size_t l = 0; l < kLanes; ++l) {
      const float even_re = ar[l] + br[l], even_im = ai[l] - bi[l];
      const float odd_re = ai[l] + bi[l], odd_im = br[l] - ar[l];
      const float x_re = even_re + odd_re * w.re - odd_im * w.im;
      const float x_im = even_im + odd_re * w.im + odd_im * w.re;
      power[k][l] = 0.25f * (x_re * x_re + x_im * x_im);
    }
  }
}

}  // namespace sotto::audio
