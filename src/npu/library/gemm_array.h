// The array part that every GEMM design shares: tiles, fifos and links. Internal to npu/library.
#ifndef SOTTO_NPU_LIBRARY_GEMM_ARRAY_H_
#define SOTTO_NPU_LIBRARY_GEMM_ARRAY_H_

#include <string>
#include <vector>

#include "npu/library/gemm.h"

namespace sotto::npu {

class GemmArray {
 public:
  GemmArray(GenerationId generation, const GemmTile& tile, ElementType out);

  /// A design with kernels, tiles, fifos and links; programs and sequences are the caller's.
  [[nodiscard]] Design skeleton() const;

  [[nodiscard]] int columns() const { return columns_; }
  [[nodiscard]] int rows() const { return rows_; }
  [[nodiscard]] int cores() const { return columns_ * rows_; }
  [[nodiscard]] const GemmTile& tile() const { return tile_; }
  [[nodiscard]] ElementType out() const { return out_; }
  [[nodiscard]] const Generation& facts() const { return generation_; }
  /// Column whose shim and memory tile carry A of core row `row`.
  [[nodiscard]] int a_column(int row) const { return row * columns_ / rows_; }
  [[nodiscard]] Tile core(int col, int row) const {
    return {col, row + generation_.first_core_row};
  }

  [[nodiscard]] ObjectType a_type() const { return {{tile_.m, tile_.k}, ElementType::kBf16}; }
  [[nodiscard]] ObjectType b_type() const { return {{tile_.k, tile_.n}, ElementType::kBf16}; }
  [[nodiscard]] ObjectType c_type() const { return {{tile_.m, tile_.n}, out_}; }
  [[nodiscard]] std::string matmul_name() const {
    return "matmul_bf16_" + std::string(element_name(out_));
  }
  [[nodiscard]] std::string zero_name() const { return "zero_" + std::string(element_name(out_)); }

  static std::string a_core_fifo(int row) { return "A_L2L1_" + std::to_string(row); }
  static std::string b_core_fifo(int col) { return "B_L2L1_" + std::to_string(col); }
  static std::string c_core_fifo(int col, int row) {
    return "C_L1L2_" + std::to_string(col) + "_" + std::to_string(row);
  }
  static std::string a_shim_fifo(int row) { return "A_L3L2_" + std::to_string(row); }
  static std::string b_shim_fifo(int col) { return "B_L3L2_" + std::to_string(col); }
  static std::string c_shim_fifo(int col) { return "C_L2L3_" + std::to_string(col); }

  /// acquire A and B (as "a" and "b" with `suffix`), multiply into `accumulator`, release both.
  [[nodiscard]] std::vector<Statement> k_step(int col, int row, const std::string& accumulator,
                                              const std::string& suffix = "") const;
  /// k steps from `from` to `to` as a loop.
  [[nodiscard]] Statement k_loop(int col, int row, const std::string& accumulator, Bound from,
                                 Bound to) const;

 private:
  void add_a(Design& design) const;
  void add_b(Design& design) const;
  void add_c(Design& design) const;

  const Generation& generation_;
  GemmTile tile_;
  ElementType out_;
  int columns_, rows_;
};

/// A host matrix of a sequence: argument, place of its first element, row pitch, all in elements.
struct HostMatrix {
  int argument = 0;
  int64_t offset = 0;
  int64_t pitch = 0;
};

struct TaskOptions {
  bool bf16_pairs = false;  ///< C objects hold two bf16 tiles
  CTasks c_tasks = CTasks::kRow;
  int window = 4;                       ///< Row blocks in flight
  std::vector<std::string> free_first;  ///< Tasks to free with the first retired block
};

/// Appends the tasks of one product: for each block of 4m rows a C task a column, an A task a core
/// row and a B task a column. The token of a block's C tasks proves that its A and B tasks are
/// done. `counter` numbers the tasks.
Status append_gemm_tasks(const GemmArray& array, const GemmShape& shape, const HostMatrix& a,
                         const HostMatrix& b, const HostMatrix& c, const TaskOptions& options,
                         int& counter, Sequence& out);

}  // namespace sotto::npu

#endif  // SOTTO_NPU_LIBRARY_GEMM_ARRAY_H_
