// Reads the reference designs under tests/data/npu: texts, instruction words, and the compiler's
// lowered arrays.
#ifndef SOTTO_NPU_DESIGN_TESTING_GOLDEN_H_
#define SOTTO_NPU_DESIGN_TESTING_GOLDEN_H_

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "npu/design/lowered.h"

namespace sotto::npu::testing {

inline std::filesystem::path golden_root() {
  return SOTTO_NPU_GOLDEN;
}

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Names of the reference designs, sorted.
inline std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(golden_root() / "designs")) {
    names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

inline std::string golden_text(const std::string& design) {
  return read_text(golden_root() / "designs" / (design + ".mlir"));
}

/// One hexadecimal word a line.
inline std::vector<uint32_t> golden_words(const std::string& design, const std::string& sequence) {
  std::vector<uint32_t> words;
  std::ifstream file(golden_root() / "insts" / (design + "." + sequence + ".txt"));
  for (std::string line; std::getline(file, line);) {
    words.push_back(static_cast<uint32_t>(std::stoul(line, nullptr, 16)));
  }
  return words;
}

inline nlohmann::json golden_index(const std::string& design) {
  return nlohmann::json::parse(read_text(golden_root() / "lowered/index.json"))[design];
}

/// What the compiler made of the array part. Without core_fifos, which the compiler does not list.
inline LoweredArray golden_lowered(const std::string& design) {
  const std::string file = golden_index(design)["lowered"];
  const nlohmann::json json = nlohmann::json::parse(read_text(golden_root() / "lowered" / file));
  LoweredArray out;
  out.generation = json["device"] == "npu2" ? GenerationId::kXdna2 : GenerationId::kXdna1;
  const auto tile = [](const nlohmann::json& t) { return Tile{t[0].get<int>(), t[1].get<int>()}; };
  const auto direction = [](const std::string& d) {
    return d == "MM2S" ? DmaDirection::kMm2s : DmaDirection::kS2mm;
  };
  for (const auto& b : json["buffers"]) {
    out.buffers.push_back({b["name"], tile(b["tile"]), b["address"], b["bytes"], {}});
  }
  for (const auto& l : json["locks"])
    out.locks.push_back({l["name"], tile(l["tile"]), l["id"], l["init"]});
  for (const auto& [name, s] : json["shim"].items()) {
    out.shim[name] = {tile(s["tile"]), direction(s["dir"]), s["channel"]};
  }
  for (const auto& b : json["bds"]) {
    BufferDescriptor bd;
    bd.tile = tile(b["tile"]);
    bd.direction = direction(b["channel"][0]);
    bd.channel = b["channel"][1];
    bd.id = b["bd"];
    bd.next = b["next"];
    bd.buffer = b["buffer"];
    bd.base_bytes = b["base_bytes"];
    bd.length_words = b["length_words"];
    if (b.contains("words")) {
      for (const auto& w : b["words"])
        bd.words.push_back({w[0], w[1]});
    }
    bd.acquire = {b["acquire"][0], b["acquire"][1]};
    bd.release = {b["release"][0], b["release"][1]};
    out.descriptors.push_back(std::move(bd));
  }
  const auto port = [&](const nlohmann::json& t, const std::string& p) {
    return DmaPort{tile(t), std::stoi(p.substr(3))};
  };
  for (const auto& f : json["flows"])
    out.flows.push_back({port(f[0], f[1]), port(f[2], f[3])});
  return out;
}

}  // namespace sotto::npu::testing

#endif  // SOTTO_NPU_DESIGN_TESTING_GOLDEN_H_
