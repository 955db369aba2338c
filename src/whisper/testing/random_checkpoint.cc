#include "whisper/testing/random_checkpoint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/float16.h"

namespace sotto::whisper::testing {
namespace {

template <typename T>
void put(std::string& out, T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

int64_t product(const std::vector<int64_t>& dims) {
  int64_t n = 1;
  for (const int64_t d : dims)
    n *= d;
  return n;
}

/// A block format of 32 values: value = scale * (code - zero), or scale * code + minimum where
/// there is one.
struct BlockFormat {
  int bits;
  int zero;
  bool minimum;
};

BlockFormat block_format(DType type) {
  switch (type) {
    case DType::kQ4_0:
      return {4, 8, false};
    case DType::kQ4_1:
      return {4, 0, true};
    case DType::kQ5_0:
      return {5, 16, false};
    case DType::kQ5_1:
      return {5, 0, true};
    default:
      return {8, 0, false};  // q8_0: signed codes
  }
}

struct Block {
  F16 scale, minimum;
  std::array<int, 32> codes;
};

Block make_block(const float* values, const BlockFormat& format) {
  const auto [low, high] = std::minmax_element(values, values + 32);
  const float largest = std::max(std::fabs(*low), std::fabs(*high));
  const int top = format.bits == 8 ? 127 : (1 << format.bits) - 1;
  const int bottom = format.bits == 8 ? -127 : 0;
  Block out{};
  if (format.minimum) {
    out.minimum = to_f16(*low);
    out.scale = to_f16((*high - *low) / static_cast<float>(top));
  } else {
    out.scale = to_f16(largest / static_cast<float>(format.bits == 8 ? 127 : format.zero - 1));
  }
  for (size_t i = 0; i < 32; ++i) {
    const float scaled = (values[i] - to_float(out.minimum)) / to_float(out.scale);
    out.codes[i] = std::clamp(static_cast<int>(std::lround(scaled)) + format.zero, bottom, top);
  }
  return out;
}

float block_value(const Block& block, const BlockFormat& format, size_t i) {
  return to_float(block.scale) * static_cast<float>(block.codes[i] - format.zero) +
         to_float(block.minimum);
}

std::string block_bytes(const Block& block, const BlockFormat& format) {
  std::string out;
  put(out, block.scale.bits);
  if (format.minimum) put(out, block.minimum.bits);
  if (format.bits == 8) {
    for (const int code : block.codes)
      put(out, static_cast<int8_t>(code));
    return out;
  }
  if (format.bits == 5) {
    uint32_t high = 0;
    for (size_t i = 0; i < 32; ++i)
      high |= static_cast<uint32_t>(block.codes[i] >> 4) << i;
    put(out, high);
  }
  for (size_t i = 0; i < 16; ++i) {
    put(out, static_cast<uint8_t>((block.codes[i] & 15) | ((block.codes[i + 16] & 15) << 4)));
  }
  return out;
}

float row_scale(const float* row, int64_t n) {
  float largest = 0;
  for (int64_t i = 0; i < n; ++i)
    largest = std::max(largest, std::fabs(row[i]));
  return 127 / largest;
}

void quantize_values(std::vector<float>& values, int64_t row, DType type) {
  const BlockFormat format = block_format(type);
  for (size_t i = 0; i < values.size(); ++i) {
    if (type == DType::kF16) {
      values[i] = to_float(to_f16(values[i]));
    } else if (type == DType::kBf16) {
      values[i] = to_float(to_bf16(values[i]));
    } else if (type == DType::kI8 && i % static_cast<size_t>(row) == 0) {
      const float scale = row_scale(&values[i], row);
      for (size_t j = i; j < i + static_cast<size_t>(row); ++j)
        values[j] = std::nearbyint(values[j] * scale) / scale;
    } else if (type != DType::kI8 && i % 32 == 0) {
      const Block block = make_block(&values[i], format);
      for (size_t j = 0; j < 32; ++j)
        values[i + j] = block_value(block, format, j);
    }
  }
}

int ggml_type(DType type) {
  switch (type) {
    case DType::kF32:
      return 0;
    case DType::kF16:
      return 1;
    case DType::kQ4_0:
      return 2;
    case DType::kQ4_1:
      return 3;
    case DType::kQ5_0:
      return 6;
    case DType::kQ5_1:
      return 7;
    default:
      return 8;
  }
}

std::string transformers_name(std::string name) {
  static const std::vector<std::pair<std::string, std::string>> kRenames = {
      {".blocks.", ".layers."},
      {".cross_attn_ln.", ".encoder_attn_layer_norm."},
      {".attn_ln.", ".self_attn_layer_norm."},
      {".mlp_ln.", ".final_layer_norm."},
      {".cross_attn.", ".encoder_attn."},
      {".attn.", ".self_attn."},
      {".query.", ".q_proj."},
      {".key.", ".k_proj."},
      {".value.", ".v_proj."},
      {".out.", ".out_proj."},
      {".mlp.0.", ".fc1."},
      {".mlp.2.", ".fc2."},
      {".ln_post.", ".layer_norm."},
      {"decoder.ln.", "decoder.layer_norm."},
      {".token_embedding.", ".embed_tokens."},
      {".positional_embedding", ".embed_positions.weight"},
  };
  for (const auto& [from, to] : kRenames) {
    if (const size_t at = name.find(from); at != std::string::npos)
      name.replace(at, from.size(), to);
  }
  return name;
}

}  // namespace

std::string make_test_folder(const std::string& name) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder.string();
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

RandomCheckpoint::RandomCheckpoint(const RandomGeometry& geometry, uint32_t seed)
    : geometry_(geometry), state_(seed) {
  const int64_t d = geometry.d_model;
  add("encoder.conv1.weight", {d, geometry.n_mels, 3}, 0.1f);
  add("encoder.conv1.bias", {d}, 0.1f);
  add("encoder.conv2.weight", {d, d, 3}, 0.1f);
  add("encoder.conv2.bias", {d}, 0.1f);
  add("encoder.positional_embedding", {geometry.n_audio_ctx, d}, 1);
  for (int i = 0; i < geometry.encoder_layers; ++i)
    add_block("encoder.blocks." + std::to_string(i), false);
  add("encoder.ln_post.weight", {d}, 0.2f, 1);
  add("encoder.ln_post.bias", {d}, 0.2f);
  add("decoder.token_embedding.weight", {geometry.n_vocab, d}, 1);
  add("decoder.positional_embedding", {geometry.n_text_ctx, d}, 0.5f);
  for (int i = 0; i < geometry.decoder_layers; ++i)
    add_block("decoder.blocks." + std::to_string(i), true);
  add("decoder.ln.weight", {d}, 0.2f, 1);
  add("decoder.ln.bias", {d}, 0.2f);
}

void RandomCheckpoint::add(const std::string& name, std::vector<int64_t> dims, float spread,
                           float centre) {
  Tensor tensor{std::move(dims), {}};
  tensor.values.resize(static_cast<size_t>(product(tensor.dims)));
  for (float& value : tensor.values) {
    state_ =
        state_ * 1664525U + 1013904223U;  // Numerical Recipes' generator: same numbers everywhere
    value = centre + spread * (static_cast<float>(state_ >> 8) * 0x1p-23f - 1);
  }
  tensors_[name] = std::move(tensor);
}

void RandomCheckpoint::add_block(const std::string& block, bool cross) {
  const int64_t d = geometry_.d_model;
  std::vector<std::string> attentions = {"attn"};
  if (cross) attentions.emplace_back("cross_attn");
  for (const std::string& attention : attentions) {
    const std::string name = block + "." + attention;
    for (const char* part : {".query", ".key", ".value", ".out"}) {
      // Sharper attention than a trained model's start, so that mixed-up rows show.
      add(name + part + ".weight", {d, d}, 0.3f);
      if (std::string(part) != ".key") add(name + part + ".bias", {d}, 0.1f);
    }
    add(name + "_ln.weight", {d}, 0.2f, 1);
    add(name + "_ln.bias", {d}, 0.2f);
  }
  add(block + ".mlp.0.weight", {geometry_.inner, d}, 0.2f);
  add(block + ".mlp.0.bias", {geometry_.inner}, 0.1f);
  add(block + ".mlp.2.weight", {d, geometry_.inner}, 0.2f);
  add(block + ".mlp.2.bias", {d}, 0.1f);
  add(block + ".mlp_ln.weight", {d}, 0.2f, 1);
  add(block + ".mlp_ln.bias", {d}, 0.2f);
}

bool RandomCheckpoint::is_quantized(const Tensor& tensor) const {
  if (type_ == DType::kF32) return false;
  if (type_ == DType::kF16 || type_ == DType::kBf16) return true;
  return tensor.dims.size() == 2 && tensor.dims[0] != geometry_.n_audio_ctx &&
         tensor.dims[0] != geometry_.n_text_ctx;
}

void RandomCheckpoint::quantize(DType type) {
  type_ = type;
  for (auto& [name, tensor] : tensors_) {
    if (is_quantized(tensor)) quantize_values(tensor.values, tensor.dims.back(), type);
  }
}

RandomCheckpoint::Encoded RandomCheckpoint::encode(const Tensor& tensor) const {
  Encoded out;
  if (!is_quantized(tensor)) {
    out.bytes.assign(reinterpret_cast<const char*>(tensor.values.data()),
                     tensor.values.size() * sizeof(float));
    return out;
  }
  out.type = type_;
  const auto row = static_cast<size_t>(tensor.dims.back());
  for (size_t i = 0; i < tensor.values.size(); ++i) {
    const float* value = &tensor.values[i];
    if (type_ == DType::kF16) {
      put(out.bytes, to_f16(*value).bits);
    } else if (type_ == DType::kBf16) {
      put(out.bytes, to_bf16(*value).bits);
    } else if (type_ == DType::kI8) {
      const float scale = row_scale(value - i % row, static_cast<int64_t>(row));
      if (i % row == 0) put(out.row_scales, scale);
      put(out.bytes, static_cast<int8_t>(std::lround(*value * scale)));
    } else if (i % 32 == 0) {
      out.bytes += block_bytes(make_block(value, block_format(type_)), block_format(type_));
    }
  }
  return out;
}

RandomCheckpoint::Tensor RandomCheckpoint::stacked(const std::vector<std::string>& modules,
                                                   const std::string& parameter) const {
  Tensor out;
  for (const std::string& module : modules) {
    const auto found = tensors_.find(module + parameter);
    const Tensor part = found != tensors_.end()
                            ? found->second
                            : Tensor{{geometry_.d_model},
                                     std::vector<float>(static_cast<size_t>(geometry_.d_model))};
    if (out.dims.empty()) {
      out.dims = part.dims;
    } else {
      out.dims[0] += part.dims[0];
    }
    out.values.insert(out.values.end(), part.values.begin(), part.values.end());
  }
  return out;
}

std::map<std::string, RandomCheckpoint::Tensor> RandomCheckpoint::ctranslate2_tensors() const {
  std::map<std::string, Tensor> out;
  const auto linear = [&](const std::string& name, const std::vector<std::string>& modules) {
    out[name + "/weight"] = stacked(modules, ".weight");
    out[name + "/bias"] = stacked(modules, ".bias");
  };
  const auto norm = [&](const std::string& name, const std::string& module) {
    out[name + "/gamma"] = tensors_.at(module + ".weight");
    out[name + "/beta"] = tensors_.at(module + ".bias");
  };
  const auto block = [&](const std::string& name, const std::string& from, bool cross) {
    norm(name + "/self_attention/layer_norm", from + ".attn_ln");
    linear(name + "/self_attention/linear_0",
           {from + ".attn.query", from + ".attn.key", from + ".attn.value"});
    linear(name + "/self_attention/linear_1", {from + ".attn.out"});
    if (cross) {
      norm(name + "/attention/layer_norm", from + ".cross_attn_ln");
      linear(name + "/attention/linear_0", {from + ".cross_attn.query"});
      linear(name + "/attention/linear_1", {from + ".cross_attn.key", from + ".cross_attn.value"});
      linear(name + "/attention/linear_2", {from + ".cross_attn.out"});
    }
    norm(name + "/ffn/layer_norm", from + ".mlp_ln");
    linear(name + "/ffn/linear_0", {from + ".mlp.0"});
    linear(name + "/ffn/linear_1", {from + ".mlp.2"});
  };
  linear("encoder/conv1", {"encoder.conv1"});
  linear("encoder/conv2", {"encoder.conv2"});
  out["encoder/position_encodings/encodings"] = tensors_.at("encoder.positional_embedding");
  norm("encoder/layer_norm", "encoder.ln_post");
  out["decoder/embeddings/weight"] = tensors_.at("decoder.token_embedding.weight");
  out["decoder/position_encodings/encodings"] = tensors_.at("decoder.positional_embedding");
  norm("decoder/layer_norm", "decoder.ln");
  for (int i = 0; i < geometry_.encoder_layers; ++i) {
    block("encoder/layer_" + std::to_string(i), "encoder.blocks." + std::to_string(i), false);
  }
  for (int i = 0; i < geometry_.decoder_layers; ++i) {
    block("decoder/layer_" + std::to_string(i), "decoder.blocks." + std::to_string(i), true);
  }
  return out;
}

std::string RandomCheckpoint::write_ctranslate2(const std::string& folder) const {
  std::string body;
  uint32_t count = 0;
  const auto text = [](std::string& out, const std::string& value) {
    put(out, static_cast<uint16_t>(value.size() + 1));
    out.append(value.c_str(), value.size() + 1);
  };
  const auto variable = [&](const std::string& name, const std::vector<int64_t>& dims, int dtype,
                            const std::string& bytes) {
    text(body, name);
    put(body, static_cast<uint8_t>(dims.size()));
    for (const int64_t dim : dims)
      put(body, static_cast<uint32_t>(dim));
    put(body, static_cast<uint8_t>(dtype));
    put(body, static_cast<uint32_t>(bytes.size()));
    body += bytes;
    ++count;
  };
  for (const auto& [name, tensor] : ctranslate2_tensors()) {
    const Encoded encoded = encode(tensor);
    const int dtype = encoded.type == DType::kF16    ? 4
                      : encoded.type == DType::kBf16 ? 5
                                                     : encoded.type == DType::kI8;
    variable(name, tensor.dims, dtype, encoded.bytes);
    if (!encoded.row_scales.empty())
      variable(name + "_scale", {tensor.dims[0]}, 0, encoded.row_scales);
  }
  std::string heads;
  put(heads, static_cast<int16_t>(geometry_.n_head));
  variable("encoder/num_heads", {}, 2, heads);
  variable("decoder/num_heads", {}, 2, heads);
  std::string file;
  put(file, uint32_t{6});
  text(file, "WhisperSpec");
  put(file, uint32_t{3});
  put(file, count);
  file += body;
  std::vector<std::string> tied = {"/weight"};
  if (type_ == DType::kI8) tied.emplace_back("/weight_scale");
  put(file, static_cast<uint32_t>(tied.size()));
  for (const std::string& parameter : tied) {
    text(file, "decoder/projection" + parameter);
    text(file, "decoder/embeddings" + parameter);
  }
  write_file(folder + "/model.bin", file);
  return folder;
}

std::string RandomCheckpoint::write_ggml(const std::string& folder) const {
  std::string file;
  put(file, uint32_t{0x67676d6c});
  const RandomGeometry& g = geometry_;
  for (const int value :
       {g.n_vocab, g.n_audio_ctx, g.d_model, g.n_head, g.encoder_layers, g.n_text_ctx, g.d_model,
        g.n_head, g.decoder_layers, g.n_mels, type_ == DType::kF32 ? 0 : 1}) {
    put(file, static_cast<int32_t>(value));
  }
  put(file, static_cast<int32_t>(g.n_mels));
  put(file, int32_t{201});
  for (int i = 0; i < g.n_mels * 201; ++i)
    put(file, 0.0f);
  // Ordinary tokens only: the single bytes, then made-up words; the special ones are implied.
  const int ordinary = g.n_vocab >= 51865 ? 50257 : std::min(g.n_vocab, 50256);
  put(file, static_cast<int32_t>(ordinary));
  for (int i = 0; i < ordinary; ++i) {
    const std::string token =
        i < 256 ? std::string(1, static_cast<char>(i)) : "w" + std::to_string(i);
    put(file, static_cast<uint32_t>(token.size()));
    file += token;
  }
  for (const auto& [name, tensor] : tensors_) {
    const Encoded encoded = encode(tensor);
    std::vector<int64_t> dims = tensor.dims;
    if (name == "encoder.conv1.bias" || name == "encoder.conv2.bias")
      dims.push_back(1);  // As whisper.cpp writes them
    put(file, static_cast<int32_t>(dims.size()));
    put(file, static_cast<int32_t>(name.size()));
    put(file, static_cast<int32_t>(ggml_type(encoded.type)));
    for (auto dim = dims.rbegin(); dim != dims.rend(); ++dim)
      put(file, static_cast<int32_t>(*dim));
    file += name + encoded.bytes;
  }
  write_file(folder + "/ggml-random.bin", file);
  return folder + "/ggml-random.bin";
}

void RandomCheckpoint::write_vocabulary(const std::string& folder) const {
  // GPT-2's alphabet: printable Latin-1 stands for itself, the other bytes are U+0100 and on.
  nlohmann::json vocabulary;
  int next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    const bool printable = (byte > 0x20 && byte < 0x7f) || (byte > 0xa0 && byte != 0xad);
    const int code = printable ? byte : next++;
    std::string text;
    if (code < 0x80) {
      text = static_cast<char>(code);
    } else {
      text = {static_cast<char>(0xc0 | (code >> 6)), static_cast<char>(0x80 | (code & 0x3f))};
    }
    vocabulary[text] = byte;
  }
  constexpr int kTimestamps = 1501;
  const int end_of_text = geometry_.n_vocab == 51864 ? 50256 : 50257;
  vocabulary["00"] = 256;
  for (int i = 257; i < end_of_text; ++i)
    vocabulary["w" + std::to_string(i)] = i;
  vocabulary["<|endoftext|>"] = end_of_text;
  vocabulary["<|startoftranscript|>"] = end_of_text + 1;
  vocabulary["<|notimestamps|>"] = geometry_.n_vocab - kTimestamps - 1;
  write_file(folder + "/vocab.json", vocabulary.dump());
  write_file(folder + "/merges.txt", "#version: 0.2\n0 0\n");
}

std::string RandomCheckpoint::write_safetensors(const std::string& folder,
                                                const std::string& prefix) const {
  nlohmann::json header;
  std::string data;
  for (const auto& [name, tensor] : tensors_) {
    const Encoded encoded = encode(tensor);
    const char* dtype = encoded.type == DType::kF16    ? "F16"
                        : encoded.type == DType::kBf16 ? "BF16"
                                                       : "F32";
    header[prefix + transformers_name(name)] = {
        {"dtype", dtype},
        {"shape", tensor.dims},
        {"data_offsets", {data.size(), data.size() + encoded.bytes.size()}}};
    data += encoded.bytes;
  }
  const std::string text = header.dump();
  std::string file;
  put(file, static_cast<uint64_t>(text.size()));
  write_file(folder + "/model.safetensors", file + text + data);
  const nlohmann::json config = {{"encoder_attention_heads", geometry_.n_head},
                                 {"decoder_attention_heads", geometry_.n_head}};
  write_file(folder + "/config.json", config.dump());
  return folder;
}

}  // namespace sotto::whisper::testing
