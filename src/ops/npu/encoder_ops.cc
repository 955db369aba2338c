#include "ops/npu/encoder_ops.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/float16.h"

namespace sotto::ops::npu {
namespace {

namespace sn = sotto::npu;

std::string name_of(const char* kind, std::initializer_list<int64_t> sizes) {
  std::string name = kind;
  for (const int64_t size : sizes)
    name += "_" + std::to_string(size);
  return name;
}

double macs(const GemmShape& shape) {
  return static_cast<double>(shape.m) * static_cast<double>(shape.k) * static_cast<double>(shape.n);
}

/// x as operand A: bf16 rows of `pitch` elements, after them `ones` columns of 1.
Result<rt::Buffer*> stage_rows(UniversalArray& array, const HostMatrix& x, const GemmShape& padded,
                               int64_t ones) {
  SOTTO_ASSIGN_OR_RETURN(rt::Buffer* const buffer,
                         array.scratch(name_of("rows", {padded.m, padded.k, x.rows, x.cols, ones}),
                                       padded.m * padded.k * 2));
  Bf16* out = buffer->as<Bf16>();
  for (int64_t i = 0; i < x.rows; ++i, out += padded.k) {
    std::transform(x.row(i), x.row(i) + x.cols, out, [](float v) { return to_bf16(v); });
    std::fill_n(out + x.cols, ones, to_bf16(1));
  }
  return buffer;
}

void add_bias(const std::vector<float>& bias, HostMatrix& x) {
  if (bias.empty()) return;
  for (int64_t i = 0; i < x.rows; ++i) {
    float* row = x.row(i);
    for (int64_t j = 0; j < x.cols; ++j)
      row[j] += bias[static_cast<size_t>(j)];
  }
}

int64_t ones_for(const ArrayWeight& w) {
  return w.bias().empty() ? 0 : ArrayWeight::kBiasRows;
}

}  // namespace

Result<HostMatrix> product(UniversalArray& array, const HostMatrix& x, ArrayWeight& w, bool gelu) {
  const EpilogueMode mode = gelu ? EpilogueMode::kGelu : EpilogueMode::kF32;
  const int64_t ones = gelu ? ones_for(w) : 0;
  const GemmShape padded = array.padded({x.rows, w.k() + ones, w.n()}, mode);
  SOTTO_ASSIGN_OR_RETURN(rt::Buffer* const a, stage_rows(array, x, padded, ones));
  SOTTO_ASSIGN_OR_RETURN(rt::Buffer* const b, w.operand(array, padded, ones > 0));
  array.write_header(*b, padded.k * padded.n, padded, mode);
  SOTTO_ASSIGN_OR_RETURN(rt::Buffer* const c,
                         array.scratch(name_of(gelu ? "c16" : "c32", {padded.m, padded.n}),
                                       padded.m * padded.n * (gelu ? 2 : 4)));
  const std::string name = name_of(gelu ? "gelu" : "gemm", {padded.m, padded.k, padded.n});
  UniversalArray::Launch launch;
  launch.key = name;
  launch.make = [&] { return sn::gemm_sequence(array.options(), name, padded, mode); };
  launch.arguments = {a, b, c};
  launch.inputs = {a, b};
  launch.output = c;
  launch.products = 1;
  launch.macs = macs(padded);
  SOTTO_RETURN_IF_ERROR(array.run(launch));
  HostMatrix out(x.rows, w.n());
  for (int64_t i = 0; i < out.rows; ++i) {
    if (gelu) {
      const Bf16* from = c->as<Bf16>() + i * padded.n;
      std::transform(from, from + out.cols, out.row(i), [](Bf16 v) { return to_float(v); });
    } else {
      std::copy_n(c->as<float>() + i * padded.n, out.cols, out.row(i));
    }
  }
  if (!gelu) add_bias(w.bias(), out);
  return out;
}

Result<HostMatrix> mlp(UniversalArray& array, const HostMatrix& x, ArrayWeight& w1,
                       ArrayWeight& w2) {
  const int64_t ones = ones_for(w1);
  const GemmShape up = array.padded({x.rows, w1.k() + ones, w1.n()}, EpilogueMode::kGelu);
  // Padded columns of the first product are GELU(0) = 0 and meet rows of zeros.
  const GemmShape down = array.padded({x.rows, up.n, w2.n()}, EpilogueMode::kF32);
  SOTTO_ASSIGN_OR_RETURN(rt::Buffer* const a, stage_rows(array, x, up, ones));
  SOTTO_ASSIGN_OR_RETURN(rt::Buffer* const b1, w1.operand(array, up, ones > 0));
  SOTTO_ASSIGN_OR_RETURN(rt::Buffer* const b2, w2.operand(array, down, false));
  array.write_header(*b1, up.k * up.n, up, EpilogueMode::kGelu);
  array.write_header(*b2, down.k * down.n, down, EpilogueMode::kF32);
  SOTTO_ASSIGN_OR_RETURN(rt::Buffer* const hidden,
                         array.scratch(name_of("hidden", {up.m, up.n}), up.m * up.n * 2));
  SOTTO_ASSIGN_OR_RETURN(rt::Buffer* const y,
                         array.scratch(name_of("c32", {down.m, down.n}), down.m * down.n * 4));
  UniversalArray::Launch launch;
  launch.key = name_of("mlp", {up.m, up.k, up.n, down.n});
  launch.make = [&] { return sn::mlp_sequence(array.options(), up.m, up.k, up.n, down.n); };
  launch.arguments = {a, b1, hidden, b2, y};
  launch.inputs = {a, b1, b2};
  launch.output = y;
  launch.products = 2;
  launch.macs = macs(up) + macs(down);
  SOTTO_RETURN_IF_ERROR(array.run(launch));
  HostMatrix out(x.rows, w2.n());
  for (int64_t i = 0; i < out.rows; ++i)
    std::copy_n(y->as<float>() + i * down.n, out.cols, out.row(i));
  add_bias(w2.bias(), out);
  return out;
}

HostMatrix gather_windows(const HostMatrix& x, int64_t stride) {
  constexpr int64_t kWidth = 3;
  HostMatrix out((x.rows + stride - 1) / stride, kWidth * x.cols);
  for (int64_t i = 0; i < out.rows; ++i) {
    for (int64_t w = 0; w < kWidth; ++w) {
      const int64_t from = i * stride + w - 1;
      if (from >= 0 && from < x.rows) std::copy_n(x.row(from), x.cols, out.row(i) + w * x.cols);
    }
  }
  return out;
}

namespace {

struct AttentionShape {
  int64_t heads, rows, dim;  // As asked for
  GemmShape scores;          // Padded: [t, d] x [d, t]
  GemmShape values;          // [t, t] x [t, dv]
};

struct AttentionBuffers {
  rt::Buffer *q, *k, *s, *v, *o;
};

Result<AttentionBuffers> attention_buffers(UniversalArray& array, const AttentionShape& z) {
  const auto get = [&](const char* name, int64_t bytes) {
    return array.scratch(name_of(name, {z.heads, z.rows, z.dim}), bytes);
  };
  const int64_t t = z.scores.m;
  const int64_t d = z.scores.k;
  const int64_t dv = z.values.n;
  AttentionBuffers out{};
  SOTTO_ASSIGN_OR_RETURN(out.q, get("q", z.heads * t * d * 2));
  SOTTO_ASSIGN_OR_RETURN(out.k, get("k", z.heads * t * d * 2 + array.header_bytes()));
  SOTTO_ASSIGN_OR_RETURN(out.s, get("s", t * t * 2));
  SOTTO_ASSIGN_OR_RETURN(out.v, get("v", z.heads * t * dv * 2 + array.header_bytes()));
  SOTTO_ASSIGN_OR_RETURN(out.o, get("o", z.heads * t * dv * 4));
  return out;
}

/// q [t, d] scaled, k [d, t], v [t, dv] with ones behind the values; of one head.
void stage_head(const HostMatrix& qkv, const AttentionShape& z, int64_t head,
                const AttentionBuffers& buffers) {
  const int64_t t = z.scores.m;
  const int64_t d = z.scores.k;
  const int64_t dv = z.values.n;
  const float scale = 1 / std::sqrt(static_cast<float>(z.dim));
  Bf16* q = buffers.q->as<Bf16>() + head * t * d;
  Bf16* k = buffers.k->as<Bf16>() + head * d * t;
  Bf16* v = buffers.v->as<Bf16>() + head * t * dv;
  const int64_t width = z.heads * z.dim;
  for (int64_t i = 0; i < z.rows; ++i) {
    const float* row = qkv.row(i) + head * z.dim;
    for (int64_t j = 0; j < z.dim; ++j) {
      q[i * d + j] = to_bf16(row[j] * scale);
      k[j * t + i] = to_bf16(row[width + j]);
      v[i * dv + j] = to_bf16(row[2 * width + j]);
    }
    v[i * dv + z.dim] = to_bf16(1);
  }
}

/// Divides by the column of ones' results.
Status take_head(const AttentionShape& z, int64_t head, const AttentionBuffers& buffers,
                 HostMatrix& out) {
  constexpr float kSaturated = 5e37F;  // exp(87), where the core's exp stops
  constexpr float kFaint = 1e-26F;     // Below it the terms come near the smallest numbers
  const int64_t dv = z.values.n;
  const float* o = buffers.o->as<float>() + head * z.values.m * dv;
  for (int64_t i = 0; i < z.rows; ++i, o += dv) {
    const float denominator = o[z.dim];
    if (!(denominator < kSaturated) || denominator < kFaint) {
      return unsupported("attention scores beyond the range of exp without a shift (head " +
                         std::to_string(head) + ", row " + std::to_string(i) + ")");
    }
    float* row = out.row(i) + head * z.dim;
    for (int64_t j = 0; j < z.dim; ++j)
      row[j] = o[j] / denominator;
  }
  return {};
}

}  // namespace

Result<HostMatrix> attention(UniversalArray& array, const HostMatrix& qkv, int64_t heads) {
  AttentionShape z{};
  z.heads = heads;
  z.rows = qkv.rows;
  z.dim = qkv.cols / (3 * heads);
  z.scores = array.padded({z.rows, z.dim, z.rows}, EpilogueMode::kExp);
  const int64_t t = std::max(z.scores.m, z.scores.n);
  z.scores.m = z.scores.n = t;
  z.values = array.padded({t, t, z.dim + 1}, EpilogueMode::kF32);
  SOTTO_ASSIGN_OR_RETURN(const AttentionBuffers buffers, attention_buffers(array, z));
  for (int64_t head = 0; head < heads; ++head)
    stage_head(qkv, z, head, buffers);
  array.write_header(*buffers.k, heads * z.scores.k * t, z.scores, EpilogueMode::kExp);
  array.write_header(*buffers.v, heads * t * z.values.n, z.values, EpilogueMode::kF32);
  UniversalArray::Launch launch;
  launch.key = name_of("attention", {heads, t, z.scores.k, z.values.n});
  launch.make = [&] {
    return sn::attention_sequence(array.options(), heads, t, z.scores.k, z.values.n);
  };
  launch.arguments = {buffers.q, buffers.k, buffers.s, buffers.v, buffers.o};
  launch.inputs = {buffers.q, buffers.k, buffers.v};
  launch.output = buffers.o;
  launch.products = 2 * heads;
  launch.macs = static_cast<double>(heads) * (macs(z.scores) + macs(z.values));
  SOTTO_RETURN_IF_ERROR(array.run(launch));
  HostMatrix out(z.rows, heads * z.dim);
  for (int64_t head = 0; head < heads; ++head)
    SOTTO_RETURN_IF_ERROR(take_head(z, head, buffers, out));
  return out;
}

}  // namespace sotto::ops::npu
