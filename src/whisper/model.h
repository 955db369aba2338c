// A loaded Whisper checkpoint: audio features in, token logits out. Knows nothing of search or of
// long recordings.
#ifndef SOTTO_WHISPER_MODEL_H_
#define SOTTO_WHISPER_MODEL_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ops/backend.h"
#include "sotto/status.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/whisper_tokens.h"
#include "whisper/config.h"

namespace sotto::whisper {

/// Encoder result of one window, ready for the decoder.
class EncodedWindow {
 public:
  virtual ~EncodedWindow() = default;
};

/// One call of the decoder: row i feeds tokens[i] at rows[i] and looks at windows[i].
struct DecodeBatch {
  std::vector<int> tokens;
  std::vector<ops::TokenRow> rows;
  std::vector<const EncodedWindow*> windows;
  std::vector<int64_t> logit_rows;  ///< Rows whose logits are wanted, ascending
};

/// Token-by-token decoding with a KV cache for a fixed number of sequences. Abstract so that search
/// can be tested with a scripted model.
class Decoder {
 public:
  virtual ~Decoder() = default;
  /// logits: [logit_rows.size(), n_vocab], f32, raw (before any rule). `alignment`, if not null,
  /// receives for every alignment head (in the order of Config) the cross-attention probabilities
  /// [heads, rows, source positions].
  virtual Status step(const DecodeBatch& batch, std::span<float> logits,
                      std::vector<float>* alignment) = 0;
  /// Slot i continues slot parents[i]; see ops::KvCache::reorder.
  virtual Status reorder(std::span<const int> parents, int64_t length) = 0;
  virtual void clear() = 0;
};

/// The model as search and long-form code see it. It must outlive the windows and decoders it has
/// made, and is used from one thread at a time.
class Model {
 public:
  virtual ~Model() = default;
  [[nodiscard]] virtual const Config& config() const = 0;
  [[nodiscard]] virtual const tokenizer::Tokenizer& tokenizer() const = 0;
  [[nodiscard]] virtual const tokenizer::WhisperTokens& tokens() const = 0;
  /// mel: time-major [2 * positions, n_mels], normalised; positions <= n_audio_ctx (fewer: adaptive
  /// context).
  virtual Result<std::unique_ptr<EncodedWindow>> encode(std::span<const float> mel,
                                                        int positions) = 0;
  /// Holds up to `sequences` beams.
  virtual Result<std::unique_ptr<Decoder>> create_decoder(int sequences) = 0;
  [[nodiscard]] virtual ops::Backend& backend() = 0;
};

/// Opens a checkpoint of any supported format (file or folder; see models/formats) and geometry on
/// `backend`: weights named as CTranslate2, OpenAI (whisper.cpp's ggml files) or Transformers do.
/// kNotFound for a missing file, tensor or tokenizer, kUnsupported for what is not Whisper,
/// kCorrupt for files that contradict themselves or each other; the message names file and tensor.
Result<std::unique_ptr<Model>> load_model(const std::string& path,
                                          std::unique_ptr<ops::Backend> backend);

}  // namespace sotto::whisper

#endif  // SOTTO_WHISPER_MODEL_H_
