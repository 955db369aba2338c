#include "base/cpu_features.h"

#include <gtest/gtest.h>

namespace sotto {
namespace {

TEST(CpuFeatures, ScalarIsAlwaysUsable) {
  Result<CpuIsa> isa = select_cpu_isa("scalar");
  ASSERT_TRUE(isa.ok());
  EXPECT_EQ(*isa, CpuIsa::kScalar);
}

TEST(CpuFeatures, EmptyAndAutoTakeTheBest) {
  EXPECT_EQ(select_cpu_isa("").value(), detected_cpu_isa());
  EXPECT_EQ(select_cpu_isa("auto").value(), detected_cpu_isa());
}

TEST(CpuFeatures, WrongNameIsRefusedWithTheList) {
  Result<CpuIsa> isa = select_cpu_isa("avx9");
  EXPECT_EQ(isa.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(isa.status().message().find("scalar"), std::string::npos);
}

TEST(CpuFeatures, ThereIsAtLeastOneCore) {
  EXPECT_GE(physical_core_count(), 1);
}

}  // namespace
}  // namespace sotto
