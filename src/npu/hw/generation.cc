#include "npu/hw/generation.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace sotto::npu {
namespace {

// Sources, short: "target model" is mlir-aie's AIETargetModel, "drv" amd/xdna-driver 856409c, "emu"
// xdna-emu 7380bd5, "api" aie_api dc3ab77, "seed" the whisper-xdna measurements on a Ryzen 7
// 8845HS, "eng" xdna-engine's on XDNA2, "golden" our own designs compiled with mlir-aie 3ca0193.
constexpr std::string_view kModel = "mlir-aie AIETargetModel";
constexpr std::string_view kVerifier =
    "mlir-aie AIETargetModel and dialect verifiers; emu dma-model";

constexpr DmaLimits kShimDma = {{2, kModel},     {2, kModel},     {16, kModel},    {3, kVerifier},
                                {10, kVerifier}, {20, kVerifier}, {32, kVerifier}, {64, kVerifier}};
constexpr DmaLimits kMemDma = {{6, kModel},     {6, kModel},     {48, kModel},    {4, kVerifier},
                               {10, kVerifier}, {17, kVerifier}, {17, kVerifier}, {64, kVerifier}};
constexpr DmaLimits kCoreDma = {{2, kModel},    {2, kModel},     {16, kModel},    {3, kVerifier},
                                {8, kVerifier}, {13, kVerifier}, {14, kVerifier}, {64, kVerifier}};
constexpr TileLimits kShim = {{0, kModel}, {16, kModel}, kShimDma};
constexpr TileLimits kMem = {{512 * 1024, kModel}, {64, kModel}, kMemDma};
constexpr TileLimits kCore = {{64 * 1024, kModel}, {16, kModel}, kCoreDma};

constexpr Generation kXdna1 = {
    .id = GenerationId::kXdna1,
    .name = "npu1",
    .marketing = "XDNA1",
    .compiler_target = "aie2",
    .driver_name = "RyzenAI-npu1",
    .columns = {4, "target model: 5 physical, column 0 has no shim DMA"},
    .rows = {6, kModel},
    .first_core_row = {2, kModel},
    .core_rows = {4, kModel},
    .shim = kShim,
    .mem = kMem,
    .core = kCore,
    .program_memory_bytes = {16 * 1024, kModel},
    .default_stack_bytes = {0x400, kModel},
    .lock_value_max = {63, "target model; emu"},
    .task_queue_depth = {4, "emu register layout; mlir-aie register data base",
                         "emu's dma-model text says 8"},
    .queue_repeat_max = {255, "mlir-aie; FastFlowLM instr_utils"},
    .mem_even_channel_bd_end = {24, kModel},
    .shim_burst_field = {2, "golden instruction streams"},
    .stream_word_bytes = {4, "mlir-aie programming guide"},
    .north_streams = {6, kModel},
    .txn_generation = {3, "mlir-aie TxnEncoding"},
    .hw_contexts = {6, "seed measurement; drv hwctx_limit"},
    .commands_in_flight = {4, "drv HWCTX_MAX_CMDS"},
    .runlist_chain = {24, "XRT submit_size; drv"},
    .clock_min_mhz = {800, "drv npu1_regs"},
    .clock_max_mhz = {1600, "drv npu1_regs"},
    .bf16_macs_per_cycle = {128, "api; eng"},
    .int8_macs_per_cycle = {256, "derived from drv: 2048 operations per column and cycle"},
    .mmul_bf16 = {{4, 8, 4}, "api"},
    .mmul_int8 = {{4, 8, 8}, "api"},
    .context_create_ms = {2.5, "seed"},
    .context_switch_ms = {1.405, "seed: 2.81 ms a pair"},
    .first_ddr_access_cycles = {2500, "emu findings, phase C"},
    .write32_cycles = {100, "emu findings, calibration"},
    .maskwrite_cycles = {210, "emu findings, calibration"},
    .blockwrite_cycles = {203, "emu findings, calibration (8 words; 13 more a word)"},
};

constexpr std::string_view kAsXdna1 = "assumed as on XDNA1; not measured";

constexpr Generation make_xdna2() {
  Generation g = kXdna1;
  g.id = GenerationId::kXdna2;
  g.name = "npu2";
  g.marketing = "XDNA2";
  g.compiler_target = "aie2p";
  g.driver_name = "RyzenAI-npu4";
  g.columns = {8, kModel};
  g.shim_burst_field = {3, "golden instruction streams"};
  g.txn_generation = {4, "mlir-aie TxnEncoding"};
  g.hw_contexts = {16, "drv; FastFlowLM", "mlir-aie's host runtime uses 32"};
  g.clock_min_mhz = {792, "drv npu4_regs"};
  g.clock_max_mhz = {1800, "drv npu4_regs"};
  g.bf16_macs_per_cycle = {128, "eng: the emulated bf16 path"};
  g.int8_macs_per_cycle = {512, "derived from drv: 4096 operations per column and cycle",
                           "eng quotes 1024"};
  g.mmul_bf16 = {{4, 8, 8}, "api; mlir-aie kernels"};
  g.mmul_int8 = {{8, 8, 8}, "api"};
  g.context_create_ms.source = kAsXdna1;
  g.context_switch_ms = {2.67, "eng"};
  g.first_ddr_access_cycles.source = kAsXdna1;
  g.write32_cycles.source = kAsXdna1;
  g.maskwrite_cycles.source = kAsXdna1;
  g.blockwrite_cycles.source = kAsXdna1;
  return g;
}

constexpr std::array<Generation, 2> kGenerations = {kXdna1, make_xdna2()};

}  // namespace

const Generation& generation(GenerationId id) {
  return kGenerations[static_cast<size_t>(id)];
}

std::span<const Generation> generations() {
  return kGenerations;
}

Result<GenerationId> parse_generation(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (lower == "npu1" || lower == "xdna1" || lower == "aie2") return GenerationId::kXdna1;
  if (lower == "npu2" || lower == "xdna2" || lower == "aie2p") return GenerationId::kXdna2;
  return invalid_argument("unknown NPU generation '" + std::string(name) +
                          "'; use npu1 (XDNA1) or npu2 (XDNA2)");
}

}  // namespace sotto::npu
