// The dataflow description of an array design: one data structure that the verifier, the MLIR-AIE
// emitter, the instruction-stream encoder and the simulator all read.
//
// It says what mlir-aie's ObjectFifo level says and nothing more: tiles, object fifos (element
// type, depth, layout transforms), links through memory tiles, buffers and locks, core programs,
// and host sequences (tasks on shim fifos). Sizes, strides and offsets count elements unless a name
// says bytes.
#ifndef SOTTO_NPU_DESIGN_DESIGN_H_
#define SOTTO_NPU_DESIGN_DESIGN_H_

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "npu/hw/generation.h"

namespace sotto::npu {

/// Place in the array. Row 0 is the shim, row 1 the memory tile, rows 2 and up the cores.
struct Tile {
  int col = 0;
  int row = 0;
  auto operator<=>(const Tile&) const = default;
};

TileKind tile_kind(Tile tile);
/// "shim(2,0)", "mem(2,1)", "core(2,3)".
std::string tile_name(Tile tile);

enum class ElementType { kBf16, kF32, kI32, kI16, kI8 };
int element_bytes(ElementType type);
std::string_view element_name(ElementType type);  ///< "bf16", …

/// memref<64x32xbf16>
struct ObjectType {
  std::vector<int64_t> shape;
  ElementType element = ElementType::kBf16;
  bool operator==(const ObjectType&) const = default;
  [[nodiscard]] int64_t elements() const;
  [[nodiscard]] int64_t bytes() const { return elements() * element_bytes(element); }
};

/// One dimension of a layout transform or transfer; lists stand outermost first.
struct Dim {
  int64_t size = 1;
  int64_t stride = 0;
  bool operator==(const Dim&) const = default;
};

struct FifoConsumer {
  Tile tile;
  std::vector<Dim> from_stream;  ///< Empty: as it comes
  bool operator==(const FifoConsumer&) const = default;
};

/// A queue of objects from one producer to one or more consumers (broadcast).
struct ObjectFifo {
  std::string name;
  Tile producer;
  std::vector<Dim> to_stream;  ///< How the producer's DMA reads an object; empty: linear
  std::vector<FifoConsumer> consumers;
  ObjectType type;
  /// One entry: asked for everywhere, and the compiler lowers or raises it to the highest acquire +
  /// 1 on cores. More: producer first, then each consumer; kept as written.
  std::vector<int> depths = {2};
  bool operator==(const ObjectFifo&) const = default;
};

/// Forwarding through a memory tile. One input and several outputs split each object, several
/// inputs and one output join; offsets say where each piece starts.
struct Link {
  std::vector<std::string> inputs, outputs;
  std::vector<int64_t> input_offsets;   ///< Join: one per input, in elements of the output object
  std::vector<int64_t> output_offsets;  ///< Split: one per output, in elements of the input object
  bool operator==(const Link&) const = default;
};

struct Buffer {
  std::string name;
  Tile tile;
  ObjectType type;
  std::optional<int64_t> address;  ///< Bytes; none: the compiler places it
  bool operator==(const Buffer&) const = default;
};

struct Lock {
  std::string name;
  Tile tile;
  int id = -1;  ///< -1: the compiler chooses
  int init = 0;
  bool operator==(const Lock&) const = default;
};

/// An external kernel function: arguments in order, then the object file that defines it.
struct Kernel {
  std::string name;
  std::vector<std::variant<ObjectType, ElementType>> arguments;  ///< Memory objects, or i32 scalars
  std::string object_file;
  bool operator==(const Kernel&) const = default;
};

struct DmaPort {
  Tile tile;
  int channel = 0;
  auto operator<=>(const DmaPort&) const = default;
};

/// A circuit-switched connection from a producer's MM2S to a consumer's S2MM channel.
struct Flow {
  DmaPort from, to;
  auto operator<=>(const Flow&) const = default;
};

// ---- Core programs
// -------------------------------------------------------------------------------- A program is a
// tree of statements. Its outermost loop runs for ever: the array is configured once and launched
// many times. Values are named; a name is visible from the statement that binds it to the end of
// its block.

enum class Port { kConsume, kProduce };

/// A number known when the design is written, or read at run time.
struct Bound {
  std::variant<int64_t, std::string> value =
      int64_t{0};  ///< Constant, or the name a Load or Loop bound
  bool operator==(const Bound&) const = default;
};

struct Acquire {  ///< Binds `object` to the next object of the fifo; blocks until there is one.
  std::string fifo;
  Port port = Port::kConsume;
  std::string object;
  int count = 1;  ///< Objects held afterwards
  bool operator==(const Acquire&) const = default;
};
struct Release {
  std::string fifo;
  Port port = Port::kConsume;
  int count = 1;
  bool operator==(const Release&) const = default;
};
struct UseLock {  ///< Waits until the lock is >= value and subtracts it, or adds value.
  std::string lock;
  bool acquire = true;
  int value = 1;
  bool operator==(const UseLock&) const = default;
};
struct Load {  ///< Binds `value` to word `index` of an i32 buffer of this core.
  std::string value;
  std::string buffer;
  int64_t index = 0;
  bool operator==(const Load&) const = default;
};
struct Call {
  std::string kernel;
  /// An object or buffer name, a value name (a loop counter, a loaded word), or an i32 constant.
  std::vector<std::variant<std::string, int64_t>> arguments;
  bool operator==(const Call&) const = default;
};
struct Loop;
using Statement = std::variant<Acquire, Release, UseLock, Load, Call, Loop>;
struct Loop {  ///< for (counter = from; counter < to; ++counter)
  std::string counter;
  Bound from, to;
  bool forever = false;  ///< `to` is then without meaning
  std::vector<Statement> body;
  bool operator==(const Loop&) const;
};

struct CoreProgram {
  Tile tile;
  std::vector<Statement> body;
  int64_t stack_bytes = 0x400;
  bool operator==(const CoreProgram&) const;
};

// ---- Host sequences
// -------------------------------------------------------------------------------

struct HostArgument {
  std::string name;
  int64_t elements = 0;
  ElementType element = ElementType::kBf16;
  bool operator==(const HostArgument&) const = default;
};

/// One transfer between a host buffer and a shim fifo. Four dimensions, outermost first; the
/// outermost is the iteration: the DMA runs the inner three `repeat_count + 1` times and `len`
/// counts one run only.
struct Task {
  std::string name;  ///< Unique in the sequence
  std::string fifo;
  int argument = 0;  ///< Index into Sequence::arguments
  int64_t offset = 0;
  int64_t len = 0;
  std::vector<Dim> dims;  ///< Empty: linear; else four
  bool issue_token = false;
  int repeat_count = 0;
  bool is_memcpy = false;  ///< Written as dma_memcpy_nd: the compiler derives the repetition
  bool operator==(const Task&) const = default;
};
struct StartTask {  ///< Configures and starts
  Task task;
  bool operator==(const StartTask&) const = default;
};
struct AwaitTask {  ///< Takes its token; frees its BD
  std::string task;
  bool operator==(const AwaitTask&) const = default;
};
struct FreeTask {  ///< Its BD may be used again: a promise by the author that the task is done
  std::string task;
  bool operator==(const FreeTask&) const = default;
};
struct WriteParameter {  ///< Word of a core's i32 buffer, by the control processor
  std::string buffer;
  int64_t index = 0;
  int32_t value = 0;
  bool operator==(const WriteParameter&) const = default;
};
struct SetLock {
  std::string lock;
  int value = 0;
  bool operator==(const SetLock&) const = default;
};
using SequenceOp = std::variant<StartTask, AwaitTask, FreeTask, WriteParameter, SetLock>;

struct Sequence {
  std::string name = "sequence";
  std::vector<HostArgument> arguments;
  std::vector<SequenceOp> ops;
  bool operator==(const Sequence&) const = default;
};

struct Design {
  std::string name;
  GenerationId generation = GenerationId::kXdna1;
  int columns = 0;  ///< Of the partition; 0: all of the generation
  std::vector<Kernel> kernels;
  std::vector<Tile> tiles;  ///< In the order of declaration
  std::vector<ObjectFifo> fifos;
  std::vector<Link> links;  ///< Each stands, in text, after the last fifo it names
  std::vector<Flow> flows;  ///< Connections made by hand, beside those of the fifos
  std::vector<Buffer> buffers;
  std::vector<Lock> locks;
  std::vector<CoreProgram> programs;
  std::vector<Sequence> sequences;
  bool operator==(const Design&) const = default;

  [[nodiscard]] const ObjectFifo* fifo(std::string_view fifo_name) const;
  [[nodiscard]] const Sequence* sequence(std::string_view sequence_name) const;
  [[nodiscard]] const Kernel* kernel(std::string_view kernel_name) const;
  [[nodiscard]] const Buffer* buffer(std::string_view buffer_name) const;
  [[nodiscard]] const Lock* lock(std::string_view lock_name) const;
};

inline bool Loop::operator==(const Loop& other) const {
  return counter == other.counter && from == other.from && to == other.to &&
         forever == other.forever && body == other.body;
}
inline bool CoreProgram::operator==(const CoreProgram& other) const {
  return tile == other.tile && body == other.body && stack_bytes == other.stack_bytes;
}

}  // namespace sotto::npu

#endif  // SOTTO_NPU_DESIGN_DESIGN_H_
