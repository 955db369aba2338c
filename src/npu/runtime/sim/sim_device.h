// The simulator as a device.
#ifndef SOTTO_NPU_RUNTIME_SIM_SIM_DEVICE_H_
#define SOTTO_NPU_RUNTIME_SIM_SIM_DEVICE_H_

#include <memory>
#include <vector>

#include "base/cpu_features.h"
#include "npu/aie/kernel_table.h"
#include "npu/design/design.h"
#include "npu/runtime/device.h"
#include "sotto/status.h"

namespace sotto::npu::runtime {

/// `designs` are what open() can load, by their names; all of one generation. The cores run the
/// kernels of npu/aie on `threads` threads (0: one per physical core); results are the same bits
/// for any number.
Result<std::unique_ptr<Device>> make_sim_device(std::vector<Design> designs, CpuIsa isa,
                                                int threads,
                                                const CoreAssumptions& assumptions = {});

}  // namespace sotto::npu::runtime

#endif  // SOTTO_NPU_RUNTIME_SIM_SIM_DEVICE_H_
