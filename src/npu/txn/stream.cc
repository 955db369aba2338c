#include "npu/txn/stream.h"

namespace sotto::npu {
namespace {

enum Opcode : uint32_t {
  kWrite32 = 0,
  kBlockWrite = 1,
  kMaskWrite = 3,
  kPreempt = 6,
  kLoadPdi = 8,
  kSync = 0x80,
  kPatch = 0x81,
};

constexpr uint32_t kHeaderWords = 4;
constexpr uint32_t kVersion = 1U << 8;  // minor 1, major 0

uint32_t field(uint32_t word, int high, int low) {
  const uint32_t width = static_cast<uint32_t>(high - low + 1);
  const uint32_t mask = width == 32 ? ~0U : (1U << width) - 1U;
  return (word >> low) & mask;
}

// ---- Encoding
// -------------------------------------------------------------------------------------

class Encoder {
 public:
  explicit Encoder(std::vector<uint32_t>& out) : out_(out) {}

  void operator()(const Write32& op) { put({kWrite32, 0, op.address, 0, op.value, 24}); }
  void operator()(const BlockWrite& op) {
    const auto bytes = static_cast<uint32_t>(4 * (4 + op.data.size()));
    put({kBlockWrite, 0, op.address, bytes});  // word 1 (tile) is 0: the address is absolute
    out_.insert(out_.end(), op.data.begin(), op.data.end());
  }
  void operator()(const MaskWrite& op) {
    put({kMaskWrite, 0, op.address, 0, op.value, op.mask, 28});
  }
  void operator()(const Sync& op) {
    const uint32_t direction = op.direction == DmaDirection::kMm2s ? 1U : 0U;
    put({kSync, 16,
         direction | static_cast<uint32_t>(op.tile.row) << 8 |
             static_cast<uint32_t>(op.tile.col) << 16,
         static_cast<uint32_t>(op.rows) << 8 | static_cast<uint32_t>(op.columns) << 16 |
             static_cast<uint32_t>(op.channel) << 24});
  }
  void operator()(const PatchAddress& op) {
    put({kPatch, 48, 0, 0, 0, 0, op.address, 0, op.argument, 0, op.plus, 0});
  }
  void operator()(const Preempt& op) { put({kPreempt | static_cast<uint32_t>(op.level) << 8}); }
  void operator()(const LoadPdi& op) {
    put({kLoadPdi | op.id << 16, op.size, static_cast<uint32_t>(op.address),
         static_cast<uint32_t>(op.address >> 32)});
  }

 private:
  void put(std::initializer_list<uint32_t> words) { out_.insert(out_.end(), words); }
  std::vector<uint32_t>& out_;
};

// ---- Decoding
// -------------------------------------------------------------------------------------

Status malformed(size_t at, const std::string& what) {
  return corrupt("instruction stream, word " + std::to_string(at) + ": " + what);
}

// One operation at the front of `w`; `at` is its place for messages. Sets `length` to its words.
Result<StreamOp> decode_op(std::span<const uint32_t> w, size_t at, size_t& length) {
  const auto need = [&](size_t words) { return w.size() >= words; };
  const auto sized = [&](uint32_t bytes, size_t expected) {
    return bytes == 4 * expected && need(expected);
  };
  switch (w[0] & 0xFFU) {
    case kWrite32:
      length = 6;
      if (!need(6) || !sized(w[5], 6))
        return malformed(at, "write32 is cut short or has a wrong size");
      return StreamOp(Write32{w[2], w[4]});
    case kBlockWrite: {
      if (!need(4) || w[3] % 4 != 0 || w[3] < 16)
        return malformed(at, "block write has a wrong size");
      length = w[3] / 4;
      if (!need(length)) return malformed(at, "block write is longer than the stream");
      return StreamOp(BlockWrite{
          w[2],
          std::vector<uint32_t>(w.begin() + 4, w.begin() + static_cast<std::ptrdiff_t>(length))});
    }
    case kMaskWrite:
      length = 7;
      if (!need(7) || !sized(w[6], 7))
        return malformed(at, "masked write is cut short or has a wrong size");
      return StreamOp(MaskWrite{w[2], w[4], w[5]});
    case kSync:
      length = 4;
      if (!need(4) || !sized(w[1], 4))
        return malformed(at, "sync is cut short or has a wrong size");
      return StreamOp(
          Sync{{static_cast<int>(field(w[2], 23, 16)), static_cast<int>(field(w[2], 15, 8))},
               field(w[2], 7, 0) != 0 ? DmaDirection::kMm2s : DmaDirection::kS2mm,
               static_cast<int>(field(w[3], 31, 24)),
               static_cast<int>(field(w[3], 15, 8)),
               static_cast<int>(field(w[3], 23, 16))});
    case kPatch:
      length = 12;
      if (!need(12) || !sized(w[1], 12))
        return malformed(at, "address patch is cut short or has a wrong size");
      return StreamOp(PatchAddress{w[6], w[8], w[10]});
    case kPreempt:
      length = 1;
      return StreamOp(Preempt{static_cast<int>(field(w[0], 15, 8))});
    case kLoadPdi:
      length = 4;
      if (!need(4)) return malformed(at, "load of a PDI is cut short");
      return StreamOp(LoadPdi{w[0] >> 16, w[1], w[2] | static_cast<uint64_t>(w[3]) << 32});
    default:
      return malformed(at, "unknown operation code " + std::to_string(w[0] & 0xFFU));
  }
}

}  // namespace

uint32_t encode_address(Tile tile, uint32_t offset) {
  return static_cast<uint32_t>(tile.col) << 25 | static_cast<uint32_t>(tile.row) << 20 | offset;
}

RegisterAddress decode_address(uint32_t address) {
  return {{static_cast<int>(field(address, 31, 25)), static_cast<int>(field(address, 24, 20))},
          field(address, 19, 0)};
}

std::vector<uint32_t> encode_stream(const Stream& stream) {
  std::vector<uint32_t> words(kHeaderWords);
  Encoder encoder(words);
  for (const StreamOp& op : stream.ops)
    std::visit(encoder, op);
  const StreamHeader& h = stream.header;
  words[0] =
      static_cast<uint32_t>(h.rows) << 24 | static_cast<uint32_t>(h.generation) << 16 | kVersion;
  words[1] = static_cast<uint32_t>(h.memtile_rows) << 8 | static_cast<uint32_t>(h.columns);
  words[2] = static_cast<uint32_t>(stream.ops.size());
  words[3] = static_cast<uint32_t>(4 * words.size());
  return words;
}

Result<Stream> decode_stream(std::span<const uint32_t> words) {
  if (words.size() < kHeaderWords) return corrupt("instruction stream: no header (need 4 words)");
  if ((words[0] & 0xFFFFU) != kVersion) {
    return unsupported("instruction stream: version " + std::to_string(words[0] & 0xFFU) + "." +
                       std::to_string(field(words[0], 15, 8)) + "; this program reads 0.1");
  }
  Stream stream;
  stream.header = {static_cast<int>(field(words[0], 31, 24)),
                   static_cast<int>(field(words[1], 7, 0)),
                   static_cast<int>(field(words[1], 15, 8)),
                   static_cast<int>(field(words[0], 23, 16)),
                   words[2],
                   words[3]};
  if (words[3] != 4 * words.size()) {
    return corrupt("instruction stream: its header says " + std::to_string(words[3]) +
                   " bytes, there are " + std::to_string(4 * words.size()));
  }
  for (size_t at = kHeaderWords; at < words.size();) {
    size_t length = 0;
    SOTTO_ASSIGN_OR_RETURN(StreamOp op, decode_op(words.subspan(at), at, length));
    stream.ops.push_back(std::move(op));
    at += length;
  }
  if (stream.ops.size() != words[2]) {
    return corrupt("instruction stream: its header says " + std::to_string(words[2]) +
                   " operations, there are " + std::to_string(stream.ops.size()));
  }
  return stream;
}

// Layout of the 8 words: 0 length, 1 address, 2 address high and packet, 3 d0, 4 burst and d1, 5
// AXCACHE and d2, 6 iteration, 7 chain, valid and locks. Strides are stored minus one, the
// iteration size minus one, sizes as they are.
std::vector<uint32_t> encode_shim_descriptor(const ShimDescriptor& d) {
  const auto stride = [](int64_t s) { return static_cast<uint32_t>(s - 1) & 0xFFFFFU; };
  return {d.length_words,
          d.base_bytes,
          0,
          static_cast<uint32_t>(d.d0_size) << 20 | stride(d.d0_stride),
          static_cast<uint32_t>(d.burst) << 30 | static_cast<uint32_t>(d.d1_size) << 20 |
              stride(d.d1_stride),
          static_cast<uint32_t>(d.axcache) << 24 | stride(d.d2_stride),
          static_cast<uint32_t>(d.iteration_size - 1) << 20 | stride(d.iteration_stride),
          d.valid ? 1U << 25 : 0U};
}

ShimDescriptor decode_shim_descriptor(std::span<const uint32_t> w) {
  ShimDescriptor d;
  d.length_words = w[0];
  d.base_bytes = w[1];
  d.d0_size = static_cast<int>(field(w[3], 29, 20));
  d.d0_stride = field(w[3], 19, 0) + 1;
  d.burst = static_cast<int>(field(w[4], 31, 30));
  d.d1_size = static_cast<int>(field(w[4], 29, 20));
  d.d1_stride = field(w[4], 19, 0) + 1;
  d.axcache = static_cast<int>(field(w[5], 27, 24));
  d.d2_stride = field(w[5], 19, 0) + 1;
  d.iteration_size = static_cast<int>(field(w[6], 25, 20)) + 1;
  d.iteration_stride = field(w[6], 19, 0) + 1;
  d.valid = field(w[7], 25, 25) != 0;
  return d;
}

}  // namespace sotto::npu
