#include "npu/library/gemm.h"

#include <algorithm>
#include <utility>

#include "npu/library/gemm_array.h"

namespace sotto::npu {
namespace {

constexpr int64_t kStackBytes = 3328;  // What the stock whole-array GEMM sets
constexpr int64_t kParameterAddress =
    3328;  // The first word above the stack: no compiler output is needed to know it
constexpr int kGoLock = 15;  // The last lock of a core
constexpr int kWindow = 4;   // Row blocks in flight: the depth of a shim channel's queue
constexpr int kHeaderWindow =
    3;  // The header takes a place in the queue of A until the first token
constexpr int64_t kParameterWords = 4;

int64_t round_up(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

std::string place(int col, int row) {
  return std::to_string(col) + "_" + std::to_string(row);
}

GemmArray array_of(const UniversalOptions& options) {
  return {options.generation, options.tile, ElementType::kF32};
}

// ---- Core programs of the universal array
// ---------------------------------------------------------

// Until the launch's parameters are there.
std::vector<Statement> gate_statements(const UniversalOptions& options, int col, int row) {
  if (options.gate == Gate::kLock) return {UseLock{"go_" + place(col, row), true, 1}};
  if (options.gate == Gate::kData) return {};
  const std::string a = GemmArray::a_core_fifo(row);
  return {Acquire{a, Port::kConsume, "hd", 1},
          Call{"read_header", {std::string("hd"), "rtp_" + place(col, row)}},
          Release{a, Port::kConsume, 1}};
}

CoreProgram plain_program(const GemmArray& array, const UniversalOptions& options, int col,
                          int row) {
  const std::string c = GemmArray::c_core_fifo(col, row);
  const std::string parameters = "rtp_" + place(col, row);
  std::vector<Statement> body = gate_statements(options, col, row);
  body.emplace_back(Load{"nk", parameters, 0});
  body.emplace_back(Load{"nt", parameters, 1});
  body.emplace_back(
      Loop{"t",
           Bound{int64_t{0}},
           Bound{std::string("nt")},
           false,
           {Acquire{c, Port::kProduce, "c", 1}, Call{array.zero_name(), {std::string("c")}},
            array.k_loop(col, row, "c", Bound{int64_t{0}}, Bound{std::string("nk")}),
            Release{c, Port::kProduce, 1}}});
  return {array.core(col, row),
          {Loop{"launch", Bound{int64_t{0}}, {}, true, std::move(body)}},
          kStackBytes};
}

// One C tile a round; the first k step is outside the loop because the arrival of its operands is
// what says that the number of steps may be read.
CoreProgram data_program(const GemmArray& array, int col, int row) {
  const std::string c = GemmArray::c_core_fifo(col, row);
  std::vector<Statement> body = {Acquire{c, Port::kProduce, "c", 1},
                                 Call{array.zero_name(), {std::string("c")}}};
  std::vector<Statement> first = array.k_step(col, row, "c", "0");
  first.insert(first.begin() + 2, Load{"nk", "rtp_" + place(col, row), 0});
  body.insert(body.end(), first.begin(), first.end());
  body.push_back(array.k_loop(col, row, "c", Bound{int64_t{1}}, Bound{std::string("nk")}));
  body.emplace_back(Release{c, Port::kProduce, 1});
  return {array.core(col, row),
          {Loop{"launch", Bound{int64_t{0}}, {}, true, std::move(body)}},
          kStackBytes};
}

CoreProgram epilogue_program(const GemmArray& array, const UniversalOptions& options, int col,
                             int row) {
  const std::string c = GemmArray::c_core_fifo(col, row);
  const std::string parameters = "rtp_" + place(col, row);
  const std::string accumulator = "acc_" + place(col, row);
  std::vector<Statement> tile = {
      Call{array.zero_name(), {accumulator}},
      array.k_loop(col, row, accumulator, Bound{int64_t{0}}, Bound{std::string("nk")}),
      Call{"epilogue", {accumulator, std::string("c"), std::string("mode"), std::string("p")}}};
  std::vector<Statement> body = gate_statements(options, col, row);
  body.emplace_back(Load{"nk", parameters, 0});
  body.emplace_back(Load{"no", parameters, 1});
  body.emplace_back(Load{"np", parameters, 2});
  body.emplace_back(Load{"mode", parameters, 3});
  body.emplace_back(
      Loop{"o",
           Bound{int64_t{0}},
           Bound{std::string("no")},
           false,
           {Acquire{c, Port::kProduce, "c", 1},
            Loop{"p", Bound{int64_t{0}}, Bound{std::string("np")}, false, std::move(tile)},
            Release{c, Port::kProduce, 1}}});
  return {array.core(col, row),
          {Loop{"launch", Bound{int64_t{0}}, {}, true, std::move(body)}},
          kStackBytes};
}

// ---- Sequences of the universal array
// -------------------------------------------------------------

class SequenceBuilder {
 public:
  SequenceBuilder(const UniversalOptions& options, std::string name)
      : options_(options), array_(array_of(options)) {
    out_.name = std::move(name);
  }

  int argument(const std::string& name, int64_t elements, ElementType element) {
    out_.arguments.push_back({name, elements, element});
    return static_cast<int>(out_.arguments.size()) - 1;
  }

  /// `header` is where the header object stands, for kHeader.
  Status product(const GemmShape& shape, EpilogueMode mode, const HostMatrix& a,
                 const HostMatrix& b, const HostMatrix& c, const HostMatrix& header) {
    TaskOptions tasks;
    tasks.bf16_pairs = mode != EpilogueMode::kF32;
    tasks.window = kWindow;
    if (options_.gate == Gate::kHeader) {
      tasks.window = kHeaderWindow;
      tasks.free_first = send_header(header);
    } else {
      write_parameters(launch_parameters(options_, shape, mode));
    }
    return append_gemm_tasks(array_, shape, a, b, c, tasks, counter_, out_);
  }

  Sequence take() { return std::move(out_); }

 private:
  std::vector<std::string> send_header(const HostMatrix& header) {
    std::vector<std::string> names;
    for (int row = 0; row < array_.rows(); ++row) {
      Task task;
      task.name = "h" + std::to_string(counter_++);
      task.fifo = GemmArray::a_shim_fifo(row);
      task.argument = header.argument;
      task.offset = header.offset;
      task.len = header_elements(options_);
      names.push_back(task.name);
      out_.ops.emplace_back(StartTask{std::move(task)});
    }
    return names;
  }

  void write_parameters(const std::vector<int32_t>& words) {
    for (int col = 0; col < array_.columns(); ++col) {
      for (int row = 0; row < array_.rows(); ++row) {
        for (size_t i = 0; i < words.size(); ++i) {
          out_.ops.emplace_back(
              WriteParameter{"rtp_" + place(col, row), static_cast<int64_t>(i), words[i]});
        }
        if (options_.gate == Gate::kLock)
          out_.ops.emplace_back(SetLock{"go_" + place(col, row), 1});
      }
    }
  }

  const UniversalOptions& options_;
  GemmArray array_;
  Sequence out_;
  int counter_ = 0;
};

}  // namespace

GemmShape pad_gemm(const GemmShape& shape, const GemmTile& tile, GenerationId id, bool bf16_pairs) {
  const Generation& g = generation(id);
  const int64_t band = tile.n * g.columns;
  return {round_up(shape.m, tile.m * g.core_rows), round_up(shape.k, tile.k),
          round_up(shape.n, bf16_pairs ? 2 * band : band)};
}

GemmTile choose_gemm_tile(const GemmShape& shape) {
  if (shape.k <= 64) return {32, 64, 64};
  if (shape.n <= 64) return {64, 64, 16};
  return {64, 64, 32};
}

Design universal_array(const UniversalOptions& options) {
  const GemmArray array = array_of(options);
  Design design = array.skeleton();
  const ObjectType parameters{{kParameterWords}, ElementType::kI32};
  if (options.epilogue) {
    design.kernels.push_back(
        {"epilogue",
         {array.c_type(), array.c_type(), ElementType::kI32, ElementType::kI32},
         "epilogue.o"});
  }
  if (options.gate == Gate::kHeader)
    design.kernels.push_back({"read_header", {array.a_type(), parameters}, "header.o"});
  for (int col = 0; col < array.columns(); ++col) {
    for (int row = 0; row < array.rows(); ++row) {
      const Tile core = array.core(col, row);
      if (options.epilogue)
        design.buffers.push_back({"acc_" + place(col, row), core, array.c_type(), std::nullopt});
      Buffer buffer{"rtp_" + place(col, row), core, parameters, std::nullopt};
      if (options.gate != Gate::kHeader) buffer.address = kParameterAddress;
      design.buffers.push_back(std::move(buffer));
      if (options.gate == Gate::kLock)
        design.locks.push_back({"go_" + place(col, row), core, kGoLock, 0});
    }
  }
  for (int col = 0; col < array.columns(); ++col) {
    for (int row = 0; row < array.rows(); ++row) {
      design.programs.push_back(options.epilogue ? epilogue_program(array, options, col, row)
                                : options.gate == Gate::kData
                                    ? data_program(array, col, row)
                                    : plain_program(array, options, col, row));
    }
  }
  return design;
}

Result<Design> fixed_gemm(GenerationId generation, const GemmShape& shape, const GemmTile& tile,
                          ElementType out, CTasks c_tasks) {
  const GemmArray array(generation, tile, out);
  Sequence sequence;
  sequence.arguments = {{"A", shape.m * shape.k, ElementType::kBf16},
                        {"B", shape.k * shape.n, ElementType::kBf16},
                        {"C", shape.m * shape.n, out}};
  TaskOptions tasks;
  tasks.c_tasks = c_tasks;
  tasks.window = kWindow;
  int counter = 0;
  SOTTO_RETURN_IF_ERROR(append_gemm_tasks(array, shape, {0, 0, shape.k}, {1, 0, shape.n},
                                          {2, 0, shape.n}, tasks, counter, sequence));
  Design design = array.skeleton();
  const int64_t tiles = shape.m / tile.m * (shape.n / tile.n) / array.cores();
  for (int col = 0; col < array.columns(); ++col) {
    for (int row = 0; row < array.rows(); ++row) {
      const std::string c = GemmArray::c_core_fifo(col, row);
      Loop one_launch{
          "t",
          Bound{int64_t{0}},
          Bound{tiles},
          false,
          {Acquire{c, Port::kProduce, "c", 1}, Call{array.zero_name(), {std::string("c")}},
           array.k_loop(col, row, "c", Bound{int64_t{0}}, Bound{shape.k / tile.k}),
           Release{c, Port::kProduce, 1}}};
      design.programs.push_back(
          {array.core(col, row),
           {Loop{"launch", Bound{int64_t{0}}, {}, true, {std::move(one_launch)}}},
           kStackBytes});
    }
  }
  design.sequences.push_back(std::move(sequence));
  return design;
}

std::vector<int32_t> launch_parameters(const UniversalOptions& options, const GemmShape& shape,
                                       EpilogueMode mode) {
  const GemmArray array = array_of(options);
  const auto steps = static_cast<int32_t>(shape.k / options.tile.k);
  const auto tiles =
      static_cast<int32_t>(shape.m / options.tile.m * (shape.n / options.tile.n) / array.cores());
  if (options.gate == Gate::kData) return {steps};
  if (!options.epilogue) return {steps, tiles};
  const int32_t per_object = mode == EpilogueMode::kF32 ? 1 : 2;
  return {steps, tiles / per_object, per_object, static_cast<int32_t>(mode)};
}

int64_t header_elements(const UniversalOptions& options) {
  return options.tile.m * options.tile.k;
}

Result<Sequence> gemm_sequence(const UniversalOptions& options, const std::string& name,
                               const GemmShape& shape, EpilogueMode mode) {
  if (!options.epilogue && mode != EpilogueMode::kF32) {
    return invalid_argument("this array has no epilogue; only f32 results can be stored");
  }
  SequenceBuilder builder(options, name);
  const bool header_in_b = options.gate == Gate::kHeader && options.epilogue;
  const int a = builder.argument("A", shape.m * shape.k, ElementType::kBf16);
  const int b = builder.argument(
      "B", shape.k * shape.n + (header_in_b ? header_elements(options) : 0), ElementType::kBf16);
  const int c = builder.argument(
      "C", shape.m * shape.n, mode == EpilogueMode::kF32 ? ElementType::kF32 : ElementType::kBf16);
  HostMatrix header{b, shape.k * shape.n, 0};
  if (options.gate == Gate::kHeader && !options.epilogue) {
    header = {builder.argument("H", header_elements(options), ElementType::kBf16), 0, 0};
  }
  SOTTO_RETURN_IF_ERROR(
      builder.product(shape, mode, {a, 0, shape.k}, {b, 0, shape.n}, {c, 0, shape.n}, header));
  return builder.take();
}

Result<Sequence> mlp_sequence(const UniversalOptions& options, int64_t m, int64_t k, int64_t h,
                              int64_t n) {
  if (!options.epilogue) return invalid_argument("the MLP needs an array with an epilogue");
  const int64_t header = options.gate == Gate::kHeader ? header_elements(options) : 0;
  SequenceBuilder builder(options, "mlp_" + std::to_string(m) + "x" + std::to_string(k) + "x" +
                                       std::to_string(h) + "x" + std::to_string(n));
  const int x = builder.argument("x", m * k, ElementType::kBf16);
  const int w = builder.argument("w", k * h + header, ElementType::kBf16);
  const int hidden = builder.argument("h", m * h, ElementType::kBf16);
  const int u = builder.argument("u", h * n + header, ElementType::kBf16);
  const int y = builder.argument("y", m * n, ElementType::kF32);
  SOTTO_RETURN_IF_ERROR(builder.product({m, k, h}, EpilogueMode::kGelu, {x, 0, k}, {w, 0, h},
                                        {hidden, 0, h}, {w, k * h, 0}));
  // Every token of the first product has been awaited: h is complete.
  SOTTO_RETURN_IF_ERROR(builder.product({m, h, n}, EpilogueMode::kF32, {hidden, 0, h}, {u, 0, n},
                                        {y, 0, n}, {u, h * n, 0}));
  return builder.take();
}

Result<Sequence> attention_sequence(const UniversalOptions& options, int64_t heads, int64_t t,
                                    int64_t d, int64_t dv) {
  if (!options.epilogue) return invalid_argument("attention needs an array with an epilogue");
  const int64_t header = options.gate == Gate::kHeader ? header_elements(options) : 0;
  SequenceBuilder builder(options, "attention_" + std::to_string(heads) + "x" + std::to_string(t) +
                                       "x" + std::to_string(d) + "x" + std::to_string(dv));
  const int q = builder.argument("q", heads * t * d, ElementType::kBf16);
  const int k = builder.argument("k", heads * d * t + header, ElementType::kBf16);
  const int s = builder.argument("s", t * t, ElementType::kBf16);
  const int v = builder.argument("v", heads * t * dv + header, ElementType::kBf16);
  const int o = builder.argument("o", heads * t * dv, ElementType::kF32);
  for (int64_t head = 0; head < heads; ++head) {
    SOTTO_RETURN_IF_ERROR(builder.product({t, d, t}, EpilogueMode::kExp, {q, head * t * d, d},
                                          {k, head * d * t, t}, {s, 0, t}, {k, heads * d * t, 0}));
    SOTTO_RETURN_IF_ERROR(builder.product({t, t, dv}, EpilogueMode::kF32, {s, 0, t},
                                          {v, head * t * dv, dv}, {o, head * t * dv, dv},
                                          {v, heads * t * dv, 0}));
  }
  return builder.take();
}

}  // namespace sotto::npu
