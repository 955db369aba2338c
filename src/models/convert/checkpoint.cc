#include "models/convert/checkpoint.h"

#include <algorithm>
#include <filesystem>

#include "tokenizer/load/load.h"

namespace sotto::convert {

Result<Checkpoint> open_checkpoint(const std::string& path) {
  Checkpoint out;
  SOTTO_ASSIGN_OR_RETURN(out.file, models::open_model_file(path));
  SOTTO_ASSIGN_OR_RETURN(out.naming, whisper::detect_naming(out.file));
  SOTTO_ASSIGN_OR_RETURN(out.config, whisper::read_config(out.file, out.naming));
  const auto tokens = tokenizer::whisper_tokens(out.config.n_vocab);
  if (!tokens.ok()) return tokens.status().with_context(out.file.path);
  out.tokens = *tokens;
  SOTTO_ASSIGN_OR_RETURN(out.tokenizer, tokenizer::load_for_model(out.file));
  const bool has_folder = out.file.format == models::FileFormat::kCTranslate2 ||
                          out.file.format == models::FileFormat::kSafetensors;
  if (has_folder) out.folder = std::filesystem::path(out.file.path).parent_path().string();
  return out;
}

std::vector<int> suppressed_tokens(const Checkpoint& checkpoint) {
  if (!checkpoint.config.suppress_tokens.empty()) return checkpoint.config.suppress_tokens;
  std::vector<int> out = tokenizer::non_speech_tokens(*checkpoint.tokenizer);
  const tokenizer::WhisperTokens& tokens = checkpoint.tokens;
  out.insert(out.end(), {tokens.sot, tokens.translate, tokens.transcribe, tokens.sot_lm,
                         tokens.sot_prev, tokens.no_speech});
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<int> suppressed_at_begin(const Checkpoint& checkpoint) {
  if (!checkpoint.config.suppress_at_begin.empty()) return checkpoint.config.suppress_at_begin;
  std::vector<int> out = checkpoint.tokenizer->encode(" ");
  out.push_back(checkpoint.tokens.eot);
  return out;
}

}  // namespace sotto::convert
