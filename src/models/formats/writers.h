// Writers of model files: named tensors in, a file out. The readers are in model_file.h.
#ifndef SOTTO_MODELS_FORMATS_WRITERS_H_
#define SOTTO_MODELS_FORMATS_WRITERS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "sotto/status.h"

namespace sotto::models {

/// A tensor to be written. Its bytes are asked for row by row while the file is written, so that a
/// model need not fit into memory.
struct OutputTensor {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<int64_t> dims;  ///< Outermost first
  /// Fills `out` with the bytes of one outermost row; a tensor of less than two dimensions is a
  /// single row.
  std::function<Status(int64_t row, std::span<std::byte> out)> write_row;

  [[nodiscard]] int64_t rows() const { return dims.size() < 2 ? 1 : dims[0]; }
};

/// A tensor of bytes at hand; they must be dtype_bytes() of the shape.
OutputTensor output_tensor(std::string name, DType dtype, std::vector<int64_t> dims,
                           std::vector<std::byte> bytes);

// All: kInvalidArgument for what the format cannot hold (a type, a name, a size), naming the
// tensor; kIo, kNoSpace or kPermissionDenied from the system. A file that was at `path` stays as it
// is unless the new one is complete.

/// `metadata` becomes "__metadata__".
Status write_safetensors(const std::string& path, const std::vector<OutputTensor>& tensors,
                         const std::map<std::string, std::string>& metadata);

struct CTranslate2Contents {
  std::string spec = "WhisperSpec";
  uint32_t spec_revision = 3;
  std::vector<OutputTensor> tensors;
  std::vector<std::pair<std::string, std::string>> aliases;  ///< (alias, target)
};
Status write_ctranslate2(const std::string& path, const CTranslate2Contents& contents);

struct GgmlContents {
  std::map<std::string, int32_t> header;  ///< By the names of ModelFile::metadata; all of them
  int32_t mel_filter_bins = 201;
  std::vector<float> mel_filters;       ///< [n_mels, mel_filter_bins]
  std::vector<std::string> vocabulary;  ///< Bytes of the ordinary tokens by id
  std::vector<OutputTensor> tensors;
};
Status write_ggml(const std::string& path, const GgmlContents& contents);

}  // namespace sotto::models

#endif  // SOTTO_MODELS_FORMATS_WRITERS_H_
