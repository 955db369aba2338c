// Row-wise kernels (softmax, GELU, layer norm) on all cores.
#ifndef SOTTO_NPU_LIBRARY_ROW_OP_H_
#define SOTTO_NPU_LIBRARY_ROW_OP_H_

#include <string>

#include "npu/design/design.h"
#include "sotto/status.h"

namespace sotto::npu {

struct RowOp {
  GenerationId generation = GenerationId::kXdna1;
  std::string kernel;       ///< E.g. "softmax_row"; called with (in row, out row, elements)
  int64_t rows = 0;         ///< A multiple of 4 x columns
  int64_t window = 0;       ///< Elements of each row that are read and written, a multiple of 16
  int64_t input_pitch = 0;  ///< Elements from row to row
  int64_t output_pitch = 0;
  ElementType input = ElementType::kBf16;
  ElementType output = ElementType::kBf16;
  int64_t output_elements = 0;  ///< Of the host buffer; 0: rows * output_pitch
};

/// Four cores a column through a memory tile that splits each object of four rows and joins the
/// results. A direct connection of 16 or 32 cores is not possible: their fifos need more shim
/// channels than the array has (the verifier's rule dma_channels says so with the figures).
Result<Design> row_op(const RowOp& op);

/// The direct design, one fifo pair a core: what the verifier refuses.
Design direct_row_op(const RowOp& op);

}  // namespace sotto::npu

#endif  // SOTTO_NPU_LIBRARY_ROW_OP_H_
