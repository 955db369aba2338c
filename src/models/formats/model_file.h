// Readers of model weight files: outside bytes in, an index of named tensors out. Nothing is
// converted or copied.
#ifndef SOTTO_MODELS_FORMATS_MODEL_FILE_H_
#define SOTTO_MODELS_FORMATS_MODEL_FILE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "base/mapped_file.h"
#include "sotto/status.h"

namespace sotto::models {

enum class FileFormat { kCTranslate2, kGgml, kGguf, kSafetensors };

std::string_view file_format_name(
    FileFormat format);  ///< "ctranslate2", "ggml", "gguf", "safetensors"

/// One value of a file's own metadata (GGUF key-values, the ggml header, …).
using MetaValue = std::variant<bool, int64_t, uint64_t, double, std::string, std::vector<int64_t>,
                               std::vector<double>, std::vector<std::string>>;

/// The tensors of one model, possibly spread over several mapped files (sharded safetensors).
class ModelFile {
 public:
  FileFormat format = FileFormat::kSafetensors;
  std::string path;               ///< What was opened, for messages
  std::vector<MappedFile> files;  ///< Own the bytes behind `tensors`
  std::map<std::string, TensorView, std::less<>>
      tensors;  ///< Dims outermost first whatever the file's order
  std::map<std::string, MetaValue, std::less<>> metadata;  ///< ggml: "n_vocab", … ; GGUF: its keys
  std::vector<std::string>
      vocabulary;  ///< ggml .bin only: token bytes by id (special tokens are implied)
  std::vector<float> mel_filters;  ///< ggml .bin only: [n_mels, 201]

  /// The tensor, or kNotFound naming file and tensor.
  [[nodiscard]] Result<TensorView> tensor(std::string_view name) const;
  /// The same and its shape must be `dims`; a mismatch is kCorrupt with both shapes in the message.
  [[nodiscard]] Result<TensorView> tensor(std::string_view name,
                                          const std::vector<int64_t>& dims) const;
};

/// Opens a model by looking at its bytes: a CTranslate2 model.bin, a whisper.cpp ggml .bin, a
/// .gguf, a .safetensors, a model.safetensors.index.json, or a folder that holds one of these (its
/// config files stay with the caller).
Result<ModelFile> open_model_file(const std::string& path);

// One reader per format, over bytes that are already mapped or given by a fuzzer. All lengths,
// counts, offsets and type codes are checked before use; views point into `bytes`.
Status read_ctranslate2(std::span<const std::byte> bytes, ModelFile& out);
Status read_ggml(std::span<const std::byte> bytes, ModelFile& out);
Status read_gguf(std::span<const std::byte> bytes, ModelFile& out);
Status read_safetensors(std::span<const std::byte> bytes, ModelFile& out);

}  // namespace sotto::models

#endif  // SOTTO_MODELS_FORMATS_MODEL_FILE_H_
