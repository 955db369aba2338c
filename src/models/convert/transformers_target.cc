// model.safetensors with the names of Transformers' WhisperForConditionalGeneration.
#include "models/convert/encoded_tensor.h"
#include "models/convert/targets.h"

namespace sotto::convert {

Result<int64_t> write_transformers_checkpoint(const Checkpoint& checkpoint,
                                              const WeightsRequest& request) {
  SOTTO_ASSIGN_OR_RETURN(const Plan plan,
                         make_plan(checkpoint, {&whisper::kTransformersNames, "model."}));
  std::vector<models::OutputTensor> tensors;
  for (const PlannedTensor& tensor : plan.tensors)
    tensors.push_back(encoded(tensor, request.encoding.rest));
  // Transformers refuses files that do not say which program's layout they have.
  make_stoppable(tensors, request.should_stop);
  SOTTO_RETURN_IF_ERROR(models::write_safetensors(request.path, tensors, {{"format", "pt"}}));
  return static_cast<int64_t>(tensors.size());
}

}  // namespace sotto::convert
