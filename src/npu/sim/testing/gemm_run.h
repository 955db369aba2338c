// Runs products on a simulated array against an exact reference, for tests.
#ifndef SOTTO_NPU_SIM_TESTING_GEMM_RUN_H_
#define SOTTO_NPU_SIM_TESTING_GEMM_RUN_H_

#include <array>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "base/float16.h"
#include "npu/design/design.h"

namespace sotto::npu::testing {

using Matrix = std::vector<float>;
using HostBytes = std::vector<std::byte>;

/// Small integers, `density` of them not zero: sums of a few hundred are exact in f32 and in bf16.
inline Matrix random_matrix(int64_t count, std::mt19937& rng, double density) {
  std::uniform_real_distribution<double> uniform(0, 1);
  Matrix out(static_cast<size_t>(count));
  for (float& v : out)
    v = uniform(rng) < density ? (uniform(rng) < 0.5 ? -1.0f : 1.0f) : 0.0f;
  return out;
}

/// a [m, k] x b [k, n], skipping the zeros of a.
inline Matrix product(const Matrix& a, const Matrix& b, int64_t m, int64_t k, int64_t n) {
  Matrix c(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t kk = 0; kk < k; ++kk) {
      const float x = a[static_cast<size_t>(i * k + kk)];
      if (x == 0) continue;
      for (int64_t j = 0; j < n; ++j) {
        c[static_cast<size_t>(i * n + j)] += x * b[static_cast<size_t>(kk * n + j)];
      }
    }
  }
  return c;
}

inline HostBytes pack(const Matrix& values, ElementType type) {
  HostBytes out(values.size() * static_cast<size_t>(element_bytes(type)));
  for (size_t i = 0; i < values.size(); ++i) {
    if (type == ElementType::kF32) {
      reinterpret_cast<float*>(out.data())[i] = values[i];
    } else {
      reinterpret_cast<Bf16*>(out.data())[i] = to_bf16(values[i]);
    }
  }
  return out;
}

inline Matrix unpack(const HostBytes& bytes, ElementType type) {
  Matrix out(bytes.size() / static_cast<size_t>(element_bytes(type)));
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = type == ElementType::kF32 ? reinterpret_cast<const float*>(bytes.data())[i]
                                       : to_float(reinterpret_cast<const Bf16*>(bytes.data())[i]);
  }
  return out;
}

/// A header object of `elements` bf16 behind the data: the parameters in its first words.
inline void append_header(HostBytes& bytes, const std::vector<int32_t>& words, int64_t elements) {
  const size_t at = bytes.size();
  bytes.resize(at + static_cast<size_t>(elements) * 2);
  std::memcpy(bytes.data() + at, words.data(), words.size() * sizeof(int32_t));
}

/// A result buffer full of a value that no product gives.
inline HostBytes unwritten(const HostArgument& argument) {
  return HostBytes(static_cast<size_t>(argument.elements * element_bytes(argument.element)),
                   std::byte{0xEE});
}

inline std::vector<std::span<std::byte>> spans(std::vector<HostBytes>& buffers) {
  return {buffers.begin(), buffers.end()};
}

}  // namespace sotto::npu::testing

#endif  // SOTTO_NPU_SIM_TESTING_GEMM_RUN_H_
