#include "npu/library/catalogue.h"

#include <array>
#include <charconv>
#include <numeric>
#include <utility>
#include <vector>

namespace sotto::npu {
namespace {

constexpr std::array<DesignForm, 8> kForms = {{
    {"gemm-MxKxN", "gemm-1536x1344x1280", "one product with its loop bounds built in, f32 result"},
    {"universal-MxKxN", "universal-1536x1344x1280",
     "the universal array and one product on it, f32 result"},
    {"bf16-MxKxN", "bf16-1536x1344x1280", "the same with a bf16 result"},
    {"gelu-MxKxN", "gelu-1536x1344x5120", "the same with GELU, bf16 result"},
    {"mlp-MxKxHxN", "mlp-1536x1344x5120x1280",
     "fc1, GELU and fc2 in one launch on the universal array"},
    {"attention-HxTxDxV", "attention-2x1536x64x128",
     "H heads, exp of the scores and the product with V, no softmax pass"},
    {"softmax-RxC", "softmax-30720x1536", "softmax of rows on all cores"},
    {"gelurow-RxC", "gelurow-1536x1280", "GELU of rows on all cores, f32 in, bf16 out"},
}};

constexpr int64_t kMaxExtent = 1 << 20;

Status unknown_design(std::string_view name) {
  std::string text = "no design is called '" + std::string(name) + "'; the forms are";
  for (const DesignForm& form : kForms)
    text += "\n  " + std::string(form.form) + ", e.g. " + std::string(form.example);
  return invalid_argument(text);
}

// "1536x64x128" -> three numbers
Result<std::vector<int64_t>> extents(std::string_view text, size_t count, std::string_view name) {
  std::vector<int64_t> out;
  while (true) {
    int64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc() || value < 1 || value > kMaxExtent) return unknown_design(name);
    out.push_back(value);
    text.remove_prefix(static_cast<size_t>(parsed.ptr - text.data()));
    if (text.empty()) break;
    if (text[0] != 'x') return unknown_design(name);
    text.remove_prefix(1);
  }
  if (out.size() != count) return unknown_design(name);
  return out;
}

NamedDesign universal_design(GenerationId generation) {
  NamedDesign out;
  out.universal = true;
  out.options.generation = generation;
  out.design = universal_array(out.options);
  return out;
}

Result<NamedDesign> universal_product(GenerationId generation, const std::vector<int64_t>& z,
                                      EpilogueMode mode) {
  NamedDesign out = universal_design(generation);
  const GemmJob job{
      pad_gemm({z[0], z[1], z[2]}, out.options.tile, generation, mode != EpilogueMode::kF32), mode};
  SOTTO_ASSIGN_OR_RETURN(Sequence sequence, gemm_sequence(out.options, "gemm", job.shape, mode));
  out.design.sequences.push_back(std::move(sequence));
  out.job = job;
  return out;
}

Result<NamedDesign> universal_mlp(GenerationId generation, MlpJob job) {
  NamedDesign out = universal_design(generation);
  const GemmShape first = pad_gemm({job.m, job.k, job.h}, out.options.tile, generation, true);
  const GemmShape second = pad_gemm({first.m, first.n, job.n}, out.options.tile, generation, false);
  job = {first.m, first.k, first.n, second.n};
  SOTTO_ASSIGN_OR_RETURN(Sequence sequence, mlp_sequence(out.options, job.m, job.k, job.h, job.n));
  out.design.sequences.push_back(std::move(sequence));
  out.job = job;
  return out;
}

// T is at once M, K and N of the two products.
Result<NamedDesign> universal_attention(GenerationId generation, AttentionJob job) {
  NamedDesign out = universal_design(generation);
  const GemmShape scores = pad_gemm({job.t, job.d, job.t}, out.options.tile, generation, true);
  const int64_t t = std::lcm(pad_gemm({1, 1, 1}, out.options.tile, generation, true).m,
                             pad_gemm({1, 1, 1}, out.options.tile, generation, true).n);
  job.t = (job.t + t - 1) / t * t;
  job.d = scores.k;
  job.dv = pad_gemm({job.t, job.t, job.dv}, out.options.tile, generation, false).n;
  SOTTO_ASSIGN_OR_RETURN(Sequence sequence,
                         attention_sequence(out.options, job.heads, job.t, job.d, job.dv));
  out.design.sequences.push_back(std::move(sequence));
  out.job = job;
  return out;
}

Result<NamedDesign> rows(GenerationId generation, const std::string& kernel,
                         const std::vector<int64_t>& z, ElementType input) {
  NamedDesign out;
  const RowOp op{generation, kernel, z[0], z[1], z[1], z[1], input, ElementType::kBf16, 0};
  SOTTO_ASSIGN_OR_RETURN(out.design, row_op(op));
  out.job = op;
  return out;
}

}  // namespace

std::span<const DesignForm> design_forms() {
  return kForms;
}

Result<NamedDesign> design_by_name(std::string_view name, GenerationId generation) {
  const size_t dash = name.find('-');
  if (dash == std::string_view::npos) return unknown_design(name);
  const std::string_view kind = name.substr(0, dash);
  const std::string_view sizes = name.substr(dash + 1);
  if (kind == "gemm") {
    SOTTO_ASSIGN_OR_RETURN(const std::vector<int64_t> z, extents(sizes, 3, name));
    NamedDesign out;
    const GemmTile tile = choose_gemm_tile({z[0], z[1], z[2]});
    const GemmJob job{pad_gemm({z[0], z[1], z[2]}, tile, generation, false), EpilogueMode::kF32};
    SOTTO_ASSIGN_OR_RETURN(
        out.design, fixed_gemm(generation, job.shape, tile, ElementType::kF32, CTasks::kRow));
    out.job = job;
    return out;
  }
  if (kind == "universal" || kind == "bf16" || kind == "gelu") {
    SOTTO_ASSIGN_OR_RETURN(const std::vector<int64_t> z, extents(sizes, 3, name));
    return universal_product(generation, z,
                             kind == "universal" ? EpilogueMode::kF32
                             : kind == "bf16"    ? EpilogueMode::kBf16
                                                 : EpilogueMode::kGelu);
  }
  if (kind == "mlp") {
    SOTTO_ASSIGN_OR_RETURN(const std::vector<int64_t> z, extents(sizes, 4, name));
    return universal_mlp(generation, {z[0], z[1], z[2], z[3]});
  }
  if (kind == "attention") {
    SOTTO_ASSIGN_OR_RETURN(const std::vector<int64_t> z, extents(sizes, 4, name));
    return universal_attention(generation, {z[0], z[1], z[2], z[3]});
  }
  if (kind == "softmax" || kind == "gelurow") {
    SOTTO_ASSIGN_OR_RETURN(const std::vector<int64_t> z, extents(sizes, 2, name));
    return kind == "softmax" ? rows(generation, "softmax_row", z, ElementType::kBf16)
                             : rows(generation, "gelu_row", z, ElementType::kF32);
  }
  return unknown_design(name);
}

}  // namespace sotto::npu
