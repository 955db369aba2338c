// The NPU's instruction stream (transaction format 0.1): encoder and decoder of single operations.
// Format: npu header of 4 words, then operations; all words 32-bit little-endian. Sources: mlir-aie
// TxnEncoding, FastFlowLM instr_utils, and the golden streams under tests/data/npu.
#ifndef SOTTO_NPU_TXN_STREAM_H_
#define SOTTO_NPU_TXN_STREAM_H_

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "npu/design/design.h"
#include "npu/hw/generation.h"
#include "sotto/status.h"

namespace sotto::npu {

/// Register address: column << 25 | row << 20 | offset inside the tile.
struct RegisterAddress {
  Tile tile;
  uint32_t offset = 0;
};
uint32_t encode_address(Tile tile, uint32_t offset);
RegisterAddress decode_address(uint32_t address);

struct StreamHeader {
  int rows = 6, columns = 4, memtile_rows = 1;
  int generation = 3;                  ///< Generation::txn_generation
  uint32_t operations = 0, bytes = 0;  ///< Written by encode_stream()
};

struct Write32 {
  uint32_t address = 0, value = 0;
};
struct BlockWrite {
  uint32_t address = 0;
  std::vector<uint32_t> data;
};
struct MaskWrite {
  uint32_t address = 0, value = 0, mask = 0;
};
/// Takes one task-complete token of a shim channel.
struct Sync {
  Tile tile;
  DmaDirection direction = DmaDirection::kS2mm;
  int channel = 0;
  int rows = 1, columns = 1;
};
/// Adds the address of host argument `argument` plus `plus` bytes to a BD's address word.
struct PatchAddress {
  uint32_t address = 0;
  uint32_t argument = 0;
  uint32_t plus = 0;
};
struct Preempt {
  int level = 0;
};
struct LoadPdi {
  uint32_t id = 0, size = 0;
  uint64_t address = 0;
};
using StreamOp = std::variant<Write32, BlockWrite, MaskWrite, Sync, PatchAddress, Preempt, LoadPdi>;

struct Stream {
  StreamHeader header;
  std::vector<StreamOp> ops;
};

std::vector<uint32_t> encode_stream(const Stream& stream);
/// Refuses anything malformed with the word index at which it stands.
Result<Stream> decode_stream(std::span<const uint32_t> words);

/// Fields of a shim buffer descriptor (8 words). Strides are in words and at least 1; sizes of 0
/// mean "linear".
struct ShimDescriptor {
  uint32_t length_words = 0;
  uint32_t base_bytes = 0;  ///< Offset; the host address is added by PatchAddress
  int d0_size = 0, d1_size = 0;
  int64_t d0_stride = 1, d1_stride = 1, d2_stride = 1;
  int iteration_size = 1;
  int64_t iteration_stride = 1;
  int burst = 0, axcache = 2;
  bool valid = true;
};
std::vector<uint32_t> encode_shim_descriptor(const ShimDescriptor& descriptor);
ShimDescriptor decode_shim_descriptor(std::span<const uint32_t> words);  ///< Of 8 words

// Registers of a shim tile.
inline constexpr uint32_t kShimBdBase = 0x1D000;  ///< + 0x20 a descriptor
inline constexpr uint32_t kShimBdBytes = 0x20;
inline constexpr uint32_t kShimChannelBase =
    0x1D200;  ///< + 8 a channel, S2MM first, MM2S from +0x10; queue at +4
inline constexpr uint32_t kCoreLockBase = 0x1F000;  ///< + 0x10 a lock
inline constexpr uint32_t kControllerIdMask = 0x1F00;
inline constexpr uint32_t kControllerIdValue = 0xF00;

}  // namespace sotto::npu

#endif  // SOTTO_NPU_TXN_STREAM_H_
