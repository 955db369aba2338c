#include "cli/npu_run.h"

#include <chrono>
#include <cstring>
#include <random>
#include <utility>

#include "base/float16.h"
#include "base/thread_pool.h"
#include "npu/design/verify.h"
#include "npu/txn/sequence.h"

namespace sotto::cli {
namespace {

using npu::ElementType;
using Matrix = std::vector<float>;
using Bytes = std::vector<std::byte>;

// -1, 0 or 1, few enough that sums stay exact in bf16.
Matrix random_matrix(int64_t count, std::mt19937_64& rng, double density) {
  std::uniform_real_distribution<double> uniform(0, 1);
  Matrix out(static_cast<size_t>(count));
  for (float& v : out)
    v = uniform(rng) < density ? (uniform(rng) < 0.5 ? -1.0f : 1.0f) : 0.0f;
  return out;
}

Bytes pack(const Matrix& values, ElementType type) {
  Bytes out(values.size() * static_cast<size_t>(npu::element_bytes(type)));
  for (size_t i = 0; i < values.size(); ++i) {
    if (type == ElementType::kF32) {
      std::memcpy(out.data() + 4 * i, &values[i], 4);
    } else {
      const Bf16 half = to_bf16(values[i]);
      std::memcpy(out.data() + 2 * i, &half, 2);
    }
  }
  return out;
}

Matrix product(const float* a, const float* b, int64_t m, int64_t k, int64_t n) {
  Matrix c(static_cast<size_t>(m * n));
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t kk = 0; kk < k; ++kk) {
      const float x = a[i * k + kk];
      if (x == 0) continue;
      for (int64_t j = 0; j < n; ++j)
        c[static_cast<size_t>(i * n + j)] += x * b[kk * n + j];
    }
  }
  return c;
}

/// Host buffers of one launch and what they must hold afterwards.
struct LaunchData {
  std::vector<Bytes> buffers, wanted;
};

void append_header(Bytes& bytes, const npu::UniversalOptions& options, const npu::GemmShape& shape,
                   npu::EpilogueMode mode) {
  const std::vector<int32_t> words = npu::launch_parameters(options, shape, mode);
  const size_t at = bytes.size();
  bytes.resize(at + static_cast<size_t>(npu::header_elements(options)) * 2);
  std::memcpy(bytes.data() + at, words.data(), words.size() * sizeof(int32_t));
}

LaunchData gemm_data(const npu::NamedDesign& named, const npu::GemmJob& job, std::mt19937_64& rng) {
  const npu::GemmShape& z = job.shape;
  const Matrix a = random_matrix(z.m * z.k, rng, 0.3);
  const Matrix b = random_matrix(z.k * z.n, rng, std::min(0.3, 30.0 / static_cast<double>(z.k)));
  const ElementType out =
      job.mode == npu::EpilogueMode::kF32 ? ElementType::kF32 : ElementType::kBf16;
  LaunchData data;
  data.buffers = {pack(a, ElementType::kBf16), pack(b, ElementType::kBf16),
                  Bytes(static_cast<size_t>(z.m * z.n * npu::element_bytes(out)))};
  if (named.universal) append_header(data.buffers[1], named.options, z, job.mode);
  data.wanted = data.buffers;
  data.wanted[2] = pack(product(a.data(), b.data(), z.m, z.k, z.n), out);
  return data;
}

LaunchData mlp_data(const npu::NamedDesign& named, const npu::MlpJob& z, std::mt19937_64& rng) {
  const Matrix x = random_matrix(z.m * z.k, rng, 0.3);
  const Matrix w = random_matrix(z.k * z.h, rng, std::min(0.3, 20.0 / static_cast<double>(z.k)));
  const Matrix u = random_matrix(z.h * z.n, rng, std::min(0.3, 20.0 / static_cast<double>(z.h)));
  LaunchData data;
  data.buffers = {pack(x, ElementType::kBf16), pack(w, ElementType::kBf16),
                  Bytes(static_cast<size_t>(z.m * z.h * 2)), pack(u, ElementType::kBf16),
                  Bytes(static_cast<size_t>(z.m * z.n * 4))};
  append_header(data.buffers[1], named.options, {z.m, z.k, z.h}, npu::EpilogueMode::kGelu);
  append_header(data.buffers[3], named.options, {z.m, z.h, z.n}, npu::EpilogueMode::kF32);
  data.wanted = data.buffers;
  const Matrix hidden = product(x.data(), w.data(), z.m, z.k, z.h);
  data.wanted[2] = pack(hidden, ElementType::kBf16);
  data.wanted[4] = pack(product(hidden.data(), u.data(), z.m, z.h, z.n), ElementType::kF32);
  return data;
}

LaunchData attention_data(const npu::NamedDesign& named, const npu::AttentionJob& z,
                          std::mt19937_64& rng) {
  const Matrix q = random_matrix(z.heads * z.t * z.d, rng, 0.3);
  const Matrix k = random_matrix(z.heads * z.d * z.t, rng, 0.1);
  const Matrix v =
      random_matrix(z.heads * z.t * z.dv, rng, std::min(0.3, 20.0 / static_cast<double>(z.t)));
  LaunchData data;
  data.buffers = {pack(q, ElementType::kBf16), pack(k, ElementType::kBf16),
                  Bytes(static_cast<size_t>(z.t * z.t * 2)), pack(v, ElementType::kBf16),
                  Bytes(static_cast<size_t>(z.heads * z.t * z.dv * 4))};
  append_header(data.buffers[1], named.options, {z.t, z.d, z.t}, npu::EpilogueMode::kExp);
  append_header(data.buffers[3], named.options, {z.t, z.t, z.dv}, npu::EpilogueMode::kF32);
  data.wanted = data.buffers;
  Matrix out;
  Matrix scores;
  for (int64_t head = 0; head < z.heads; ++head) {
    scores = product(q.data() + head * z.t * z.d, k.data() + head * z.d * z.t, z.t, z.d, z.t);
    const Matrix one = product(scores.data(), v.data() + head * z.t * z.dv, z.t, z.t, z.dv);
    out.insert(out.end(), one.begin(), one.end());
  }
  data.wanted[2] = pack(scores, ElementType::kBf16);  // the scratch keeps the last head's
  data.wanted[4] = pack(out, ElementType::kF32);
  return data;
}

LaunchData row_data(const npu::RowOp& op, std::mt19937_64& rng) {
  const Matrix x = random_matrix(op.rows * op.input_pitch, rng, 0.5);
  Matrix y(static_cast<size_t>(op.rows * op.output_pitch));
  for (int64_t r = 0; r < op.rows; ++r) {
    for (int64_t c = 0; c < op.window; ++c) {
      y[static_cast<size_t>(r * op.output_pitch + c)] =
          x[static_cast<size_t>(r * op.input_pitch + c)] + 1;
    }
  }
  LaunchData data;
  data.buffers = {pack(x, op.input),
                  Bytes(y.size() * static_cast<size_t>(npu::element_bytes(op.output)))};
  data.wanted = {data.buffers[0], pack(y, op.output)};
  return data;
}

LaunchData launch_data(const npu::NamedDesign& named, std::mt19937_64& rng) {
  if (const auto* job = std::get_if<npu::GemmJob>(&named.job)) return gemm_data(named, *job, rng);
  if (const auto* job = std::get_if<npu::MlpJob>(&named.job)) return mlp_data(named, *job, rng);
  if (const auto* job = std::get_if<npu::AttentionJob>(&named.job))
    return attention_data(named, *job, rng);
  return row_data(std::get<npu::RowOp>(named.job), rng);
}

}  // namespace

Result<NpuRunReport> run_npu_design(const npu::NamedDesign& named, int runs, uint64_t seed,
                                    int threads) {
  const std::vector<npu::Violation> found = npu::verify(named.design);
  if (!found.empty()) return internal_error(found[0].rule + ": " + found[0].message);
  SOTTO_ASSIGN_OR_RETURN(const npu::LoweredArray array, npu::lower(named.design));
  SOTTO_ASSIGN_OR_RETURN(const npu::Stream stream,
                         npu::encode_sequence(named.design.sequences[0], array));
  const std::vector<uint32_t> words = npu::encode_stream(stream);
  const npu::KernelTable kernels = npu::functional_kernels(named.design.generation);
  ThreadPool pool(threads);
  SOTTO_ASSIGN_OR_RETURN(auto sim, npu::ArraySim::create(named.design, array, kernels, pool));
  NpuRunReport report;
  report.exact = true;
  report.instruction_bytes = static_cast<int64_t>(words.size()) * 4;
  std::mt19937_64 rng(seed);
  for (int run = 0; run < runs; ++run) {
    LaunchData data = launch_data(named, rng);
    const std::vector<std::span<std::byte>> buffers(data.buffers.begin(), data.buffers.end());
    const auto start = std::chrono::steady_clock::now();
    SOTTO_ASSIGN_OR_RETURN(report.launch, sim->launch(words, buffers));
    report.host_seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    report.exact = report.exact && data.buffers == data.wanted;
  }
  return report;
}

}  // namespace sotto::cli
