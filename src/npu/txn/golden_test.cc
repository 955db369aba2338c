// Every golden instruction stream, made by the real compiler, is reproduced word for word from its
// design's task list.
#include <gtest/gtest.h>

#include "npu/design/testing/golden.h"
#include "npu/emit/parse.h"
#include "npu/txn/sequence.h"

namespace sotto::npu {
namespace {

class GoldenStream : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenStream, IsReproducedWordForWord) {
  Result<Design> design = parse_design(testing::golden_text(GetParam()));
  ASSERT_TRUE(design.ok()) << design.status().message();
  const LoweredArray lowered = testing::golden_lowered(GetParam());
  ASSERT_EQ(lowered.generation, design->generation);
  ASSERT_FALSE(design->sequences.empty());
  ASSERT_EQ(design->sequences.size(), testing::golden_index(GetParam())["sequences"].size());
  for (const Sequence& sequence : design->sequences) {
    Result<Stream> stream = encode_sequence(sequence, lowered);
    ASSERT_TRUE(stream.ok()) << stream.status().message();
    const std::vector<uint32_t> golden = testing::golden_words(GetParam(), sequence.name);
    ASSERT_FALSE(golden.empty());
    ASSERT_EQ(encode_stream(*stream), golden) << sequence.name;
    Result<Stream> decoded = decode_stream(golden);
    ASSERT_TRUE(decoded.ok()) << decoded.status().message();
    EXPECT_EQ(encode_stream(*decoded), golden);
  }
}

INSTANTIATE_TEST_SUITE_P(All, GoldenStream, ::testing::ValuesIn(testing::golden_names()),
                         [](const auto& param) { return param.param; });

TEST(DecodeStream, EveryCutIsAnError) {
  const std::vector<uint32_t> words = testing::golden_words("a1_gemm_512x128x128", "sequence");
  for (size_t length = 0; length < words.size(); ++length) {
    EXPECT_FALSE(decode_stream(std::span(words).first(length)).ok()) << length;
  }
}

}  // namespace
}  // namespace sotto::npu
