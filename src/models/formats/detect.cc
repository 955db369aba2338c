#include "models/formats/detect.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace sotto::models {
namespace {

using std::string_view_literals::operator""sv;

constexpr size_t kProbeBytes = 4096;

/// Something that is not a model, by the bytes at `offset`.
struct Mistake {
  size_t offset;
  std::string_view bytes;
  std::string_view advice;
};

constexpr std::string_view kPytorch =
    "a PyTorch checkpoint (a Python pickle, which can run code and is not read); convert it to "
    "safetensors, or pull "
    "the model in a supported format (sotto pull)";
constexpr std::string_view kCompressed =
    "a compressed or packed archive; unpack it and give the model inside";
constexpr std::string_view kAudio =
    "a recording, not a model; are the two arguments in the right order?";
constexpr std::string_view kOldLlama =
    "a model in an old llama.cpp format; get a .gguf, or for Whisper a ggml .bin of whisper.cpp";

constexpr std::array kMistakes = std::to_array<Mistake>({
    {0, "version https://git-lfs"sv,
     "a Git LFS pointer, not the weights themselves; run \"git lfs pull\" in its repository, or "
     "download the file"},
    {0, "\x80\x02"sv, kPytorch},
    {0, "\x80\x03"sv, kPytorch},
    {0, "\x80\x04"sv, kPytorch},
    {0, "\x80\x05"sv, kPytorch},
    {0, "\x1f\x8b"sv, kCompressed},
    {0, "\x28\xb5\x2f\xfd"sv, kCompressed},
    {0,
     "\xfd"
     "7zXZ"sv,
     kCompressed},
    {0, "BZh"sv, kCompressed},
    {0, "7z\xbc\xaf"sv, kCompressed},
    {257, "ustar"sv, kCompressed},
    {0, "RIFF"sv, kAudio},
    {0, "fLaC"sv, kAudio},
    {0, "OggS"sv, kAudio},
    {0, "ID3"sv, kAudio},
    {0, "\xff\xfb"sv, kAudio},
    {4, "ftyp"sv, kAudio},
    {0, "\x1a\x45\xdf\xa3"sv, kAudio},
    {0, "fmgg"sv, kOldLlama},
    {0, "tjgg"sv, kOldLlama},
    {0, "algg"sv, kOldLlama},
    {0, "\x89HDF\r\n"sv, "an HDF5 file (Keras, TensorFlow); get the model as safetensors"},
    {0, "\x93NUMPY"sv, "a NumPy array; get the model as safetensors"},
    {4, "TFL3"sv, "a TensorFlow Lite model; get the model as safetensors"},
    {0,
     "\x7f"
     "ELF"sv,
     "a program or library, not a model"},
    {0, "#!"sv, "a script, not a model"},
});

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), kProbeBytes)};
}

std::string_view skip_white_space(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text;
}

bool looks_like_html(std::string_view text) {
  text = skip_white_space(text);
  if (text.size() < 2 || text[0] != '<') return false;
  const char next = text[1];
  return next == '!' || next == '?' || (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z');
}

/// u32 version, u16 length, "…Spec" and a NUL.
bool looks_like_ctranslate2(std::string_view head) {
  if (head.size() < 8) return false;
  uint32_t version = 0;
  uint16_t length = 0;
  std::memcpy(&version, head.data(), sizeof version);
  std::memcpy(&length, head.data() + 4, sizeof length);
  if (version == 0 || version > 255 || length < 6 || length > 64 || head.size() < 6U + length)
    return false;
  const std::string_view spec = head.substr(6, length);
  return spec.ends_with("Spec\0"sv) && spec.find('\0') == spec.size() - 1;
}

/// u64 length of a JSON object that follows.
bool looks_like_safetensors(std::string_view head) {
  if (head.size() < 9 || head[8] != '{') return false;
  uint64_t length = 0;
  std::memcpy(&length, head.data(), sizeof length);
  return length >= 2 && length < (uint64_t{1} << 32);
}

}  // namespace

bool looks_like_json(std::span<const std::byte> bytes) {
  return skip_white_space(as_text(bytes)).starts_with("{");
}

Result<FileFormat> detect_format(std::span<const std::byte> bytes) {
  if (bytes.empty()) return corrupt("the file is empty; download it again");
  const std::string_view head = as_text(bytes);
  if (head.starts_with("GGUF")) return FileFormat::kGguf;
  if (head.starts_with("lmgg")) return FileFormat::kGgml;
  if (looks_like_ctranslate2(head)) return FileFormat::kCTranslate2;
  if (looks_like_safetensors(head)) return FileFormat::kSafetensors;

  for (const Mistake& mistake : kMistakes) {
    if (head.size() >= mistake.offset && head.substr(mistake.offset).starts_with(mistake.bytes)) {
      return unsupported("this is " + std::string(mistake.advice));
    }
  }
  if (head.starts_with(
          "PK\x03\x04")) {  // torch.save() writes a zip archive with NAME/data.pkl in front
    const bool torch = head.find("data.pkl") != std::string_view::npos;
    return unsupported("this is " + std::string(torch ? kPytorch : kCompressed));
  }
  if (looks_like_html(head)) {
    return unsupported(
        "this is a web page saved instead of the weights; download the file itself (on the Hugging "
        "Face "
        "hub: the link \"download\", or sotto pull)");
  }
  if (looks_like_json(bytes)) {
    return unsupported(
        "this is a JSON file, not weights; give the model's folder or its weight file");
  }
  if (bytes.size() < 16)
    return corrupt("the file has only " + std::to_string(bytes.size()) +
                   " bytes; download it again");
  return unsupported(
      "not a model in a format that sotto reads (CTranslate2 model.bin, whisper.cpp ggml .bin, "
      ".gguf, "
      ".safetensors)");
}

}  // namespace sotto::models
