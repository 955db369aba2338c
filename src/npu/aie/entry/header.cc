// Entry point of the universal array's gate: a launch's parameters from its header object.
#include "npu/aie/epilogue.h"

extern "C" void read_header(const bfloat16* header, int32_t* parameters) {
  SOTTO_AIE_NAMESPACE::read_header(header, parameters);
}
