// Planned tensors in the element types of the target.
#ifndef SOTTO_MODELS_CONVERT_ENCODED_TENSOR_H_
#define SOTTO_MODELS_CONVERT_ENCODED_TENSOR_H_

#include <functional>
#include <vector>

#include "models/convert/plan.h"
#include "models/formats/writers.h"

namespace sotto::convert {

/// The tensor in `dtype`, one that models::can_encode(). What is stored in the same block type
/// already is copied as it is. The bytes of the source must outlive the result.
models::OutputTensor encoded(const PlannedTensor& tensor, DType dtype);

/// CTranslate2's int8 rows NAME and their scales NAME_scale.
std::vector<models::OutputTensor> int8_rows(const PlannedTensor& tensor);

/// Lets every row of `tensors` fail with kCancelled once `should_stop`, which may be empty, says
/// so.
void make_stoppable(std::vector<models::OutputTensor>& tensors,
                    const std::function<bool()>& should_stop);

}  // namespace sotto::convert

#endif  // SOTTO_MODELS_CONVERT_ENCODED_TENSOR_H_
