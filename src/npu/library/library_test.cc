// The library builds the reference designs: equal to what was compiled, up to names that a text
// chooses freely.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "npu/design/testing/golden.h"
#include "npu/design/verify.h"
#include "npu/emit/emit.h"
#include "npu/emit/parse.h"
#include "npu/library/gemm.h"
#include "npu/library/row_op.h"

namespace sotto::npu {
namespace {

constexpr auto kNpu1 = GenerationId::kXdna1;
constexpr auto kNpu2 = GenerationId::kXdna2;

Design value_of(Result<Design> design) {
  EXPECT_TRUE(design.ok()) << design.status().message();
  return design.ok() ? std::move(design).value() : Design{};
}

std::string shape_name(const GemmShape& s) {
  return "gemm_" + std::to_string(s.m) + "x" + std::to_string(s.k) + "x" + std::to_string(s.n);
}

Design universal(GenerationId generation, Gate gate, const std::vector<GemmShape>& shapes) {
  const UniversalOptions options{generation, gate, false, {}};
  Design design = universal_array(options);
  for (const GemmShape& shape : shapes) {
    Result<Sequence> sequence =
        gemm_sequence(options, shape_name(shape), shape, EpilogueMode::kF32);
    EXPECT_TRUE(sequence.ok()) << sequence.status().message();
    if (sequence.ok()) design.sequences.push_back(std::move(sequence).value());
  }
  return design;
}

struct Job {
  std::string name;
  GemmShape shape;
  EpilogueMode mode;
};

Design epilogue(GenerationId generation, const std::vector<Job>& jobs) {
  const UniversalOptions options{generation, Gate::kLock, true, {}};
  Design design = universal_array(options);
  for (const Job& job : jobs) {
    design.sequences.push_back(gemm_sequence(options, job.name, job.shape, job.mode).value());
  }
  return design;
}

Design chains(Gate gate, bool attention) {
  const UniversalOptions options{kNpu1, gate, true, {}};
  Design design = universal_array(options);
  design.sequences.push_back(mlp_sequence(options, 1536, 1344, 5120, 1280).value());
  if (attention) design.sequences.push_back(attention_sequence(options, 2, 1536, 64, 128).value());
  return design;
}

Design gemm(GenerationId generation, GemmShape shape, GemmTile tile,
            ElementType out = ElementType::kF32, CTasks tasks = CTasks::kRow) {
  return value_of(fixed_gemm(generation, shape, tile, out, tasks));
}

Design softmax(GenerationId generation) {
  return value_of(row_op({generation, "softmax_row", 30720, 1504, 1536, 1536, ElementType::kBf16,
                          ElementType::kBf16, 0}));
}

const std::vector<GemmShape> kShapes = {{512, 128, 128},    {1536, 448, 384},   {1536, 1344, 1280},
                                        {1536, 1344, 5120}, {1536, 5120, 1280}, {1536, 64, 1536}};

const std::map<std::string, std::function<Design()>> kBuilders = {
    {"a1_gemm_512x128x128",
     [] {
       return gemm(kNpu1, {512, 128, 128}, {});
     }},
    {"a2_gemm_1536x448x384",
     [] {
       return gemm(kNpu1, {1536, 448, 384}, {});
     }},
    {"a3_gemm_1536x1344x1280",
     [] {
       return gemm(kNpu1, {1536, 1344, 1280}, {});
     }},
    {"a3p_gemm_1536x1344x1280_pair",
     [] {
       return gemm(kNpu1, {1536, 1344, 1280}, {}, ElementType::kF32, CTasks::kPair);
     }},
    {"b1_qk_1536x64x1536",
     [] {
       return gemm(kNpu1, {1536, 64, 1536}, choose_gemm_tile({1536, 64, 1536}), ElementType::kBf16);
     }},
    {"b2_av_1536x1536x64",
     [] {
       return gemm(kNpu1, {1536, 1536, 64}, choose_gemm_tile({1536, 1536, 64}));
     }},
    {"c1_softmax_30720x1536v1504", [] { return softmax(kNpu1); }},
    {"c2_gelu_1536x1280_f32_bf16_o5120",
     [] {
       return value_of(row_op({kNpu1, "gelu_row", 1536, 1280, 1280, 5120, ElementType::kF32,
                               ElementType::kBf16, 1535 * 5120 + 1280}));
     }},
    {"d1_npu2_gemm_1536x1344x1280",
     [] {
       return gemm(kNpu2, {1536, 1344, 1280}, {});
     }},
    {"d2_npu2_softmax_30720x1536v1504", [] { return softmax(kNpu2); }},
    {"e1_universal_lock_npu1", [] { return universal(kNpu1, Gate::kLock, kShapes); }},
    {"e1s_universal_lock_npu1_512x128x128",
     [] {
       return universal(kNpu1, Gate::kLock, {{512, 128, 128}});
     }},
    {"e1s_universal_lock_npu1_1536x1344x1280",
     [] {
       return universal(kNpu1, Gate::kLock, {{1536, 1344, 1280}});
     }},
    {"e2_universal_data_npu1",
     [] {
       return universal(kNpu1, Gate::kData, {{512, 128, 128}, {1536, 1344, 1280}});
     }},
    {"e3_universal_lock_npu2",
     [] {
       return universal(kNpu2, Gate::kLock,
                        {{512, 128, 256}, {1536, 1344, 1280}, {1536, 5120, 1280}});
     }},
    {"e4_universal_header_npu1",
     [] {
       return universal(kNpu1, Gate::kHeader,
                        {{512, 128, 128}, {1536, 1344, 1280}, {1536, 5120, 1280}});
     }},
    {"f1_universal_epilogue_npu1",
     [] {
       return epilogue(kNpu1, {{"fc1_gelu", {1536, 1344, 5120}, EpilogueMode::kGelu},
                               {"fc2", {1536, 5120, 1280}, EpilogueMode::kF32},
                               {"proj", {1536, 1344, 1280}, EpilogueMode::kF32},
                               {"qk_exp", {1536, 64, 1536}, EpilogueMode::kExp},
                               {"av_ones", {1536, 1536, 128}, EpilogueMode::kF32},
                               {"qkv_bf16", {1536, 1344, 1280}, EpilogueMode::kBf16}});
     }},
    {"f1_universal_epilogue_npu2",
     [] {
       return epilogue(kNpu2, {{"fc1_gelu", {1536, 1344, 5120}, EpilogueMode::kGelu},
                               {"qk_exp", {1536, 64, 1536}, EpilogueMode::kExp},
                               {"av_ones", {1536, 1536, 256}, EpilogueMode::kF32}});
     }},
    {"f2_mlp_chain_npu1", [] { return chains(Gate::kLock, false); }},
    {"f3_chains_header_npu1", [] { return chains(Gate::kHeader, true); }},
};

class Library : public ::testing::TestWithParam<std::string> {};

TEST_P(Library, BuildsTheReferenceDesign) {
  const auto builder = kBuilders.find(GetParam());
  ASSERT_NE(builder, kBuilders.end());
  const Design ours = with_normal_names(builder->second());
  Result<Design> parsed = parse_design(testing::golden_text(GetParam()));
  ASSERT_TRUE(parsed.ok());
  const Design golden = with_normal_names(*parsed);
  EXPECT_EQ(ours.kernels, golden.kernels);
  EXPECT_EQ(ours.tiles, golden.tiles);
  EXPECT_EQ(ours.fifos, golden.fifos);
  EXPECT_EQ(ours.links, golden.links);
  EXPECT_EQ(ours.buffers, golden.buffers);
  EXPECT_EQ(ours.locks, golden.locks);
  EXPECT_EQ(ours.programs, golden.programs);
  ASSERT_EQ(ours.sequences.size(), golden.sequences.size());
  for (size_t i = 0; i < ours.sequences.size(); ++i) {
    EXPECT_TRUE(ours.sequences[i] == golden.sequences[i]) << golden.sequences[i].name;
  }
  EXPECT_TRUE(ours == golden);
}

INSTANTIATE_TEST_SUITE_P(All, Library, ::testing::ValuesIn(testing::golden_names()),
                         [](const auto& param) { return param.param; });

TEST(RowOp, DirectDesignIsRefusedForItsShimChannels) {
  for (const GenerationId generation : {kNpu1, kNpu2}) {
    const std::vector<Violation> found = verify(direct_row_op(
        {generation, "gelu_row", 1024, 64, 64, 64, ElementType::kBf16, ElementType::kBf16, 0}));
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found[0].rule, "dma_channels") << found[0].message;
  }
}

TEST(Gemm, RefusesWhatDoesNotDivide) {
  const UniversalOptions options;
  EXPECT_FALSE(gemm_sequence(options, "x", {500, 64, 128}, EpilogueMode::kF32).ok());
  EXPECT_FALSE(gemm_sequence(options, "x", {512, 64, 128}, EpilogueMode::kGelu)
                   .ok());  // N needs pairs of bands
  EXPECT_FALSE(gemm_sequence(options, "x", {512, 64, 128 * 65}, EpilogueMode::kF32).ok());
  const GemmShape padded = pad_gemm({1500, 1281, 1280}, options.tile, kNpu1, true);
  EXPECT_EQ(padded, (GemmShape{1536, 1344, 1280}));
}

}  // namespace
}  // namespace sotto::npu
