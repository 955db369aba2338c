// Small Whisper checkpoints with random weights, written in every format that sotto reads. Names
// and layouts are written down here a second time, independent of the tables under test.
#ifndef SOTTO_WHISPER_TESTING_RANDOM_CHECKPOINT_H_
#define SOTTO_WHISPER_TESTING_RANDOM_CHECKPOINT_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/dtype.h"

namespace sotto::whisper::testing {

struct RandomGeometry {
  int n_mels = 80;
  int n_audio_ctx = 20;
  int n_text_ctx = 24;
  int n_vocab = 96;
  int d_model = 64;
  int n_head = 2;
  int encoder_layers = 2;
  int decoder_layers = 2;
  int inner = 128;
};

class RandomCheckpoint {
 public:
  struct Tensor {
    std::vector<int64_t> dims;
    std::vector<float> values;
  };

  explicit RandomCheckpoint(const RandomGeometry& geometry, uint32_t seed = 1);

  [[nodiscard]] const RandomGeometry& geometry() const { return geometry_; }
  /// By OpenAI's names.
  [[nodiscard]] std::map<std::string, Tensor>& tensors() { return tensors_; }

  /// Rounds matrices so that they can be written in `type` without loss: i8 for CTranslate2, q4_0 …
  /// q8_0 for ggml, f16 and bf16 for all. Convolutions and vectors stay as they are in block types,
  /// as whisper.cpp leaves them.
  void quantize(DType type);
  /// The same values, to be written in f32.
  [[nodiscard]] RandomCheckpoint unpacked() const {
    RandomCheckpoint copy = *this;
    copy.type_ = DType::kF32;
    return copy;
  }

  /// Each returns the path to open. `folder` must exist. Matrices are stored in the type given to
  /// quantize(), the rest in f32.
  std::string write_ctranslate2(const std::string& folder) const;
  std::string write_ggml(const std::string& folder) const;
  /// `prefix` ("model.") stands before every name.
  std::string write_safetensors(const std::string& folder, const std::string& prefix) const;
  /// vocab.json and merges.txt for the formats that carry no vocabulary. n_vocab must be one of
  /// Whisper's.
  void write_vocabulary(const std::string& folder) const;

 private:
  struct Encoded {
    DType type = DType::kF32;
    std::string bytes;
    std::string row_scales;
  };
  void add(const std::string& name, std::vector<int64_t> dims, float spread, float centre = 0);
  void add_block(const std::string& block, bool cross);
  [[nodiscard]] bool is_quantized(const Tensor& tensor) const;
  [[nodiscard]] Encoded encode(const Tensor& tensor) const;
  [[nodiscard]] Tensor stacked(const std::vector<std::string>& modules,
                               const std::string& parameter) const;
  [[nodiscard]] std::map<std::string, Tensor> ctranslate2_tensors() const;

  RandomGeometry geometry_;
  uint32_t state_;
  DType type_ = DType::kF32;
  std::map<std::string, Tensor> tensors_;
};

/// An empty folder below the test's temporary directory.
std::string make_test_folder(const std::string& name);

void write_file(const std::string& path, const std::string& bytes);

}  // namespace sotto::whisper::testing

#endif  // SOTTO_WHISPER_TESTING_RANDOM_CHECKPOINT_H_
