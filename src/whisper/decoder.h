// Whisper's text decoder on a Backend: the Decoder of whisper/model.h with a KV cache.
// Source of the architecture: https://arxiv.org/abs/2212.04356, section 2.2, and openai/whisper,
// whisper/model.py.
#ifndef SOTTO_WHISPER_DECODER_H_
#define SOTTO_WHISPER_DECODER_H_

#include <memory>
#include <span>
#include <vector>

#include "ops/backend.h"
#include "sotto/status.h"
#include "whisper/config.h"
#include "whisper/model.h"
#include "whisper/weights.h"

namespace sotto::whisper {

/// What the decoder needs of one encoded window: keys and values of every layer, computed once.
class CrossWindow final : public EncodedWindow {
 public:
  explicit CrossWindow(ops::CrossKvRef kv) : kv_(std::move(kv)) {}
  [[nodiscard]] const ops::CrossKv& kv() const { return *kv_; }

 private:
  ops::CrossKvRef kv_;
};

/// encoded [positions, d_model] -> a window for step().
Result<std::unique_ptr<EncodedWindow>> make_window(ops::Backend& backend, const Config& config,
                                                   const Weights& weights,
                                                   const ops::Activation& encoded);

class CachedDecoder final : public Decoder {
 public:
  /// Holds up to `sequences` beams. The arguments must outlive the decoder.
  static Result<std::unique_ptr<Decoder>> create(ops::Backend& backend, const Config& config,
                                                 const Weights& weights, int sequences);

  Status step(const DecodeBatch& batch, std::span<float> logits,
              std::vector<float>* alignment) override;
  Status reorder(std::span<const int> parents, int64_t length) override;
  void clear() override;

 private:
  CachedDecoder(ops::Backend& backend, const Config& config, const Weights& weights,
                std::unique_ptr<ops::KvCache> cache);

  [[nodiscard]] Status check(const DecodeBatch& batch, size_t logits) const;
  Result<ops::Activation> self_attend(const DecodeBatch& batch, int layer,
                                      const ops::Activation& x);
  Result<ops::Activation> cross_attend(std::span<const ops::CrossKv* const> sources, int layer,
                                       const ops::Activation& x, std::vector<float>* alignment);

  ops::Backend& backend_;
  const Config& config_;
  const Weights& weights_;
  std::unique_ptr<ops::KvCache> cache_;
  /// By layer: which heads to look at, and where each stands in the order of Config.
  std::vector<std::vector<int>> probed_heads_;
  std::vector<std::vector<size_t>> probe_order_;
};

}  // namespace sotto::whisper

#endif  // SOTTO_WHISPER_DECODER_H_
