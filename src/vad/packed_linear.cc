#include "vad/packed_linear.h"

#include <algorithm>
#include <utility>

namespace sotto::vad {
namespace {

constexpr int64_t kLineFloats = 16;

size_t lines(int64_t floats) {
  return static_cast<size_t>((floats + kLineFloats - 1) / kLineFloats);
}

}  // namespace

PackedLinear::PackedLinear(const kernels::KernelTable& kernels, std::span<const float> weight,
                           std::vector<float> bias, int64_t out, int64_t in)
    : kernel_(&kernels.gemm_f32), out_(out), in_(in), bias_(std::move(bias)) {
  const int64_t cols = kernel_->tile_cols;
  const int64_t count = (out + cols - 1) / cols;
  panels_.resize(lines(count * cols * in));
  for (int64_t p = 0; p < count; ++p) {
    const auto* rows = reinterpret_cast<const uint32_t*>(weight.data() + p * cols * in);
    auto* panel = reinterpret_cast<uint32_t*>(panels_.data()) + p * cols * in;
    kernels.pack.words(rows, in, std::min(cols, out - p * cols), in, cols, panel);
  }
}

void PackedLinear::run(int64_t m, const float* a, int64_t lda, float* c, int64_t ldc,
                       const float* add, int64_t ld_add) const {
  thread_local std::vector<CacheLine> scratch;
  scratch.resize(std::max(scratch.size(),
                          lines(kernels::gemm_scratch_bytes(kernels::GemmType::kF32, m, in_) / 4)));
  kernels::GemmArgs args;
  args.m = m;
  args.n = out_;
  args.k = in_;
  args.a = a;
  args.lda = lda;
  args.w = panels_.data();
  args.bias = bias_.empty() ? nullptr : bias_.data();
  args.residual = add;
  args.ld_residual = ld_add;
  args.c = c;
  args.ldc = ldc;
  args.scratch = scratch.data();
  kernel_->run(args);
}

}  // namespace sotto::vad
