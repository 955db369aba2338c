#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/float16.h"
#include "kernels/ref/reference.h"

namespace sotto::kernels::ref {

void softmax(float* x, int64_t n, float scale) {
  const float highest = *std::max_element(x, x + n);
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    x[i] = std::exp(scale * (x[i] - highest));
    sum += x[i];
  }
  for (int64_t i = 0; i < n; ++i)
    x[i] /= sum;
}

namespace {

void f32_to_bf16(const float* x, int64_t n, uint16_t* y) {
  for (int64_t i = 0; i < n; ++i)
    y[i] = to_bf16(x[i]).bits;
}

template <typename T>
void widen(const void* x, int64_t n, float* y) {
  const auto* bytes = static_cast<const unsigned char*>(x);
  for (int64_t i = 0; i < n; ++i) {
    T v;
    std::memcpy(&v, bytes + i * 2, 2);
    y[i] = to_float(v);
  }
}

void quantize_u8(const float* x, int64_t n, uint8_t* y, float* scale, int32_t* zero) {
  float lo = 0;
  float hi = 0;
  for (int64_t i = 0; i < n; ++i) {
    lo = std::min(lo, x[i]);
    hi = std::max(hi, x[i]);
  }
  const float range = hi - lo;
  const float inverse = range > 0 ? 255.0f / range : 0.0f;
  const float offset = std::nearbyint(-lo * inverse);
  for (int64_t i = 0; i < n; ++i) {
    const float code = std::nearbyint(x[i] * inverse) + offset;
    y[i] = code > 0 ? static_cast<uint8_t>(std::min(code, 255.0f)) : uint8_t{0};  // NaN gives 0
  }
  *scale = range / 255.0f;
  *zero = static_cast<int32_t>(offset);
}

void quantize_s8(const float* x, int64_t n, int8_t* y, float* scale, int32_t* sum) {
  float highest = 0;
  for (int64_t i = 0; i < n; ++i)
    highest = std::max(highest, std::fabs(x[i]));
  const float inverse = highest > 0 ? 127.0f / highest : 0.0f;
  int32_t total = 0;
  for (int64_t i = 0; i < n; ++i) {
    y[i] = static_cast<int8_t>(std::clamp(std::nearbyint(x[i] * inverse), -127.0f, 127.0f));
    total += y[i];
  }
  *scale = highest / 127.0f;
  *sum = total;
}

void layer_norm(const LayerNormArgs& args) {
  const auto count = static_cast<float>(args.cols);
  for (int64_t row = 0; row < args.rows; ++row) {
    const float* x = args.x + row * args.ldx;
    float* y = args.y + row * args.ldy;
    float sum = 0;
    for (int64_t i = 0; i < args.cols; ++i)
      sum += x[i];
    const float mean = sum / count;
    float squares = 0;
    for (int64_t i = 0; i < args.cols; ++i)
      squares += (x[i] - mean) * (x[i] - mean);
    const float factor = 1.0f / std::sqrt(squares / count + args.epsilon);
    for (int64_t i = 0; i < args.cols; ++i) {
      y[i] = (x[i] - mean) * factor * args.gamma[i] + (args.beta != nullptr ? args.beta[i] : 0.0f);
    }
    if (args.y16 != nullptr) f32_to_bf16(y, args.cols, args.y16 + row * args.ldy16);
    if (args.y8 != nullptr) {
      quantize_u8(y, args.cols, args.y8 + row * args.ldy8, args.y8_scale + row, args.y8_zero + row);
    }
  }
}

void pack_words(const uint32_t* rows, int64_t ld, int64_t n, int64_t words, int64_t cols,
                uint32_t* out) {
  for (int64_t w = 0; w < words; ++w) {
    for (int64_t j = 0; j < cols; ++j)
      out[w * cols + j] = j < n ? rows[j * ld + w] : 0;
  }
}

void pack_pairs_bf16(const uint16_t* rows, int64_t ld, int64_t k, int64_t n, int64_t words,
                     int64_t cols, uint16_t* out) {
  for (int64_t i = 0; i < 2 * words; ++i) {
    for (int64_t j = 0; j < cols; ++j) {
      out[(i / 2 * cols + j) * 2 + i % 2] = i < k && j < n ? rows[i * ld + j] : uint16_t{0};
    }
  }
}

}  // namespace

const ConvertKernels kConvert = {"convert_scalar", f32_to_bf16, widen<Bf16>,
                                 widen<F16>,       quantize_u8, quantize_s8};
const LayerNormKernel kLayerNorm = {"layer_norm_scalar", layer_norm};
const PackKernels kPack = {"pack_scalar", pack_words, pack_pairs_bf16};

}  // namespace sotto::kernels::ref
