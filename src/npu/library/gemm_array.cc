#include "npu/library/gemm_array.h"

#include <algorithm>
#include <utility>

namespace sotto::npu {

GemmArray::GemmArray(GenerationId generation_id, const GemmTile& tile, ElementType out)
    : generation_(generation(generation_id)),
      tile_(tile),
      out_(out),
      columns_(generation_.columns),
      rows_(generation_.core_rows) {}

Design GemmArray::skeleton() const {
  Design design;
  design.name = "main";
  design.generation = generation_.id;
  design.kernels = {{zero_name(), {c_type()}, "mm.o"},
                    {matmul_name(), {a_type(), b_type(), c_type()}, "mm.o"}};
  for (int c = 0; c < columns_; ++c)
    design.tiles.push_back({c, 0});
  for (int c = 0; c < columns_; ++c)
    design.tiles.push_back({c, 1});
  for (int c = 0; c < columns_; ++c) {
    for (int r = 0; r < rows_; ++r)
      design.tiles.push_back(core(c, r));
  }
  add_a(design);
  add_b(design);
  add_c(design);
  return design;
}

// The transforms read each row-major tile block by block: for A blocks r x s, for B blocks s x t;
// C's blocks r x t are put back in rows.
void GemmArray::add_a(Design& design) const {
  const auto [r, s, t] = generation_.mmul_bf16.value;
  for (int row = 0; row < rows_; ++row) {
    const int col = a_column(row);
    design.fifos.push_back({a_shim_fifo(row), {col, 0}, {}, {{{col, 1}, {}}}, a_type(), {2}});
    ObjectFifo out{a_core_fifo(row), {col, 1}, {}, {}, a_type(), {2}};
    out.to_stream = {{tile_.m / r, r * tile_.k}, {tile_.k / s, s}, {r, tile_.k}, {s, 1}};
    for (int c = 0; c < columns_; ++c)
      out.consumers.push_back({core(c, row), {}});
    design.fifos.push_back(std::move(out));
    design.links.push_back({{a_shim_fifo(row)}, {a_core_fifo(row)}, {}, {0}});
  }
}

void GemmArray::add_b(Design& design) const {
  const auto [r, s, t] = generation_.mmul_bf16.value;
  for (int c = 0; c < columns_; ++c) {
    design.fifos.push_back({b_shim_fifo(c), {c, 0}, {}, {{{c, 1}, {}}}, b_type(), {2}});
    ObjectFifo out{b_core_fifo(c), {c, 1}, {}, {}, b_type(), {2}};
    out.to_stream = {{tile_.k / s, s * tile_.n}, {tile_.n / t, t}, {s, tile_.n}, {t, 1}};
    for (int row = 0; row < rows_; ++row)
      out.consumers.push_back({core(c, row), {}});
    design.fifos.push_back(std::move(out));
    design.links.push_back({{b_shim_fifo(c)}, {b_core_fifo(c)}, {}, {0}});
  }
}

void GemmArray::add_c(Design& design) const {
  const auto [r, s, t] = generation_.mmul_bf16.value;
  for (int c = 0; c < columns_; ++c) {
    Link join{{}, {c_shim_fifo(c)}, {}, {}};
    for (int row = 0; row < rows_; ++row) {
      design.fifos.push_back(
          {c_core_fifo(c, row), core(c, row), {}, {{{c, 1}, {}}}, c_type(), {2}});
      join.inputs.push_back(c_core_fifo(c, row));
      join.input_offsets.push_back(row * tile_.m * tile_.n);
    }
    ObjectFifo out{
        c_shim_fifo(c), {c, 1}, {}, {{{c, 0}, {}}}, {{rows_ * tile_.m, tile_.n}, out_}, {2}};
    out.to_stream = {{tile_.m / r, r * tile_.n}, {r, t}, {tile_.n / t, r * t}, {t, 1}};
    design.fifos.push_back(std::move(out));
    design.links.push_back(std::move(join));
  }
}

std::vector<Statement> GemmArray::k_step(int col, int row, const std::string& accumulator,
                                         const std::string& suffix) const {
  const std::string a = "a" + suffix;
  const std::string b = "b" + suffix;
  return {Acquire{a_core_fifo(row), Port::kConsume, a, 1},
          Acquire{b_core_fifo(col), Port::kConsume, b, 1}, Call{matmul_name(), {a, b, accumulator}},
          Release{a_core_fifo(row), Port::kConsume, 1},
          Release{b_core_fifo(col), Port::kConsume, 1}};
}

Statement GemmArray::k_loop(int col, int row, const std::string& accumulator, Bound from,
                            Bound to) const {
  return Loop{"kk", std::move(from), std::move(to), false, k_step(col, row, accumulator)};
}

// ---- Tasks
// ----------------------------------------------------------------------------------------

namespace {

class TaskWriter {
 public:
  TaskWriter(const GemmArray& array, const GemmShape& shape, const TaskOptions& options,
             int& counter, Sequence& out)
      : array_(array),
        shape_(shape),
        options_(options),
        first_(options.free_first),
        counter_(counter),
        out_(out) {}

  void run(const HostMatrix& a, const HostMatrix& b, const HostMatrix& c) {
    const GemmTile& tile = array_.tile();
    const int64_t block_rows = array_.rows() * tile.m;
    const int64_t blocks = shape_.m / block_rows;
    const int step = options_.c_tasks == CTasks::kPair ? 2 : 1;
    for (int64_t block = 0; block < blocks; block += step) {
      if (static_cast<int>(pending_.size()) * step >= options_.window) retire();
      Block tasks;
      for (int col = 0; col < array_.columns(); ++col) {
        tasks.outputs.push_back(c_task(c, block, col));
        for (int64_t rows = block; rows < block + step; ++rows) {
          for (int row = 0; row < array_.rows(); ++row) {
            if (array_.a_column(row) == col) tasks.inputs.push_back(a_task(a, rows, row));
          }
          tasks.inputs.push_back(b_task(b, col));
        }
      }
      pending_.push_back(std::move(tasks));
    }
    while (!pending_.empty())
      retire();
  }

 private:
  struct Block {
    std::vector<std::string> outputs, inputs;
  };

  int64_t repetitions() const { return shape_.n / (array_.tile().n * array_.columns()); }

  // Sizes outermost first; the outermost is the iteration. A size of 1 has no stride.
  std::string start(const char* kind, const std::string& fifo, const HostMatrix& matrix,
                    int64_t offset, std::vector<Dim> dims, bool token) {
    Task task;
    task.name = "t" + std::to_string(counter_++) + "_" + kind;
    task.fifo = fifo;
    task.argument = matrix.argument;
    task.offset = matrix.offset + offset;
    for (size_t i = 0; i < 3; ++i) {
      if (dims[i].size == 1) dims[i].stride = 0;
    }
    task.len = dims[1].size * dims[2].size * dims[3].size;
    task.repeat_count = static_cast<int>(dims[0].size - 1);
    task.dims = std::move(dims);
    task.issue_token = token;
    out_.ops.emplace_back(StartTask{task});
    return task.name;
  }

  std::string c_task(const HostMatrix& c, int64_t block, int col) {
    const GemmTile& tile = array_.tile();
    const int64_t rows = array_.rows() * tile.m;
    const int64_t band =
        tile.n * array_.columns();  // columns of C between two tiles of one array column
    std::vector<Dim> dims;
    if (options_.bf16_pairs) {  // an object is [rows][2 halves][n]; the halves lie one band apart
      dims = {{repetitions() / 2, 2 * band}, {rows, c.pitch}, {2, band}, {tile.n, 1}};
    } else if (options_.c_tasks == CTasks::kPair) {
      dims = {{2, rows * c.pitch}, {repetitions(), band}, {rows, c.pitch}, {tile.n, 1}};
    } else {
      dims = {{1, 0}, {repetitions(), band}, {rows, c.pitch}, {tile.n, 1}};
    }
    return start("c", GemmArray::c_shim_fifo(col), c, block * rows * c.pitch + col * tile.n,
                 std::move(dims), true);
  }

  std::string a_task(const HostMatrix& a, int64_t block, int row) {
    const GemmTile& tile = array_.tile();
    return start(
        "a", GemmArray::a_shim_fifo(row), a, (block * array_.rows() + row) * tile.m * a.pitch,
        {{repetitions(), 0}, {shape_.k / tile.k, tile.k}, {tile.m, a.pitch}, {tile.k, 1}}, false);
  }

  std::string b_task(const HostMatrix& b, int col) {
    const GemmTile& tile = array_.tile();
    return start("b", GemmArray::b_shim_fifo(col), b, col * tile.n,
                 {{repetitions(), tile.n * array_.columns()},
                  {shape_.k / tile.k, tile.k * b.pitch},
                  {tile.k, b.pitch},
                  {tile.n, 1}},
                 false);
  }

  void retire() {
    const Block block = std::move(pending_.front());
    pending_.erase(pending_.begin());
    for (const std::string& name : block.outputs)
      out_.ops.emplace_back(AwaitTask{name});
    for (const std::string& name : first_)
      out_.ops.emplace_back(FreeTask{name});
    first_.clear();
    for (const std::string& name : block.inputs)
      out_.ops.emplace_back(FreeTask{name});
  }

  const GemmArray& array_;
  const GemmShape& shape_;
  const TaskOptions& options_;
  std::vector<std::string> first_;
  int& counter_;
  Sequence& out_;
  std::vector<Block> pending_;
};

}  // namespace

Status append_gemm_tasks(const GemmArray& array, const GemmShape& shape, const HostMatrix& a,
                         const HostMatrix& b, const HostMatrix& c, const TaskOptions& options,
                         int& counter, Sequence& out) {
  const GemmTile& tile = array.tile();
  const int64_t rows = array.rows() * tile.m;
  const int64_t band = tile.n * array.columns();
  const std::string who =
      std::to_string(shape.m) + "x" + std::to_string(shape.k) + "x" + std::to_string(shape.n);
  if (shape.m <= 0 || shape.k <= 0 || shape.n <= 0 || shape.m % rows != 0 ||
      shape.k % tile.k != 0 || shape.n % (options.bf16_pairs ? 2 * band : band) != 0) {
    return invalid_argument("GEMM " + who + " does not divide into tiles; pad M to " +
                            std::to_string(rows) + ", K to " + std::to_string(tile.k) + ", N to " +
                            std::to_string(options.bf16_pairs ? 2 * band : band));
  }
  if (shape.n / band > array.facts().shim.dma.iteration_max) {
    return invalid_argument(
        "GEMM " + who + ": N needs " + std::to_string(shape.n / band) + " repetitions of B, the " +
        "hardware has " + std::to_string(array.facts().shim.dma.iteration_max.value) + "; split N");
  }
  if (options.c_tasks == CTasks::kPair && shape.m / rows % 2 != 0) {
    return invalid_argument("GEMM " + who + ": pairs of row blocks need an even number of them");
  }
  TaskWriter(array, shape, options, counter, out).run(a, b, c);
  return {};
}

}  // namespace sotto::npu
