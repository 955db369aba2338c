// A small reader of MLIR-AIE text, independent of the emitter: it reads back what sotto writes (and
// the golden designs), so that the text and the description can be compared.
#ifndef SOTTO_NPU_EMIT_PARSE_H_
#define SOTTO_NPU_EMIT_PARSE_H_

#include <string_view>

#include "npu/design/design.h"
#include "sotto/status.h"

namespace sotto::npu {

/// Reads one module with one device, in the syntax of mlir-aie of August 2026. It checks the text's
/// own grammar and that names are defined before use; everything else is for the verifier. Errors
/// name the line.
Result<Design> parse_design(std::string_view text);

}  // namespace sotto::npu

#endif  // SOTTO_NPU_EMIT_PARSE_H_
