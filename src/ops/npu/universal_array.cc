#include "ops/npu/universal_array.h"

#include <cstring>
#include <utility>

#include "base/stopwatch.h"
#include "npu/txn/sequence.h"

namespace sotto::ops::npu {

namespace sn = sotto::npu;

sn::Design UniversalArray::design() {
  sn::Design design = sn::universal_array(sn::UniversalOptions{});
  design.name = "universal";
  return design;
}

Status UniversalArray::open() {
  SOTTO_ASSIGN_OR_RETURN(lowered_, sn::lower(design()));
  SOTTO_ASSIGN_OR_RETURN(context_, device_->open(design().name));
  return {};
}

GemmShape UniversalArray::padded(const GemmShape& shape, EpilogueMode mode) const {
  return sn::pad_gemm(shape, options_.tile, options_.generation, mode != EpilogueMode::kF32);
}

int64_t UniversalArray::header_bytes() const {
  return sn::header_elements(options_) * 2;
}

Result<rt::Buffer*> UniversalArray::scratch(const std::string& name, int64_t bytes) {
  std::unique_ptr<rt::Buffer>& slot = scratch_[name];
  if (slot == nullptr || static_cast<int64_t>(slot->host().size()) != bytes) {
    SOTTO_ASSIGN_OR_RETURN(slot, device_->allocate(bytes));
  }
  return slot.get();
}

void UniversalArray::write_header(rt::Buffer& b, int64_t elements, const GemmShape& shape,
                                  EpilogueMode mode) const {
  const std::vector<int32_t> words = sn::launch_parameters(options_, shape, mode);
  std::memcpy(b.host().data() + elements * 2, words.data(), words.size() * sizeof(int32_t));
}

Result<const std::vector<uint32_t>*> UniversalArray::stream(const Launch& launch) {
  const auto found = streams_.find(launch.key);
  if (found != streams_.end()) return &found->second;
  SOTTO_ASSIGN_OR_RETURN(const sn::Sequence sequence, launch.make());
  SOTTO_ASSIGN_OR_RETURN(const sn::Stream encoded, sn::encode_sequence(sequence, lowered_));
  return &(streams_[launch.key] = sn::encode_stream(encoded));
}

Status UniversalArray::run(const Launch& launch) {
  SOTTO_ASSIGN_OR_RETURN(const std::vector<uint32_t>* const words, stream(launch));
  if (context_ == nullptr) {
    SOTTO_ASSIGN_OR_RETURN(context_, device_->open(design().name));
  }
  for (rt::Buffer* input : launch.inputs)
    SOTTO_RETURN_IF_ERROR(input->to_device());
  const Stopwatch watch;
  Result<rt::RunReport> report = context_->run(*words, launch.arguments);
  work_.seconds += watch.seconds();
  if (!report.ok()) {
    context_.reset();  // What the array holds now is not known
    return report.status().with_context(device_->name());
  }
  ++work_.launches;
  work_.products += launch.products;
  work_.macs += launch.macs;
  work_.cycles += report->cycles;
  return launch.output->from_device();
}

}  // namespace sotto::ops::npu
