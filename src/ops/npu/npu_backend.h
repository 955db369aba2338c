// Backend over an NPU, real or simulated: the encoder's products run on the array, everything else
// on the CPU. What fails on the array is done by the CPU, counted and named.
#ifndef SOTTO_OPS_NPU_NPU_BACKEND_H_
#define SOTTO_OPS_NPU_NPU_BACKEND_H_

#include <memory>

#include "npu/design/design.h"
#include "npu/runtime/device.h"
#include "ops/cpu_backend.h"

namespace sotto::ops {

/// The array configurations that a device must know for this backend.
std::vector<sotto::npu::Design> npu_designs();

/// `cpu` says how the CPU does its part.
Result<std::unique_ptr<Backend>> make_npu_backend(
    std::unique_ptr<sotto::npu::runtime::Device> device, const CpuBackendOptions& cpu);

}  // namespace sotto::ops

#endif  // SOTTO_OPS_NPU_NPU_BACKEND_H_
