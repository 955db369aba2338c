// Object fifos to buffers, locks, buffer descriptors and flows, by the rules of the compiler's own
// lowering: channels and descriptor ids in the order of the fifos, one lock pair a piece,
// bank-aware addresses.
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "npu/design/lowered.h"

namespace sotto::npu {
namespace {

/// A part of an object that travels on its own: the whole object, or one piece of a split or join.
struct Piece {
  int64_t offset = 0, elements = 0;
  int free_lock = 0, full_lock = 0;
};

/// The buffers behind one fifo end, or behind both ends that meet in a memory tile.
struct Ring {
  Tile tile;
  std::string name;  ///< Of the fifo end that owns it
  ObjectType type;
  int depth = 0;
  std::vector<Piece> pieces;
};

class Lowering {
 public:
  explicit Lowering(const Design& design)
      : design_(design), generation_(generation(design.generation)) {
    array_.generation = design.generation;
  }

  Result<LoweredArray> run() {
    SOTTO_RETURN_IF_ERROR(check_names());
    for (const ObjectFifo& fifo : design_.fifos)
      SOTTO_RETURN_IF_ERROR(make_rings(fifo));
    for (const Lock& lock : design_.locks) {
      SOTTO_RETURN_IF_ERROR(claim_lock(lock));
    }
    for (auto& ring : rings_)
      SOTTO_RETURN_IF_ERROR(make_locks(ring));
    for (const ObjectFifo& fifo : design_.fifos)
      SOTTO_RETURN_IF_ERROR(connect(fifo));
    for (const Flow& flow : design_.flows)
      array_.flows.push_back(flow);
    SOTTO_RETURN_IF_ERROR(place_buffers());
    for (BufferDescriptor& bd : array_.descriptors)
      bd.base_bytes += array_.buffer(bd.buffer)->address;
    return std::move(array_);
  }

 private:
  struct End {  // How one fifo end uses a ring
    size_t ring = 0;
    std::vector<size_t> pieces;
  };

  // ---- Links
  // --------------------------------------------------------------------------------------

  const Link* link_with_input(const std::string& fifo) const {
    for (const Link& link : design_.links) {
      if (std::find(link.inputs.begin(), link.inputs.end(), fifo) != link.inputs.end())
        return &link;
    }
    return nullptr;
  }
  const Link* link_with_output(const std::string& fifo) const {
    for (const Link& link : design_.links) {
      if (std::find(link.outputs.begin(), link.outputs.end(), fifo) != link.outputs.end())
        return &link;
    }
    return nullptr;
  }

  Status check_names() const {
    std::set<std::string> names;
    for (const ObjectFifo& fifo : design_.fifos) {
      if (!names.insert(fifo.name).second)
        return invalid_argument("symbol: fifo @" + fifo.name + " is declared twice");
      if (fifo.consumers.empty())
        return invalid_argument("symbol: fifo @" + fifo.name + " has no consumer");
      if (fifo.depths.empty())
        return invalid_argument("symbol: fifo @" + fifo.name + " has no depth");
    }
    for (const Link& link : design_.links) {
      const bool split = link.inputs.size() == 1 && link.outputs.size() > 1;
      const bool join = link.outputs.size() == 1 && link.inputs.size() > 1;
      const bool forward = link.inputs.size() == 1 && link.outputs.size() == 1;
      if (!split && !join && !forward)
        return invalid_argument("link: a link needs one input or one output");
      if (split && link.output_offsets.size() != link.outputs.size()) {
        return invalid_argument("link: of @" + link.inputs[0] +
                                ": one offset per output is needed");
      }
      if (join && link.input_offsets.size() != link.inputs.size()) {
        return invalid_argument("link: to @" + link.outputs[0] +
                                ": one offset per input is needed");
      }
      for (const auto* side : {&link.inputs, &link.outputs}) {
        for (const std::string& name : *side) {
          if (names.count(name) == 0)
            return invalid_argument("link: names fifo @" + name + ", which does not exist");
        }
      }
      const Tile meeting = design_.fifo(link.inputs[0])->consumers[0].tile;
      for (const std::string& name : link.inputs) {
        const ObjectFifo* in = design_.fifo(name);
        if (in->consumers.size() != 1 || in->consumers[0].tile != meeting) {
          return invalid_argument("link: input @" + name + " must end at " + tile_name(meeting) +
                                  " alone");
        }
      }
      for (const std::string& name : link.outputs) {
        if (design_.fifo(name)->producer != meeting) {
          return invalid_argument("link: output @" + name + " must start at " + tile_name(meeting));
        }
      }
    }
    return {};
  }

  // Pieces as the compiler cuts them: from each offset to the next, the last to the end of the
  // object.
  static std::vector<Piece> cut(const std::vector<int64_t>& offsets, int64_t elements) {
    if (offsets.size() < 2) return {{0, elements, 0, 0}};
    std::vector<Piece> pieces;
    for (size_t i = 0; i < offsets.size(); ++i) {
      const int64_t end = i + 1 < offsets.size() ? offsets[i + 1] : elements;
      pieces.push_back({offsets[i], end - offsets[i], 0, 0});
    }
    return pieces;
  }

  // ---- Rings
  // --------------------------------------------------------------------------------------

  // Depth at one end: 0 the producer, i + 1 consumer i. A plain depth is replaced on cores by the
  // highest acquire + 1.
  int depth_at(const ObjectFifo& fifo, size_t end, Tile tile) const {
    if (fifo.depths.size() > 1) return fifo.depths[std::min(end, fifo.depths.size() - 1)];
    if (tile_kind(tile) != TileKind::kCore || fifo.depths[0] <= 1) return fifo.depths[0];
    int highest = 0;
    for (const CoreProgram& program : design_.programs) {
      if (program.tile == tile)
        highest = std::max(highest, highest_acquire(program.body, fifo.name));
    }
    return highest > 0 ? highest + 1 : fifo.depths[0];
  }

  static int highest_acquire(const std::vector<Statement>& body, const std::string& fifo) {
    int highest = 0;
    for (const Statement& statement : body) {
      if (const auto* acquire = std::get_if<Acquire>(&statement);
          acquire != nullptr && acquire->fifo == fifo) {
        highest = std::max(highest, acquire->count);
      } else if (const auto* loop = std::get_if<Loop>(&statement)) {
        highest = std::max(highest, highest_acquire(loop->body, fifo));
      }
    }
    return highest;
  }

  size_t add_ring(Tile tile, std::string name, const ObjectType& type, int depth,
                  std::vector<Piece> pieces) {
    rings_.push_back({tile, std::move(name), type, depth, std::move(pieces)});
    return rings_.size() - 1;
  }

  // A memory tile's ring belongs to the whole-object side of its link: the input of a split or
  // forward, the output of a join. Made when first needed.
  End linked_end(const Link& link, const std::string& fifo_name) {
    const bool join = link.inputs.size() > 1;
    const std::string& owner = join ? link.outputs[0] : link.inputs[0];
    const ObjectFifo& whole = *design_.fifo(owner);
    const Tile tile = join ? whole.producer : whole.consumers[0].tile;
    auto [it, fresh] = link_rings_.try_emplace(owner, 0);
    if (fresh) {
      it->second = add_ring(
          tile, join ? owner : owner + "_cons", whole.type, depth_at(whole, join ? 0 : 1, tile),
          cut(join ? link.input_offsets : link.output_offsets, whole.type.elements()));
    }
    const auto& parts = join ? link.inputs : link.outputs;
    End end{it->second, {}};
    const auto part = std::find(parts.begin(), parts.end(), fifo_name);
    if (parts.size() > 1 && part != parts.end() && fifo_name != owner) {
      end.pieces = {static_cast<size_t>(part - parts.begin())};
    } else {
      end.pieces.resize(rings_[end.ring].pieces.size());
      std::iota(end.pieces.begin(), end.pieces.end(), size_t{0});
    }
    return end;
  }

  Status make_rings(const ObjectFifo& fifo) {
    const std::vector<Piece> whole = {{0, fifo.type.elements(), 0, 0}};
    std::vector<End>& ends = ends_[fifo.name];
    ends.resize(1 + fifo.consumers.size());
    if (tile_kind(fifo.producer) != TileKind::kShim) {
      const Link* link = link_with_output(fifo.name);
      ends[0] = link != nullptr ? linked_end(*link, fifo.name)
                                : End{add_ring(fifo.producer, fifo.name, fifo.type,
                                               depth_at(fifo, 0, fifo.producer), whole),
                                      {0}};
    }
    for (size_t i = 0; i < fifo.consumers.size(); ++i) {
      const Tile tile = fifo.consumers[i].tile;
      if (tile_kind(tile) == TileKind::kShim) continue;
      const Link* link = link_with_input(fifo.name);
      const std::string name =
          fifo.name + (fifo.consumers.size() > 1 ? "_" + std::to_string(i) : std::string()) +
          "_cons";
      ends[i + 1] =
          link != nullptr
              ? linked_end(*link, fifo.name)
              : End{add_ring(tile, name, fifo.type, depth_at(fifo, i + 1, tile), whole), {0}};
    }
    return {};
  }

  // ---- Locks
  // --------------------------------------------------------------------------------------

  // A lock without an id of its own (-1) takes the lowest free one, as a fifo's locks do.
  Status claim_lock(const Lock& lock) {
    if (lock.id < 0) return new_lock(lock.tile, lock.name, lock.init).status();
    const int limit = generation_.limits(tile_kind(lock.tile)).locks;
    if (lock.id >= limit) {
      return invalid_argument("locks: @" + lock.name + ": " + tile_name(lock.tile) +
                              " has ids 0 to " + std::to_string(limit - 1));
    }
    if (!used_locks_[lock.tile].insert(lock.id).second) {
      return invalid_argument("locks: @" + lock.name + ": id " + std::to_string(lock.id) + " of " +
                              tile_name(lock.tile) + " is taken");
    }
    array_.locks.push_back(lock);
    return {};
  }

  Result<int> new_lock(Tile tile, std::string name, int init) {
    const int limit = generation_.limits(tile_kind(tile)).locks;
    for (int id = 0; id < limit; ++id) {
      if (used_locks_[tile].insert(id).second) {
        array_.locks.push_back({std::move(name), tile, id, init});
        return id;
      }
    }
    return invalid_argument("locks: " + tile_name(tile) + " has " + std::to_string(limit) + ", @" +
                            name + " needs one more");
  }

  Status make_locks(Ring& ring) {
    for (size_t i = 0; i < ring.pieces.size(); ++i) {
      const std::string suffix = "_lock_" + std::to_string(i);
      SOTTO_ASSIGN_OR_RETURN(ring.pieces[i].free_lock,
                             new_lock(ring.tile, ring.name + "_prod" + suffix, ring.depth));
      SOTTO_ASSIGN_OR_RETURN(ring.pieces[i].full_lock,
                             new_lock(ring.tile, ring.name + "_cons" + suffix, 0));
    }
    return {};
  }

  // ---- DMA
  // ----------------------------------------------------------------------------------------

  Result<int> new_channel(Tile tile, DmaDirection direction, const std::string& fifo) {
    const DmaLimits& dma = generation_.limits(tile_kind(tile)).dma;
    const int limit = direction == DmaDirection::kS2mm ? dma.s2mm_channels : dma.mm2s_channels;
    int& next = next_channel_[{tile, direction}];
    if (next >= limit) {
      return invalid_argument("dma_channels: " + tile_name(tile) + " has " + std::to_string(limit) +
                              (direction == DmaDirection::kS2mm ? " input" : " output") +
                              " channels, @" + fifo + " needs one more");
    }
    return next++;
  }

  // Even channels of a memory tile reach only the lower descriptors, odd ones only the upper.
  Result<int> new_descriptor(Tile tile, int channel, const std::string& fifo) {
    const DmaLimits& dma = generation_.limits(tile_kind(tile)).dma;
    int begin = 0;
    int end = dma.buffer_descriptors;
    if (tile_kind(tile) == TileKind::kMem) {
      const int half = generation_.mem_even_channel_bd_end;
      (channel % 2 == 0 ? end : begin) = half;
    }
    for (int id = begin; id < end; ++id) {
      if (used_descriptors_[tile].insert(id).second) return id;
    }
    return invalid_argument("bd_count: " + tile_name(tile) + " has " + std::to_string(end - begin) +
                            " for this channel, @" + fifo + " needs one more");
  }

  static std::vector<WordDim> word_dims(const std::vector<Dim>& dims, int bytes) {
    std::vector<WordDim> words;
    for (size_t i = dims.size(); i-- > 0;) {
      const bool innermost = i + 1 == dims.size();
      if (innermost && bytes < 4) {
        words.push_back({dims[i].size * bytes / 4, 1});
      } else {
        words.push_back({dims[i].size, dims[i].stride * bytes / 4});
      }
    }
    return words;
  }

  // The descriptors of one channel: every buffer of the ring in turn, every piece of it in turn,
  // then round again.
  Status make_descriptors(const ObjectFifo& fifo, const End& end, DmaDirection direction,
                          int channel, const std::vector<Dim>& dims) {
    const Ring& ring = rings_[end.ring];
    const int bytes = element_bytes(ring.type.element);
    std::vector<size_t> chain;
    for (int slot = 0; slot < ring.depth; ++slot) {
      for (const size_t index : end.pieces) {
        const Piece& piece = ring.pieces[index];
        BufferDescriptor bd;
        bd.tile = ring.tile;
        bd.direction = direction;
        bd.channel = channel;
        SOTTO_ASSIGN_OR_RETURN(bd.id, new_descriptor(ring.tile, channel, fifo.name));
        bd.buffer = ring.name + "_buff_" + std::to_string(slot);
        bd.base_bytes = piece.offset * bytes;
        bd.length_words = piece.elements * bytes / 4;
        bd.words = word_dims(dims, bytes);
        const bool fills = direction == DmaDirection::kS2mm;
        bd.acquire = {fills ? piece.free_lock : piece.full_lock, 1};
        bd.release = {fills ? piece.full_lock : piece.free_lock, 1};
        chain.push_back(array_.descriptors.size());
        array_.descriptors.push_back(std::move(bd));
      }
    }
    for (size_t i = 0; i < chain.size(); ++i) {
      array_.descriptors[chain[i]].next = array_.descriptors[chain[(i + 1) % chain.size()]].id;
    }
    return {};
  }

  void note_core_end(const ObjectFifo& fifo, const End& end, Port port) {
    const Ring& ring = rings_[end.ring];
    CoreFifoEnd core{fifo.name, port, {}, ring.pieces[0].free_lock, ring.pieces[0].full_lock};
    for (int slot = 0; slot < ring.depth; ++slot)
      core.buffers.push_back(ring.name + "_buff_" + std::to_string(slot));
    array_.core_fifos[ring.tile].push_back(std::move(core));
  }

  Status connect(const ObjectFifo& fifo) {
    const std::vector<End>& ends = ends_[fifo.name];
    SOTTO_ASSIGN_OR_RETURN(const int out,
                           new_channel(fifo.producer, DmaDirection::kMm2s, fifo.name));
    if (tile_kind(fifo.producer) == TileKind::kShim) {
      array_.shim[fifo.name] = {fifo.producer, DmaDirection::kMm2s, out};
    } else {
      SOTTO_RETURN_IF_ERROR(
          make_descriptors(fifo, ends[0], DmaDirection::kMm2s, out, fifo.to_stream));
      if (tile_kind(fifo.producer) == TileKind::kCore) note_core_end(fifo, ends[0], Port::kProduce);
    }
    for (size_t i = 0; i < fifo.consumers.size(); ++i) {
      const FifoConsumer& consumer = fifo.consumers[i];
      SOTTO_ASSIGN_OR_RETURN(const int in,
                             new_channel(consumer.tile, DmaDirection::kS2mm, fifo.name));
      array_.flows.push_back({{fifo.producer, out}, {consumer.tile, in}});
      if (tile_kind(consumer.tile) == TileKind::kShim) {
        array_.shim[fifo.name] = {consumer.tile, DmaDirection::kS2mm, in};
        continue;
      }
      SOTTO_RETURN_IF_ERROR(
          make_descriptors(fifo, ends[i + 1], DmaDirection::kS2mm, in, consumer.from_stream));
      if (tile_kind(consumer.tile) == TileKind::kCore)
        note_core_end(fifo, ends[i + 1], Port::kConsume);
    }
    return {};
  }

  // ---- Addresses
  // ----------------------------------------------------------------------------------

  int64_t stack_of(Tile tile) const {
    for (const CoreProgram& program : design_.programs) {
      if (program.tile == tile) return program.stack_bytes;
    }
    return 0;
  }

  // Ring buffers of the tile, last fifo first, then the design's own buffers without an address.
  std::vector<PlacedBuffer> buffers_of(Tile tile) const {
    std::vector<PlacedBuffer> out;
    for (size_t i = rings_.size(); i-- > 0;) {
      const Ring& ring = rings_[i];
      if (ring.tile != tile) continue;
      for (int slot = 0; slot < ring.depth; ++slot) {
        out.push_back(
            {ring.name + "_buff_" + std::to_string(slot), tile, -1, ring.type.bytes(), ring.type});
      }
    }
    for (const Buffer& buffer : design_.buffers) {
      if (buffer.tile == tile)
        out.push_back(
            {buffer.name, tile, buffer.address.value_or(-1), buffer.type.bytes(), buffer.type});
    }
    return out;
  }

  Status place_buffers() {
    std::set<Tile> tiles;
    for (const Ring& ring : rings_)
      tiles.insert(ring.tile);
    for (const Buffer& buffer : design_.buffers)
      tiles.insert(buffer.tile);
    for (const Tile tile : tiles) {
      std::vector<PlacedBuffer> buffers = buffers_of(tile);
      // Large ones first; equal ones keep their order.
      std::stable_sort(
          buffers.begin(), buffers.end(),
          [](const PlacedBuffer& a, const PlacedBuffer& b) { return a.bytes > b.bytes; });
      if (!place_in_banks(tile, buffers)) SOTTO_RETURN_IF_ERROR(place_in_a_row(tile, buffers));
      array_.buffers.insert(array_.buffers.end(), buffers.begin(), buffers.end());
    }
    return {};
  }

  // The memory tile next to `tile` that lies in the partition and holds no buffers itself, if there
  // is one: channels 0 to 3 reach it.
  std::optional<Tile> empty_neighbour(Tile tile) const {
    const int columns = design_.columns > 0 ? design_.columns : generation_.columns.value;
    for (const int col : {tile.col + 1, tile.col - 1}) {
      const Tile next{col, tile.row};
      const bool used =
          std::any_of(rings_.begin(), rings_.end(), [&](const Ring& r) { return r.tile == next; });
      if (col >= 0 && col < columns && !used) return next;
    }
    return std::nullopt;
  }

  // Round robin over the banks, so that the two buffers of a ring do not compete for one.
  bool place_in_banks(Tile tile, std::vector<PlacedBuffer>& buffers) const {
    const bool core = tile_kind(tile) == TileKind::kCore;
    const int64_t bank_bytes =
        generation_.limits(tile_kind(tile)).memory_bytes / (core ? kCoreBanks : kMemBanks);
    std::vector<int64_t> next(static_cast<size_t>(core ? kCoreBanks : kMemBanks));
    for (size_t i = 0; i < next.size(); ++i)
      next[i] = static_cast<int64_t>(i) * bank_bytes;
    next[0] += stack_of(tile);
    for (const PlacedBuffer& buffer : buffers) {
      if (buffer.address < 0) continue;
      const auto bank = static_cast<size_t>(buffer.address / bank_bytes);
      if (bank >= next.size()) return false;
      next[bank] = std::max(next[bank], buffer.address + buffer.bytes);
    }
    size_t turn = 0;
    for (PlacedBuffer& buffer : buffers) {
      if (buffer.address >= 0) continue;
      size_t tried = 0;
      for (; tried < next.size(); ++tried, turn = (turn + 1) % next.size()) {
        const int64_t begin = (next[turn] + kAlignment - 1) / kAlignment * kAlignment;
        if (begin + buffer.bytes > static_cast<int64_t>(turn + 1) * bank_bytes) continue;
        buffer.address = begin;
        next[turn] = begin + buffer.bytes;
        turn = (turn + 1) % next.size();
        break;
      }
      if (tried == next.size()) {
        for (PlacedBuffer& undo : buffers)
          undo.address = fixed_address(undo.name);
        return false;
      }
    }
    return true;
  }

  int64_t fixed_address(const std::string& name) const {
    const Buffer* buffer = design_.buffer(name);
    return buffer != nullptr ? buffer->address.value_or(-1) : -1;
  }

  Status place_in_a_row(Tile tile, std::vector<PlacedBuffer>& buffers) const {
    const int64_t limit = generation_.limits(tile_kind(tile)).memory_bytes;
    int64_t next = stack_of(tile);
    for (const PlacedBuffer& buffer : buffers) {
      if (buffer.address >= 0) next = std::max(next, buffer.address + buffer.bytes);
    }
    for (PlacedBuffer& buffer : buffers) {
      if (buffer.address >= 0) continue;
      buffer.address = (next + kAlignment - 1) / kAlignment * kAlignment;
      next = buffer.address + buffer.bytes;
    }
    if (next <= limit) return {};
    if (tile_kind(tile) == TileKind::kMem && spill(tile, limit, buffers)) return {};
    return invalid_argument("memory: " + tile_name(tile) + " needs " + std::to_string(next) +
                            " bytes with its " + std::to_string(stack_of(tile)) +
                            "-byte stack and has " + std::to_string(limit));
  }

  // Moves what does not fit to the neighbouring memory tile.
  bool spill(Tile tile, int64_t limit, std::vector<PlacedBuffer>& buffers) const {
    const std::optional<Tile> neighbour = empty_neighbour(tile);
    if (!neighbour.has_value()) return false;
    int64_t here = 0;
    int64_t there = 0;
    for (PlacedBuffer& buffer : buffers) {
      const bool fits = here + buffer.bytes <= limit;
      buffer.tile = fits ? tile : *neighbour;
      int64_t& next = fits ? here : there;
      buffer.address = next;
      next += (buffer.bytes + kAlignment - 1) / kAlignment * kAlignment;
    }
    return there <= limit;
  }

  static constexpr int kCoreBanks = 4;       // Of 16 KB; source: mlir-aie AIETargetModel
  static constexpr int kMemBanks = 8;        // Of 64 KB
  static constexpr int64_t kAlignment = 32;  // Of a 256-bit load

  const Design& design_;
  const Generation& generation_;
  LoweredArray array_;
  std::vector<Ring> rings_;
  std::map<std::string, size_t> link_rings_;      // whole-object fifo of a link -> its ring
  std::map<std::string, std::vector<End>> ends_;  // by fifo: producer, then consumers
  std::map<Tile, std::set<int>> used_locks_, used_descriptors_;
  std::map<std::pair<Tile, DmaDirection>, int> next_channel_;
};

}  // namespace

Result<LoweredArray> lower(const Design& design) {
  return Lowering(design).run();
}

}  // namespace sotto::npu
