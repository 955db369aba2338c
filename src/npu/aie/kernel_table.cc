#include "npu/aie/kernel_table.h"

#include "npu/aie/host/host_kernels.h"

namespace sotto::npu {
namespace {

const HostKernels& select_kernels(CpuIsa isa) {
#ifndef SOTTO_NO_SIMD
  if (isa >= CpuIsa::kAvx512) return host_kernels_aie2_avx512();
  if (isa >= CpuIsa::kAvx2) return host_kernels_aie2_avx2();
#endif
  (void)isa;
  return host_kernels_aie2_plain();
}

Status checked(bool known, const char* kernel, const ObjectType& type) {
  if (known) return {};
  std::string shape;
  for (const int64_t size : type.shape)
    shape += (shape.empty() ? "" : "x") + std::to_string(size);
  return unsupported(std::string(kernel) + " is not compiled for tiles of " + shape);
}

bool two_dimensional(std::span<const KernelArgument> arguments, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (arguments[i].type == nullptr || arguments[i].type->shape.size() != 2) return false;
  }
  return true;
}

/// Array cycles of element-by-element work: vector instructions for sixteen elements, one a cycle.
std::function<double(std::span<const KernelArgument>)> cycles_per_vector(double cycles) {
  constexpr double kLanes = 16;
  return [cycles](std::span<const KernelArgument> arguments) {
    return cycles * static_cast<double>(arguments[0].type->elements()) / kLanes;
  };
}

// Vector instructions for sixteen elements, counted in the sources.
double epilogue_cycles(std::span<const KernelArgument> arguments) {
  constexpr double kPerVector[] = {2, 3, 52, 22};
  const int64_t mode = arguments[2].scalar;
  const double cycles = mode >= 0 && mode < 4 ? kPerVector[mode] : 0;
  return cycles_per_vector(cycles)(arguments);
}

/// Runs `row(in, out, n)` on the arguments (in row, out row, n).
template <typename Row>
Status run_row(std::span<const KernelArgument> a, const char* kernel, Row row) {
  const int64_t n = a[2].scalar;
  if (n < 16 || n % 16 != 0 || n > a[0].type->elements() || n > a[1].type->elements()) {
    return invalid_argument(std::string(kernel) + ": rows of " + std::to_string(n) +
                            " elements; 16, 32, … up to what the objects hold");
  }
  if (a[1].type->element != ElementType::kBf16)
    return unsupported(std::string(kernel) + " writes bf16 rows");
  return row(a[0].as<void>(), a[1].as<void>(), static_cast<int32_t>(n));
}

template <typename Reset>
void add_row_kernels(const HostKernels* host, Reset reset, KernelTable& table) {
  // Vector instructions for sixteen elements, all passes.
  constexpr double kSoftmaxCycles[] = {16, 17, 26, 17};
  constexpr double kLayerNormCycles = 14;
  constexpr double kGeluCycles = 50;
  constexpr const char* kSoftmaxNames[] = {"softmax_row_v1", "softmax_row_v2", "softmax_row_v3",
                                           "softmax_row_v4"};
  for (int form = 0; form < 4; ++form) {
    const char* name = kSoftmaxNames[form];
    table[name] = {[host, reset, form, name](std::span<const KernelArgument> a) {
                     return run_row(a, name, [&](const void* in, void* out, int32_t n) -> Status {
                       if (a[0].type->element != ElementType::kBf16)
                         return unsupported("softmax reads bf16 rows");
                       reset();
                       host->softmax_row(form, in, out, n);
                       return {};
                     });
                   },
                   {1},
                   cycles_per_vector(kSoftmaxCycles[form])};
  }
  table["softmax_row"] = table["softmax_row_v4"];
  table["layer_norm_row"] = {[host, reset](std::span<const KernelArgument> a) {
                               return run_row(a, "layer_norm_row",
                                              [&](const void* in, void* out, int32_t n) -> Status {
                                                if (a[0].type->element != ElementType::kBf16)
                                                  return unsupported("layer norm reads bf16 rows");
                                                reset();
                                                host->layer_norm_row(in, out, n);
                                                return {};
                                              });
                             },
                             {1},
                             cycles_per_vector(kLayerNormCycles)};
  table["gelu_row"] = {[host, reset](std::span<const KernelArgument> a) {
                         return run_row(a, "gelu_row",
                                        [&](const void* in, void* out, int32_t n) -> Status {
                                          reset();
                                          if (a[0].type->element == ElementType::kF32) {
                                            host->gelu_row_f32(in, out, n);
                                          } else {
                                            host->gelu_row_bf16(in, out, n);
                                          }
                                          return {};
                                        });
                       },
                       {1},
                       cycles_per_vector(kGeluCycles)};
}

}  // namespace

Result<KernelTable> aie_kernels(GenerationId id, CpuIsa isa, const CoreAssumptions& assumptions) {
  if (id != GenerationId::kXdna1) {
    return unsupported("the kernels are written for " +
                       std::string(generation(GenerationId::kXdna1).name) + " so far");
  }
  const HostKernels* const host = &select_kernels(isa);
  const int macs = generation(id).bf16_macs_per_cycle;
  const int int_macs = generation(id).int8_macs_per_cycle;
  const auto reset = [host, assumptions] {
    host->reset(static_cast<uint8_t>(assumptions.rounding_after_reset), assumptions.floor_truncates,
                assumptions.exp_aliases_below);
  };
  KernelTable table;
  table["zero_f32"] = {[host](std::span<const KernelArgument> a) {
                         return checked(
                             host->zero(static_cast<int64_t>(a[0].memory.size()), a[0].as<void>()),
                             "zero_f32", *a[0].type);
                       },
                       {0},
                       cycles_per_vector(1)};
  table["zero_i32"] = table["zero_f32"];
  table["matmul_i8_i32"] = {
      [host](std::span<const KernelArgument> a) -> Status {
        if (!two_dimensional(a, 3)) return invalid_argument("matmul needs two-dimensional objects");
        const bool known =
            host->matmul_i8_i32(a[0].type->shape[0], a[0].type->shape[1], a[1].type->shape[1],
                                a[0].as<void>(), a[1].as<void>(), a[2].as<void>());
        return checked(known, "matmul_i8_i32", *a[0].type);
      },
      {},
      [int_macs](std::span<const KernelArgument> a) {
        return static_cast<double>(a[0].type->elements() * a[1].type->shape[1]) / int_macs;
      }};
  table["matmul_bf16_f32"] = {
      [host, reset](std::span<const KernelArgument> a) -> Status {
        if (!two_dimensional(a, 3)) return invalid_argument("matmul needs two-dimensional objects");
        reset();
        const bool known =
            host->matmul_bf16_f32(a[0].type->shape[0], a[0].type->shape[1], a[1].type->shape[1],
                                  a[0].as<void>(), a[1].as<void>(), a[2].as<void>());
        return checked(known, "matmul_bf16_f32", *a[0].type);
      },
      {},
      [macs](std::span<const KernelArgument> a) {
        return static_cast<double>(a[0].type->elements() * a[1].type->shape[1]) / macs;
      }};
  table["epilogue"] = {[host, reset](std::span<const KernelArgument> a) -> Status {
                         if (!two_dimensional(a, 2) || a[2].scalar < 0 || a[2].scalar > 3 ||
                             a[3].scalar < 0 || a[3].scalar > 1) {
                           return invalid_argument("epilogue: no such mode or half");
                         }
                         reset();
                         const bool known = host->epilogue(a[0].type->shape[0], a[0].type->shape[1],
                                                           a[0].as<void>(), a[1].as<void>(),
                                                           static_cast<int>(a[2].scalar),
                                                           static_cast<int>(a[3].scalar));
                         return checked(known, "epilogue", *a[0].type);
                       },
                       {1},
                       epilogue_cycles};
  table["read_header"] = {[host](std::span<const KernelArgument> a) -> Status {
                            host->read_header(a[0].as<void>(), a[1].as<void>());
                            return {};
                          },
                          {1},
                          {}};
  add_row_kernels(host, reset, table);
  return table;
}

}  // namespace sotto::npu
