// CTranslate2's model.bin. Source: WhisperSpec and its parts in python/ctranslate2/specs of
// OpenNMT/CTranslate2.
#include <algorithm>
#include <iterator>

#include "models/convert/encoded_tensor.h"
#include "models/convert/targets.h"

namespace sotto::convert {
namespace {

using models::OutputTensor;

constexpr int8_t kGelu = 3;  // of its enumeration of activations

template <typename T>
OutputTensor scalar(std::string name, DType dtype, T value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  return models::output_tensor(std::move(name), dtype, {}, {bytes.begin(), bytes.end()});
}

/// The settings that the weights do not show, with the values that its converter gives Whisper.
std::vector<OutputTensor> settings(const whisper::Config& config) {
  const auto flag = [](const char* name, int8_t value) { return scalar(name, DType::kI8, value); };
  const auto number = [](const char* name, int value) {
    return scalar(name, DType::kI16, static_cast<int16_t>(value));
  };
  return {number("encoder/num_heads", config.n_head),
          number("decoder/num_heads", config.n_text_head),
          flag("decoder/activation", kGelu),
          flag("decoder/alibi", 0),
          number("decoder/alignment_heads", 1),
          number("decoder/alignment_layer", -1),
          flag("decoder/pre_norm", 1),
          flag("decoder/scale_embeddings", 0),
          flag("decoder/start_from_zero_embedding", 0)};
}

bool is_quantised(Role role) {
  return role == Role::kMatrix || role == Role::kConv;
}

}  // namespace

Result<int64_t> write_ctranslate2_checkpoint(const Checkpoint& checkpoint,
                                             const WeightsRequest& request) {
  const Encoding encoding = request.encoding;
  const whisper::NamingTable& names = whisper::kCTranslate2Names;
  SOTTO_ASSIGN_OR_RETURN(const Plan plan, make_plan(checkpoint, {&names, ""}));
  models::CTranslate2Contents contents;
  contents.tensors = settings(checkpoint.config);
  for (const PlannedTensor& tensor : plan.tensors) {
    if (is_quantised(tensor.role) && encoding.matrices == DType::kI8) {
      std::ranges::move(int8_rows(tensor), std::back_inserter(contents.tensors));
    } else {
      contents.tensors.push_back(encoded(tensor, encoding.rest));
    }
  }
  std::ranges::sort(contents.tensors, {}, &OutputTensor::name);  // as its converter does
  if (plan.tied)
    contents.aliases = {{std::string(names.projection), std::string(names.token_embedding)}};
  make_stoppable(contents.tensors, request.should_stop);
  SOTTO_RETURN_IF_ERROR(models::write_ctranslate2(request.path, contents));
  return static_cast<int64_t>(contents.tensors.size());
}

}  // namespace sotto::convert
