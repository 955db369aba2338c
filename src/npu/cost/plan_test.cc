#include "npu/cost/plan.h"

#include <gtest/gtest.h>

#include <cmath>

namespace sotto::npu {
namespace {

EncoderPlan plan(const char* model, int64_t positions, PlanKind kind = PlanKind::kClassic,
                 GenerationId id = GenerationId::kXdna1) {
  EncoderShape shape = encoder_shape(model).value();
  shape.positions = positions;
  return plan_encoder(shape, id, kind, plan_constants(id));
}

struct Measured {
  const char* model;
  int64_t positions;
  double ms;
  double tolerance;
};

// The first open encoder on XDNA1, published. The fit used the first four.
TEST(EncoderPlan, ClassicIsWithinAFifthOfWhatWasMeasured) {
  for (const Measured m :
       {Measured{"large-v3", 1500, 3344, 0.1}, Measured{"large-v3", 512, 1582, 0.15},
        Measured{"tiny", 1500, 484, 0.1}, Measured{"small", 1500, 1507, 0.1}}) {
    EXPECT_NEAR(plan(m.model, m.positions).ms / m.ms, 1, m.tolerance) << m.model << m.positions;
  }
}
TEST(EncoderPlan, ClassicPredictsThePassesThatWereLeftOut) {
  EXPECT_NEAR(plan("large-v3", 768).ms / 2267, 1, 0.1);
  EXPECT_NEAR(plan("large-v3", 1024).ms / 2456, 1, 0.1);
}

TEST(EncoderPlan, SingleProductsOutsideTheFit) {
  const PlanConstants c = plan_constants(GenerationId::kXdna1);
  const auto ms = [&](const GemmShape& shape, bool bf16) {
    return c.launch_ms + product_bytes(shape, choose_gemm_tile(shape), GenerationId::kXdna1, bf16) /
                             (c.ddr_gb_per_s * 1e6);
  };
  const auto measured = [](const GemmShape& z, double gigaflops) {
    return 2.0 * static_cast<double>(z.m * z.k * z.n) / (gigaflops * 1e6);
  };
  const GemmShape qk{1536, 64, 1536};
  const GemmShape av{1536, 1536, 64};
  EXPECT_NEAR(ms(qk, true) / measured(qk, 440), 1, 0.2);
  EXPECT_NEAR(ms(av, false) / measured(av, 642), 1, 0.2);
}

TEST(EncoderPlan, UniversalNeedsOneContextAndNoSwitch) {
  for (const char* model : {"tiny.en", "base", "small", "medium", "large-v3-turbo"}) {
    const EncoderPlan classic = plan(model, 1500);
    const EncoderPlan universal = plan(model, 1500, PlanKind::kUniversal);
    EXPECT_EQ(universal.overlays, 1);
    EXPECT_EQ(universal.switches, 0);
    EXPECT_GT(classic.overlays, 6) << "not more than the contexts of the device";
    EXPECT_LT(universal.launches, classic.launches);
    EXPECT_LT(universal.ms, classic.ms) << model;
  }
}

TEST(EncoderPlan, CountsWhatTheSimulatedEncoderLaunches) {
  // Two convolutions; four layers of qkv, output, attention and MLP.
  EXPECT_EQ(plan("tiny.en", 1500, PlanKind::kUniversal).launches, 2 + 4 * 4);
}

TEST(EncoderPlan, SensitivityBracketsThePlan) {
  const EncoderShape shape = encoder_shape("large-v3").value();
  for (const GenerationId id : {GenerationId::kXdna1, GenerationId::kXdna2}) {
    const double ms = plan("large-v3", 1500, PlanKind::kUniversal, id).ms;
    for (const Sensitivity& s :
         plan_sensitivity(shape, id, PlanKind::kUniversal, plan_constants(id))) {
      EXPECT_LE(s.low_ms, ms) << s.what;
      EXPECT_GE(s.high_ms, ms) << s.what;
    }
  }
}

TEST(EncoderShape, UnknownNamesAreRefusedWithTheList) {
  const Status status = encoder_shape("huge").status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("large-v3-turbo"), std::string::npos);
  EXPECT_FALSE(parse_plan("best").ok());
}

}  // namespace
}  // namespace sotto::npu
