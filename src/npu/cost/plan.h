// What an encoder pass costs on the array: launches, switches, bytes, products and a predicted
// time, without running anything.
//
// The time of a product is its DDR traffic at one effective bandwidth, or its cores' cycles where
// those are more. The constants of XDNA1 were fitted to published measurements of the first
// open Whisper encoder there (PlanConstants says to which); its other measurements test the model.
#ifndef SOTTO_NPU_COST_PLAN_H_
#define SOTTO_NPU_COST_PLAN_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "npu/hw/generation.h"
#include "npu/library/gemm.h"
#include "sotto/status.h"

namespace sotto::npu {

struct EncoderShape {
  std::string name;
  int64_t width = 0, heads = 0, layers = 0, mels = 80;
  int64_t positions = 1500;
};
/// "tiny", "base.en", "large-v3", … kInvalidArgument lists them.
Result<EncoderShape> encoder_shape(std::string_view model);

enum class PlanKind {
  kClassic,    ///< An array a shape, softmax and GELU as row kernels between products
  kUniversal,  ///< One array for all; exp and GELU in the products' epilogues
};
Result<PlanKind> parse_plan(std::string_view name);

struct PlanConstants {
  double ddr_gb_per_s = 19.0;    ///< From 1536x5120x1280 at 1514 and 1536x1280x1280 at 1409 GFLOPS
  double launch_ms = 0.17;       ///< From the same two; a run in a run list has none of its own
  double softmax_ns = 0.372;     ///< An element; from 562 ms a pass of large-v3
  double gelu_ns = 1.5;          ///< An element; from 882 ms less the 506 ms of its last version
  double clock_ghz = 1.0;        ///< Not published; only bounds the cores' part
  double core_efficiency = 0.6;  ///< Share of the matrix unit's rate that a kernel reaches
  double switch_ms = 1.405;
  // From whole passes: large-v3 at 1500 and 512 positions, tiny and small at 1500. The passes of
  // large-v3 at 768 and 1024 positions were left out, to test with.
  double host_ns = 1.9;         ///< An element of a layer's activation: norms, sums, copies
  double host_hidden_ns = 9.3;  ///< An element of the MLP's hidden rows that pass the host
  double fixed_ms = 283;        ///< A pass, in that encoder's Python
};
PlanConstants plan_constants(GenerationId generation);

struct PlanStage {
  std::string name;
  int64_t launches = 0;
  double ddr_bytes = 0;
  double macs = 0;
  double ms = 0;
};

struct EncoderPlan {
  std::vector<PlanStage> stages;
  int64_t overlays = 0;  ///< Array configurations, each a hardware context
  int64_t switches = 0;
  int64_t launches = 0;
  double device_bytes = 0;  ///< Weights, activations and scores
  double ms = 0;
};

EncoderPlan plan_encoder(const EncoderShape& shape, GenerationId generation, PlanKind kind,
                         const PlanConstants& constants);

/// DDR bytes of one product: A again for every band of columns, B for every block of rows.
double product_bytes(const GemmShape& padded, const GemmTile& tile, GenerationId generation,
                     bool bf16_result);

struct Sensitivity {
  std::string what;
  double low_ms, high_ms;
};
/// The plan's time with each unknown at half and at twice its value.
std::vector<Sensitivity> plan_sensitivity(const EncoderShape& shape, GenerationId generation,
                                          PlanKind kind, const PlanConstants& constants);

}  // namespace sotto::npu

#endif  // SOTTO_NPU_COST_PLAN_H_
