// A picture of a design: tiles, fifos, buffers with their fill.
#ifndef SOTTO_NPU_DESIGN_DRAW_H_
#define SOTTO_NPU_DESIGN_DRAW_H_

#include <string>

#include "npu/design/design.h"
#include "npu/design/lowered.h"

namespace sotto::npu {

/// An SVG: one box a tile with its memory, descriptors and locks in use; one line a connection, hue
/// by fifo family.
std::string draw_svg(const Design& design, const LoweredArray& array);

/// The same facts as a table for a terminal.
std::string draw_text(const Design& design, const LoweredArray& array);

}  // namespace sotto::npu

#endif  // SOTTO_NPU_DESIGN_DRAW_H_
