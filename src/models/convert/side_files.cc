#include "models/convert/side_files.h"

#include <nlohmann/json.hpp>

#include "audio/log_mel.h"
#include "models/formats/tensor_index.h"
#include "tokenizer/load/byte_alphabet.h"

namespace sotto::convert {
namespace {

using nlohmann::json;

constexpr int kSampleRate = 16000;
constexpr int kWindowSeconds = 30;
// OpenAI's first timestamp of a window is at most 1 s: 50 steps of 20 ms.
constexpr int kMaxInitialTimestampIndex = 50;

std::string text_of(const json& value) {
  return value.dump(2) + "\n";
}

json alignment_heads(const whisper::Config& config) {
  json out = json::array();
  for (const auto& [layer, head] : config.alignment_heads)
    out.push_back({layer, head});
  return out;
}

std::vector<int> language_ids(const tokenizer::WhisperTokens& tokens) {
  std::vector<int> out;
  for (int i = 0; i < tokens.language_count; ++i)
    out.push_back(tokens.first_language + i);
  return out;
}

/// Inner width of the first layer's MLP.
Result<int64_t> inner_width(const Checkpoint& checkpoint, bool decoder) {
  const whisper::Naming& naming = checkpoint.naming;
  const std::string_view up = naming.table->mlp_up;
  const std::string module = decoder ? naming.decoder_module(0, up) : naming.encoder_module(0, up);
  SOTTO_ASSIGN_OR_RETURN(const TensorView weight,
                         checkpoint.file.tensor(module + std::string(naming.table->weight)));
  return weight.rows();
}

std::string_view torch_dtype(DType dtype) {
  if (dtype == DType::kF16) return "float16";
  return dtype == DType::kBf16 ? "bfloat16" : "float32";
}

/// The ids that config.json and generation_config.json share.
json special_ids(const Checkpoint& checkpoint) {
  const tokenizer::WhisperTokens& tokens = checkpoint.tokens;
  return {{"bos_token_id", tokens.eot},
          {"eos_token_id", tokens.eot},
          {"pad_token_id", tokens.eot},
          {"decoder_start_token_id", tokens.sot},
          {"suppress_tokens", suppressed_tokens(checkpoint)},
          {"begin_suppress_tokens", suppressed_at_begin(checkpoint)}};
}

}  // namespace

std::string ctranslate2_config(const Checkpoint& checkpoint) {
  return text_of({{"alignment_heads", alignment_heads(checkpoint.config)},
                  {"lang_ids", language_ids(checkpoint.tokens)},
                  {"suppress_ids", suppressed_tokens(checkpoint)},
                  {"suppress_ids_begin", suppressed_at_begin(checkpoint)}});
}

std::string ctranslate2_vocabulary(const Checkpoint& checkpoint) {
  const tokenizer::Tokenizer& tokenizer = *checkpoint.tokenizer;
  json out = json::array();
  for (int id = 0; id < checkpoint.config.n_vocab; ++id) {
    const std::string_view bytes = tokenizer.token_bytes(id);
    out.push_back(tokenizer.is_special(id) ? std::string(bytes)
                                           : tokenizer::alphabet_of_bytes(bytes));
  }
  return text_of(out);
}

Result<std::string> transformers_config(const Checkpoint& checkpoint, DType dtype) {
  const whisper::Config& config = checkpoint.config;
  SOTTO_ASSIGN_OR_RETURN(const int64_t encoder_inner, inner_width(checkpoint, false));
  SOTTO_ASSIGN_OR_RETURN(const int64_t decoder_inner, inner_width(checkpoint, true));
  json out = {{"architectures", {"WhisperForConditionalGeneration"}},
              {"model_type", "whisper"},
              {"is_encoder_decoder", true},
              {"activation_function", "gelu"},
              {"scale_embedding", false},
              {"use_cache", true},
              {"torch_dtype", torch_dtype(dtype)},
              {"vocab_size", config.n_vocab},
              {"num_mel_bins", config.n_mels},
              {"d_model", config.d_model},
              {"num_hidden_layers", config.encoder_layers},
              {"encoder_layers", config.encoder_layers},
              {"decoder_layers", config.decoder_layers},
              {"encoder_attention_heads", config.n_head},
              {"decoder_attention_heads", config.n_text_head},
              {"encoder_ffn_dim", encoder_inner},
              {"decoder_ffn_dim", decoder_inner},
              {"max_source_positions", config.n_audio_ctx},
              {"max_target_positions", config.n_text_ctx},
              {"max_length", config.n_text_ctx}};
  out.update(special_ids(checkpoint));
  return text_of(out);
}

std::string transformers_generation_config(const Checkpoint& checkpoint) {
  const tokenizer::WhisperTokens& tokens = checkpoint.tokens;
  json out = {{"alignment_heads", alignment_heads(checkpoint.config)},
              {"is_multilingual", tokens.multilingual},
              {"max_initial_timestamp_index", kMaxInitialTimestampIndex},
              {"max_length", checkpoint.config.n_text_ctx},
              {"no_timestamps_token_id", tokens.no_timestamps},
              {"prev_sot_token_id", tokens.sot_prev},
              {"return_timestamps", false}};
  out.update(special_ids(checkpoint));
  if (tokens.multilingual) {
    for (const int id : language_ids(tokens))
      out["lang_to_id"][tokenizer::special_token_text(tokens, id)] = id;
    out["task_to_id"] = {{"transcribe", tokens.transcribe}, {"translate", tokens.translate}};
  }
  return text_of(out);
}

std::string preprocessor_config(const Checkpoint& checkpoint) {
  return text_of({{"feature_extractor_type", "WhisperFeatureExtractor"},
                  {"processor_class", "WhisperProcessor"},
                  {"feature_size", checkpoint.config.n_mels},
                  {"sampling_rate", kSampleRate},
                  {"n_fft", audio::kFrameSamples},
                  {"hop_length", audio::kHopSamples},
                  {"chunk_length", kWindowSeconds},
                  {"n_samples", kWindowSeconds * kSampleRate},
                  {"nb_max_frames", 2 * checkpoint.config.n_audio_ctx},
                  {"padding_side", "right"},
                  {"padding_value", 0.0},
                  {"return_attention_mask", false}});
}

std::string transformers_tokenizer_config(const Checkpoint& checkpoint) {
  const std::string eot = tokenizer::special_token_text(checkpoint.tokens, checkpoint.tokens.eot);
  // Transformers leaves out of texts what is named here; it treats timestamps by itself.
  json special = json::array();
  for (int id = checkpoint.tokens.eot; !checkpoint.tokens.is_timestamp(id); ++id)
    special.push_back(tokenizer::special_token_text(checkpoint.tokens, id));
  return text_of({{"tokenizer_class", "WhisperTokenizer"},
                  {"additional_special_tokens", special},
                  {"processor_class", "WhisperProcessor"},
                  {"add_prefix_space", false},
                  {"clean_up_tokenization_spaces", true},
                  {"errors", "replace"},
                  {"model_max_length", 1024},
                  {"bos_token", eot},
                  {"eos_token", eot},
                  {"pad_token", eot},
                  {"unk_token", eot}});
}

}  // namespace sotto::convert
