// Whole-array matrix products C [M, N] = A [M, K] x B [K, N]: bf16 operands, f32 sums in the cores.
//
// Dataflow (cores r = 0..3, columns c): A tiles go through one memory tile a core row and are
// broadcast along the row, B tiles through the column's memory tile down the column, four C tiles a
// column are joined in the memory tile. Layout transforms on the way block the operands for the
// matrix unit and unblock the result, so host matrices stay row-major.
#ifndef SOTTO_NPU_LIBRARY_GEMM_H_
#define SOTTO_NPU_LIBRARY_GEMM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "npu/design/design.h"
#include "sotto/status.h"

namespace sotto::npu {

/// What one core multiplies at a time.
struct GemmTile {
  int64_t m = 64, k = 64, n = 32;
};

struct GemmShape {
  int64_t m = 0, k = 0, n = 0;
  bool operator==(const GemmShape&) const = default;
};

/// The smallest shape that holds `shape` and divides into tiles over the array: M to the four core
/// rows, N to the columns (to pairs of them when results are packed as bf16 pairs), K to the tile.
GemmShape pad_gemm(const GemmShape& shape, const GemmTile& tile, GenerationId generation,
                   bool bf16_pairs);

/// Tile choice of the first Whisper encoder on XDNA1: short K, narrow N, else. Source: its
/// published shapes.
GemmTile choose_gemm_tile(const GemmShape& shape);

/// How the cores of a universal array learn a launch's loop bounds.
enum class Gate {
  kHeader,  ///< The first A object of a launch carries them; nothing is written to a core.
            ///< Recommended
  kLock,    ///< Written into each core's buffer, then a lock is set
  kData,    ///< Written into each core's buffer; the arrival of the first operands is the signal
};

/// What happens to the f32 sums before they are stored. The values are the kernel's mode argument.
enum class EpilogueMode : int32_t { kF32 = 0, kBf16 = 1, kGelu = 2, kExp = 3 };

struct UniversalOptions {
  GenerationId generation = GenerationId::kXdna1;
  Gate gate = Gate::kHeader;
  bool epilogue = true;  ///< Private accumulator and the four modes; without it f32 is stored
  GemmTile tile;
};

/// One array configuration that serves every shape; its sequences are added with the functions
/// below.
Design universal_array(const UniversalOptions& options);

/// An array whose cores have one shape's loop bounds built in, with its sequence. `shape` must be
/// padded. `out` is f32, or bf16 (rounded at every k step, so for one k step only).
enum class CTasks { kRow, kPair };  ///< One or two row blocks a C task
Result<Design> fixed_gemm(GenerationId generation, const GemmShape& shape, const GemmTile& tile,
                          ElementType out, CTasks c_tasks);

/// Words that tell a universal core its launch: k steps, C objects, tiles an object, mode.
std::vector<int32_t> launch_parameters(const UniversalOptions& options, const GemmShape& shape,
                                       EpilogueMode mode);

/// Elements of the header object that kHeader sends in front of A (bf16).
int64_t header_elements(const UniversalOptions& options);

/// One product as a sequence named `name`: arguments A, B, C and, with kHeader and no epilogue, H.
/// With kHeader and the epilogue the header stands in B behind the weights.
Result<Sequence> gemm_sequence(const UniversalOptions& options, const std::string& name,
                               const GemmShape& shape, EpilogueMode mode);

/// y [M, N] f32 = gelu(x [M, K] w [K, H]) u [H, N] in one launch: arguments x, w, h, u, y; h [M, H]
/// stays on the device.
Result<Sequence> mlp_sequence(const UniversalOptions& options, int64_t m, int64_t k, int64_t h,
                              int64_t n);

/// For each head: o [T, DV] f32 = exp(q [T, D] k [D, T]) v [T, DV]; with a column of ones in v, one
/// column of o is the softmax denominator. Arguments q, k, s (scratch [T, T] bf16), v, o.
Result<Sequence> attention_sequence(const UniversalOptions& options, int64_t heads, int64_t t,
                                    int64_t d, int64_t dv);

}  // namespace sotto::npu

#endif  // SOTTO_NPU_LIBRARY_GEMM_H_
