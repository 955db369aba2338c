#include "npu/txn/disassemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace sotto::npu {
namespace {

const char* direction_name(DmaDirection direction) {
  return direction == DmaDirection::kS2mm ? "S2MM" : "MM2S";
}

class Listing {
 public:
  explicit Listing(const LoweredArray* array) : array_(array) {}

  std::string operator()(const Write32& op) const {
    const RegisterAddress at = decode_address(op.address);
    std::string text =
        fmt::format("write32     {} {} = {:#x}", tile_name(at.tile), register_name(at), op.value);
    if (at.tile.row == 0 && is_queue(at.offset)) {
      text += fmt::format("  [descriptor {}, repeat {}{}]", op.value & 0xFU,
                          (op.value >> 16) & 0xFFU, (op.value >> 31) != 0 ? ", token" : "");
    }
    return text;
  }
  std::string operator()(const BlockWrite& op) const {
    const RegisterAddress at = decode_address(op.address);
    std::string text = fmt::format("blockwrite  {} {}  {} words", tile_name(at.tile),
                                   register_name(at), op.data.size());
    if (at.tile.row == 0 && is_descriptor(at.offset) && op.data.size() == 8) {
      text += "  " + fields(decode_shim_descriptor(op.data));
    }
    return text;
  }
  std::string operator()(const MaskWrite& op) const {
    const RegisterAddress at = decode_address(op.address);
    return fmt::format("maskwrite   {} {} = {:#x} mask {:#x}", tile_name(at.tile),
                       register_name(at), op.value, op.mask);
  }
  std::string operator()(const Sync& op) const {
    return fmt::format("sync        {} {} channel {}: wait for a token", tile_name(op.tile),
                       direction_name(op.direction), op.channel);
  }
  std::string operator()(const PatchAddress& op) const {
    const RegisterAddress at = decode_address(op.address);
    return fmt::format("patch       {} {} += argument {} + {:#x}", tile_name(at.tile),
                       register_name(at), op.argument, op.plus);
  }
  std::string operator()(const Preempt& op) const {
    return fmt::format("preempt     level {}", op.level);
  }
  std::string operator()(const LoadPdi& op) const {
    return fmt::format("load_pdi    id {} size {} address {:#x}", op.id, op.size, op.address);
  }

 private:
  static bool is_descriptor(uint32_t offset) {
    return offset >= kShimBdBase && offset < kShimChannelBase && offset % kShimBdBytes == 0;
  }
  static bool is_channel(uint32_t offset) {
    return offset >= kShimChannelBase && offset < kShimChannelBase + 0x20;
  }
  static bool is_queue(uint32_t offset) { return is_channel(offset) && offset % 8 == 4; }

  std::string register_name(const RegisterAddress& at) const {
    if (at.tile.row == 0 && at.offset >= kShimBdBase && at.offset < kShimChannelBase) {
      const uint32_t id = (at.offset - kShimBdBase) / kShimBdBytes;
      const uint32_t word = at.offset % kShimBdBytes / 4;
      return fmt::format("descriptor {}{}", id,
                         word == 0 ? std::string() : fmt::format(" word {}", word));
    }
    if (at.tile.row == 0 && is_channel(at.offset)) {
      const uint32_t channel = (at.offset - kShimChannelBase) / 8;
      return fmt::format("{}{} {}", channel < 2 ? "S2MM" : "MM2S", channel % 2,
                         at.offset % 8 == 4 ? "queue" : "control");
    }
    if (at.tile.row >= 2 && at.offset >= kCoreLockBase && at.offset < kCoreLockBase + 0x100) {
      const int id = static_cast<int>((at.offset - kCoreLockBase) / 0x10);
      return fmt::format("lock {}{}", id, lock_name(at.tile, id));
    }
    if (at.tile.row >= 2 && at.offset < 0x10000) return data_name(at);
    return fmt::format("register {:#07x}", at.offset);
  }

  std::string lock_name(Tile tile, int id) const {
    if (array_ == nullptr) return {};
    for (const Lock& lock : array_->locks) {
      if (lock.tile == tile && lock.id == id) return " @" + lock.name;
    }
    return {};
  }

  std::string data_name(const RegisterAddress& at) const {
    if (array_ != nullptr) {
      for (const PlacedBuffer& buffer : array_->buffers) {
        if (buffer.tile == at.tile && at.offset >= buffer.address &&
            at.offset < buffer.address + buffer.bytes) {
          return fmt::format("@{}[{}]", buffer.name, (at.offset - buffer.address) / 4);
        }
      }
    }
    return fmt::format("data {:#x}", at.offset);
  }

  static std::string fields(const ShimDescriptor& d) {
    std::string text = fmt::format("length {} words", d.length_words);
    if (d.d0_size != 0) {
      text += fmt::format(", d0 {} by {}, d1 {} by {}, d2 by {}", d.d0_size, d.d0_stride, d.d1_size,
                          d.d1_stride, d.d2_stride);
    }
    if (d.iteration_size > 1)
      text += fmt::format(", iteration {} by {}", d.iteration_size, d.iteration_stride);
    return text + (d.valid ? "" : ", not valid");
  }

  const LoweredArray* array_;
};

size_t words_of(const StreamOp& op) {
  struct Count {
    size_t operator()(const Write32&) const { return 6; }
    size_t operator()(const BlockWrite& w) const { return 4 + w.data.size(); }
    size_t operator()(const MaskWrite&) const { return 7; }
    size_t operator()(const Sync&) const { return 4; }
    size_t operator()(const PatchAddress&) const { return 12; }
    size_t operator()(const Preempt&) const { return 1; }
    size_t operator()(const LoadPdi&) const { return 4; }
  };
  return std::visit(Count{}, op);
}

bool looks_like_text(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) {
    const auto c = static_cast<unsigned char>(b);
    return c == '\n' || c == '\r' || c == '\t' || (c >= 0x20 && c < 0x7F);
  });
}

}  // namespace

Result<std::string> disassemble(std::span<const uint32_t> words, const LoweredArray* array) {
  SOTTO_ASSIGN_OR_RETURN(const Stream stream, decode_stream(words));
  const StreamHeader& h = stream.header;
  std::string out =
      fmt::format("# {} operations, {} bytes; format 0.1, generation {}, {} rows x {} columns\n",
                  stream.ops.size(), 4 * words.size(), h.generation, h.rows, h.columns);
  size_t at = 4;
  const Listing listing(array);
  for (const StreamOp& op : stream.ops) {
    out += fmt::format("{:6}  {}\n", at, std::visit(listing, op));
    at += words_of(op);
  }
  return out;
}

Result<std::vector<uint32_t>> words_from_bytes(std::span<const std::byte> bytes) {
  std::vector<uint32_t> words;
  if (bytes.empty()) return corrupt("the instruction stream is empty");
  if (!looks_like_text(bytes)) {
    if (bytes.size() % 4 != 0) {
      return corrupt(fmt::format("the instruction stream has {} bytes, no whole number of words",
                                 bytes.size()));
    }
    words.resize(bytes.size() / 4);
    std::memcpy(words.data(), bytes.data(), bytes.size());
    return words;
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  int line_number = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    ++line_number;
    while (!line.empty() && (line.back() == '\r' || line.back() == ' '))
      line.remove_suffix(1);
    if (line.empty() || line[0] == '#') continue;
    if (line.substr(0, 2) == "0x") line.remove_prefix(2);
    uint32_t word = 0;
    const auto parsed = std::from_chars(line.data(), line.data() + line.size(), word, 16);
    if (parsed.ec != std::errc() || parsed.ptr != line.data() + line.size()) {
      return corrupt(fmt::format("line {}: '{}' is no 32-bit hexadecimal word", line_number,
                                 line.substr(0, 20)));
    }
    words.push_back(word);
  }
  return words;
}

}  // namespace sotto::npu
