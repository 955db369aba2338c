// From what a caller asks for to the backend that runs it.
#ifndef SOTTO_API_DEVICE_H_
#define SOTTO_API_DEVICE_H_

#include <memory>
#include <string>

#include "ops/backend.h"
#include "ops/cpu_backend.h"
#include "sotto/status.h"
#include "sotto/transcribe.h"

namespace sotto::api {

/// A device that exists on this machine, and how it is to be used.
struct DeviceChoice {
  std::string name;            ///< "cpu" or "sim"
  ops::CpuBackendOptions cpu;  ///< The device itself, or what does another device's remaining part
};

/// `environment_device` is the value of SOTTO_DEVICE ("" when unset) and counts when options.device
/// is empty or "auto". kInvalidArgument: unknown device, compute type or SOTTO_CPU. kUnsupported: a
/// device that this build lacks.
Result<DeviceChoice> choose_device(const LoadOptions& options,
                                   const std::string& environment_device);

/// The same with the process's own environment.
Result<DeviceChoice> choose_device(const LoadOptions& options);

Result<std::unique_ptr<ops::Backend>> open_device(const DeviceChoice& choice);

}  // namespace sotto::api

#endif  // SOTTO_API_DEVICE_H_
