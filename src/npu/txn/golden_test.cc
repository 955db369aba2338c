// Every golden instruction stream, made by the real compiler, is reproduced word for word from its
// design's task list.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "npu/emit/parse.h"
#include "npu/txn/sequence.h"

namespace sotto::npu {
namespace {

const std::filesystem::path kData = SOTTO_NPU_GOLDEN;

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<uint32_t> read_words(const std::filesystem::path& path) {
  std::vector<uint32_t> words;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    words.push_back(static_cast<uint32_t>(std::stoul(line, nullptr, 16)));
  return words;
}

// The parts of the compiler's lowered array that an encoder needs.
LoweredArray read_lowered(const std::filesystem::path& path, GenerationId generation) {
  const nlohmann::json json = nlohmann::json::parse(read_text(path));
  LoweredArray out;
  out.generation = generation;
  const auto tile = [](const nlohmann::json& t) { return Tile{t[0].get<int>(), t[1].get<int>()}; };
  for (const auto& b : json["buffers"]) {
    out.buffers.push_back({b["name"], tile(b["tile"]), b["address"], b["bytes"], {}});
  }
  for (const auto& l : json["locks"])
    out.locks.push_back({l["name"], tile(l["tile"]), l["id"], l["init"]});
  for (const auto& [name, s] : json["shim"].items()) {
    out.shim[name] = {tile(s["tile"]),
                      s["dir"] == "MM2S" ? DmaDirection::kMm2s : DmaDirection::kS2mm, s["channel"]};
  }
  return out;
}

class GoldenDesign : public testing::TestWithParam<std::string> {};

TEST_P(GoldenDesign, StreamsAreReproducedWordForWord) {
  const nlohmann::json index = nlohmann::json::parse(read_text(kData / "lowered/index.json"));
  const nlohmann::json& entry = index[GetParam()];
  Result<Design> design = parse_design(read_text(kData / "designs" / (GetParam() + ".mlir")));
  ASSERT_TRUE(design.ok()) << design.status().message();
  const LoweredArray lowered =
      read_lowered(kData / "lowered" / entry["lowered"].get<std::string>(), design->generation);
  ASSERT_FALSE(design->sequences.empty());
  ASSERT_EQ(design->sequences.size(), entry["sequences"].size());
  for (const Sequence& sequence : design->sequences) {
    Result<Stream> stream = encode_sequence(sequence, lowered);
    ASSERT_TRUE(stream.ok()) << stream.status().message();
    const std::vector<uint32_t> words = encode_stream(*stream);
    const std::vector<uint32_t> golden =
        read_words(kData / "insts" / (GetParam() + "." + sequence.name + ".txt"));
    ASSERT_FALSE(golden.empty());
    ASSERT_EQ(words, golden) << sequence.name;
    Result<Stream> decoded = decode_stream(golden);
    ASSERT_TRUE(decoded.ok()) << decoded.status().message();
    EXPECT_EQ(encode_stream(*decoded), golden);
  }
}

std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kData / "designs"))
    names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, GoldenDesign, testing::ValuesIn(golden_names()),
                         [](const auto& param) { return param.param; });

TEST(DecodeStream, EveryCutIsAnError) {
  const std::vector<uint32_t> words = read_words(kData / "insts/a1_gemm_512x128x128.sequence.txt");
  for (size_t length = 0; length < words.size(); ++length) {
    EXPECT_FALSE(decode_stream(std::span(words).first(length)).ok()) << length;
  }
}

}  // namespace
}  // namespace sotto::npu
