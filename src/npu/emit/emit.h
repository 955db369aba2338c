// MLIR-AIE text of a design, for aiecc.
#ifndef SOTTO_NPU_EMIT_EMIT_H_
#define SOTTO_NPU_EMIT_EMIT_H_

#include <string>

#include "npu/design/design.h"

namespace sotto::npu {

/// Syntax of the compiler that will read the text.
enum class Dialect {
  k2026,  ///< mlir-aie of August 2026 (commit 3ca0193); the reference designs were compiled with it
  kV134,  ///< v1.3.4, the release that the first Whisper encoder on XDNA1 was built with:
          ///< aiex.runtime_sequence, the comma form of dma_bd, integer operands of use_lock and
          ///< rtp_write, link_with on the core. Written from its documentation; no compiler of that
          ///< version has read it here.
};

struct EmitOptions {
  Dialect dialect = Dialect::k2026;
  std::string title;  ///< Comment lines at the top, without slashes; may be empty
};

/// Deterministic: equal designs give equal bytes.
std::string emit(const Design& design, const EmitOptions& options);

/// The same design with the names that a text chooses freely (objects, values, counters, tasks,
/// host arguments) replaced by their number in order of appearance: two designs that differ in such
/// names only become equal.
Design with_normal_names(const Design& design);

}  // namespace sotto::npu

#endif  // SOTTO_NPU_EMIT_EMIT_H_
