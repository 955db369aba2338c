#include "npu/design/draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace sotto::npu {
namespace {

struct TileUse {
  int64_t bytes = 0;
  int descriptors = 0, locks = 0;
  std::set<int> in, out;  // DMA channels
};

std::map<Tile, TileUse> tile_use(const Design& design, const LoweredArray& array) {
  std::map<Tile, TileUse> out;
  for (const Tile tile : design.tiles)
    out[tile];
  for (const PlacedBuffer& buffer : array.buffers)
    out[buffer.tile].bytes += buffer.bytes;
  for (const CoreProgram& program : design.programs)
    out[program.tile].bytes += program.stack_bytes;
  for (const Lock& lock : array.locks)
    ++out[lock.tile].locks;
  for (const BufferDescriptor& bd : array.descriptors)
    ++out[bd.tile].descriptors;
  for (const Flow& flow : array.flows) {
    out[flow.from.tile].out.insert(flow.from.channel);
    out[flow.to.tile].in.insert(flow.to.channel);
  }
  return out;
}

// "A_L2L1_3" and "A_L3L2_0" belong together.
char family(const std::string& fifo) {
  return fifo.empty() ? '?' : fifo[0];
}

constexpr int kBox = 150, kGap = 70, kMargin = 40, kHeight = 84, kRowGap = 56;

struct Point {
  int x, y;
};

// Row 0 (shim) stands at the bottom, as in the vendor's drawings.
Point corner(Tile tile, int rows) {
  return {kMargin + tile.col * (kBox + kGap),
          kMargin + (rows - 1 - tile.row) * (kHeight + kRowGap)};
}

std::string box(Tile tile, const TileUse& use, const Generation& g) {
  const Point p = corner(tile, g.rows);
  const TileLimits& limits = g.limits(tile_kind(tile));
  static constexpr std::array<const char*, 3> kFill = {"#dbe7f3", "#e6f0dc", "#f6ead7"};
  std::string out = fmt::format(
      "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"6\" fill=\"{}\" stroke=\"#555\"/>\n"
      "<text x=\"{}\" y=\"{}\" font-weight=\"bold\">{}</text>\n",
      p.x, p.y, kBox, kHeight, kFill[static_cast<size_t>(tile_kind(tile))], p.x + 8, p.y + 17,
      tile_name(tile));
  if (limits.memory_bytes > 0) {
    const auto width =
        static_cast<int>((kBox - 16) * std::min(use.bytes, limits.memory_bytes.value) /
                         std::max<int64_t>(limits.memory_bytes, 1));
    out += fmt::format(
        "<rect x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"9\" fill=\"none\" stroke=\"#999\"/>\n"
        "<rect x=\"{0}\" y=\"{1}\" width=\"{3}\" height=\"9\" fill=\"#6b8e4e\"/>\n"
        "<text x=\"{0}\" y=\"{4}\">{5} of {6} bytes</text>\n",
        p.x + 8, p.y + 24, kBox - 16, width, p.y + 47, use.bytes, limits.memory_bytes.value);
  }
  out += fmt::format("<text x=\"{}\" y=\"{}\">in {} of {}, out {} of {}</text>\n", p.x + 8,
                     p.y + 61, use.in.size(), limits.dma.s2mm_channels.value, use.out.size(),
                     limits.dma.mm2s_channels.value);
  out += fmt::format("<text x=\"{}\" y=\"{}\">{} descriptors, {} locks</text>\n", p.x + 8, p.y + 75,
                     use.descriptors, use.locks);
  return out;
}

std::string connection(const ObjectFifo& fifo, Tile to, size_t lane, int rows) {
  static const std::map<char, const char*> kHue = {
      {'A', "#c0392b"}, {'B', "#2471a3"}, {'C', "#1e8449"}, {'i', "#c0392b"}, {'o', "#1e8449"}};
  const auto hue = kHue.find(family(fifo.name));
  const Point a = corner(fifo.producer, rows);
  const Point b = corner(to, rows);
  const int shift = 18 + static_cast<int>(lane % 8) * 14;
  return fmt::format(
      "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"{}\" stroke-width=\"1.4\" "
      "opacity=\"0.7\">"
      "<title>@{}: {} bytes, depth {}</title></line>\n",
      a.x + shift, fifo.producer.row < to.row ? a.y : a.y + kHeight, b.x + shift,
      fifo.producer.row < to.row ? b.y + kHeight : b.y, hue == kHue.end() ? "#7d3c98" : hue->second,
      fifo.name, fifo.type.bytes(), fifo.depths[0]);
}

}  // namespace

std::string draw_svg(const Design& design, const LoweredArray& array) {
  const Generation& g = generation(design.generation);
  const int width = 2 * kMargin + g.columns * (kBox + kGap);
  const int height = 2 * kMargin + g.rows * (kHeight + kRowGap);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" "
      "font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" "
      "fill=\"white\"/>\n",
      width, height);
  for (size_t i = 0; i < design.fifos.size(); ++i) {
    for (const FifoConsumer& consumer : design.fifos[i].consumers) {
      out += connection(design.fifos[i], consumer.tile, i, g.rows);
    }
  }
  for (const auto& [tile, use] : tile_use(design, array))
    out += box(tile, use, g);
  return out + "</svg>\n";
}

std::string draw_text(const Design& design, const LoweredArray& array) {
  const Generation& g = generation(design.generation);
  std::string out = fmt::format("{:<12} {:>16} {:>7} {:>7} {:>12} {:>7}\n", "tile", "memory bytes",
                                "in", "out", "descriptors", "locks");
  for (const auto& [tile, use] : tile_use(design, array)) {
    const TileLimits& limits = g.limits(tile_kind(tile));
    const std::string memory = limits.memory_bytes > 0
                                   ? fmt::format("{}/{}", use.bytes, limits.memory_bytes.value)
                                   : std::string("-");
    out += fmt::format("{:<12} {:>16} {:>7} {:>7} {:>12} {:>7}\n", tile_name(tile), memory,
                       fmt::format("{}/{}", use.in.size(), limits.dma.s2mm_channels.value),
                       fmt::format("{}/{}", use.out.size(), limits.dma.mm2s_channels.value),
                       fmt::format("{}/{}", use.descriptors, limits.dma.buffer_descriptors.value),
                       fmt::format("{}/{}", use.locks, limits.locks.value));
  }
  out += fmt::format("\n{} fifos, {} links, {} connections, {} sequence(s)\n", design.fifos.size(),
                     design.links.size(), array.flows.size(), design.sequences.size());
  for (const ObjectFifo& fifo : design.fifos) {
    std::string consumers;
    for (const FifoConsumer& consumer : fifo.consumers) {
      consumers += (consumers.empty() ? "" : " ") + tile_name(consumer.tile);
    }
    out += fmt::format("@{:<14} {:>10} bytes  {} -> {}\n", fifo.name, fifo.type.bytes(),
                       tile_name(fifo.producer), consumers);
  }
  return out;
}

}  // namespace sotto::npu
