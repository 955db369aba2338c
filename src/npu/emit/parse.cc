#include "npu/emit/parse.h"

#include <utility>

#include "npu/emit/parser.h"

namespace sotto::npu {

Result<Design> Parser::run() {
  SOTTO_RETURN_IF_ERROR(expect("module"));
  SOTTO_RETURN_IF_ERROR(expect("{"));
  SOTTO_RETURN_IF_ERROR(expect("aie.device"));
  SOTTO_RETURN_IF_ERROR(expect("("));
  SOTTO_ASSIGN_OR_RETURN(const std::string device, name(TokenKind::kWord, "a device name"));
  SOTTO_RETURN_IF_ERROR(expect(")"));
  // "npu1", or "npu1_2col" for a narrower partition.
  SOTTO_ASSIGN_OR_RETURN(design_.generation,
                         parse_generation(std::string_view(device).substr(0, 4)));
  if (device.size() > 5 && device[4] == '_' && device.substr(6) == "col")
    design_.columns = device[5] - '0';
  SOTTO_ASSIGN_OR_RETURN(design_.name, name(TokenKind::kSymbol, "the device's @name"));
  SOTTO_RETURN_IF_ERROR(expect("{"));
  while (!accept("}"))
    SOTTO_RETURN_IF_ERROR(device_item());
  SOTTO_RETURN_IF_ERROR(expect("}"));
  if (lexer_.peek().kind != TokenKind::kEnd || !lexer_.status().ok())
    return error("expected the end of the text");
  return std::move(design_);
}

Status Parser::device_item() {
  if (accept("func.func")) return kernel();
  if (accept("aie.objectfifo")) return fifo();
  if (accept("aie.objectfifo.link")) return link();
  if (accept("aie.flow")) return flow();
  if (accept("aie.runtime_sequence")) return sequence();
  if (lexer_.peek().kind == TokenKind::kValue) {
    const std::string value(lexer_.take().text);
    SOTTO_RETURN_IF_ERROR(expect("="));
    return defined_item(value);
  }
  return error("expected a device-level operation");
}

Status Parser::defined_item(const std::string& value) {
  if (accept("aie.tile")) {
    SOTTO_RETURN_IF_ERROR(expect("("));
    SOTTO_ASSIGN_OR_RETURN(const int64_t col, number());
    SOTTO_RETURN_IF_ERROR(expect(","));
    SOTTO_ASSIGN_OR_RETURN(const int64_t row, number());
    SOTTO_RETURN_IF_ERROR(expect(")"));
    if (col < 0 || col > 127 || row < 0 || row > 31) return error("tile coordinates out of range");
    const Tile tile{static_cast<int>(col), static_cast<int>(row)};
    tiles_[value] = tile;
    design_.tiles.push_back(tile);
    return {};
  }
  if (accept("aie.buffer")) {
    Buffer buffer;
    SOTTO_ASSIGN_OR_RETURN(buffer.tile, tile_reference());
    SOTTO_ASSIGN_OR_RETURN(const auto attrs, attributes());
    SOTTO_RETURN_IF_ERROR(expect(":"));
    SOTTO_ASSIGN_OR_RETURN(buffer.type, memref());
    buffer.name = attrs.count("sym_name") != 0 ? attrs.find("sym_name")->second : value;
    if (attrs.count("address") != 0) {
      SOTTO_ASSIGN_OR_RETURN(buffer.address, attribute_number(attrs, "address", 0));
    }
    memory_[value] = buffer.name;
    design_.buffers.push_back(std::move(buffer));
    return {};
  }
  if (accept("aie.lock")) {
    Lock lock;
    SOTTO_RETURN_IF_ERROR(expect("("));
    const auto tile = tiles_.find(lexer_.peek().text);
    if (lexer_.peek().kind != TokenKind::kValue || tile == tiles_.end())
      return error("expected a tile");
    lexer_.take();
    lock.tile = tile->second;
    int64_t id = -1;
    if (accept(",")) {
      SOTTO_ASSIGN_OR_RETURN(id, number());
      if (id < 0) return error("lock id out of range");
    }
    SOTTO_RETURN_IF_ERROR(expect(")"));
    SOTTO_ASSIGN_OR_RETURN(const auto attrs, attributes());
    SOTTO_ASSIGN_OR_RETURN(const int64_t init, attribute_number(attrs, "init", 0));
    if (id > 1000 || init < 0 || init > 1000) return error("lock id or value out of range");
    lock.id = static_cast<int>(id);
    lock.init = static_cast<int>(init);
    lock.name = attrs.count("sym_name") != 0 ? attrs.find("sym_name")->second : value;
    memory_[value] = lock.name;
    design_.locks.push_back(std::move(lock));
    return {};
  }
  if (accept("aie.core")) {
    SOTTO_ASSIGN_OR_RETURN(const Tile tile, tile_reference());
    return core(tile);
  }
  return error("expected aie.tile, aie.buffer, aie.lock or aie.core");
}

Result<Tile> Parser::tile_reference() {
  SOTTO_RETURN_IF_ERROR(expect("("));
  const auto tile = tiles_.find(lexer_.peek().text);
  if (lexer_.peek().kind != TokenKind::kValue || tile == tiles_.end())
    return error("expected a tile");
  lexer_.take();
  SOTTO_RETURN_IF_ERROR(expect(")"));
  return tile->second;
}

Status Parser::kernel() {
  Kernel out;
  SOTTO_RETURN_IF_ERROR(expect("private"));
  SOTTO_ASSIGN_OR_RETURN(out.name, name(TokenKind::kSymbol, "the kernel's @name"));
  SOTTO_RETURN_IF_ERROR(expect("("));
  while (!accept(")")) {
    if (!out.arguments.empty()) SOTTO_RETURN_IF_ERROR(expect(","));
    if (lexer_.peek().kind == TokenKind::kMemref) {
      SOTTO_ASSIGN_OR_RETURN(ObjectType type, memref());
      out.arguments.emplace_back(std::move(type));
    } else {
      SOTTO_ASSIGN_OR_RETURN(const std::string word, name(TokenKind::kWord, "an argument type"));
      SOTTO_ASSIGN_OR_RETURN(const ElementType type, element_type(word));
      out.arguments.emplace_back(type);
    }
  }
  SOTTO_RETURN_IF_ERROR(expect("attributes"));
  SOTTO_ASSIGN_OR_RETURN(const auto attrs, attributes());
  const auto file = attrs.find("link_with");
  if (file == attrs.end()) return error("kernel @" + out.name + " lacks link_with");
  out.object_file = file->second;
  design_.kernels.push_back(std::move(out));
  return {};
}

Status Parser::fifo() {
  ObjectFifo out;
  const auto endpoint = [&](std::string_view keyword, std::vector<Dim>& dims) -> Result<Tile> {
    const auto tile = tiles_.find(lexer_.peek().text);
    if (lexer_.peek().kind != TokenKind::kValue || tile == tiles_.end())
      return error("expected a tile");
    lexer_.take();
    if (accept(keyword)) {
      SOTTO_ASSIGN_OR_RETURN(dims, transform());
    }
    return tile->second;
  };
  SOTTO_ASSIGN_OR_RETURN(out.name, name(TokenKind::kSymbol, "the fifo's @name"));
  SOTTO_RETURN_IF_ERROR(expect("("));
  SOTTO_ASSIGN_OR_RETURN(out.producer, endpoint("dimensionsToStream", out.to_stream));
  SOTTO_RETURN_IF_ERROR(expect(","));
  SOTTO_RETURN_IF_ERROR(expect("{"));
  while (!accept("}")) {
    if (!out.consumers.empty()) SOTTO_RETURN_IF_ERROR(expect(","));
    FifoConsumer consumer;
    SOTTO_ASSIGN_OR_RETURN(consumer.tile, endpoint("dimensionsFromStream", consumer.from_stream));
    out.consumers.push_back(std::move(consumer));
  }
  SOTTO_RETURN_IF_ERROR(expect(","));
  std::vector<int64_t> depths;
  if (at("[")) {
    SOTTO_ASSIGN_OR_RETURN(depths, number_list());
  } else {
    SOTTO_ASSIGN_OR_RETURN(const int64_t depth, number());
    depths = {depth};
    SOTTO_RETURN_IF_ERROR(expect(":"));
    SOTTO_RETURN_IF_ERROR(expect("i32"));
  }
  out.depths.clear();
  for (const int64_t depth : depths) {
    if (depth < 0 || depth > 4096) return error("fifo depth out of range");
    out.depths.push_back(static_cast<int>(depth));
  }
  SOTTO_RETURN_IF_ERROR(expect(")"));
  SOTTO_RETURN_IF_ERROR(attributes().status());
  SOTTO_RETURN_IF_ERROR(expect(":"));
  SOTTO_RETURN_IF_ERROR(expect("!"));
  SOTTO_RETURN_IF_ERROR(expect("aie.objectfifo"));
  SOTTO_RETURN_IF_ERROR(expect("<"));
  SOTTO_ASSIGN_OR_RETURN(out.type, memref());
  SOTTO_RETURN_IF_ERROR(expect(">"));
  design_.fifos.push_back(std::move(out));
  return {};
}

Status Parser::flow() {
  Flow out;
  SOTTO_RETURN_IF_ERROR(expect("("));
  const auto port = [&](DmaPort& to) -> Status {
    const auto tile = tiles_.find(lexer_.peek().text);
    if (lexer_.peek().kind != TokenKind::kValue || tile == tiles_.end())
      return error("expected a tile");
    lexer_.take();
    to.tile = tile->second;
    SOTTO_RETURN_IF_ERROR(expect(","));
    SOTTO_RETURN_IF_ERROR(expect("DMA"));
    SOTTO_RETURN_IF_ERROR(expect(":"));
    SOTTO_ASSIGN_OR_RETURN(const int64_t channel, number());
    if (channel < 0 || channel > 63) return error("DMA channel out of range");
    to.channel = static_cast<int>(channel);
    return {};
  };
  SOTTO_RETURN_IF_ERROR(port(out.from));
  SOTTO_RETURN_IF_ERROR(expect(","));
  SOTTO_RETURN_IF_ERROR(port(out.to));
  SOTTO_RETURN_IF_ERROR(expect(")"));
  design_.flows.push_back(out);
  return {};
}

Status Parser::link() {
  Link out;
  SOTTO_ASSIGN_OR_RETURN(out.inputs, symbol_list());
  SOTTO_RETURN_IF_ERROR(expect("->"));
  SOTTO_ASSIGN_OR_RETURN(out.outputs, symbol_list());
  SOTTO_RETURN_IF_ERROR(expect("("));
  SOTTO_ASSIGN_OR_RETURN(out.input_offsets, number_list());
  SOTTO_ASSIGN_OR_RETURN(out.output_offsets, number_list());
  SOTTO_RETURN_IF_ERROR(expect(")"));
  design_.links.push_back(std::move(out));
  return {};
}

Result<Design> parse_design(std::string_view text) {
  return Parser(text).run();
}

}  // namespace sotto::npu
