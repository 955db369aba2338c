// Which tensors a checkpoint has under the names of a family, and where in the source each comes
// from.
#ifndef SOTTO_MODELS_CONVERT_PLAN_H_
#define SOTTO_MODELS_CONVERT_PLAN_H_

#include <string>
#include <vector>

#include "models/convert/checkpoint.h"
#include "models/convert/stacked_tensor.h"
#include "whisper/weights_naming.h"

namespace sotto::convert {

/// What a tensor is for; formats store the kinds differently.
enum class Role {
  kMatrix,     ///< [out, in], the token embedding included
  kConv,       ///< [out, in, 3]
  kPositions,  ///< [positions, d]
  kVector,     ///< Biases and norms
  kConvBias,
};

struct PlannedTensor {
  std::string name;
  Role role = Role::kMatrix;
  StackedTensor source;
};

struct Plan {
  std::vector<PlannedTensor> tensors;
  bool tied = true;  ///< The output projection is the token embedding; else it is among `tensors`
};

/// All tensors of `checkpoint` by the names of `target`, fused and split as that family has them. A
/// tensor that is missing or has the wrong shape, and what the family cannot hold (a key bias, a
/// projection of its own), is an error that names it.
Result<Plan> make_plan(const Checkpoint& checkpoint, const whisper::Naming& target);

}  // namespace sotto::convert

#endif  // SOTTO_MODELS_CONVERT_PLAN_H_
