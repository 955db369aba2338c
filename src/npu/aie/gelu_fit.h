// Fits the coefficients of the cores' GELU (npu/aie/gelu.h) to what real models feed it.
#ifndef SOTTO_NPU_AIE_GELU_FIT_H_
#define SOTTO_NPU_AIE_GELU_FIT_H_

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sotto/status.h"

namespace sotto::npu {

/// How often |x| fell into each 256th of [0, 4), x the inputs of GELU. What lies beyond is exact
/// without a fit.
inline constexpr int kGeluBinsPerUnit = 256;
inline constexpr int kGeluBins = 4 * kGeluBinsPerUnit;
using GeluHistogram = std::vector<int64_t>;

inline constexpr int kGeluDegree = 4;

struct GeluFitPiece {
  double begin, end, shift, scale;                  ///< u = (s - shift) * scale
  std::array<float, kGeluDegree + 1> coefficients;  ///< Highest degree first; bf16 values
};

/// Weighted least squares of q(s) = -(s/2) erfc(s/sqrt2) on [0, 1), [1, 2) and [2, 4). Coefficients
/// are rounded to bf16 from the highest degree down and the lower ones fitted again, so that they
/// take up what rounding lost. Inputs that no recording gave count a little, so that the fit stays
/// sound there. kInvalidArgument: not kGeluBins counts, a negative one, or none at all.
Result<std::vector<GeluFitPiece>> fit_gelu(std::span<const int64_t> histogram);

/// Root mean square and mean of the fit's error over the histogram, without the bf16 arithmetic of
/// the cores.
struct GeluFitError {
  double rms = 0, mean = 0;
};
GeluFitError gelu_fit_error(std::span<const GeluFitPiece> pieces,
                            std::span<const int64_t> histogram);

/// The text of npu/aie/gelu_coefficients.h.
std::string gelu_header(std::span<const GeluFitPiece> pieces);

/// A histogram as text, one line of counts a 64th of the range, and back. kCorrupt names the line.
std::string write_histogram(std::span<const int64_t> histogram);
Result<GeluHistogram> read_histogram(const std::string& text);

}  // namespace sotto::npu

#endif  // SOTTO_NPU_AIE_GELU_FIT_H_
