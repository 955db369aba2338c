// What an NPU offers a program: buffers, array configurations, launches. Implemented over the
// simulator (npu/runtime/sim); mirrors XRT's hardware contexts, buffer objects and runs.
#ifndef SOTTO_NPU_RUNTIME_DEVICE_H_
#define SOTTO_NPU_RUNTIME_DEVICE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "sotto/status.h"

namespace sotto::npu::runtime {

/// Memory that host and device share. The host's view and the device's are made equal only by the
/// two calls: caches are not coherent.
class Buffer {
 public:
  virtual ~Buffer() = default;
  /// Zero when new; 64-byte aligned.
  [[nodiscard]] virtual std::span<std::byte> host() = 0;
  virtual Status to_device() = 0;
  virtual Status from_device() = 0;

  template <typename T>
  [[nodiscard]] T* as() {
    return reinterpret_cast<T*>(host().data());
  }
};

struct RunReport {
  double cycles = 0;  ///< Array cycles, 0 where the device does not count them
};

/// One array configuration that is loaded. Launches leave it ready for the next one unless they
/// fail; after a failure it must be opened again.
class Context {
 public:
  virtual ~Context() = default;
  /// Executes an encoded instruction stream; arguments[i] is host argument i. Returns when it is
  /// done.
  virtual Result<RunReport> run(std::span<const uint32_t> instructions,
                                std::span<Buffer* const> arguments) = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  [[nodiscard]] virtual std::string name() const = 0;  ///< "sim"
  virtual Result<std::unique_ptr<Buffer>> allocate(int64_t bytes) = 0;
  /// `overlay` is the name of an array design that this device knows.
  virtual Result<std::unique_ptr<Context>> open(const std::string& overlay) = 0;
};

}  // namespace sotto::npu::runtime

#endif  // SOTTO_NPU_RUNTIME_DEVICE_H_
