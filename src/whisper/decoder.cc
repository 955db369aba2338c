#include "whisper/decoder.h"

#include <algorithm>
#include <string>
#include <utility>

namespace sotto::whisper {

Result<std::unique_ptr<EncodedWindow>> make_window(ops::Backend& backend, const Config& config,
                                                   const Weights& weights,
                                                   const ops::Activation& encoded) {
  SOTTO_ASSIGN_OR_RETURN(auto kv, backend.cross_kv(encoded, weights.cross_kv, config.n_text_head));
  return std::unique_ptr<EncodedWindow>(std::make_unique<CrossWindow>(std::move(kv)));
}

Result<std::unique_ptr<Decoder>> CachedDecoder::create(ops::Backend& backend, const Config& config,
                                                       const Weights& weights, int sequences) {
  if (sequences < 1) {
    return invalid_argument("a decoder for " + std::to_string(sequences) +
                            " sequences was asked for; it needs 1 or more");
  }
  const ops::KvCacheShape shape = {.layers = config.decoder_layers,
                                   .kv_heads = config.n_text_head,
                                   .head_dim = config.d_model / config.n_text_head,
                                   .max_positions = config.n_text_ctx,
                                   .max_sequences = sequences};
  SOTTO_ASSIGN_OR_RETURN(auto cache, backend.create_kv_cache(shape));
  return std::unique_ptr<Decoder>(new CachedDecoder(backend, config, weights, std::move(cache)));
}

CachedDecoder::CachedDecoder(ops::Backend& backend, const Config& config, const Weights& weights,
                             std::unique_ptr<ops::KvCache> cache)
    : backend_(backend), config_(config), weights_(weights), cache_(std::move(cache)) {
  probed_heads_.resize(static_cast<size_t>(config.decoder_layers));
  probe_order_.resize(static_cast<size_t>(config.decoder_layers));
  for (size_t i = 0; i < config.alignment_heads.size(); ++i) {
    const auto& [layer, head] = config.alignment_heads[i];
    probed_heads_[static_cast<size_t>(layer)].push_back(head);
    probe_order_[static_cast<size_t>(layer)].push_back(i);
  }
}

Status CachedDecoder::reorder(std::span<const int> parents, int64_t length) {
  return cache_->reorder(parents, length);
}

void CachedDecoder::clear() {
  cache_->clear();
}

Status CachedDecoder::check(const DecodeBatch& batch, size_t logits) const {
  const size_t n = batch.tokens.size();
  if (n == 0 || batch.rows.size() != n || batch.windows.size() != n) {
    return internal_error("decoder step: " + std::to_string(n) + " tokens, " +
                          std::to_string(batch.rows.size()) + " rows and " +
                          std::to_string(batch.windows.size()) + " windows");
  }
  for (size_t i = 0; i < n; ++i) {
    if (batch.tokens[i] < 0 || batch.tokens[i] >= config_.n_vocab) {
      return invalid_argument("decoder step: token " + std::to_string(batch.tokens[i]) +
                              " is outside the vocabulary of " + std::to_string(config_.n_vocab));
    }
    const ops::TokenRow& row = batch.rows[i];
    if (row.position < 0 || row.position >= config_.n_text_ctx) {
      return invalid_argument("decoder step: position " + std::to_string(row.position) +
                              " is outside the context of " + std::to_string(config_.n_text_ctx) +
                              " tokens");
    }
    if (row.sequence < 0 || row.sequence >= cache_->shape.max_sequences) {
      return internal_error("decoder step: sequence " + std::to_string(row.sequence) + " of " +
                            std::to_string(cache_->shape.max_sequences));
    }
    if (dynamic_cast<const CrossWindow*>(batch.windows[i]) == nullptr) {
      return internal_error("decoder step: row " + std::to_string(i) +
                            " has no encoded window of this model");
    }
  }
  int64_t previous = -1;
  for (const int64_t row : batch.logit_rows) {
    if (row <= previous || row >= static_cast<int64_t>(n)) {
      return internal_error("decoder step: rows of logits must ascend within the batch");
    }
    previous = row;
  }
  if (logits != batch.logit_rows.size() * static_cast<size_t>(config_.n_vocab)) {
    return internal_error("decoder step: room for " + std::to_string(logits) + " logits of " +
                          std::to_string(batch.logit_rows.size()) + " rows");
  }
  return {};
}

Result<ops::Activation> CachedDecoder::self_attend(const DecodeBatch& batch, int layer,
                                                   const ops::Activation& x) {
  const DecoderLayerWeights& weights = weights_.decoder[static_cast<size_t>(layer)];
  SOTTO_ASSIGN_OR_RETURN(const auto normed, backend_.layer_norm(x, *weights.self_norm));
  SOTTO_ASSIGN_OR_RETURN(const auto qkv, backend_.linear(normed, *weights.self_qkv, {}));
  return backend_.cached_attention(qkv, *cache_, layer, batch.rows, config_.n_text_head);
}

Result<ops::Activation> CachedDecoder::cross_attend(std::span<const ops::CrossKv* const> sources,
                                                    int layer, const ops::Activation& x,
                                                    std::vector<float>* alignment) {
  const auto index = static_cast<size_t>(layer);
  const DecoderLayerWeights& weights = weights_.decoder[index];
  SOTTO_ASSIGN_OR_RETURN(const auto normed, backend_.layer_norm(x, *weights.cross_norm));
  SOTTO_ASSIGN_OR_RETURN(const auto query, backend_.linear(normed, *weights.cross_query, {}));
  ops::AttentionProbe probe{.heads = probed_heads_[index], .out = {}};
  const bool probing = alignment != nullptr && !probe.heads.empty();
  SOTTO_ASSIGN_OR_RETURN(const auto attended,
                         backend_.cross_attention(query, sources, layer, config_.n_text_head,
                                                  probing ? &probe : nullptr));
  if (probing) {
    const size_t block = probe.out.size() / probe.heads.size();
    for (size_t i = 0; i < probe.heads.size(); ++i) {
      std::copy_n(probe.out.begin() + static_cast<ptrdiff_t>(i * block), block,
                  alignment->begin() + static_cast<ptrdiff_t>(probe_order_[index][i] * block));
    }
  }
  return backend_.linear(attended, *weights.cross_out, {.residual = &x});
}

Status CachedDecoder::step(const DecodeBatch& batch, std::span<float> logits,
                           std::vector<float>* alignment) {
  SOTTO_RETURN_IF_ERROR(check(batch, logits.size()));
  std::vector<const ops::CrossKv*> sources;
  for (const EncodedWindow* window : batch.windows) {
    sources.push_back(&static_cast<const CrossWindow*>(window)->kv());
  }
  if (alignment != nullptr) {
    const int64_t width = sources[0]->source_rows;
    if (std::any_of(sources.begin(), sources.end(),
                    [&](const auto* s) { return s->source_rows != width; })) {
      return invalid_argument("decoder step: alignment needs windows of one length");
    }
    alignment->assign(config_.alignment_heads.size() * sources.size() * static_cast<size_t>(width),
                      0);
  }
  SOTTO_ASSIGN_OR_RETURN(auto x, backend_.embed(*weights_.token_embedding, batch.tokens,
                                                weights_.text_positions.get(), batch.rows));
  const int last = static_cast<int>(weights_.decoder.size()) - 1;
  for (int i = 0; i <= last; ++i) {
    const DecoderLayerWeights& layer = weights_.decoder[static_cast<size_t>(i)];
    SOTTO_ASSIGN_OR_RETURN(auto attended, self_attend(batch, i, x));
    if (i == last && alignment == nullptr && batch.logit_rows.size() < batch.tokens.size()) {
      // From here on rows no longer meet each other, and of a prompt only the last row is wanted.
      if (batch.logit_rows.empty()) return {};
      SOTTO_ASSIGN_OR_RETURN(attended, backend_.gather_rows(attended, batch.logit_rows));
      SOTTO_ASSIGN_OR_RETURN(x, backend_.gather_rows(x, batch.logit_rows));
      std::vector<const ops::CrossKv*> kept;
      for (const int64_t row : batch.logit_rows)
        kept.push_back(sources[static_cast<size_t>(row)]);
      sources = std::move(kept);
    }
    SOTTO_ASSIGN_OR_RETURN(const auto y,
                           backend_.linear(attended, *layer.self_out, {.residual = &x}));
    SOTTO_ASSIGN_OR_RETURN(const auto z, cross_attend(sources, i, y, alignment));
    SOTTO_ASSIGN_OR_RETURN(const auto mlp_in, backend_.layer_norm(z, *layer.mlp_norm));
    SOTTO_ASSIGN_OR_RETURN(x, backend_.mlp(mlp_in, *layer.mlp_up, *layer.mlp_down, z));
  }
  if (batch.logit_rows.empty()) return {};
  if (x.rows() != static_cast<int64_t>(batch.logit_rows.size())) {
    SOTTO_ASSIGN_OR_RETURN(x, backend_.gather_rows(x, batch.logit_rows));
  }
  SOTTO_ASSIGN_OR_RETURN(const auto normed, backend_.layer_norm(x, *weights_.decoder_norm));
  SOTTO_ASSIGN_OR_RETURN(const auto scores, backend_.linear(normed, *weights_.logits, {}));
  return backend_.to_host(scores, logits);
}

}  // namespace sotto::whisper
