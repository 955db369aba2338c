#include "whisper/weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "base/float16.h"
#include "whisper/testing/loaded_checkpoint.h"
#include "whisper/testing/random_checkpoint.h"

namespace sotto::whisper {
namespace {

using ::testing::HasSubstr;
using testing::RandomCheckpoint;

enum class Family { kCTranslate2, kOpenAi, kTransformers, kTransformersPrefixed };

std::string write(const RandomCheckpoint& checkpoint, Family family, const std::string& name) {
  const std::string folder = testing::make_test_folder(name);
  switch (family) {
    case Family::kCTranslate2:
      return checkpoint.write_ctranslate2(folder);
    case Family::kOpenAi:
      return checkpoint.write_ggml(folder);
    case Family::kTransformers:
      return checkpoint.write_safetensors(folder, "");
    case Family::kTransformersPrefixed:
      return checkpoint.write_safetensors(folder, "model.");
  }
  return {};
}

/// Logits of a fixed input.
std::vector<float> logits_of(const std::string& path) {
  const auto loaded = testing::load_checkpoint(path);
  const auto window = testing::encode(*loaded, testing::random_mel(loaded->config, 20, 1), 20);
  return testing::forward(*loaded, *window, {5, 9, 2, 40});
}

class WeightsOfFamily : public ::testing::TestWithParam<Family> {};
INSTANTIATE_TEST_SUITE_P(Families, WeightsOfFamily,
                         ::testing::Values(Family::kCTranslate2, Family::kOpenAi,
                                           Family::kTransformers, Family::kTransformersPrefixed));

TEST_P(WeightsOfFamily, GiveTheSameLogits) {
  const RandomCheckpoint checkpoint({});
  const auto expected = logits_of(write(checkpoint, Family::kOpenAi, "weights_expected"));
  EXPECT_EQ(logits_of(write(checkpoint, GetParam(), "weights_family")), expected);
}

TEST_P(WeightsOfFamily, EveryTensorIsUsed) {
  RandomCheckpoint checkpoint({.encoder_layers = 1, .decoder_layers = 1});
  const auto before = logits_of(write(checkpoint, GetParam(), "weights_used"));
  for (auto& [name, tensor] : checkpoint.tensors()) {
    const std::vector<float> kept = tensor.values;
    for (size_t i = 0; i < tensor.values.size(); ++i)
      tensor.values[i] += i % 3 == 0 ? 0.5f : -0.2f;
    EXPECT_GT(testing::largest_difference(logits_of(write(checkpoint, GetParam(), "weights_used")),
                                          before),
              1e-4)
        << name;
    tensor.values = kept;
  }
}

/// Whether the model would be the same without it: constants, and names for other tensors.
bool is_optional(const std::string& name) {
  return name.ends_with("num_heads") || name.ends_with("_scale") ||
         name == "decoder/projection/weight";
}

TEST_P(WeightsOfFamily, AMissingTensorIsNamed) {
  const std::string path = write(RandomCheckpoint({}), GetParam(), "weights_missing");
  const models::ModelFile good = models::open_model_file(path).value();
  for (const auto& [name, view] : good.tensors) {
    if (is_optional(name)) continue;
    models::ModelFile file = models::open_model_file(path).value();
    file.tensors.erase(name);
    const Status status = testing::load_file(std::move(file)).status();
    EXPECT_EQ(status.code(), StatusCode::kNotFound) << name << ": " << status.message();
    EXPECT_THAT(status.message(), HasSubstr(name));
    EXPECT_THAT(status.message(), HasSubstr(path));
  }
}

TEST_P(WeightsOfFamily, AWrongShapeIsNamed) {
  const std::string path = write(RandomCheckpoint({}), GetParam(), "weights_shape");
  const models::ModelFile good = models::open_model_file(path).value();
  for (const auto& [name, view] : good.tensors) {
    if (is_optional(name)) continue;
    models::ModelFile file = models::open_model_file(path).value();
    std::vector<std::byte> bytes(view.bytes.size() * 2);
    TensorView& changed = file.tensors[name];
    changed.dims.back() *= 2;
    changed.bytes = bytes;
    const Status status = testing::load_file(std::move(file)).status();
    EXPECT_EQ(status.code(), StatusCode::kCorrupt) << name << ": " << status.message();
    EXPECT_THAT(status.message(), HasSubstr(path));
    // A wider embedding makes every other tensor look too narrow.
    const bool sets_the_width =
        name.find("embeddings/") != std::string::npos || name.find("token") != std::string::npos;
    if (!sets_the_width) {
      EXPECT_THAT(status.message(), HasSubstr(name));
    }
  }
}

TEST_P(WeightsOfFamily, AValueThatIsNotFiniteIsNamed) {
  const std::string path = write(RandomCheckpoint({}), GetParam(), "weights_nan");
  const models::ModelFile good = models::open_model_file(path).value();
  for (const auto& [name, view] : good.tensors) {
    if (is_optional(name)) continue;
    models::ModelFile file = models::open_model_file(path).value();
    std::vector<std::byte> bytes(view.bytes.begin(), view.bytes.end());
    const float nan = std::numeric_limits<float>::quiet_NaN();
    std::memcpy(bytes.data() + bytes.size() - sizeof(nan), &nan, sizeof(nan));
    file.tensors[name].bytes = bytes;
    const Status status = testing::load_file(std::move(file)).status();
    EXPECT_EQ(status.code(), StatusCode::kCorrupt) << name << ": " << status.message();
    EXPECT_THAT(status.message(), HasSubstr("'" + name + "' holds NaN or infinity"));
  }
}

class WeightsOfType : public ::testing::TestWithParam<std::pair<DType, Family>> {};
INSTANTIATE_TEST_SUITE_P(Types, WeightsOfType,
                         ::testing::Values(std::pair{DType::kF16, Family::kCTranslate2},
                                           std::pair{DType::kF16, Family::kOpenAi},
                                           std::pair{DType::kF16, Family::kTransformers},
                                           std::pair{DType::kBf16, Family::kCTranslate2},
                                           std::pair{DType::kBf16, Family::kTransformersPrefixed},
                                           std::pair{DType::kI8, Family::kCTranslate2},
                                           std::pair{DType::kQ4_0, Family::kOpenAi},
                                           std::pair{DType::kQ4_1, Family::kOpenAi},
                                           std::pair{DType::kQ5_0, Family::kOpenAi},
                                           std::pair{DType::kQ5_1, Family::kOpenAi},
                                           std::pair{DType::kQ8_0, Family::kOpenAi}),
                         [](const auto& test) {
                           return std::string(dtype_info(test.param.first).name) + "_" +
                                  std::to_string(static_cast<int>(test.param.second));
                         });

TEST_P(WeightsOfType, EqualTheSameValuesInF32) {
  const auto [type, family] = GetParam();
  RandomCheckpoint checkpoint({});
  const auto unrounded = logits_of(write(checkpoint, family, "weights_type"));
  checkpoint.quantize(type);
  const auto packed = logits_of(write(checkpoint, family, "weights_type"));
  const auto expected = logits_of(write(checkpoint.unpacked(), family, "weights_type"));
  EXPECT_LT(testing::largest_difference(packed, expected), 1e-3);
  EXPECT_GT(testing::largest_difference(packed, unrounded), 1e-3);  // The rounding did happen
}

TEST(Weights, AnOwnProjectionReplacesTheEmbedding) {
  const RandomCheckpoint checkpoint({});
  const std::string path = write(checkpoint, Family::kTransformersPrefixed, "weights_untied");
  models::ModelFile file = models::open_model_file(path).value();
  TensorView projection = file.tensors.find("model.decoder.embed_tokens.weight")->second;
  std::vector<float> twice(projection.bytes.size() / sizeof(float));
  std::memcpy(twice.data(), projection.bytes.data(), projection.bytes.size());
  for (float& value : twice)
    value *= 2;
  projection.bytes = std::as_bytes(std::span(twice));
  file.tensors["proj_out.weight"] = projection;
  const auto loaded = testing::load_file(std::move(file)).value();
  const auto window = testing::encode(*loaded, testing::random_mel(loaded->config, 20, 1), 20);
  auto logits = testing::forward(*loaded, *window, {5, 9, 2, 40});
  for (float& value : logits)
    value /= 2;
  EXPECT_LT(testing::largest_difference(logits, logits_of(path)), 1e-4);
}

TEST(Weights, TypesThatHoldNoWeightsAreRefused) {
  const std::string path = write(RandomCheckpoint({}), Family::kOpenAi, "weights_types");
  const auto error = [&](const char* name, DType type) {
    models::ModelFile file = models::open_model_file(path).value();
    file.tensors.find(name)->second.dtype = type;
    return testing::load_file(std::move(file)).status();
  };
  const Status status = error("decoder.blocks.1.mlp.0.weight", DType::kI8);
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(
      status.message(),
      HasSubstr("'decoder.blocks.1.mlp.0.weight' is stored as i8, expected a scale for each row"));
  EXPECT_THAT(error("encoder.conv1.weight", DType::kI32).message(), HasSubstr("stored as i32"));
  EXPECT_THAT(error("decoder.ln.weight", DType::kQ8_0).message(),
              HasSubstr("stored as q8_0, expected f32, f16 or bf16"));
  EXPECT_THAT(error("decoder.token_embedding.weight", DType::kI16).message(),
              HasSubstr("stored as i16"));
}

TEST(Weights, AFileThatIsNotWhisperSaysWhatItIs) {
  models::ModelFile file;
  file.path = "llama.gguf";
  file.format = models::FileFormat::kGguf;
  file.metadata["general.architecture"] = std::string("llama");
  file.tensors["blk.0.attn_q.weight"] = {};
  Status status = detect_naming(file).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(
      status.message(),
      HasSubstr(
          "llama.gguf (gguf) is not a Whisper model: it holds a model of architecture \"llama\""));
  file.metadata.clear();
  EXPECT_THAT(detect_naming(file).status().message(),
              HasSubstr("its first tensor is \"blk.0.attn_q.weight\""));
  file.tensors.clear();
  EXPECT_THAT(detect_naming(file).status().message(), HasSubstr("it holds no tensors"));
  // A text-only encoder-decoder of Transformers has all but the convolutions.
  file.tensors["model.decoder.embed_tokens.weight"] = {};
  file.tensors["model.encoder.layers.0.fc1.weight"] = {};
  EXPECT_EQ(detect_naming(file).status().code(), StatusCode::kUnsupported);
}

TEST(AllFinite, SeesEveryPlaceOfEveryType) {
  const auto check = [](DType type, auto one, auto infinity, auto nan) {
    for (size_t n = 1; n <= 9; ++n) {
      std::vector<decltype(one)> values(n, one);
      TensorView view{type, {static_cast<int64_t>(n)}, std::as_bytes(std::span(values)), {}};
      EXPECT_TRUE(all_finite(view));
      for (size_t i = 0; i < n; ++i) {
        for (const auto bad : {infinity, nan}) {
          values[i] = bad;
          EXPECT_FALSE(all_finite(view)) << dtype_info(type).name << " " << i << " of " << n;
          values[i] = one;
        }
      }
    }
  };
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float nan = std::nanf("");
  check(DType::kF32, std::numeric_limits<float>::max(), -kInfinity, nan);
  check(DType::kF64, std::numeric_limits<double>::lowest(), std::numeric_limits<double>::infinity(),
        std::nan(""));
  check(DType::kF16, to_f16(-65504).bits, to_f16(kInfinity).bits, to_f16(nan).bits);
  check(DType::kBf16, to_bf16(3e38f).bits, to_bf16(-kInfinity).bits, to_bf16(nan).bits);
}

TEST(AllFinite, LooksAtTheScalesOfBlocksOnly) {
  for (const DType type : {DType::kQ4_0, DType::kQ4_1, DType::kQ5_0, DType::kQ5_1, DType::kQ8_0,
                           DType::kQ2K, DType::kQ3K, DType::kQ4K, DType::kQ5K, DType::kQ6K}) {
    const auto block = static_cast<size_t>(dtype_info(type).block_bytes);
    std::vector<std::byte> bytes(2 * block);
    const TensorView view{type, {2 * dtype_info(type).block_elements}, bytes, {}};
    int places = 0;
    for (size_t i = block; i + 2 <= 2 * block; i += 2) {
      const uint16_t infinity = to_f16(std::numeric_limits<float>::infinity()).bits;
      std::memcpy(bytes.data() + i, &infinity, sizeof(infinity));
      places += all_finite(view) ? 0 : 1;
      std::memset(bytes.data() + i, 0, sizeof(infinity));
    }
    const bool two = type == DType::kQ4_1 || type == DType::kQ5_1 || type == DType::kQ2K ||
                     type == DType::kQ4K || type == DType::kQ5K;
    EXPECT_EQ(places, two ? 2 : 1) << dtype_info(type).name;
  }
}

TEST(AllFinite, RowScalesAreDivisors) {
  const std::vector<std::byte> values(4);
  std::vector<float> scales = {1, 2};
  const TensorView view{DType::kI8, {2, 2}, values, std::as_bytes(std::span(scales))};
  EXPECT_TRUE(all_finite(view));
  for (const float bad : {0.0f, std::numeric_limits<float>::infinity(), std::nanf(""), 1e-42f}) {
    scales[1] = bad;
    EXPECT_FALSE(all_finite(view)) << bad;
  }
}

}  // namespace
}  // namespace sotto::whisper
