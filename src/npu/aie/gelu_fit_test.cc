#include "npu/aie/gelu_fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>

namespace sotto::npu {
namespace {

std::string read_text(const std::string& name) {
  std::ifstream file(std::string(SOTTO_NPU_AIE_FOLDER) + "/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

GeluHistogram measured() {
  const auto histogram = read_histogram(read_text("testdata/gelu_histogram.txt"));
  EXPECT_TRUE(histogram.ok()) << histogram.status().message();
  return histogram.ok() ? *histogram : GeluHistogram(kGeluBins, 1);
}

TEST(GeluFit, TheCheckedInHeaderIsWhatTheMeasuredInputsGive) {
  EXPECT_EQ(gelu_header(fit_gelu(measured()).value()), read_text("gelu_coefficients.h"));
}

TEST(GeluFit, IsAccurateWhereInputsAreAndSoundWhereTheyAreNot) {
  const GeluHistogram histogram = measured();
  const auto pieces = fit_gelu(histogram).value();
  const GeluFitError measured_error = gelu_fit_error(pieces, histogram);
  EXPECT_LT(measured_error.rms, 1.5e-4);
  EXPECT_LT(std::fabs(measured_error.mean), 1e-4);
  EXPECT_LT(gelu_fit_error(pieces, GeluHistogram(kGeluBins, 1)).rms, 4e-4);
}

TEST(GeluFit, FollowsItsWeights) {
  GeluHistogram low(kGeluBins);
  GeluHistogram high(kGeluBins);
  std::fill_n(low.begin() + 2 * kGeluBinsPerUnit, kGeluBinsPerUnit / 2, 1000);
  std::fill_n(high.end() - kGeluBinsPerUnit / 2, kGeluBinsPerUnit / 2, 1000);
  const auto for_low = fit_gelu(low).value();
  const auto for_high = fit_gelu(high).value();
  EXPECT_LT(gelu_fit_error(for_low, low).rms, gelu_fit_error(for_high, low).rms);
  EXPECT_LT(gelu_fit_error(for_high, high).rms, gelu_fit_error(for_low, high).rms);
}

TEST(GeluFit, RefusesHistogramsThatAreNone) {
  EXPECT_EQ(fit_gelu(GeluHistogram(kGeluBins)).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(fit_gelu(GeluHistogram(7, 1)).status().code(), StatusCode::kInvalidArgument);
  GeluHistogram negative(kGeluBins, 1);
  negative[3] = -1;
  EXPECT_EQ(fit_gelu(negative).status().code(), StatusCode::kInvalidArgument);
}

TEST(GeluHistogram, IsReadBackAndFaultsAreNamed) {
  const GeluHistogram histogram = measured();
  EXPECT_EQ(read_histogram(write_histogram(histogram)).value(), histogram);
  EXPECT_NE(read_histogram("1 2\n3 x").status().message().find("line 2"), std::string::npos);
  EXPECT_FALSE(read_histogram("1 2 3").ok());
  EXPECT_FALSE(read_histogram(write_histogram(histogram) + "1").ok());
  EXPECT_FALSE(read_histogram("99999999999999999999").ok());
}

}  // namespace
}  // namespace sotto::npu
