// What is written is read back as the same design, for every reference design.
#include "npu/emit/emit.h"

#include <gtest/gtest.h>

#include "npu/design/testing/golden.h"
#include "npu/emit/parse.h"

namespace sotto::npu {
namespace {

class RoundTrip : public ::testing::TestWithParam<std::string> {};

TEST_P(RoundTrip, TextReadsBackAsTheSameDesign) {
  Result<Design> design = parse_design(testing::golden_text(GetParam()));
  ASSERT_TRUE(design.ok()) << design.status().message();
  const std::string text = emit(*design, {});
  EXPECT_EQ(text, emit(*design, {}));
  Result<Design> again = parse_design(text);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(with_normal_names(*design), with_normal_names(*again));
}

INSTANTIATE_TEST_SUITE_P(All, RoundTrip, ::testing::ValuesIn(testing::golden_names()),
                         [](const auto& param) { return param.param; });

TEST(Emit, OldDialectWritesItsOwnForms) {
  Result<Design> design = parse_design(testing::golden_text("e1s_universal_lock_npu1_512x128x128"));
  ASSERT_TRUE(design.ok());
  const std::string text = emit(*design, {Dialect::kV134, "a title\nof two lines"});
  EXPECT_EQ(text.rfind("// a title\n// of two lines\nmodule {", 0), 0U);
  EXPECT_NE(text.find("aiex.runtime_sequence @gemm_512x128x128"), std::string::npos);
  EXPECT_NE(text.find("aie.dma_bd(%A : memref<65536xbf16>, 0, "), std::string::npos);
  EXPECT_NE(text.find("aie.use_lock(%go_0_0, AcquireGreaterEqual, 1)"), std::string::npos);
  EXPECT_EQ(text.find("offset ="), std::string::npos);
}

TEST(Parse, EveryCutOfATextIsAnErrorOrADesign) {
  const std::string text = testing::golden_text("c2_gelu_1536x1280_f32_bf16_o5120");
  const size_t end = text.find_last_of('}');
  for (size_t length = 0; length < end; length += 7) {
    EXPECT_FALSE(parse_design(std::string_view(text).substr(0, length)).ok()) << length;
  }
}

TEST(Parse, ErrorsNameTheLine) {
  const Result<Design> bad =
      parse_design("module {\n  aie.device(npu1) @main {\n    %t = aie.nothing(0)\n");
  ASSERT_FALSE(bad.ok());
  EXPECT_NE(bad.status().message().find("line 3"), std::string::npos) << bad.status().message();
}

}  // namespace
}  // namespace sotto::npu
