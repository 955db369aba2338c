#include "npu/hw/generation.h"

#include <gtest/gtest.h>

namespace sotto::npu {
namespace {

TEST(Generation, ArraysHaveTheirSize) {
  EXPECT_EQ(generation(GenerationId::kXdna1).cores(), 16);
  EXPECT_EQ(generation(GenerationId::kXdna2).cores(), 32);
  EXPECT_EQ(generation(GenerationId::kXdna1).hw_contexts, 6);
}

TEST(Generation, EveryFigureHasASource) {
  for (const Generation& g : generations()) {
    EXPECT_FALSE(g.columns.source.empty()) << g.name;
    EXPECT_FALSE(g.context_switch_ms.source.empty()) << g.name;
    EXPECT_FALSE(g.shim.dma.stride_bits.source.empty()) << g.name;
    EXPECT_FALSE(g.task_queue_depth.dispute.empty()) << g.name;
  }
}

TEST(Generation, NamesAreParsedInAnyCase) {
  EXPECT_EQ(parse_generation("NPU1").value(), GenerationId::kXdna1);
  EXPECT_EQ(parse_generation("aie2p").value(), GenerationId::kXdna2);
  EXPECT_EQ(parse_generation("npu3").status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace sotto::npu
