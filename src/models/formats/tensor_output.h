// What the writers share.
#ifndef SOTTO_MODELS_FORMATS_TENSOR_OUTPUT_H_
#define SOTTO_MODELS_FORMATS_TENSOR_OUTPUT_H_

#include <vector>

#include "models/formats/output_file.h"
#include "models/formats/writers.h"

namespace sotto::models {

/// Names must be there, at most kMaxNameBytes long and unique; shapes must be possible for their
/// types.
Status check_output_tensors(const std::vector<OutputTensor>& tensors);

/// Appends the tensor's rows.
Status write_tensor_data(const OutputTensor& tensor, OutputFile& out);

}  // namespace sotto::models

#endif  // SOTTO_MODELS_FORMATS_TENSOR_OUTPUT_H_
