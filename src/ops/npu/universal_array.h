// The universal array as the encoder uses it: products, an MLP and an attention as launches of one
// configuration, on buffers that stay allocated.
#ifndef SOTTO_OPS_NPU_UNIVERSAL_ARRAY_H_
#define SOTTO_OPS_NPU_UNIVERSAL_ARRAY_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "npu/design/lowered.h"
#include "npu/library/gemm.h"
#include "npu/runtime/device.h"
#include "sotto/status.h"

namespace sotto::ops::npu {

namespace rt = sotto::npu::runtime;
using sotto::npu::EpilogueMode;
using sotto::npu::GemmShape;

/// What the array has done so far.
struct ArrayWork {
  int64_t launches = 0;
  int64_t products = 0;
  double seconds = 0;  ///< In launches
  double macs = 0;     ///< Of the padded shapes
  double cycles = 0;
};

class UniversalArray {
 public:
  /// The design that a device must know for it.
  static sotto::npu::Design design();

  explicit UniversalArray(std::unique_ptr<rt::Device> device) : device_(std::move(device)) {}

  /// Loads the array's description and opens it on the device.
  Status open();

  [[nodiscard]] std::string device_name() const { return device_->name(); }
  [[nodiscard]] const sotto::npu::UniversalOptions& options() const { return options_; }
  /// `shape` rounded up to what the array divides into.
  [[nodiscard]] GemmShape padded(const GemmShape& shape, EpilogueMode mode) const;
  [[nodiscard]] int64_t header_bytes() const;

  /// A new buffer, zero on both sides.
  Result<std::unique_ptr<rt::Buffer>> allocate(int64_t bytes) { return device_->allocate(bytes); }
  /// The buffer of that name, kept from call to call; zero when first asked for. The name says what
  /// part is written, so that what is never written stays zero.
  Result<rt::Buffer*> scratch(const std::string& name, int64_t bytes);

  /// Writes a launch's parameters where its header object stands in `b`, behind `elements` bf16.
  void write_header(rt::Buffer& b, int64_t elements, const GemmShape& shape,
                    EpilogueMode mode) const;

  /// One launch: `make` builds the sequence when `key` has not been launched before. `inputs` are
  /// handed to the device before, `output` to the host after it. `products` and `macs` count.
  struct Launch {
    std::string key;
    std::function<Result<sotto::npu::Sequence>()> make;
    std::vector<rt::Buffer*> arguments;
    std::vector<rt::Buffer*> inputs;
    rt::Buffer* output = nullptr;
    int64_t products = 0;
    double macs = 0;
  };
  Status run(const Launch& launch);

  [[nodiscard]] const ArrayWork& work() const { return work_; }
  void reset_work() { work_ = {}; }

 private:
  Result<const std::vector<uint32_t>*> stream(const Launch& launch);

  std::unique_ptr<rt::Device> device_;
  sotto::npu::UniversalOptions options_;
  sotto::npu::LoweredArray lowered_;
  std::unique_ptr<rt::Context> context_;
  std::map<std::string, std::vector<uint32_t>> streams_;
  std::map<std::string, std::unique_ptr<rt::Buffer>> scratch_;
  ArrayWork work_;
};

}  // namespace sotto::ops::npu

#endif  // SOTTO_OPS_NPU_UNIVERSAL_ARRAY_H_
