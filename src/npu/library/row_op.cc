#include "npu/library/row_op.h"

#include <optional>
#include <utility>

namespace sotto::npu {
namespace {

constexpr int64_t kStackBytes = 2048;
constexpr int64_t kVectorElements = 16;

std::string band(const char* side, int col) {
  return std::string(side) + "_" + std::to_string(col);
}
std::string lane(const char* side, int col, int row) {
  return band(side, col) + "_" + std::to_string(row);
}

CoreProgram row_program(const RowOp& op, Tile core, const std::string& in, const std::string& out) {
  std::vector<Statement> body = {Acquire{in, Port::kConsume, "x", 1},
                                 Acquire{out, Port::kProduce, "y", 1},
                                 Call{op.kernel, {std::string("x"), std::string("y"), op.window}},
                                 Release{in, Port::kConsume, 1}, Release{out, Port::kProduce, 1}};
  return {core, {Loop{"i", Bound{int64_t{0}}, {}, true, std::move(body)}}, kStackBytes};
}

// count = high * low with the smallest high <= max_high and low <= max_low (even if asked).
std::optional<std::pair<int64_t, int64_t>> split(int64_t count, int64_t max_high, int64_t max_low,
                                                 bool even) {
  for (int64_t high = 1; high <= max_high; ++high) {
    if (count % high == 0 && count / high <= max_low && (!even || count / high % 2 == 0)) {
      return std::make_pair(high, count / high);
    }
  }
  return std::nullopt;
}

// One task a column and side: the band's rows as iterations and rows, each window as pieces.
Result<Task> band_task(const RowOp& op, const Generation& g, int col, bool output) {
  const ElementType element = output ? op.output : op.input;
  const int64_t pitch = output ? op.output_pitch : op.input_pitch;
  const int64_t rows = op.rows / g.columns;
  const int64_t size_max = (int64_t{1} << g.shim.dma.wrap_bits) - 1;
  const auto row_split = split(rows, g.shim.dma.iteration_max, size_max, false);
  const auto window_split = split(op.window, size_max, size_max * 4 / element_bytes(element), true);
  if (!row_split || !window_split) {
    return invalid_argument("row kernel: " + std::to_string(rows) + " rows of " +
                            std::to_string(op.window) +
                            " elements do not split into a transfer's dimensions");
  }
  const auto [row_high, row_low] = *row_split;
  const auto [window_high, window_low] = *window_split;
  Task task;
  task.name = (output ? "o" : "i") + std::to_string(col);
  task.fifo = band(output ? "out" : "in", col);
  task.argument = output ? 1 : 0;
  task.offset = col * rows * pitch;
  task.len = row_low * op.window;
  task.dims = {{row_high, row_high > 1 ? row_low * pitch : 0},
               {row_low, pitch},
               {window_high, window_high > 1 ? window_low : 0},
               {window_low, 1}};
  task.issue_token = output;
  task.repeat_count = static_cast<int>(row_high - 1);
  return task;
}

Result<Sequence> row_sequence(const RowOp& op, const Generation& g) {
  Sequence sequence;
  const int64_t out_elements =
      op.output_elements > 0 ? op.output_elements : op.rows * op.output_pitch;
  sequence.arguments = {{"X", op.rows * op.input_pitch, op.input}, {"Y", out_elements, op.output}};
  for (int col = 0; col < g.columns; ++col) {
    for (const bool output : {true, false}) {
      SOTTO_ASSIGN_OR_RETURN(Task task, band_task(op, g, col, output));
      sequence.ops.emplace_back(StartTask{std::move(task)});
    }
  }
  for (int col = 0; col < g.columns; ++col)
    sequence.ops.emplace_back(AwaitTask{"o" + std::to_string(col)});
  for (int col = 0; col < g.columns; ++col)
    sequence.ops.emplace_back(FreeTask{"i" + std::to_string(col)});
  return sequence;
}

}  // namespace

Result<Design> row_op(const RowOp& op) {
  const Generation& g = generation(op.generation);
  const int lanes = g.core_rows;
  if (op.rows <= 0 || op.rows % (lanes * g.columns) != 0) {
    return invalid_argument("row kernel: " + std::to_string(op.rows) + " rows are no multiple of " +
                            std::to_string(lanes * g.columns));
  }
  if (op.window <= 0 || op.window % kVectorElements != 0 || op.window > op.input_pitch ||
      op.window > op.output_pitch) {
    return invalid_argument("row kernel: a window of " + std::to_string(op.window) +
                            " elements is no multiple of 16 inside the rows");
  }
  Design design;
  design.name = "main";
  design.generation = op.generation;
  const ObjectType in_row{{op.window}, op.input};
  const ObjectType out_row{{op.window}, op.output};
  design.kernels = {{op.kernel, {in_row, out_row, ElementType::kI32}, "rowop.o"}};
  for (int col = 0; col < g.columns; ++col) {
    design.tiles.push_back({col, 0});
    design.tiles.push_back({col, 1});
    for (int row = 0; row < lanes; ++row)
      design.tiles.push_back({col, row + g.first_core_row});
  }
  for (int col = 0; col < g.columns; ++col) {
    design.fifos.push_back(
        {band("in", col), {col, 0}, {}, {{{col, 1}, {}}}, {{lanes * op.window}, op.input}, {2}});
    design.fifos.push_back(
        {band("out", col), {col, 1}, {}, {{{col, 0}, {}}}, {{lanes * op.window}, op.output}, {2}});
    Link split_link{{band("in", col)}, {}, {}, {}};
    Link join_link{{}, {band("out", col)}, {}, {}};
    for (int row = 0; row < lanes; ++row) {
      const Tile core{col, row + g.first_core_row};
      design.fifos.push_back({lane("in", col, row), {col, 1}, {}, {{core, {}}}, in_row, {2}});
      design.fifos.push_back({lane("out", col, row), core, {}, {{{col, 1}, {}}}, out_row, {2}});
      split_link.outputs.push_back(lane("in", col, row));
      split_link.output_offsets.push_back(op.window * row);
      join_link.inputs.push_back(lane("out", col, row));
      join_link.input_offsets.push_back(op.window * row);
      design.programs.push_back(row_program(op, core, lane("in", col, row), lane("out", col, row)));
    }
    design.links.push_back(std::move(split_link));
    design.links.push_back(std::move(join_link));
  }
  SOTTO_ASSIGN_OR_RETURN(Sequence sequence, row_sequence(op, g));
  design.sequences.push_back(std::move(sequence));
  return design;
}

Design direct_row_op(const RowOp& op) {
  const Generation& g = generation(op.generation);
  Design design;
  design.name = "main";
  design.generation = op.generation;
  const ObjectType in_row{{op.window}, op.input};
  const ObjectType out_row{{op.window}, op.output};
  design.kernels = {{op.kernel, {in_row, out_row, ElementType::kI32}, "rowop.o"}};
  for (int col = 0; col < g.columns; ++col)
    design.tiles.push_back({col, 0});
  for (int col = 0; col < g.columns; ++col) {
    for (int row = 0; row < g.core_rows; ++row) {
      const Tile core{col, row + g.first_core_row};
      design.tiles.push_back(core);
      design.fifos.push_back({lane("in", col, row), {col, 0}, {}, {{core, {}}}, in_row, {2}});
      design.fifos.push_back({lane("out", col, row), core, {}, {{{col, 0}, {}}}, out_row, {2}});
      design.programs.push_back(row_program(op, core, lane("in", col, row), lane("out", col, row)));
    }
  }
  return design;
}

}  // namespace sotto::npu
