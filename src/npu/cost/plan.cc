#include "npu/cost/plan.h"

#include <algorithm>
#include <array>
#include <set>

namespace sotto::npu {
namespace {

constexpr int64_t kHeadDim = 64;
constexpr int64_t kWidestHost = 4096;  ///< Wider MLPs are cut into pieces that stay on the device

struct KnownShape {
  std::string_view name;
  int64_t width, heads, layers, mels;
};
constexpr std::array<KnownShape, 9> kKnown = {{{"tiny", 384, 6, 4, 80},
                                               {"base", 512, 8, 6, 80},
                                               {"small", 768, 12, 12, 80},
                                               {"medium", 1024, 16, 24, 80},
                                               {"large-v1", 1280, 20, 32, 80},
                                               {"large-v2", 1280, 20, 32, 80},
                                               {"large-v3", 1280, 20, 32, 128},
                                               {"large-v3-turbo", 1280, 20, 32, 128},
                                               {"turbo", 1280, 20, 32, 128}}};

int64_t round_up(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}
double real(int64_t value) {
  return static_cast<double>(value);
}

/// Adds stages one product at a time.
class Planner {
 public:
  Planner(GenerationId id, const PlanConstants& constants) : id_(id), constants_(constants) {}

  struct Product {
    GemmShape shape;
    GemmTile tile = {};
    bool bf16_result = false;
    bool in_list = false;        ///< Of runs that are submitted together
    double epilogue_cycles = 0;  ///< For sixteen results
    int64_t times = 1;
  };
  void add(PlanStage& stage, const Product& p, int64_t row_pad) {
    GemmShape padded = pad_gemm(p.shape, p.tile, id_, false);
    padded.m = round_up(p.shape.m, row_pad);
    const double bytes = product_bytes(padded, p.tile, id_, p.bf16_result);
    const double macs = real(padded.m) * real(padded.k) * real(padded.n);
    const Generation& g = generation(id_);
    const double cycles = macs / (g.cores() * g.bf16_macs_per_cycle * constants_.core_efficiency) +
                          p.epilogue_cycles * real(padded.m * padded.n) / (16.0 * g.cores());
    const double ms =
        std::max(bytes / (constants_.ddr_gb_per_s * 1e6), cycles / (constants_.clock_ghz * 1e6));
    stage.launches += p.times;
    stage.ddr_bytes += real(p.times) * bytes;
    stage.macs += real(p.times) * macs;
    stage.ms += real(p.times) * (ms + (p.in_list ? 0 : constants_.launch_ms));
    overlays_.insert({padded.m, padded.k, padded.n});
  }
  struct Rows {
    double ns, bytes;  ///< An element
  };
  void add_rows(PlanStage& stage, int64_t elements, Rows rows, int64_t launches, int64_t times) {
    stage.launches += launches * times;
    stage.ddr_bytes += real(times) * real(elements) * rows.bytes;
    stage.ms +=
        real(times) * (real(elements) * rows.ns * 1e-6 + real(launches) * constants_.launch_ms);
  }
  [[nodiscard]] size_t shapes() const { return overlays_.size(); }

 private:
  struct Less {
    bool operator()(const GemmShape& a, const GemmShape& b) const {
      return std::array{a.m, a.k, a.n} < std::array{b.m, b.k, b.n};
    }
  };
  GenerationId id_;
  const PlanConstants& constants_;
  std::set<GemmShape, Less> overlays_;
};

PlanStage host_stage(const EncoderShape& z, const PlanConstants& c, bool hidden_on_host) {
  PlanStage stage{"host", 0, 0, 0, c.fixed_ms};
  stage.ms += real(z.layers * z.positions * z.width) * c.host_ns * 1e-6;
  if (hidden_on_host)
    stage.ms += real(z.layers * z.positions * 4 * z.width) * c.host_hidden_ns * 1e-6;
  return stage;
}

void plan_classic(const EncoderShape& z, GenerationId id, const PlanConstants& c,
                  EncoderPlan& out) {
  const int64_t t = z.positions;
  const int64_t d = z.width;
  const bool wide = 4 * d > kWidestHost;
  const int64_t chunks = wide ? 4 : 1;
  const int64_t rows = round_up(t, 512);  // Pairs of row blocks
  const int64_t columns = round_up(t, 256);
  Planner planner(id, c);
  PlanStage conv{"convolutions"}, projections{"projections"}, scores{"scores and values"};
  PlanStage softmax{"softmax"}, mlp{"mlp products"}, gelu{"gelu"}, switches{"switches"};
  const Planner::Rows gelu_rows{c.gelu_ns, 6};  // f32 in, bf16 out
  const auto tile_of = [](const GemmShape& shape) { return choose_gemm_tile(shape); };
  const auto product = [&](PlanStage& stage, const GemmShape& shape, int64_t times, int64_t pad) {
    planner.add(stage, {shape, tile_of(shape), false, false, 0, times}, pad);
  };
  product(conv, {2 * t, 3 * z.mels, d}, 1, 512);
  product(conv, {t, 3 * d, d}, 1, 512);
  planner.add_rows(conv, 3 * t * d, gelu_rows, 2, 1);
  product(projections, {t, d + 1, d}, 4 * z.layers, 512);
  const GemmShape qk{rows, kHeadDim, columns};
  const GemmShape av{rows, columns, kHeadDim};
  planner.add(scores, {qk, tile_of(qk), true, true, 0, z.layers * z.heads}, rows);
  planner.add(scores, {av, tile_of(av), false, true, 0, z.layers * z.heads}, rows);
  planner.add_rows(softmax, z.heads * rows * columns, {c.softmax_ns, 4}, 1, z.layers);
  product(mlp, {t, d + 1, 4 * d / chunks}, chunks * z.layers, 512);
  product(mlp, {t, 4 * d, d}, z.layers, 512);
  planner.add_rows(gelu, rows * 4 * d, gelu_rows, chunks, z.layers);
  // Of a layer: projections, scores, softmax, values, output, GELU, second product, and back.
  constexpr int64_t kSwitchesALayer = 7;
  out.switches = kSwitchesALayer * z.layers;
  switches.ms = real(out.switches) * c.switch_ms;
  constexpr int64_t kRowKernels = 3;  // Softmax, GELU of convolutions, GELU of the MLP
  out.overlays = static_cast<int64_t>(planner.shapes()) + kRowKernels;
  out.device_bytes = 2.0 * real(z.heads * rows * columns) * 2;
  out.stages = {conv, projections, scores, softmax, mlp, gelu, switches, host_stage(z, c, !wide)};
}

void plan_universal(const EncoderShape& z, GenerationId id, const PlanConstants& c,
                    EncoderPlan& out) {
  constexpr double kGeluCycles = 52;  // As in npu/aie's table
  constexpr double kExpCycles = 22;
  const int64_t t = z.positions;
  const int64_t d = z.width;
  const Generation& g = generation(id);
  const GemmTile tile;
  const int64_t band = 2 * tile.n * g.columns;  // bf16 results are stored in pairs
  const int64_t pad = tile.m * g.core_rows;
  const int64_t square = round_up(round_up(t, band), pad);
  Planner planner(id, c);
  PlanStage conv{"convolutions"}, projections{"projections"}, scores{"scores and values"};
  PlanStage mlp{"mlp products"};
  const auto gelu = [&](PlanStage& stage, const GemmShape& shape, int64_t times) {
    const GemmShape paired{shape.m, shape.k, round_up(shape.n, band)};
    planner.add(stage, {paired, tile, true, false, kGeluCycles, times}, pad);
  };
  constexpr int64_t kBiasRows = 2;
  gelu(conv, {2 * t, 3 * z.mels + kBiasRows, d}, 1);
  gelu(conv, {t, 3 * d + kBiasRows, d}, 1);
  planner.add(projections, {{t, d, 3 * d}, tile, false, false, 0, z.layers}, pad);
  planner.add(projections, {{t, d, d}, tile, false, false, 0, z.layers}, pad);
  planner.add(scores,
              {{square, kHeadDim, square}, tile, true, true, kExpCycles, z.layers * z.heads}, pad);
  planner.add(scores, {{square, square, kHeadDim + 1}, tile, false, true, 0, z.layers * z.heads},
              pad);
  planner.add_rows(scores, 0, {}, 1, z.layers);  // All heads of a layer are one launch
  gelu(mlp, {t, d + kBiasRows, 4 * d}, z.layers);
  planner.add(mlp, {{t, round_up(4 * d, band), d}, tile, false, true, 0, z.layers}, pad);
  out.overlays = 1;
  out.device_bytes = real(square * square) * 2;
  scores.launches = z.layers;
  mlp.launches = z.layers;
  out.stages = {conv, projections, scores, mlp, host_stage(z, c, false)};
}

}  // namespace

Result<EncoderShape> encoder_shape(std::string_view model) {
  std::string_view name = model;
  if (name.ends_with(".en")) name.remove_suffix(3);
  std::string all;
  for (const KnownShape& known : kKnown) {
    if (known.name == name)
      return EncoderShape{std::string(model), known.width, known.heads, known.layers, known.mels};
    all += (all.empty() ? "" : ", ") + std::string(known.name);
  }
  return invalid_argument("no encoder is called '" + std::string(model) + "'; known are " + all);
}

Result<PlanKind> parse_plan(std::string_view name) {
  if (name == "classic") return PlanKind::kClassic;
  if (name == "universal") return PlanKind::kUniversal;
  return invalid_argument("plan '" + std::string(name) + "' is neither classic nor universal");
}

PlanConstants plan_constants(GenerationId id) {
  PlanConstants constants;
  constants.switch_ms = generation(id).context_switch_ms;
  // XDNA2: a read bandwidth measured there by others; nobody has run such an encoder on it.
  if (id == GenerationId::kXdna2) constants.ddr_gb_per_s = 50;
  return constants;
}

double product_bytes(const GemmShape& padded, const GemmTile& tile, GenerationId id,
                     bool bf16_result) {
  const Generation& g = generation(id);
  const double a = 2 * real(padded.m) * real(padded.k) * real(padded.n / (tile.n * g.columns));
  const double b = 2 * real(padded.k) * real(padded.n) * real(padded.m / (tile.m * g.core_rows));
  return a + b + real(padded.m) * real(padded.n) * (bf16_result ? 2 : 4);
}

EncoderPlan plan_encoder(const EncoderShape& shape, GenerationId id, PlanKind kind,
                         const PlanConstants& constants) {
  EncoderPlan out;
  if (kind == PlanKind::kClassic) {
    plan_classic(shape, id, constants, out);
  } else {
    plan_universal(shape, id, constants, out);
  }
  const int64_t d = shape.width;
  out.device_bytes += 2.0 * real(shape.layers * 12 * d * d + 3 * shape.mels * d + 3 * d * d);
  out.device_bytes += real(shape.positions * d) * (2 * 4 + 4 * 2 + 3 * 4 + 3 * 2);
  for (const PlanStage& stage : out.stages) {
    out.launches += stage.launches;
    out.ms += stage.ms;
  }
  return out;
}

std::vector<Sensitivity> plan_sensitivity(const EncoderShape& shape, GenerationId id, PlanKind kind,
                                          const PlanConstants& constants) {
  struct Unknown {
    const char* what;
    double PlanConstants::*value;
  };
  constexpr Unknown kUnknown[] = {{"DDR bandwidth", &PlanConstants::ddr_gb_per_s},
                                  {"launch", &PlanConstants::launch_ms},
                                  {"switch", &PlanConstants::switch_ms},
                                  {"array clock", &PlanConstants::clock_ghz},
                                  {"host work an element", &PlanConstants::host_ns},
                                  {"fixed part of a pass", &PlanConstants::fixed_ms}};
  std::vector<Sensitivity> out;
  for (const Unknown& unknown : kUnknown) {
    PlanConstants half = constants;
    PlanConstants twice = constants;
    half.*unknown.value /= 2;
    twice.*unknown.value *= 2;
    const double a = plan_encoder(shape, id, kind, half).ms;
    const double b = plan_encoder(shape, id, kind, twice).ms;
    out.push_back({unknown.what, std::min(a, b), std::max(a, b)});
  }
  return out;
}

}  // namespace sotto::npu
