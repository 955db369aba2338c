#include "npu/design/verify.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "npu/design/lowered.h"

namespace sotto::npu {
namespace {

constexpr std::array<Rule, 21> kRules = {{
    {"symbol", "every name that is used is declared, once"},
    {"memory",
     "buffers, both halves of each ping-pong pair and the stack fit the tile's data memory"},
    {"dma_channels", "fifos that start or end at a tile fit its DMA channels"},
    {"bd_count",
     "buffer descriptors of a tile, or tasks active on a shim, fit its descriptor table"},
    {"queue_depth", "tasks queued at one shim channel fit its queue"},
    {"dims", "a layout transform has no more dimensions than the tile's address generator"},
    {"size", "a size fits its field"},
    {"stride", "a stride fits its field"},
    {"granularity", "offsets, runs and strides are whole 4-byte words"},
    {"inner_stride", "elements narrower than a word stand side by side in the innermost dimension"},
    {"length",
     "the length is the product of the inner three sizes, or of a transform's sizes its object"},
    {"repeat", "the outermost size is at most 64 and repeat_count says it minus one"},
    {"host_bounds", "a transfer stays inside its host buffer"},
    {"link", "offsets of a link are the running sum of its pieces"},
    {"locks", "locks of a tile fit its table"},
    {"lock_value", "a lock's value fits its 6 bits"},
    {"acquire", "a core acquires and releases what its side of a fifo holds"},
    {"kernel", "a kernel is called with the objects it is declared for"},
    {"token", "a task that is awaited gives a token, once, and every token is awaited"},
    {"bd_in_flight", "a descriptor is reused only when its task is proven done"},
    {"routing", "connections fit the streams between tiles, one source a destination"},
}};

class Verifier {
 public:
  explicit Verifier(const Design& design)
      : design_(design), generation_(generation(design.generation)) {}

  std::vector<Violation> run() {
    check_tiles();
    for (const ObjectFifo& fifo : design_.fifos)
      check_fifo(fifo);
    for (const Link& link : design_.links)
      check_link(link);
    for (const Lock& lock : design_.locks) {
      if (lock.init > generation_.lock_value_max) {
        report("lock_value", "lock @" + lock.name + " starts at " + std::to_string(lock.init) +
                                 ", its field holds " +
                                 std::to_string(generation_.lock_value_max.value));
      }
    }
    for (const CoreProgram& program : design_.programs)
      check_program(program);
    check_routing();
    if (found_.empty()) check_lowering();
    for (const Sequence& sequence : design_.sequences) {
      for (Violation& violation : verify_sequence(design_, sequence))
        found_.push_back(std::move(violation));
    }
    return std::move(found_);
  }

 private:
  void report(std::string rule, std::string message) {
    found_.push_back({std::move(rule), std::move(message)});
  }

  [[nodiscard]] int columns() const {
    return design_.columns > 0 ? design_.columns : generation_.columns.value;
  }

  void check_tiles() {
    std::set<Tile> seen;
    for (const Tile tile : design_.tiles) {
      if (tile.col >= columns() || tile.row >= generation_.rows) {
        report("symbol", tile_name(tile) + " lies outside the array of " +
                             std::to_string(columns()) + " columns and " +
                             std::to_string(generation_.rows.value) + " rows");
      }
      if (!seen.insert(tile).second) report("symbol", tile_name(tile) + " is declared twice");
    }
  }

  // ---- Fifos
  // --------------------------------------------------------------------------------------

  void check_fifo(const ObjectFifo& fifo) {
    const ObjectFifo* first = design_.fifo(fifo.name);
    if (first != &fifo) report("symbol", "fifo @" + fifo.name + " is declared twice");
    if (fifo.type.bytes() % 4 != 0) {
      report("granularity", "an object of @" + fifo.name + " is no whole number of 4-byte words");
    }
    check_transform(fifo, fifo.producer, fifo.to_stream);
    for (const FifoConsumer& consumer : fifo.consumers)
      check_transform(fifo, consumer.tile, consumer.from_stream);
  }

  // Elements that one run of the transform's DMA moves: the object, or a piece when the fifo is the
  // whole side of a link.
  int64_t moved_elements(const ObjectFifo& fifo) const {
    for (const Link& link : design_.links) {
      const bool joined =
          link.inputs.size() > 1 && link.outputs.size() == 1 && link.outputs[0] == fifo.name;
      if (joined) return fifo.type.elements() / static_cast<int64_t>(link.inputs.size());
    }
    return fifo.type.elements();
  }

  void check_transform(const ObjectFifo& fifo, Tile tile, const std::vector<Dim>& dims) {
    if (dims.empty() || tile_kind(tile) == TileKind::kShim) return;
    const DmaLimits& dma = generation_.limits(tile_kind(tile)).dma;
    const std::string who = "@" + fifo.name + " at " + tile_name(tile);
    if (static_cast<int>(dims.size()) > dma.dimensions) {
      report("dims", who + " has " + std::to_string(dims.size()) +
                         " dimensions, this tile's DMA has " +
                         std::to_string(dma.dimensions.value));
    }
    const int bytes = element_bytes(fifo.type.element);
    const int64_t size_max = (int64_t{1} << dma.wrap_bits) - 1;
    const int64_t stride_max = int64_t{1} << dma.stride_bits;
    int64_t product = 1;
    for (size_t i = 0; i < dims.size(); ++i) {
      const bool inner = i + 1 == dims.size();
      product *= dims[i].size;
      const int64_t size = inner && bytes < 4 ? dims[i].size * bytes / 4 : dims[i].size;
      if (size > size_max || dims[i].size < 1) {
        report("size", who + ": size " + std::to_string(size) + ", the field holds " +
                           std::to_string(size_max));
      }
      if (inner && bytes < 4) {
        if (dims[i].size * bytes % 4 != 0)
          report("granularity", who + ": its inner run is no whole number of words");
        if (dims[i].stride != 1) report("inner_stride", who + ": the innermost stride must be 1");
      } else if (dims[i].stride * bytes % 4 != 0) {
        report("granularity",
               who + ": stride " + std::to_string(dims[i].stride) + " is no whole number of words");
      } else if (dims[i].stride * bytes / 4 > stride_max) {
        report("stride", who + ": a stride of " + std::to_string(dims[i].stride * bytes / 4) +
                             " words, the field holds " + std::to_string(stride_max));
      }
    }
    if (product != moved_elements(fifo)) {
      report("length", who + ": its sizes make " + std::to_string(product) +
                           " elements, one transfer has " + std::to_string(moved_elements(fifo)));
    }
  }

  // ---- Links
  // --------------------------------------------------------------------------------------

  void check_link(const Link& link) {
    const bool split = link.outputs.size() > 1;
    const bool join = link.inputs.size() > 1;
    if (!split && !join) return;
    const std::vector<std::string>& parts = split ? link.outputs : link.inputs;
    const std::vector<int64_t>& offsets = split ? link.output_offsets : link.input_offsets;
    const ObjectFifo* whole = design_.fifo(split ? link.inputs[0] : link.outputs[0]);
    if (whole == nullptr || offsets.size() != parts.size()) {
      report("link", "the link of @" + (split ? link.inputs[0] : link.outputs[0]) +
                         " needs one offset a piece");
      return;
    }
    int64_t expected = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
      const ObjectFifo* part = design_.fifo(parts[i]);
      if (part == nullptr) {
        report("symbol", "a link names fifo @" + parts[i] + ", which is not declared");
        return;
      }
      if (offsets[i] != expected) {
        report("link", "the piece @" + parts[i] + " starts at " + std::to_string(offsets[i]) +
                           ", the pieces before it end at " + std::to_string(expected));
        return;
      }
      expected += part->type.elements();
    }
    if (expected != whole->type.elements()) {
      report("link", "the pieces of @" + whole->name + " make " + std::to_string(expected) +
                         " elements of " + std::to_string(whole->type.elements()));
    }
  }

  // ---- Programs
  // -----------------------------------------------------------------------------------

  void check_program(const CoreProgram& program) {
    std::map<std::pair<std::string, Port>, int> held;
    std::set<std::string> names;
    check_block(program.tile, program.body, held, names);
  }

  const ObjectFifo* port_fifo(Tile tile, const std::string& name, Port port) {
    const ObjectFifo* fifo = design_.fifo(name);
    if (fifo == nullptr) {
      report("symbol", tile_name(tile) + " uses fifo @" + name + ", which is not declared");
      return nullptr;
    }
    const bool ends_here = port == Port::kProduce
                               ? fifo->producer == tile
                               : std::any_of(fifo->consumers.begin(), fifo->consumers.end(),
                                             [&](const FifoConsumer& c) { return c.tile == tile; });
    if (ends_here) return fifo;
    report("acquire", tile_name(tile) + " uses the " +
                          (port == Port::kProduce ? "producer" : "consumer") + " side of @" + name +
                          ", which is elsewhere");
    return nullptr;
  }

  // An error once is enough: a loop body is checked as it stands, its second round is like its
  // first.
  void check_block(Tile tile, const std::vector<Statement>& body,
                   std::map<std::pair<std::string, Port>, int>& held,
                   std::set<std::string>& names) {
    for (const Statement& statement : body) {
      if (const auto* s = std::get_if<Acquire>(&statement)) {
        if (port_fifo(tile, s->fifo, s->port) == nullptr) continue;
        int& count = held[{s->fifo, s->port}];
        count = std::max(count, s->count);
        names.insert(s->object);
        objects_[s->object] = s->fifo;
      } else if (const auto* r = std::get_if<Release>(&statement)) {
        if (port_fifo(tile, r->fifo, r->port) == nullptr) continue;
        int& count = held[{r->fifo, r->port}];
        if (r->count > count) {
          report("acquire", tile_name(tile) + " releases " + std::to_string(r->count) + " of @" +
                                r->fifo + " and holds " + std::to_string(count));
        }
        count = std::max(0, count - r->count);
      } else if (const auto* u = std::get_if<UseLock>(&statement)) {
        if (design_.lock(u->lock) == nullptr) {
          report("symbol", tile_name(tile) + " uses lock @" + u->lock + ", which is not declared");
        }
        if (u->value > generation_.lock_value_max) {
          report("lock_value", tile_name(tile) + " asks for " + std::to_string(u->value) +
                                   " units of lock @" + u->lock);
        }
      } else if (const auto* l = std::get_if<Load>(&statement)) {
        const Buffer* buffer = design_.buffer(l->buffer);
        if (buffer == nullptr || l->index < 0 || l->index >= buffer->type.elements()) {
          report("symbol", tile_name(tile) + " loads word " + std::to_string(l->index) + " of @" +
                               l->buffer + ", which does not exist");
        }
        names.insert(l->value);
      } else if (const auto* c = std::get_if<Call>(&statement)) {
        check_call(tile, *c, names);
      } else {
        const Loop& loop = std::get<Loop>(statement);
        names.insert(loop.counter);
        check_block(tile, loop.body, held, names);
      }
    }
  }

  void check_call(Tile tile, const Call& call, const std::set<std::string>& names) {
    const Kernel* kernel = design_.kernel(call.kernel);
    if (kernel == nullptr) {
      report("symbol", tile_name(tile) + " calls @" + call.kernel + ", which is not declared");
      return;
    }
    if (kernel->arguments.size() != call.arguments.size()) {
      report("kernel", tile_name(tile) + " calls @" + call.kernel + " with " +
                           std::to_string(call.arguments.size()) + " arguments of " +
                           std::to_string(kernel->arguments.size()));
      return;
    }
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      const auto* wanted = std::get_if<ObjectType>(&kernel->arguments[i]);
      const auto* name = std::get_if<std::string>(&call.arguments[i]);
      if (wanted == nullptr || name == nullptr) {
        if (wanted != nullptr)
          report("kernel", "@" + call.kernel + " needs an object as argument " + std::to_string(i));
        continue;
      }
      const ObjectType* given = nullptr;
      if (const auto object = objects_.find(*name);
          object != objects_.end() && names.count(*name) != 0) {
        given = &design_.fifo(object->second)->type;
      } else if (const Buffer* buffer = design_.buffer(*name)) {
        given = &buffer->type;
      }
      if (given == nullptr) {
        report("symbol", tile_name(tile) + " passes %" + *name + " to @" + call.kernel +
                             ", which is not defined");
      } else if (*given != *wanted) {
        report("kernel", tile_name(tile) + " passes an object of another type as argument " +
                             std::to_string(i) + " of @" + call.kernel);
      }
    }
  }

  // ---- Connections
  // --------------------------------------------------------------------------------

  void check_routing() {
    std::set<DmaPort> destinations;
    for (const Flow& flow : design_.flows) {
      if (!destinations.insert(flow.to).second) {
        report("routing", tile_name(flow.to.tile) + " channel " + std::to_string(flow.to.channel) +
                              " has two sources; a circuit-switched port takes one");
      }
    }
    // Distinct sources that must leave rows 0 and 1 northwards, over all columns: the switches
    // offer a fixed number a column.
    std::set<DmaPort> sources;
    for (const Flow& flow : design_.flows) {
      if (flow.from.tile.row < 2 && flow.to.tile.row >= 2) sources.insert(flow.from);
    }
    size_t northward = sources.size();
    for (const ObjectFifo& fifo : design_.fifos) {
      const bool up = fifo.producer.row < 2 &&
                      std::any_of(fifo.consumers.begin(), fifo.consumers.end(),
                                  [](const FifoConsumer& c) { return c.tile.row >= 2; });
      northward += up ? 1 : 0;
    }
    const auto limit = static_cast<size_t>(generation_.north_streams * columns());
    if (northward > limit) {
      report("routing", std::to_string(northward) + " streams go north into the cores, " +
                            std::to_string(columns()) + " column(s) carry " +
                            std::to_string(limit));
    }
  }

  // ---- Resources
  // ----------------------------------------------------------------------------------

  // What fits is decided where it is placed: lower() names the rule at the front of its message.
  void check_lowering() {
    const Result<LoweredArray> lowered = lower(design_);
    if (lowered.ok()) return;
    const std::string message = lowered.status().message();
    const size_t colon = message.find(": ");
    report(message.substr(0, colon), message.substr(colon + 2));
  }

  const Design& design_;
  const Generation& generation_;
  std::vector<Violation> found_;
  std::map<std::string, std::string> objects_;  // object name -> fifo
};

}  // namespace

std::span<const Rule> verifier_rules() {
  return kRules;
}

std::vector<Violation> verify(const Design& design) {
  return Verifier(design).run();
}

}  // namespace sotto::npu
