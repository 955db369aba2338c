// The flags of voice activity detection, which several commands take.
#ifndef SOTTO_CLI_VAD_FLAGS_H_
#define SOTTO_CLI_VAD_FLAGS_H_

#include <optional>
#include <string>

#include "cli/flags.h"
#include "sotto/status.h"
#include "sotto/vad.h"

namespace sotto::cli {

/// As given; what was not given is the preset's.
struct VadFlags {
  std::string preset = "sotto";
  std::string model = "auto";  ///< Name or path
  std::optional<float> threshold, neg_threshold;
  std::optional<float> min_speech_ms, min_silence_ms, speech_pad_ms;
  std::optional<float> max_speech_s, min_gap_s, samples_overlap_s;
};

/// The flags that both commands have. The target must outlive the result.
std::vector<Flag> vad_flags(VadFlags& flags);

/// The options that the flags ask for. kInvalidArgument for an unknown preset or values out of
/// range.
Result<VadOptions> vad_options(const VadFlags& flags);

/// Where the weights are that the flags name. kNotFound carries the pull command.
Result<std::string> find_vad_model(const VadFlags& flags);

}  // namespace sotto::cli

#endif  // SOTTO_CLI_VAD_FLAGS_H_
