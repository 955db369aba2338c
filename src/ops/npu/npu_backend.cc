#include "ops/npu/npu_backend.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "base/stopwatch.h"
#include "kernels/kernel_table.h"
#include "ops/npu/encoder_ops.h"

namespace sotto::ops {
namespace {

using namespace npu;  // NOLINT: the backend is a front for the functions there

enum class Op { kConv1d, kLinear, kMlp, kSelfAttention, kCount };
constexpr std::array<const char*, static_cast<size_t>(Op::kCount)> kOpNames = {
    "conv1d", "linear", "mlp", "self_attention"};

/// Fewer rows than one block of the array's rows would mostly multiply padding.
constexpr int64_t kFewestRows = 64;

Result<const NpuLinear*> own(const LinearWeight& handle, const char* op) {
  const auto* weight = dynamic_cast<const NpuLinear*>(&handle);
  if (weight == nullptr) return invalid_argument(std::string(op) + ": weights of another backend");
  return weight;
}

double product_flops(int64_t rows, const ArrayWeight& w) {
  return 2.0 * static_cast<double>(rows) * static_cast<double>(w.k()) * static_cast<double>(w.n());
}

class NpuBackend final : public Backend {
 public:
  NpuBackend(std::unique_ptr<rt::Device> device, std::unique_ptr<Backend> cpu,
             const kernels::ConvertKernels& convert)
      : array_(std::move(device)), cpu_(std::move(cpu)), convert_(convert) {
    reset_counters();
  }

  Status open() { return array_.open(); }

  [[nodiscard]] std::string description() const override {
    return array_.device_name() + " (npu1, universal array); else " + cpu_->description();
  }
  [[nodiscard]] std::vector<OpCounter> counters() const override;
  void reset_counters() override;

  Result<LinearRef> upload_linear(const LinearSource& source) override {
    return upload(source, false);
  }
  Result<LinearRef> upload_conv1d(const LinearSource& source) override {
    return upload(source, true);
  }
  Result<NormRef> upload_norm(const TensorView& gamma, const TensorView& beta) override {
    return cpu_->upload_norm(gamma, beta);
  }
  Result<TableRef> upload_table(const TensorView& rows) override {
    return cpu_->upload_table(rows);
  }
  Result<Activation> from_host(std::span<const float> data, int64_t rows, int64_t cols) override {
    return cpu_->from_host(data, rows, cols);
  }
  Status to_host(const Activation& x, std::span<float> out) override {
    return cpu_->to_host(x, out);
  }

  Result<Activation> conv1d_gelu(const Activation& x, const LinearWeight& w, int stride,
                                 const Table* add) override;
  Result<Activation> linear(const Activation& x, const LinearWeight& w,
                            const Epilogue& epilogue) override;
  Result<Activation> mlp(const Activation& x, const LinearWeight& w1, const LinearWeight& w2,
                         const Activation& residual) override;
  Result<Activation> self_attention(const Activation& qkv, int heads, int windows) override;

  Result<Activation> layer_norm(const Activation& x, const NormWeight& w) override {
    return cpu_->layer_norm(x, w);
  }
  Result<std::unique_ptr<KvCache>> create_kv_cache(const KvCacheShape& shape) override {
    return cpu_->create_kv_cache(shape);
  }
  Result<Activation> embed(const Table& tokens, std::span<const int> ids, const Table* positions,
                           std::span<const TokenRow> rows) override {
    return cpu_->embed(tokens, ids, positions, rows);
  }
  Result<Activation> cached_attention(const Activation& qkv, KvCache& cache, int layer,
                                      std::span<const TokenRow> rows, int heads) override {
    return cpu_->cached_attention(qkv, cache, layer, rows, heads);
  }
  Result<CrossKvRef> cross_kv(const Activation& x, std::span<const LinearRef> key_value,
                              int heads) override;
  Result<Activation> cross_attention(const Activation& q, std::span<const CrossKv* const> sources,
                                     int layer, int heads, AttentionProbe* probe) override {
    return cpu_->cross_attention(q, sources, layer, heads, probe);
  }
  Result<Activation> gather_rows(const Activation& x, std::span<const int64_t> indices) override {
    return cpu_->gather_rows(x, indices);
  }

 private:
  Result<LinearRef> upload(const LinearSource& source, bool convolution);
  Result<HostMatrix> fetch(const Activation& x);
  Result<Activation> finish(HostMatrix values, const Activation* residual);
  Result<HostMatrix> convolve(const Activation& x, ArrayWeight& w, int stride);
  Result<HostMatrix> attend(const HostMatrix& qkv, int heads, int windows);

  /// `on_array`, or when that fails `on_cpu` with the failure counted under its reason.
  template <typename OnArray, typename OnCpu>
  Result<Activation> run(Op op, double flops, OnArray on_array, OnCpu on_cpu) {
    OpCounter& counter = counters_[static_cast<size_t>(op)];
    ++counter.calls;
    const Stopwatch watch;
    Result<Activation> result = on_array();
    counter.seconds += watch.seconds();
    if (result.ok()) {
      counter.flops += flops;
      return result;
    }
    ++counter.fallbacks;
    counter.fallback_reason = result.status().message();
    return on_cpu();
  }

  UniversalArray array_;
  std::unique_ptr<Backend> cpu_;
  const kernels::ConvertKernels& convert_;
  std::array<OpCounter, static_cast<size_t>(Op::kCount)> counters_;
};

std::vector<OpCounter> NpuBackend::counters() const {
  std::vector<OpCounter> out;
  std::copy_if(counters_.begin(), counters_.end(), std::back_inserter(out),
               [](const OpCounter& counter) { return counter.calls > 0; });
  const ArrayWork& work = array_.work();
  if (work.products > 0) {
    OpCounter launches;
    launches.op = "array products";
    launches.device = array_.device_name();
    launches.calls = work.products;
    launches.seconds = work.seconds;
    launches.flops = 2 * work.macs;
    out.push_back(std::move(launches));
  }
  const std::vector<OpCounter> cpu = cpu_->counters();
  out.insert(out.end(), cpu.begin(), cpu.end());
  return out;
}

void NpuBackend::reset_counters() {
  for (size_t i = 0; i < counters_.size(); ++i) {
    counters_[i] = OpCounter();
    counters_[i].op = kOpNames[i];
    counters_[i].device = array_.device_name();
  }
  array_.reset_work();
  cpu_->reset_counters();
}

Result<LinearRef> NpuBackend::upload(const LinearSource& source, bool convolution) {
  auto weight = std::make_shared<NpuLinear>();
  // The CPU's copy is what a fallback runs on; making it also checks the views.
  SOTTO_ASSIGN_OR_RETURN(weight->cpu,
                         convolution ? cpu_->upload_conv1d(source) : cpu_->upload_linear(source));
  weight->name = source.name;
  weight->out = weight->cpu->out;
  weight->in = weight->cpu->in;
  const bool readable = !convolution || source.weights[0].dims[2] == 3;
  if (source.many_rows && readable)
    weight->array = ArrayWeight::create(source, convolution, convert_);
  return LinearRef(std::move(weight));
}

Result<HostMatrix> NpuBackend::fetch(const Activation& x) {
  HostMatrix out(x.rows(), x.cols());
  SOTTO_RETURN_IF_ERROR(cpu_->to_host(x, out.values));
  return out;
}

Result<Activation> NpuBackend::finish(HostMatrix values, const Activation* residual) {
  if (residual != nullptr) {
    SOTTO_ASSIGN_OR_RETURN(const HostMatrix more, fetch(*residual));
    if (more.rows != values.rows || more.cols != values.cols)
      return invalid_argument("the residual has another shape than the result");
    std::transform(values.values.begin(), values.values.end(), more.values.begin(),
                   values.values.begin(), std::plus<>());
  }
  return cpu_->from_host(values.values, values.rows, values.cols);
}

Result<HostMatrix> NpuBackend::convolve(const Activation& x, ArrayWeight& w, int stride) {
  SOTTO_ASSIGN_OR_RETURN(const HostMatrix rows, fetch(x));
  if (stride < 1 || 3 * rows.cols != w.k()) return invalid_argument("conv1d: shapes do not fit");
  return product(array_, gather_windows(rows, stride), w, true);
}

Result<Activation> NpuBackend::conv1d_gelu(const Activation& x, const LinearWeight& w, int stride,
                                           const Table* add) {
  SOTTO_ASSIGN_OR_RETURN(const NpuLinear* const weight, own(w, "conv1d"));
  const auto on_cpu = [&] { return cpu_->conv1d_gelu(x, *weight->cpu, stride, add); };
  if (weight->array == nullptr || x.rows() < kFewestRows) return on_cpu();
  const auto on_array = [&]() -> Result<Activation> {
    SOTTO_ASSIGN_OR_RETURN(HostMatrix out, convolve(x, *weight->array, stride));
    if (add == nullptr) return finish(std::move(out), nullptr);
    if (add->rows < out.rows || add->cols != out.cols)
      return invalid_argument("conv1d: the table does not fit");
    // The table's rows, looked up as if they were tokens.
    std::vector<int> ids(static_cast<size_t>(out.rows));
    for (size_t i = 0; i < ids.size(); ++i)
      ids[i] = static_cast<int>(i);
    SOTTO_ASSIGN_OR_RETURN(const Activation table, cpu_->embed(*add, ids, nullptr, {}));
    return finish(std::move(out), &table);
  };
  return run(Op::kConv1d,
             product_flops((x.rows() + stride - 1) / std::max(stride, 1), *weight->array), on_array,
             on_cpu);
}

Result<Activation> NpuBackend::linear(const Activation& x, const LinearWeight& w,
                                      const Epilogue& epilogue) {
  SOTTO_ASSIGN_OR_RETURN(const NpuLinear* const weight, own(w, "linear"));
  const auto on_cpu = [&] { return cpu_->linear(x, *weight->cpu, epilogue); };
  if (weight->array == nullptr || x.rows() < kFewestRows) return on_cpu();
  const auto on_array = [&]() -> Result<Activation> {
    SOTTO_ASSIGN_OR_RETURN(const HostMatrix rows, fetch(x));
    if (rows.cols != weight->array->k()) return invalid_argument("linear: shapes do not fit");
    SOTTO_ASSIGN_OR_RETURN(HostMatrix out, product(array_, rows, *weight->array, epilogue.gelu));
    return finish(std::move(out), epilogue.residual);
  };
  return run(Op::kLinear, product_flops(x.rows(), *weight->array), on_array, on_cpu);
}

Result<Activation> NpuBackend::mlp(const Activation& x, const LinearWeight& w1,
                                   const LinearWeight& w2, const Activation& residual) {
  SOTTO_ASSIGN_OR_RETURN(const NpuLinear* const first, own(w1, "mlp"));
  SOTTO_ASSIGN_OR_RETURN(const NpuLinear* const second, own(w2, "mlp"));
  const auto on_cpu = [&] { return cpu_->mlp(x, *first->cpu, *second->cpu, residual); };
  if (first->array == nullptr || second->array == nullptr || x.rows() < kFewestRows)
    return on_cpu();
  const auto on_array = [&]() -> Result<Activation> {
    SOTTO_ASSIGN_OR_RETURN(const HostMatrix rows, fetch(x));
    if (rows.cols != first->array->k() || first->array->n() != second->array->k())
      return invalid_argument("mlp: shapes do not fit");
    SOTTO_ASSIGN_OR_RETURN(HostMatrix out, npu::mlp(array_, rows, *first->array, *second->array));
    return finish(std::move(out), &residual);
  };
  return run(Op::kMlp,
             product_flops(x.rows(), *first->array) + product_flops(x.rows(), *second->array),
             on_array, on_cpu);
}

Result<HostMatrix> NpuBackend::attend(const HostMatrix& qkv, int heads, int windows) {
  const int64_t t = qkv.rows / windows;
  HostMatrix out(qkv.rows, qkv.cols / 3);
  for (int window = 0; window < windows; ++window) {
    HostMatrix part(t, qkv.cols);
    std::copy_n(qkv.row(window * t), t * qkv.cols, part.values.data());
    SOTTO_ASSIGN_OR_RETURN(const HostMatrix attended, attention(array_, part, heads));
    std::copy(attended.values.begin(), attended.values.end(), out.row(window * t));
  }
  return out;
}

Result<Activation> NpuBackend::self_attention(const Activation& qkv, int heads, int windows) {
  const auto on_cpu = [&] { return cpu_->self_attention(qkv, heads, windows); };
  if (heads < 1 || windows < 1 || qkv.rows() % windows != 0 || qkv.cols() % (3 * heads) != 0 ||
      qkv.rows() / windows < kFewestRows) {
    return on_cpu();
  }
  const auto on_array = [&]() -> Result<Activation> {
    SOTTO_ASSIGN_OR_RETURN(const HostMatrix rows, fetch(qkv));
    SOTTO_ASSIGN_OR_RETURN(HostMatrix out, attend(rows, heads, windows));
    return finish(std::move(out), nullptr);
  };
  const double keys = static_cast<double>(qkv.rows()) / windows;
  return run(Op::kSelfAttention,
             4.0 * keys * static_cast<double>(qkv.rows()) * static_cast<double>(qkv.cols() / 3),
             on_array, on_cpu);
}

Result<CrossKvRef> NpuBackend::cross_kv(const Activation& x, std::span<const LinearRef> key_value,
                                        int heads) {
  std::vector<LinearRef> weights;
  for (const LinearRef& w : key_value) {
    if (w == nullptr) return invalid_argument("cross_kv: a weight is missing");
    SOTTO_ASSIGN_OR_RETURN(const NpuLinear* const weight, own(*w, "cross_kv"));
    weights.push_back(weight->cpu);
  }
  return cpu_->cross_kv(x, weights, heads);
}

}  // namespace

std::vector<sotto::npu::Design> npu_designs() {
  return {UniversalArray::design()};
}

Result<std::unique_ptr<Backend>> make_npu_backend(std::unique_ptr<rt::Device> device,
                                                  const CpuBackendOptions& cpu) {
  SOTTO_ASSIGN_OR_RETURN(std::unique_ptr<Backend> host, make_cpu_backend(cpu));
  auto backend = std::make_unique<NpuBackend>(std::move(device), std::move(host),
                                              kernels::kernel_table(cpu.isa).convert);
  SOTTO_RETURN_IF_ERROR(backend->open());
  return std::unique_ptr<Backend>(std::move(backend));
}

}  // namespace sotto::ops
