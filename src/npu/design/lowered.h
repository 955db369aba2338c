// A design as the array holds it: buffers with addresses, locks, buffer descriptors, stream
// connections, shim channels. lower() gives what the compiler's own lowering gives (object fifos to
// BDs and locks, ids, addresses).
#ifndef SOTTO_NPU_DESIGN_LOWERED_H_
#define SOTTO_NPU_DESIGN_LOWERED_H_

#include <map>
#include <string>
#include <vector>

#include "npu/design/design.h"

namespace sotto::npu {

struct PlacedBuffer {
  std::string name;
  Tile tile;            ///< Whose memory holds it; for a memory tile's ring perhaps the neighbour
  int64_t address = 0;  ///< Bytes
  int64_t bytes = 0;
  ObjectType type;
};

/// One step of a BD's address walk in 32-bit words.
struct WordDim {
  int64_t size = 0, stride = 0;
  bool operator==(const WordDim&) const = default;
};

struct LockUse {
  int id = 0;
  int value = 0;
};

/// A buffer descriptor of a memory tile or core; `next` chains the ring.
struct BufferDescriptor {
  Tile tile;
  DmaDirection direction = DmaDirection::kS2mm;
  int channel = 0;
  int id = 0;
  int next = 0;
  std::string buffer;
  int64_t base_bytes = 0;
  int64_t length_words = 0;
  std::vector<WordDim> words;  ///< Innermost first; empty: linear
  LockUse acquire, release;    ///< Acquire waits for >= value and subtracts it
};

struct ShimChannel {
  Tile tile;
  DmaDirection direction = DmaDirection::kMm2s;
  int channel = 0;
};

/// One end of an object fifo at a core, as its program needs it.
struct CoreFifoEnd {
  std::string fifo;
  Port port = Port::kConsume;
  std::vector<std::string> buffers;  ///< In ring order
  int producer_lock = 0;             ///< Counts free buffers
  int consumer_lock = 0;             ///< Counts filled buffers
};

struct LoweredArray {
  GenerationId generation = GenerationId::kXdna1;
  std::vector<PlacedBuffer> buffers;
  std::vector<Lock> locks;
  std::vector<BufferDescriptor> descriptors;
  std::vector<Flow> flows;
  std::map<std::string, ShimChannel> shim;  ///< By fifo name
  std::map<Tile, std::vector<CoreFifoEnd>> core_fifos;

  [[nodiscard]] const PlacedBuffer* buffer(const std::string& name) const;
  [[nodiscard]] const Lock* lock(const std::string& name) const;
};

/// Fails with the verifier's message when something does not fit (memory, BDs, locks, channels).
Result<LoweredArray> lower(const Design& design);

}  // namespace sotto::npu

#endif  // SOTTO_NPU_DESIGN_LOWERED_H_
