#include "api/device.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/cpu_features.h"
#include "npu/runtime/sim/sim_device.h"
#include "ops/npu/npu_backend.h"

namespace sotto::api {

Result<DeviceChoice> choose_device(const LoadOptions& options,
                                   const std::string& environment_device) {
  const bool by_environment =
      (options.device.empty() || options.device == "auto") && !environment_device.empty();
  const std::string& asked = by_environment ? environment_device : options.device;
  const std::string_view origin = by_environment ? "SOTTO_DEVICE" : "device";
  if (asked == "npu") {
    return unsupported(
        fmt::format("{} '{}': this build cannot run models there yet\nuse --device cpu, or sim for "
                    "the NPU's arithmetic on its simulator",
                    origin, asked));
  }
  if (!asked.empty() && asked != "auto" && asked != "cpu" && asked != "sim") {
    return invalid_argument(
        fmt::format("unknown {} '{}'\nuse auto, cpu, npu or sim", origin, asked));
  }
  DeviceChoice choice;
  choice.name = asked == "sim" ? "sim" : "cpu";
  SOTTO_ASSIGN_OR_RETURN(choice.cpu.isa, cpu_isa_from_environment());
  SOTTO_ASSIGN_OR_RETURN(choice.cpu.compute, ops::parse_compute_type(options.compute));
  choice.cpu.threads = options.threads;
  return choice;
}

Result<DeviceChoice> choose_device(const LoadOptions& options) {
  const char* environment = std::getenv("SOTTO_DEVICE");
  return choose_device(options, environment == nullptr ? "" : environment);
}

Result<std::unique_ptr<ops::Backend>> open_device(const DeviceChoice& choice) {
  if (choice.name == "cpu") return ops::make_cpu_backend(choice.cpu);
  SOTTO_ASSIGN_OR_RETURN(auto device, npu::runtime::make_sim_device(
                                          ops::npu_designs(), choice.cpu.isa, choice.cpu.threads));
  return ops::make_npu_backend(std::move(device), choice.cpu);
}

}  // namespace sotto::api
