// Any bytes as MLIR-AIE text: reading must not crash; what reads is verified, written, and read
// back as the same.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "npu/design/verify.h"
#include "npu/emit/emit.h"
#include "npu/emit/parse.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sotto::npu;
  const auto design = parse_design(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!design.ok()) return 0;
  if (!verify(*design).empty()) return 0;
  const auto again = parse_design(emit(*design, {}));
  if (!again.ok() || !(with_normal_names(*again) == with_normal_names(*design))) std::abort();
  return 0;
}
