#include "npu/runtime/sim/sim_device.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/thread_pool.h"
#include "npu/sim/array_sim.h"

namespace sotto::npu::runtime {
namespace {

constexpr size_t kAlignment = 64;

struct FreeMemory {
  void operator()(std::byte* p) const { std::free(p); }
};
using Memory = std::unique_ptr<std::byte, FreeMemory>;

/// Two copies, so that a missing synchronisation shows as it does on the device.
class SimBuffer final : public Buffer {
 public:
  static Result<std::unique_ptr<Buffer>> create(int64_t bytes) {
    if (bytes <= 0) return invalid_argument("a buffer of " + std::to_string(bytes) + " bytes");
    const auto size = (static_cast<size_t>(bytes) + kAlignment - 1) / kAlignment * kAlignment;
    auto buffer = std::make_unique<SimBuffer>();
    buffer->size_ = static_cast<size_t>(bytes);
    for (Memory* memory : {&buffer->host_, &buffer->device_}) {
      memory->reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, size)));
      if (*memory == nullptr)
        return resource_exhausted("no memory for a buffer of " + std::to_string(bytes) + " bytes");
      std::memset(memory->get(), 0, size);
    }
    return std::unique_ptr<Buffer>(std::move(buffer));
  }
  [[nodiscard]] std::span<std::byte> host() override { return {host_.get(), size_}; }
  [[nodiscard]] std::span<std::byte> device() { return {device_.get(), size_}; }
  Status to_device() override {
    std::memcpy(device_.get(), host_.get(), size_);
    return {};
  }
  Status from_device() override {
    std::memcpy(host_.get(), device_.get(), size_);
    return {};
  }

 private:
  Memory host_, device_;
  size_t size_ = 0;
};

class SimContext final : public Context {
 public:
  explicit SimContext(std::unique_ptr<ArraySim> sim) : sim_(std::move(sim)) {}

  Result<RunReport> run(std::span<const uint32_t> instructions,
                        std::span<Buffer* const> arguments) override {
    std::vector<std::span<std::byte>> spans;
    for (Buffer* argument : arguments) {
      auto* buffer = dynamic_cast<SimBuffer*>(argument);
      if (buffer == nullptr) return invalid_argument("a buffer of another device");
      spans.push_back(buffer->device());
    }
    SOTTO_ASSIGN_OR_RETURN(const LaunchReport report, sim_->launch(instructions, spans));
    return RunReport{report.cycles};
  }

 private:
  std::unique_ptr<ArraySim> sim_;
};

class SimDevice final : public Device {
 public:
  SimDevice(std::vector<Design> designs, KernelTable kernels, int threads)
      : designs_(std::move(designs)), kernels_(std::move(kernels)), pool_(threads) {}

  [[nodiscard]] std::string name() const override { return "sim"; }
  Result<std::unique_ptr<Buffer>> allocate(int64_t bytes) override {
    return SimBuffer::create(bytes);
  }
  Result<std::unique_ptr<Context>> open(const std::string& overlay) override {
    const auto design = std::find_if(designs_.begin(), designs_.end(),
                                     [&](const Design& d) { return d.name == overlay; });
    if (design == designs_.end()) return not_found("the simulator knows no array " + overlay);
    SOTTO_ASSIGN_OR_RETURN(LoweredArray lowered, lower(*design));
    SOTTO_ASSIGN_OR_RETURN(auto sim,
                           ArraySim::create(*design, std::move(lowered), kernels_, pool_));
    return std::unique_ptr<Context>(std::make_unique<SimContext>(std::move(sim)));
  }

 private:
  const std::vector<Design> designs_;
  const KernelTable kernels_;
  ThreadPool pool_;
};

}  // namespace

Result<std::unique_ptr<Device>> make_sim_device(std::vector<Design> designs, CpuIsa isa,
                                                int threads, const CoreAssumptions& assumptions) {
  if (designs.empty()) return invalid_argument("a simulator without a design");
  SOTTO_ASSIGN_OR_RETURN(KernelTable kernels, aie_kernels(designs[0].generation, isa, assumptions));
  return std::unique_ptr<Device>(
      std::make_unique<SimDevice>(std::move(designs), std::move(kernels), threads));
}

}  // namespace sotto::npu::runtime
