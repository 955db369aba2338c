// What reader and writer of whisper.cpp's ggml .bin agree on.
#ifndef SOTTO_MODELS_FORMATS_GGML_HEADER_H_
#define SOTTO_MODELS_FORMATS_GGML_HEADER_H_

#include <array>
#include <cstdint>
#include <string_view>

namespace sotto::models {

inline constexpr uint32_t kGgmlMagic = 0x67676d6c;

/// The 32-bit numbers after the magic number, in the order of the file.
inline constexpr std::array<std::string_view, 11> kGgmlHeader = {
    "n_vocab",      "n_audio_ctx", "n_audio_state", "n_audio_head", "n_audio_layer", "n_text_ctx",
    "n_text_state", "n_text_head", "n_text_layer",  "n_mels",       "ftype"};

}  // namespace sotto::models

#endif  // SOTTO_MODELS_FORMATS_GGML_HEADER_H_
