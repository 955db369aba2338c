// Looks into a checkpoint's encoder while it hears a recording.
#ifndef SOTTO_API_ENCODER_PROBE_H_
#define SOTTO_API_ENCODER_PROBE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sotto/status.h"

namespace sotto::api {

/// Adds to counts[i] how many inputs of the MLPs' GELU have |x| in the i-th of counts.size() equal
/// parts of [0, limit), over the first 30 s of the recording at `audio`; f32 on the CPU. `model` is
/// a file or folder.
Status count_gelu_inputs(const std::string& model, const std::string& audio, double limit,
                         std::span<int64_t> counts);

/// How near the simulated array's encoder comes to f32 on the CPU.
struct StageAccuracy {
  std::string stage;          ///< "stem", "layer 1", …, "output"
  double cosine = 0;          ///< Of the whole activation
  double relative_error = 0;  ///< L2
};
/// Both encoders run on their own results from the features of the recording's first 30 s on.
/// `floor_truncates`: how the cores' rounding mode 0 is read (npu/aie/kernel_table.h).
Result<std::vector<StageAccuracy>> encoder_accuracy(const std::string& model,
                                                    const std::string& audio, bool floor_truncates);

}  // namespace sotto::api

#endif  // SOTTO_API_ENCODER_PROBE_H_
