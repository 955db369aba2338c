// Helpers of the kernel tests: which levels to run on, and repeatable random data at odd addresses.
#ifndef SOTTO_KERNELS_TESTING_KERNEL_TESTING_H_
#define SOTTO_KERNELS_TESTING_KERNEL_TESTING_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "base/cpu_features.h"
#include "base/float16.h"

namespace sotto::kernels::testing {

/// Every level this machine can run, scalar first.
inline std::vector<CpuIsa> usable_isas() {
  std::vector<CpuIsa> isas;
  for (int i = 0; i <= static_cast<int>(detected_cpu_isa()); ++i)
    isas.push_back(static_cast<CpuIsa>(i));
  return isas;
}

/// For INSTANTIATE_TEST_SUITE_P.
inline std::string isa_label(const ::testing::TestParamInfo<CpuIsa>& info) {
  return std::string(cpu_isa_name(info.param));
}

/// Elements that begin `shift` elements after an allocation's start, with a guard value after the
/// end.
template <typename T>
class Shifted {
 public:
  explicit Shifted(int64_t n, int64_t shift = 1)
      : shift_(shift), n_(n), data_(static_cast<size_t>(n + shift + kGuard), T(kFill)) {}
  T* data() { return data_.data() + shift_; }
  const T* data() const { return data_.data() + shift_; }
  T& operator[](int64_t i) { return data_[static_cast<size_t>(shift_ + i)]; }
  const T& operator[](int64_t i) const { return data_[static_cast<size_t>(shift_ + i)]; }
  [[nodiscard]] int64_t size() const { return n_; }
  /// Nothing was written before or behind the elements.
  [[nodiscard]] bool guards_intact() const {
    for (int64_t i = 0; i < static_cast<int64_t>(data_.size()); ++i) {
      if ((i < shift_ || i >= shift_ + n_) && data_[static_cast<size_t>(i)] != T(kFill))
        return false;
    }
    return true;
  }

 private:
  static constexpr int64_t kGuard = 32;
  static constexpr int kFill = 77;
  int64_t shift_, n_;
  std::vector<T> data_;
};

class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  float normal() { return normal_(engine_); }
  int64_t uniform(int64_t lo, int64_t hi) {
    return std::uniform_int_distribution<int64_t>(lo, hi)(engine_);
  }
  void fill(Shifted<float>& x, float scale = 1.0f) {
    for (int64_t i = 0; i < x.size(); ++i)
      x[i] = scale * normal();
  }

 private:
  std::mt19937 engine_;
  std::normal_distribution<float> normal_;
};

}  // namespace sotto::kernels::testing

#endif  // SOTTO_KERNELS_TESTING_KERNEL_TESTING_H_
