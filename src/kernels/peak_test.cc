#include "kernels/peak.h"

#include <gtest/gtest.h>

#include <string>

#include "kernels/kernel_table.h"
#include "kernels/testing/kernel_testing.h"

namespace sotto::kernels {
namespace {

class PeakTest : public ::testing::TestWithParam<CpuIsa> {};
INSTANTIATE_TEST_SUITE_P(Isas, PeakTest, ::testing::ValuesIn(testing::usable_isas()),
                         testing::isa_label);

TEST_P(PeakTest, LoopsDoWhatTheyCount) {
  const PeakProbes& probes = kernel_table(GetParam()).peak;
  for (const GemmType type : {GemmType::kF32, GemmType::kBf16, GemmType::kInt8}) {
    const PeakProbe& probe = probes.of(type);
    ASSERT_NE(probe.run, nullptr);
    EXPECT_GE(probe.operations, 2) << probe.name;
    EXPECT_EQ(probe.run(0), 0) << probe.name;
    // Sums grow with the iterations: nothing was optimised away.
    const float once = probe.run(1000), twice = probe.run(2000);
    EXPECT_GT(once, 0) << probe.name;
    EXPECT_NEAR(twice / once, 2, 0.01) << probe.name;
  }
}

TEST_P(PeakTest, WidestInstructionsOfTheLevel) {
  const KernelTable& table = kernel_table(GetParam());
  const std::string name =
      GetParam() == CpuIsa::kScalar ? "scalar" : std::string(cpu_isa_name(GetParam()));
  // VNNI and BF16 levels have their own instruction for one type each.
  if (GetParam() == CpuIsa::kAvx512Bf16) {
    EXPECT_EQ(table.peak.bf16.name, "peak_bf16_" + name);
    EXPECT_EQ(table.peak.bf16.operations, 2 * table.peak.f32.operations);
  } else if (GetParam() == CpuIsa::kAvx512Vnni) {
    EXPECT_EQ(table.peak.int8.name, "peak_int8_" + name);
    EXPECT_EQ(table.peak.int8.operations, 4 * table.peak.f32.operations);
  } else {
    EXPECT_EQ(table.peak.f32.name, "peak_f32_" + name);
  }
}

}  // namespace
}  // namespace sotto::kernels
