#include "ops/cpu_backend.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <string_view>

#include "ops/cpu/attention.h"
#include "ops/cpu/peak.h"
#include "ops/cpu/product.h"

namespace sotto::ops {
namespace {

using namespace cpu;  // NOLINT: the backend is a front for the functions there
using kernels::GemmType;

enum class Op {
  kConv1d,
  kLayerNorm,
  kLinear,
  kMlp,
  kSelfAttention,
  kEmbed,
  kCachedAttention,
  kCrossKv,
  kCrossAttention,
  kGatherRows,
  kCount,
};
constexpr std::array<const char*, static_cast<size_t>(Op::kCount)> kOpNames = {
    "conv1d",           "layer_norm", "linear",          "mlp",        "self_attention", "embed",
    "cached_attention", "cross_kv",   "cross_attention", "gather_rows"};

const char* compute_name(ComputeType type) {
  switch (type) {
    case ComputeType::kF32:
      return "f32";
    case ComputeType::kBf16:
      return "bf16";
    case ComputeType::kInt8:
      return "int8";
    case ComputeType::kAuto:
      break;
  }
  return "auto";
}

// The concrete type behind a handle, or an error: handles of another backend must not get here.
template <typename Concrete, typename Base>
Result<const Concrete*> own(const Base& handle, const char* op) {
  const auto* concrete = dynamic_cast<const Concrete*>(&handle);
  if (concrete == nullptr)
    return invalid_argument(std::string(op) + ": weights of another backend");
  return concrete;
}

class CpuBackend final : public Backend {
 public:
  CpuBackend(const kernels::KernelTable& table, ComputeType compute, int threads)
      : context_(table, compute, threads) {
    reset_counters();
  }

  std::string description() const override {
    return "cpu (" + std::string(cpu_isa_name(context_.kernels.isa)) + "), " +
           compute_name(context_.compute) + ", " + std::to_string(context_.pool.size()) +
           (context_.pool.size() == 1 ? " thread" : " threads");
  }
  std::vector<OpCounter> counters() const override {
    std::vector<OpCounter> used;
    std::copy_if(counters_.begin(), counters_.end(), std::back_inserter(used),
                 [](const OpCounter& counter) { return counter.calls > 0; });
    return used;
  }
  void reset_counters() override {
    for (size_t i = 0; i < counters_.size(); ++i) {
      counters_[i] = OpCounter();
      counters_[i].op = kOpNames[i];
      counters_[i].device = "cpu";
      counters_[i].type = product_type(static_cast<Op>(i));
    }
  }

  DeviceProfile measure_profile() override {
    return {compute_name(context_.compute), context_.pool.size(), measure_peaks(context_)};
  }

  Result<LinearRef> upload_linear(const LinearSource& source) override {
    return cpu::upload_linear(context_, source);
  }
  Result<LinearRef> upload_conv1d(const LinearSource& source) override {
    return cpu::upload_conv1d(context_, source);
  }
  Result<NormRef> upload_norm(const TensorView& gamma, const TensorView& beta) override {
    return cpu::upload_norm(context_, gamma, beta);
  }
  Result<TableRef> upload_table(const TensorView& rows) override { return cpu::upload_table(rows); }

  Result<Activation> from_host(std::span<const float> data, int64_t rows, int64_t cols) override;
  Status to_host(const Activation& x, std::span<float> out) override;
  Result<Activation> conv1d_gelu(const Activation& x, const LinearWeight& w, int stride,
                                 const Table* add) override;
  Result<Activation> layer_norm(const Activation& x, const NormWeight& w) override;
  Result<Activation> linear(const Activation& x, const LinearWeight& w,
                            const Epilogue& epilogue) override;
  Result<Activation> mlp(const Activation& x, const LinearWeight& w1, const LinearWeight& w2,
                         const Activation& residual) override;
  Result<Activation> self_attention(const Activation& qkv, int heads, int windows) override;
  Result<std::unique_ptr<KvCache>> create_kv_cache(const KvCacheShape& shape) override;
  Result<Activation> embed(const Table& tokens, std::span<const int> ids, const Table* positions,
                           std::span<const TokenRow> rows) override;
  Result<Activation> cached_attention(const Activation& qkv, KvCache& cache, int layer,
                                      std::span<const TokenRow> rows, int heads) override;
  Result<CrossKvRef> cross_kv(const Activation& x, std::span<const LinearRef> key_value,
                              int heads) override;
  Result<Activation> cross_attention(const Activation& q, std::span<const CrossKv* const> sources,
                                     int layer, int heads, AttentionProbe* probe) override;
  Result<Activation> gather_rows(const Activation& x, std::span<const int64_t> indices) override;

 private:
  // Adds the time until its end and `flops` to the counter of `op`.
  class Timer {
   public:
    Timer(CpuBackend& backend, Op op, double flops)
        : counter_(backend.counters_[static_cast<size_t>(op)]) {
      ++counter_.calls;
      counter_.flops += flops;
    }
    ~Timer() {
      counter_.seconds +=
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

   private:
    OpCounter& counter_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  };

  /// Element type of the products of `op`; "" when it has none.
  [[nodiscard]] const char* product_type(Op op) const {
    switch (op) {
      case Op::kLinear:
      case Op::kMlp:
      case Op::kCrossKv:
        return type_name(context_.linear_type());
      case Op::kConv1d:
      case Op::kSelfAttention:
      case Op::kCrossAttention:
        return type_name(context_.float_type());
      case Op::kCachedAttention:
        return type_name(GemmType::kF32);
      default:
        return "";
    }
  }

  static double product_flops(int64_t rows, const CpuLinear& w) {
    return 2.0 * static_cast<double>(rows) * static_cast<double>(w.out) *
           static_cast<double>(w.depth);
  }

  Context context_;
  std::array<OpCounter, static_cast<size_t>(Op::kCount)> counters_;
};

Result<Activation> CpuBackend::from_host(std::span<const float> data, int64_t rows, int64_t cols) {
  if (rows < 1 || cols < 1 || static_cast<int64_t>(data.size()) / cols != rows ||
      static_cast<int64_t>(data.size()) % cols != 0) {
    return invalid_argument("from_host: " + std::to_string(data.size()) + " values are not [" +
                            std::to_string(rows) + ", " + std::to_string(cols) + "]");
  }
  auto out = std::make_shared<CpuActivation>();
  SOTTO_ASSIGN_OR_RETURN(out->f32, make_matrix<float>(context_, rows, cols));
  for (int64_t i = 0; i < rows; ++i)
    std::copy_n(data.data() + i * cols, cols, out->f32.row(i));
  return Activation(rows, cols, std::move(out));
}

Status CpuBackend::to_host(const Activation& x, std::span<float> out) {
  SOTTO_ASSIGN_OR_RETURN(const CpuActivation* const from, storage_of(x, "to_host"));
  if (static_cast<int64_t>(out.size()) != x.rows() * x.cols()) {
    return invalid_argument("to_host: room for " + std::to_string(out.size()) +
                            " values where there are " + std::to_string(x.rows() * x.cols()));
  }
  for (int64_t i = 0; i < x.rows(); ++i)
    read_row(context_, *from, i, x.cols(), out.data() + i * x.cols());
  return {};
}

Result<Activation> CpuBackend::conv1d_gelu(const Activation& x, const LinearWeight& w, int stride,
                                           const Table* add) {
  SOTTO_ASSIGN_OR_RETURN(const CpuLinear* const weight, own<CpuLinear>(w, "conv1d"));
  const CpuTable* table = nullptr;
  if (add != nullptr) {
    SOTTO_ASSIGN_OR_RETURN(table, own<CpuTable>(*add, "conv1d"));
  }
  const Timer timer(*this, Op::kConv1d,
                    product_flops((x.rows() + stride - 1) / std::max(stride, 1), *weight));
  return cpu::conv1d_gelu(context_, x, *weight, stride, table);
}

Result<Activation> CpuBackend::layer_norm(const Activation& x, const NormWeight& w) {
  SOTTO_ASSIGN_OR_RETURN(const CpuNorm* const norm, own<CpuNorm>(w, "layer_norm"));
  const Timer timer(*this, Op::kLayerNorm, 8.0 * static_cast<double>(x.rows() * x.cols()));
  if (norm->dim != x.cols()) {
    return invalid_argument("layer_norm: weights of " + std::to_string(norm->dim) +
                            " for rows of " + std::to_string(x.cols()));
  }
  SOTTO_ASSIGN_OR_RETURN(const Rows in, rows_as(context_, x, GemmType::kF32, "layer_norm"));
  auto out = std::make_shared<CpuActivation>();
  kernels::LayerNormArgs args;
  args.cols = x.cols();
  args.x = static_cast<const float*>(in.data);
  args.ldx = in.ld;
  args.gamma = norm->gamma.data();
  args.beta = norm->beta.empty() ? nullptr : norm->beta.data();
  // The result goes straight into the precision of the product that follows.
  switch (context_.linear_type()) {
    case GemmType::kF32: {
      SOTTO_ASSIGN_OR_RETURN(out->f32, make_matrix<float>(context_, x.rows(), x.cols()));
      break;
    }
    case GemmType::kBf16: {
      SOTTO_ASSIGN_OR_RETURN(out->bf16, make_matrix<uint16_t>(context_, x.rows(), x.cols()));
      break;
    }
    case GemmType::kInt8:
      SOTTO_RETURN_IF_ERROR(make_u8(context_, x.rows(), x.cols(), *out));
      break;
  }
  SOTTO_RETURN_IF_ERROR(context_.reserve_workspaces(x.cols() * 4));
  constexpr int64_t kSerialRows = 16;
  const int64_t blocks =
      x.rows() <= kSerialRows ? 1 : std::min<int64_t>(x.rows(), 4 * context_.pool.size());
  context_.pool.parallel_for(blocks, [&](int64_t block, int worker) {
    const int64_t first = x.rows() * block / blocks;
    kernels::LayerNormArgs p = args;
    p.rows = x.rows() * (block + 1) / blocks - first;
    p.x += first * args.ldx;
    if (out->f32.present()) {
      p.y = out->f32.row(first);
      p.ldy = out->f32.ld;
    } else {
      p.y = context_.workspaces[static_cast<size_t>(worker)].as<float>();
    }
    if (out->bf16.present()) {
      p.y16 = out->bf16.row(first);
      p.ldy16 = out->bf16.ld;
    }
    if (out->u8.present()) {
      p.y8 = out->u8.row(first);
      p.ldy8 = out->u8.ld;
      p.y8_scale = out->u8_scale.as<float>() + first;
      p.y8_zero = out->u8_zero.as<int32_t>() + first;
    }
    context_.kernels.layer_norm.run(p);
  });
  return Activation(x.rows(), x.cols(), std::move(out));
}

Result<Activation> CpuBackend::linear(const Activation& x, const LinearWeight& w,
                                      const Epilogue& epilogue) {
  SOTTO_ASSIGN_OR_RETURN(const CpuLinear* const weight, own<CpuLinear>(w, "linear"));
  const Timer timer(*this, Op::kLinear, product_flops(x.rows(), *weight));
  return cpu::linear(context_, x, *weight, epilogue);
}

Result<Activation> CpuBackend::mlp(const Activation& x, const LinearWeight& w1,
                                   const LinearWeight& w2, const Activation& residual) {
  SOTTO_ASSIGN_OR_RETURN(const CpuLinear* const first, own<CpuLinear>(w1, "mlp"));
  SOTTO_ASSIGN_OR_RETURN(const CpuLinear* const second, own<CpuLinear>(w2, "mlp"));
  const Timer timer(*this, Op::kMlp,
                    product_flops(x.rows(), *first) + product_flops(x.rows(), *second));
  return cpu::mlp(context_, x, *first, *second, residual);
}

Result<Activation> CpuBackend::self_attention(const Activation& qkv, int heads, int windows) {
  const double keys = static_cast<double>(qkv.rows()) / std::max(windows, 1);
  const Timer timer(
      *this, Op::kSelfAttention,
      4.0 * keys * static_cast<double>(qkv.rows()) * static_cast<double>(qkv.cols() / 3));
  return cpu::self_attention(context_, qkv, heads, windows);
}

Result<std::unique_ptr<KvCache>> CpuBackend::create_kv_cache(const KvCacheShape& shape) {
  SOTTO_ASSIGN_OR_RETURN(std::unique_ptr<CpuKvCache> cache, CpuKvCache::create(context_, shape));
  return std::unique_ptr<KvCache>(std::move(cache));
}

Result<Activation> CpuBackend::embed(const Table& tokens, std::span<const int> ids,
                                     const Table* positions, std::span<const TokenRow> rows) {
  SOTTO_ASSIGN_OR_RETURN(const CpuTable* const table, own<CpuTable>(tokens, "embed"));
  const Timer timer(*this, Op::kEmbed, 0);
  const auto n = static_cast<int64_t>(ids.size());
  const CpuTable* added = nullptr;
  if (positions != nullptr) {
    SOTTO_ASSIGN_OR_RETURN(added, own<CpuTable>(*positions, "embed"));
    if (added->cols != table->cols || rows.size() != ids.size()) {
      return invalid_argument("embed: positions do not fit the tokens");
    }
  }
  if (n < 1) return invalid_argument("embed: no tokens");
  auto out = std::make_shared<CpuActivation>();
  SOTTO_ASSIGN_OR_RETURN(out->f32, make_matrix<float>(context_, n, table->cols));
  std::vector<float> position(static_cast<size_t>(table->cols));
  for (int64_t i = 0; i < n; ++i) {
    const int id = ids[static_cast<size_t>(i)];
    if (id < 0 || id >= table->rows)
      return invalid_argument("embed: no token " + std::to_string(id));
    table->read(context_, id, out->f32.row(i));
    if (added == nullptr) continue;
    const int64_t at = rows[static_cast<size_t>(i)].position;
    if (at < 0 || at >= added->rows)
      return invalid_argument("embed: no position " + std::to_string(at));
    added->read(context_, at, position.data());
    for (int64_t j = 0; j < table->cols; ++j)
      out->f32.row(i)[j] += position[static_cast<size_t>(j)];
  }
  return Activation(n, table->cols, std::move(out));
}

Result<Activation> CpuBackend::cached_attention(const Activation& qkv, KvCache& cache, int layer,
                                                std::span<const TokenRow> rows, int heads) {
  auto* own_cache = dynamic_cast<CpuKvCache*>(&cache);
  if (own_cache == nullptr) return invalid_argument("cached_attention: a cache of another backend");
  double keys = 0;
  for (const TokenRow& row : rows)
    keys += static_cast<double>(row.position + 1);
  const Timer timer(*this, Op::kCachedAttention,
                    4.0 * keys * static_cast<double>(heads * cache.shape.head_dim));
  return cpu::cached_attention(context_, qkv, *own_cache, layer, rows, heads);
}

Result<CrossKvRef> CpuBackend::cross_kv(const Activation& x, std::span<const LinearRef> key_value,
                                        int heads) {
  double flops = 0;
  for (const LinearRef& w : key_value) {
    if (w != nullptr)
      flops += 2.0 * static_cast<double>(x.rows()) * static_cast<double>(w->out * w->in);
  }
  const Timer timer(*this, Op::kCrossKv, flops);
  return cpu::cross_kv(context_, x, key_value, heads);
}

Result<Activation> CpuBackend::cross_attention(const Activation& q,
                                               std::span<const CrossKv* const> sources, int layer,
                                               int heads, AttentionProbe* probe) {
  double keys = 0;
  for (const CrossKv* source : sources)
    keys += source == nullptr ? 0.0 : static_cast<double>(source->source_rows);
  const Timer timer(*this, Op::kCrossAttention, 4.0 * keys * static_cast<double>(q.cols()));
  return cpu::cross_attention(context_, q, sources, layer, heads, probe);
}

Result<Activation> CpuBackend::gather_rows(const Activation& x, std::span<const int64_t> indices) {
  const Timer timer(*this, Op::kGatherRows, 0);
  SOTTO_ASSIGN_OR_RETURN(const CpuActivation* const from, storage_of(x, "gather_rows"));
  if (indices.empty()) return invalid_argument("gather_rows: no rows asked for");
  for (int64_t i : indices) {
    if (i < 0 || i >= x.rows()) return invalid_argument("gather_rows: no row " + std::to_string(i));
  }
  const auto n = static_cast<int64_t>(indices.size());
  auto out = std::make_shared<CpuActivation>();
  const auto copy = [&](const auto& source, auto& to) {
    for (int64_t i = 0; i < n; ++i)
      std::copy_n(source.row(indices[static_cast<size_t>(i)]), x.cols(), to.row(i));
  };
  if (from->f32.present()) {
    SOTTO_ASSIGN_OR_RETURN(out->f32, make_matrix<float>(context_, n, x.cols()));
    copy(from->f32, out->f32);
  }
  if (from->bf16.present()) {
    SOTTO_ASSIGN_OR_RETURN(out->bf16, make_matrix<uint16_t>(context_, n, x.cols()));
    copy(from->bf16, out->bf16);
  }
  if (from->u8.present()) {
    SOTTO_RETURN_IF_ERROR(make_u8(context_, n, x.cols(), *out));
    copy(from->u8, out->u8);
    for (int64_t i = 0; i < n; ++i) {
      out->u8_scale.as<float>()[i] = from->u8_scale.as<float>()[indices[static_cast<size_t>(i)]];
      out->u8_zero.as<int32_t>()[i] = from->u8_zero.as<int32_t>()[indices[static_cast<size_t>(i)]];
    }
  }
  return Activation(n, x.cols(), std::move(out));
}

// What kAuto stands for. Measured (docs/benchmarks.md): int8 is the fastest and takes the least
// memory; with the encoder's feed-forward blocks in bf16 it makes no more errors than f32.
// That needs a CPU that multiplies both. bf16 makes no more errors either, takes half of f32's
// memory and is at least as fast wherever there are vectors.
ComputeType best_compute_type(CpuIsa isa) {
  if (isa == CpuIsa::kScalar) return ComputeType::kF32;
  return isa >= CpuIsa::kAvx512Bf16 ? ComputeType::kInt8 : ComputeType::kBf16;
}

}  // namespace

Result<ComputeType> parse_compute_type(std::string_view name) {
  if (name.empty() || name == "auto") return ComputeType::kAuto;
  if (name == "f32" || name == "float32") return ComputeType::kF32;
  if (name == "bf16" || name == "bfloat16") return ComputeType::kBf16;
  if (name == "int8") return ComputeType::kInt8;
  return invalid_argument("compute type \"" + std::string(name) +
                          "\" is not one of auto, f32, bf16, int8");
}

Result<std::unique_ptr<Backend>> make_cpu_backend(const CpuBackendOptions& options) {
  if (options.isa > detected_cpu_isa()) {
    return unsupported("this CPU has no " + std::string(cpu_isa_name(options.isa)) + "; it has " +
                       std::string(cpu_isa_name(detected_cpu_isa())));
  }
  const ComputeType compute =
      options.compute == ComputeType::kAuto ? best_compute_type(options.isa) : options.compute;
  return std::unique_ptr<Backend>(
      std::make_unique<CpuBackend>(kernels::kernel_table(options.isa), compute, options.threads));
}

}  // namespace sotto::ops
