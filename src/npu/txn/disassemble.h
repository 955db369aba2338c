// Instruction streams for people: one operation a line.
#ifndef SOTTO_NPU_TXN_DISASSEMBLE_H_
#define SOTTO_NPU_TXN_DISASSEMBLE_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "npu/design/lowered.h"
#include "npu/txn/stream.h"

namespace sotto::npu {

/// A listing with word numbers, tiles, registers and the fields of descriptors. `array`, if not
/// null, gives names to parameter buffers and locks.
Result<std::string> disassemble(std::span<const uint32_t> words, const LoweredArray* array);

/// The words of a file's bytes: little-endian binary (insts.bin), or text with one hexadecimal word
/// a line (# comments and blank lines are passed over). Which of the two it is shows in the bytes.
Result<std::vector<uint32_t>> words_from_bytes(std::span<const std::byte> bytes);

}  // namespace sotto::npu

#endif  // SOTTO_NPU_TXN_DISASSEMBLE_H_
