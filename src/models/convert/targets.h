// The three formats that a checkpoint can be converted to.
#ifndef SOTTO_MODELS_CONVERT_TARGETS_H_
#define SOTTO_MODELS_CONVERT_TARGETS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "models/convert/checkpoint.h"
#include "models/formats/model_file.h"
#include "sotto/convert.h"

namespace sotto::convert {

/// How the values are stored.
struct Encoding {
  DType matrices = DType::kF16;  ///< kI8: CTranslate2's rows with scales
  DType rest = DType::kF16;      ///< Of what is not quantised
};

struct Target {
  models::FileFormat format = models::FileFormat::kGgml;
  Encoding encoding;
};

/// From the names in `options`; an unknown one is kInvalidArgument with the list of those that
/// work.
Result<Target> parse_target(const ConvertOptions& options);

/// Files that a conversion writes, relative to the output, the weights first; "" is the output
/// itself.
std::vector<std::string> output_files(models::FileFormat format);

/// Where and how the weights are written.
struct WeightsRequest {
  std::string path;
  Encoding encoding;
  std::function<bool()> should_stop;  ///< May be empty
};

// Each writes the weights and returns the number of tensors.
Result<int64_t> write_ggml_checkpoint(const Checkpoint& checkpoint, const WeightsRequest& request);
Result<int64_t> write_ctranslate2_checkpoint(const Checkpoint& checkpoint,
                                             const WeightsRequest& request);
Result<int64_t> write_transformers_checkpoint(const Checkpoint& checkpoint,
                                              const WeightsRequest& request);

}  // namespace sotto::convert

#endif  // SOTTO_MODELS_CONVERT_TARGETS_H_
