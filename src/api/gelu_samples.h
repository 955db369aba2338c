// What a checkpoint's encoder feeds its GELU, measured on a recording.
#ifndef SOTTO_API_GELU_SAMPLES_H_
#define SOTTO_API_GELU_SAMPLES_H_

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

}  // namespace sotto::api

#endif  // SOTTO_API_GELU_SAMPLES_H_
