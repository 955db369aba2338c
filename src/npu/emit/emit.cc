#include "npu/emit/emit.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <sstream>
#include <utility>

namespace sotto::npu {
namespace {

std::string memref(const ObjectType& type) {
  std::string out = "memref<";
  for (const int64_t extent : type.shape)
    out += std::to_string(extent) + "x";
  return out + std::string(element_name(type.element)) + ">";
}

std::string memref(const HostArgument& argument) {
  return memref(ObjectType{{argument.elements}, argument.element});
}

std::string tile_value(Tile tile) {
  const std::string col = std::to_string(tile.col);
  switch (tile_kind(tile)) {
    case TileKind::kShim:
      return "%shim" + col;
    case TileKind::kMem:
      return "%mem" + col;
    case TileKind::kCore:
      return "%core" + col + "_" + std::to_string(tile.row - 2);
  }
  return "%tile";
}

template <typename T, typename Print>
std::string join(const std::vector<T>& items, Print print) {
  std::string out;
  for (const T& item : items)
    out += (out.empty() ? "" : ", ") + print(item);
  return out;
}

std::string transform(const std::vector<Dim>& dims, const std::string& keyword) {
  if (dims.empty()) return {};
  return " " + keyword + " [" +
         join(dims,
              [](const Dim& d) {
                return "<size = " + std::to_string(d.size) +
                       ", stride = " + std::to_string(d.stride) + ">";
              }) +
         "]";
}

/// Lines with an indentation.
class Lines {
 public:
  void line(const std::string& text) {
    out_ << std::string(static_cast<size_t>(2 * depth_), ' ') << text << '\n';
  }
  void open(const std::string& text) {
    line(text);
    ++depth_;
  }
  void close(const std::string& text) {
    --depth_;
    line(text);
  }
  [[nodiscard]] std::string text() const { return out_.str(); }

 private:
  std::ostringstream out_;
  int depth_ = 0;
};

// ---- Core programs
// --------------------------------------------------------------------------------

class CoreEmitter {
 public:
  CoreEmitter(const Design& design, const CoreProgram& program, Dialect dialect, Lines& out)
      : design_(design), program_(program), dialect_(dialect), out_(out) {}

  void run() {
    const std::string name =
        "%prog" + std::to_string(program_.tile.col) + "_" + std::to_string(program_.tile.row - 2);
    out_.open(name + " = aie.core(" + tile_value(program_.tile) + ") {");
    collect(program_.body);
    for (const int64_t value : index_constants_) {
      out_.line(index_constant(value) + " = arith.constant " + std::to_string(value) + " : index");
    }
    for (const int64_t value : word_constants_) {
      out_.line(word_constant(value) + " = arith.constant " + std::to_string(value) + " : i32");
    }
    block(program_.body);
    out_.line("aie.end");
    std::string attributes = "stack_size = " + std::to_string(program_.stack_bytes) + " : i32";
    if (dialect_ == Dialect::kV134 && !design_.kernels.empty()) {
      attributes += ", link_with = \"" + design_.kernels[0].object_file + "\"";
    }
    out_.close("} {" + attributes + "}");
  }

 private:
  static constexpr int64_t kForever = std::numeric_limits<int64_t>::max();

  static std::string index_constant(int64_t value) {
    return value == kForever ? std::string("%cmax") : "%c" + std::to_string(value);
  }
  static std::string word_constant(int64_t value) {
    return value < 0 ? "%w_minus" + std::to_string(-value) : "%w" + std::to_string(value);
  }

  // Which constants a program needs, and which loaded words serve as loop bounds.
  void collect(const std::vector<Statement>& body) {
    for (const Statement& statement : body) {
      if (const auto* loop = std::get_if<Loop>(&statement)) {
        index_constants_.insert(1);
        collect_bound(loop->from);
        if (loop->forever) {
          index_constants_.insert(kForever);
        } else {
          collect_bound(loop->to);
        }
        counters_.insert(loop->counter);
        collect(loop->body);
      } else if (const auto* load = std::get_if<Load>(&statement)) {
        index_constants_.insert(load->index);
        loaded_.insert(load->value);
      } else if (const auto* call = std::get_if<Call>(&statement)) {
        for (const auto& argument : call->arguments) {
          if (const auto* constant = std::get_if<int64_t>(&argument))
            word_constants_.insert(*constant);
        }
      } else if (const auto* lock = std::get_if<UseLock>(&statement)) {
        if (dialect_ == Dialect::k2026) word_constants_.insert(lock->value);
      }
    }
  }

  void collect_bound(const Bound& bound) {
    if (const auto* constant = std::get_if<int64_t>(&bound.value)) {
      index_constants_.insert(*constant);
    } else {
      bounds_.insert(std::get<std::string>(bound.value));
    }
  }

  static std::string bound(const Bound& bound) {
    const auto* constant = std::get_if<int64_t>(&bound.value);
    return constant != nullptr ? index_constant(*constant)
                               : "%" + std::get<std::string>(bound.value);
  }

  void block(const std::vector<Statement>& body) {
    for (const Statement& statement : body) {
      std::visit([this](const auto& one) { print(one); }, statement);
    }
  }

  static std::string access(const std::string& fifo, Port port, int count) {
    return "@" + fifo + (port == Port::kConsume ? "(Consume, " : "(Produce, ") +
           std::to_string(count) + ")";
  }

  void print(const Acquire& s) {
    const std::string type = memref(design_.fifo(s.fifo)->type);
    const std::string view = "!aie.objectfifosubview<" + type + ">";
    out_.line("%" + s.object + "_s = aie.objectfifo.acquire " + access(s.fifo, s.port, s.count) +
              " : " + view);
    out_.line("%" + s.object + " = aie.objectfifo.subview.access %" + s.object + "_s[0] : " + view +
              " -> " + type);
  }
  void print(const Release& s) {
    out_.line("aie.objectfifo.release " + access(s.fifo, s.port, s.count));
  }
  void print(const UseLock& s) {
    const std::string value =
        dialect_ == Dialect::k2026 ? word_constant(s.value) : std::to_string(s.value);
    out_.line("aie.use_lock(%" + s.lock + ", " + (s.acquire ? "AcquireGreaterEqual" : "Release") +
              ", " + value + ")");
  }
  void print(const Load& s) {
    const std::string word = "%" + s.value + "_w";
    out_.line(word + " = memref.load %" + s.buffer + "[" + index_constant(s.index) +
              "] : " + memref(design_.buffer(s.buffer)->type));
    if (bounds_.count(s.value) != 0) {
      out_.line("%" + s.value + " = arith.index_cast " + word + " : i32 to index");
    }
  }
  void print(const Call& s) {
    const Kernel& kernel = *design_.kernel(s.kernel);
    std::string values;
    std::string types;
    for (size_t i = 0; i < s.arguments.size(); ++i) {
      const auto* type = std::get_if<ObjectType>(&kernel.arguments[i]);
      types += (i > 0 ? ", " : "") + (type != nullptr ? memref(*type) : std::string("i32"));
      values += (i > 0 ? ", " : "") + argument(s.arguments[i]);
    }
    out_.line("func.call @" + s.kernel + "(" + values + ") : (" + types + ") -> ()");
  }
  void print(const Loop& s) {
    out_.open("scf.for %" + s.counter + " = " + bound(s.from) + " to " +
              (s.forever ? index_constant(kForever) : bound(s.to)) + " step " + index_constant(1) +
              " {");
    block(s.body);
    out_.close("}");
  }

  // A loop counter is an index and a kernel takes i32: it is cast in front of the call.
  std::string argument(const std::variant<std::string, int64_t>& value) {
    if (const auto* constant = std::get_if<int64_t>(&value)) return word_constant(*constant);
    const std::string& name = std::get<std::string>(value);
    if (loaded_.count(name) != 0) return "%" + name + "_w";
    if (counters_.count(name) == 0) return "%" + name;
    out_.line("%" + name + "_w = arith.index_cast %" + name + " : index to i32");
    return "%" + name + "_w";
  }

  const Design& design_;
  const CoreProgram& program_;
  Dialect dialect_;
  Lines& out_;
  std::set<int64_t> index_constants_, word_constants_;
  std::set<std::string> bounds_, loaded_, counters_;
};

// ---- Device
// ---------------------------------------------------------------------------------------

class Emitter {
 public:
  Emitter(const Design& design, const EmitOptions& options) : design_(design), options_(options) {}

  std::string run() {
    std::istringstream title(options_.title);
    for (std::string line; std::getline(title, line);)
      out_.line("// " + line);
    out_.open("module {");
    std::string device(generation(design_.generation).name);
    if (design_.columns > 0 && design_.columns < generation(design_.generation).columns) {
      device += "_" + std::to_string(design_.columns) + "col";
    }
    out_.open("aie.device(" + device + ") @" + (design_.name.empty() ? "main" : design_.name) +
              " {");
    for (const Kernel& kernel : design_.kernels)
      print(kernel);
    for (const Tile tile : design_.tiles) {
      out_.line(tile_value(tile) + " = aie.tile(" + std::to_string(tile.col) + ", " +
                std::to_string(tile.row) + ")");
    }
    print_fifos();
    for (const Flow& flow : design_.flows) {
      out_.line("aie.flow(" + tile_value(flow.from.tile) +
                ", DMA : " + std::to_string(flow.from.channel) + ", " + tile_value(flow.to.tile) +
                ", DMA : " + std::to_string(flow.to.channel) + ")");
    }
    for (const Buffer& buffer : design_.buffers)
      print(buffer);
    for (const Lock& lock : design_.locks)
      print(lock);
    for (const CoreProgram& program : design_.programs)
      CoreEmitter(design_, program, options_.dialect, out_).run();
    for (const Sequence& sequence : design_.sequences)
      print(sequence);
    out_.close("}");
    out_.close("}");
    return out_.text();
  }

 private:
  bool old() const { return options_.dialect == Dialect::kV134; }

  void print(const Kernel& kernel) {
    const std::string types =
        join(kernel.arguments, [](const std::variant<ObjectType, ElementType>& argument) {
          const auto* type = std::get_if<ObjectType>(&argument);
          return type != nullptr ? memref(*type)
                                 : std::string(element_name(std::get<ElementType>(argument)));
        });
    const std::string link =
        old() ? "" : " attributes {link_with = \"" + kernel.object_file + "\"}";
    out_.line("func.func private @" + kernel.name + "(" + types + ")" + link);
  }

  // A link stands after the last fifo it names.
  void print_fifos() {
    std::map<std::string, size_t> position;
    for (size_t i = 0; i < design_.fifos.size(); ++i)
      position[design_.fifos[i].name] = i;
    std::vector<std::vector<const Link*>> after(design_.fifos.size());
    for (const Link& link : design_.links) {
      size_t last = 0;
      for (const auto* side : {&link.inputs, &link.outputs}) {
        for (const std::string& name : *side)
          last = std::max(last, position[name]);
      }
      if (last < after.size()) after[last].push_back(&link);
    }
    for (size_t i = 0; i < design_.fifos.size(); ++i) {
      print(design_.fifos[i]);
      for (const Link* link : after[i])
        print(*link);
    }
  }

  void print(const ObjectFifo& fifo) {
    const std::string consumers = join(fifo.consumers, [](const FifoConsumer& c) {
      return tile_value(c.tile) + transform(c.from_stream, "dimensionsFromStream");
    });
    const std::string depth =
        fifo.depths.size() == 1
            ? std::to_string(fifo.depths[0]) + " : i32"
            : "[" + join(fifo.depths, [](int d) { return std::to_string(d); }) + "]";
    out_.line("aie.objectfifo @" + fifo.name + "(" + tile_value(fifo.producer) +
              transform(fifo.to_stream, "dimensionsToStream") + ", {" + consumers + "}, " + depth +
              ") : !aie.objectfifo<" + memref(fifo.type) + ">");
  }

  void print(const Link& link) {
    const auto symbols = [](const std::vector<std::string>& names) {
      return "[" + join(names, [](const std::string& n) { return "@" + n; }) + "]";
    };
    const auto numbers = [](const std::vector<int64_t>& values) {
      return "[" + join(values, [](int64_t v) { return std::to_string(v); }) + "]";
    };
    out_.line("aie.objectfifo.link " + symbols(link.inputs) + " -> " + symbols(link.outputs) +
              " (" + numbers(link.input_offsets) + " " + numbers(link.output_offsets) + ")");
  }

  void print(const Buffer& buffer) {
    const std::string address = buffer.address.has_value()
                                    ? "address = " + std::to_string(*buffer.address) + " : i32, "
                                    : "";
    out_.line("%" + buffer.name + " = aie.buffer(" + tile_value(buffer.tile) + ") {" + address +
              "sym_name = \"" + buffer.name + "\"} : " + memref(buffer.type));
  }

  void print(const Lock& lock) {
    const std::string id = lock.id >= 0 ? ", " + std::to_string(lock.id) : "";
    out_.line("%" + lock.name + " = aie.lock(" + tile_value(lock.tile) + id + ") {init = " +
              std::to_string(lock.init) + " : i32, sym_name = \"" + lock.name + "\"}");
  }

  // ---- Sequences
  // ----------------------------------------------------------------------------------

  void print(const Sequence& sequence) {
    const std::string arguments = join(
        sequence.arguments, [](const HostArgument& a) { return "%" + a.name + ": " + memref(a); });
    out_.open((old() ? "aiex.runtime_sequence @" : "aie.runtime_sequence @") + sequence.name + "(" +
              arguments + ") {");
    constants_ = 0;
    for (const SequenceOp& op : sequence.ops) {
      std::visit([&](const auto& one) { print(one, sequence); }, op);
    }
    out_.close("}");
  }

  void print(const StartTask& start, const Sequence& sequence) {
    const Task& task = start.task;
    const HostArgument& argument = sequence.arguments[static_cast<size_t>(task.argument)];
    if (task.is_memcpy) return print_memcpy(task, argument);
    out_.open("%" + task.name + " = aiex.dma_configure_task_for @" + task.fifo + " {");
    out_.line("aie.dma_bd(%" + argument.name + " : " + memref(argument) + pattern(task) + ")");
    out_.line("aie.end");
    std::vector<std::string> attributes;
    if (task.issue_token) attributes.emplace_back("issue_token = true");
    if (task.repeat_count > 0)
      attributes.push_back("repeat_count = " + std::to_string(task.repeat_count) + " : i32");
    const std::string list = join(attributes, [](const std::string& a) { return a; });
    out_.close(list.empty() ? "}" : "} {" + list + "}");
    out_.line("aiex.dma_start_task(%" + task.name + ")");
  }

  std::string pattern(const Task& task) const {
    const auto sizes = join(task.dims, [](const Dim& d) { return std::to_string(d.size); });
    const auto strides = join(task.dims, [](const Dim& d) { return std::to_string(d.stride); });
    if (!old()) {
      return " offset = " + std::to_string(task.offset) + " len = " + std::to_string(task.len) +
             (task.dims.empty() ? "" : " sizes = [" + sizes + "] strides = [" + strides + "]");
    }
    std::string out = ", " + std::to_string(task.offset) + ", " + std::to_string(task.len);
    if (!task.dims.empty()) {
      out += ", [" +
             join(task.dims,
                  [](const Dim& d) {
                    return "<size = " + std::to_string(d.size) +
                           ", stride = " + std::to_string(d.stride) + ">";
                  }) +
             "]";
    }
    return out;
  }

  void print_memcpy(const Task& task, const HostArgument& argument) {
    const auto sizes = join(task.dims, [](const Dim& d) { return std::to_string(d.size); });
    const auto strides = join(task.dims, [](const Dim& d) { return std::to_string(d.stride); });
    out_.line("aiex.npu.dma_memcpy_nd(%" + argument.name + "[0, 0, 0, " +
              std::to_string(task.offset) + "][" + sizes + "][" + strides +
              "]) {id = 0 : i64, metadata = @" + task.fifo +
              (task.issue_token ? ", issue_token = true" : "") + "} : " + memref(argument));
  }

  void print(const AwaitTask& await, const Sequence& sequence) {
    for (const SequenceOp& op : sequence.ops) {
      const auto* start = std::get_if<StartTask>(&op);
      if (start != nullptr && start->task.name == await.task && start->task.is_memcpy) {
        out_.line("aiex.npu.dma_wait {symbol = @" + start->task.fifo + "}");
        return;
      }
    }
    out_.line("aiex.dma_await_task(%" + await.task + ")");
  }
  void print(const FreeTask& free, const Sequence&) {
    out_.line("aiex.dma_free_task(%" + free.task + ")");
  }
  void print(const WriteParameter& write, const Sequence&) {
    std::string value = std::to_string(write.value);
    if (!old()) {
      const std::string name = "%p" + std::to_string(constants_++);
      out_.line(name + " = arith.constant " + value + " : i32");
      value = name;
    }
    out_.line("aiex.npu.rtp_write(@" + write.buffer + ", " + std::to_string(write.index) + ", " +
              value + ")" + (old() ? "" : " : i32"));
  }
  void print(const SetLock& set, const Sequence&) {
    out_.line("aiex.set_lock(%" + set.lock + ", " + std::to_string(set.value) + ")");
  }

  const Design& design_;
  const EmitOptions& options_;
  Lines out_;
  int constants_ = 0;
};

// ---- Names
// ----------------------------------------------------------------------------------------

class Renamer {
 public:
  std::string operator()(const std::string& name, const char* prefix) {
    const auto [it, fresh] = names_.try_emplace(name, "");
    if (fresh) it->second = prefix + std::to_string(names_.size());
    return it->second;
  }
  [[nodiscard]] bool knows(const std::string& name) const { return names_.count(name) != 0; }

 private:
  std::map<std::string, std::string> names_;
};

void rename_block(std::vector<Statement>& body, Renamer& names) {
  const auto bound = [&](Bound& b) {
    if (auto* name = std::get_if<std::string>(&b.value)) *name = names(*name, "v");
  };
  for (Statement& statement : body) {
    if (auto* acquire = std::get_if<Acquire>(&statement)) {
      acquire->object = names(acquire->object, "v");
    } else if (auto* load = std::get_if<Load>(&statement)) {
      load->value = names(load->value, "v");
    } else if (auto* call = std::get_if<Call>(&statement)) {
      for (auto& argument : call->arguments) {
        auto* name = std::get_if<std::string>(&argument);
        if (name != nullptr && names.knows(*name)) *name = names(*name, "v");
      }
    } else if (auto* loop = std::get_if<Loop>(&statement)) {
      loop->counter = names(loop->counter, "v");
      bound(loop->from);
      bound(loop->to);
      rename_block(loop->body, names);
    }
  }
}

}  // namespace

std::string emit(const Design& design, const EmitOptions& options) {
  return Emitter(design, options).run();
}

Design with_normal_names(const Design& design) {
  Design out = design;
  for (CoreProgram& program : out.programs) {
    Renamer names;
    rename_block(program.body, names);
  }
  for (Sequence& sequence : out.sequences) {
    Renamer names;
    Renamer arguments;
    for (HostArgument& argument : sequence.arguments)
      argument.name = arguments(argument.name, "a");
    for (SequenceOp& op : sequence.ops) {
      if (auto* start = std::get_if<StartTask>(&op))
        start->task.name = names(start->task.name, "t");
      if (auto* await = std::get_if<AwaitTask>(&op)) await->task = names(await->task, "t");
      if (auto* free = std::get_if<FreeTask>(&op)) free->task = names(free->task, "t");
    }
  }
  return out;
}

}  // namespace sotto::npu
