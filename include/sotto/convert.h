// Whisper checkpoints from one file format to another.
#ifndef SOTTO_CONVERT_H_
#define SOTTO_CONVERT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sotto/status.h"

namespace sotto {

struct ConvertOptions {
  std::string format = "ggml";  ///< ggml | ctranslate2 (or ct2) | safetensors (or hf)
  /// ggml: f32, f16, q4_0, q4_1, q5_0, q5_1, q8_0. ctranslate2: f32, f16, bf16, int8, int8_f16,
  /// int8_bf16 (what follows int8 is the type of what is not quantised). safetensors: f32, f16,
  /// bf16. Longer spellings such as int8_float16 work.
  std::string type = "f16";
  bool overwrite = false;                  ///< Replace files that exist
  std::function<bool()> should_stop = {};  ///< May be empty; true: kCancelled, and no file appears
};

struct ConvertResult {
  std::vector<std::string> files;  ///< Paths that were written, the weights first
  int64_t tensors = 0;
  int64_t bytes = 0;  ///< Of the weights
};

/// Reads the checkpoint at `input`, a file or folder of any format that sotto transcribes with, and
/// writes it to `output`: a file for ggml, else a folder, which gets the config and
/// tokenizer files that other programs expect beside the weights. A file appears only when it is
/// complete, a new folder in one step. kInvalidArgument: options, or an output that exists;
/// kUnsupported: `input` is no Whisper checkpoint, or has what the format cannot hold; kCorrupt,
/// kNotFound, kIo, kNoSpace, kPermissionDenied as they say.
Result<ConvertResult> convert_model(const std::string& input, const std::string& output,
                                    const ConvertOptions& options);

}  // namespace sotto

#endif  // SOTTO_CONVERT_H_
