// What is known of each NPU generation, as data. Every figure carries its source; a disputed one
// says so, and code that depends on it takes it as a parameter whose default stands here.
#ifndef SOTTO_NPU_HW_GENERATION_H_
#define SOTTO_NPU_HW_GENERATION_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "sotto/status.h"

namespace sotto::npu {

/// One figure and where it comes from.
template <typename T>
struct Fact {
  T value;
  std::string_view source;
  std::string_view dispute = {};  ///< What other sources say; empty: undisputed

  constexpr operator T() const { return value; }  // NOLINT: a fact reads like its value
};

enum class GenerationId {
  kXdna1,  ///< "npu1": AIE2 (AIE-ML); Phoenix, Hawk Point
  kXdna2,  ///< "npu2": AIE2P; Strix, Strix Halo, Krackan
};

enum class TileKind { kShim, kMem, kCore };
enum class DmaDirection { kS2mm, kMm2s };  ///< Stream to memory, memory to stream

/// Limits of a DMA engine of one tile kind. Lengths and strides count 32-bit words.
struct DmaLimits {
  Fact<int> s2mm_channels;
  Fact<int> mm2s_channels;
  Fact<int> buffer_descriptors;
  Fact<int> dimensions;     ///< Address-generation dimensions, without the iteration
  Fact<int> wrap_bits;      ///< Width of a size field
  Fact<int> stride_bits;    ///< Width of a stride field (stored minus one)
  Fact<int> length_bits;    ///< Width of the buffer length
  Fact<int> iteration_max;  ///< Largest iteration size
};

struct TileLimits {
  Fact<int64_t> memory_bytes;  ///< 0 for a shim
  Fact<int> locks;
  DmaLimits dma;
};

/// Block of the matrix unit: A [r, s] x B [s, t].
struct MmulShape {
  int r, s, t;
};

struct Generation {
  GenerationId id;
  std::string_view name;             ///< "npu1"
  std::string_view marketing;        ///< "XDNA1"
  std::string_view compiler_target;  ///< Of peano: "aie2"
  std::string_view driver_name;      ///< What XRT reports: "RyzenAI-npu1"

  Fact<int> columns;  ///< Usable
  Fact<int> rows;     ///< Shim, memory tile and core rows
  Fact<int> first_core_row;
  Fact<int> core_rows;
  TileLimits shim, mem, core;
  Fact<int64_t> program_memory_bytes;  ///< Of one core
  Fact<int64_t> default_stack_bytes;
  Fact<int> lock_value_max;
  Fact<int> task_queue_depth;  ///< Tasks queued at one shim channel
  Fact<int> queue_repeat_max;  ///< Extra repetitions of one queued task
  Fact<int>
      mem_even_channel_bd_end;  ///< Even memtile channels use BDs below this, odd ones from it on
  Fact<int> shim_burst_field;   ///< Value of the burst-length field that the compiler writes
  Fact<int> stream_word_bytes;  ///< Per port and array cycle
  Fact<int> north_streams;      ///< Streams that leave a shim or memtile northwards
  Fact<int> txn_generation;     ///< Field of the instruction stream's header

  Fact<int> hw_contexts;         ///< Ceiling of a device
  Fact<int> commands_in_flight;  ///< Per context
  Fact<int> runlist_chain;       ///< Runs in one submitted chain
  Fact<double> clock_min_mhz, clock_max_mhz;
  Fact<int> bf16_macs_per_cycle;  ///< Per core
  Fact<int> int8_macs_per_cycle;  ///< Per core
  Fact<MmulShape> mmul_bf16;
  Fact<MmulShape> mmul_int8;
  Fact<double> context_create_ms;
  Fact<double> context_switch_ms;  ///< One switch between two full-array designs
  Fact<double> first_ddr_access_cycles;
  Fact<double> write32_cycles, maskwrite_cycles, blockwrite_cycles;  ///< Of the control processor

  [[nodiscard]] int cores() const { return columns * core_rows; }
  [[nodiscard]] const TileLimits& limits(TileKind kind) const {
    return kind == TileKind::kShim ? shim : kind == TileKind::kMem ? mem : core;
  }
};

const Generation& generation(GenerationId id);
std::span<const Generation> generations();

/// "npu1"/"xdna1"/"aie2" or "npu2"/"xdna2"/"aie2p", any case.
Result<GenerationId> parse_generation(std::string_view name);

}  // namespace sotto::npu

#endif  // SOTTO_NPU_HW_GENERATION_H_
