// The graph on real weights against what CTranslate2 and numpy computed
// (tools/golden/make_whisper.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "models/formats/model_file.h"
#include "whisper/decoder.h"
#include "whisper/encoder.h"
#include "whisper/testing/loaded_checkpoint.h"

namespace sotto::whisper {
namespace {

using ops::ComputeType;

constexpr int kFrames = 3000;

/// What a compute type may lose. A cosine near 1 bounds the direction; `difference` bounds the
/// worst single value as a share of the largest one expected, because logits, norms and
/// probabilities differ in size a hundredfold.
struct Limits {
  const char* name;
  ComputeType type;
  double cosine;
  double difference;
};
constexpr Limits kLimits[] = {
    {"f32", ComputeType::kF32, 0.999999, 1e-4},
};

/// The arrays of one golden file.
class Golden {
 public:
  explicit Golden(const std::string& name) {
    auto file = models::open_model_file(std::string(SOTTO_WHISPER_TESTDATA) + "/" + name);
    EXPECT_TRUE(file.ok()) << file.status().message();
    file_ = std::move(file).value();
  }
  template <typename T>
  std::vector<T> get(std::string_view name) const {
    const auto view = file_.tensor(name);
    EXPECT_TRUE(view.ok()) << view.status().message();
    std::vector<T> out(static_cast<size_t>(view->elements()));
    EXPECT_EQ(view->bytes.size(), out.size() * sizeof(T));
    std::memcpy(out.data(), view->bytes.data(), view->bytes.size());
    return out;
  }
  int number(std::string_view name) const { return get<int32_t>(name).at(0); }

 private:
  models::ModelFile file_;
};

/// The JFK clip as features; frames beyond the stored ones repeat the last.
std::vector<float> jfk_mel(int n_mels) {
  const Golden golden("jfk_mel.safetensors");
  const auto codes = golden.get<uint8_t>("codes");
  const auto scale = golden.get<float>("low_and_step");
  std::vector<float> out;
  for (const uint8_t code : codes)
    out.push_back(scale[0] + static_cast<float>(code) * scale[1]);
  const std::vector<float> last(out.end() - n_mels, out.end());
  while (out.size() < static_cast<size_t>(kFrames * n_mels))
    out.insert(out.end(), last.begin(), last.end());
  return out;
}

std::vector<float> rows_of(const std::vector<float>& matrix, const std::vector<int32_t>& rows,
                           int64_t cols) {
  std::vector<float> out;
  for (const int32_t row : rows) {
    const auto first = matrix.begin() + row * cols;
    out.insert(out.end(), first, first + cols);
  }
  return out;
}

std::vector<float> every(const float* values, size_t n, int stride) {
  std::vector<float> out;
  for (size_t i = 0; i < n; i += static_cast<size_t>(stride))
    out.push_back(values[i]);
  return out;
}

class GoldenTest : public ::testing::TestWithParam<std::tuple<const char*, Limits>> {
 protected:
  void SetUp() override {
    const auto& [model, limits] = GetParam();
    limits_ = limits;
    const char* folder = std::getenv("SOTTO_TEST_MODELS");
    ASSERT_NE(folder, nullptr) << "set SOTTO_TEST_MODELS (scripts/test does)";
    loaded_ = testing::load_checkpoint(std::string(folder) + "/" + model, limits.type);
    golden_ = std::make_unique<Golden>(std::string("golden_") + model + ".safetensors");
    mel_ = jfk_mel(loaded_->config.n_mels);
  }

  std::vector<float> to_host(const ops::Activation& x) {
    std::vector<float> out(static_cast<size_t>(x.rows() * x.cols()));
    EXPECT_TRUE(loaded_->backend->to_host(x, out).ok());
    return out;
  }

  /// Checks and, for the test's XML report, records what was measured.
  void compare(const std::string& what, std::span<const float> got,
               std::span<const float> expected) {
    const double cosine = testing::cosine(got, expected);
    const auto [low, high] = std::minmax_element(expected.begin(), expected.end());
    const double largest = testing::largest_difference(got, expected) / std::max(-*low, *high);
    EXPECT_GT(cosine, limits_.cosine) << what;
    EXPECT_LT(largest, limits_.difference) << what;
    std::ostringstream text;
    text << "1 - cosine " << 1 - cosine << ", largest difference / peak " << largest;
    RecordProperty(what, text.str());
  }

  Limits limits_{};
  std::unique_ptr<testing::LoadedCheckpoint> loaded_;
  std::unique_ptr<Golden> golden_;
  std::vector<float> mel_;
};
INSTANTIATE_TEST_SUITE_P(Models, GoldenTest,
                         ::testing::Combine(::testing::Values("tiny.en", "base"),
                                            ::testing::ValuesIn(kLimits)),
                         [](const auto& test) {
                           const std::string model = std::get<0>(test.param);
                           return model.substr(0, 4) + "_" + std::get<1>(test.param).name;
                         });

TEST_P(GoldenTest, EncoderLayerByLayer) {
  ops::Backend& backend = *loaded_->backend;
  const Config& config = loaded_->config;
  const auto rows = golden_->get<int32_t>("encoder_rows");
  const auto by_layer = golden_->get<float>("encoder_by_layer");
  const size_t block = rows.size() * static_cast<size_t>(config.d_model);
  ASSERT_EQ(by_layer.size(), block * static_cast<size_t>(config.encoder_layers + 1));
  auto x = encoder_stem(backend, config, loaded_->weights, mel_, kFrames / 2);
  std::vector<float> output;
  for (size_t i = 0; i <= loaded_->weights.encoder.size(); ++i) {
    if (i > 0) x = encoder_layer(backend, loaded_->weights.encoder[i - 1], config.n_head, *x);
    ASSERT_TRUE(x.ok()) << x.status().message();
    const auto normed = backend.layer_norm(*x, *loaded_->weights.encoder_norm);
    ASSERT_TRUE(normed.ok()) << normed.status().message();
    output = to_host(*normed);
    compare("encoder_layers_" + std::to_string(i), rows_of(output, rows, config.d_model),
            std::span(by_layer).subspan(i * block, block));
  }
  compare("encoder_output", rows_of(output, rows, config.d_model),
          golden_->get<float>("encoder_output"));
  std::vector<float> norms;
  for (auto row = output.begin(); row != output.end(); row += config.d_model) {
    double sum = 0;
    std::for_each(row, row + config.d_model, [&](float v) { sum += double{v} * v; });
    norms.push_back(static_cast<float>(std::sqrt(sum)));
  }
  compare("encoder_row_norms", norms, golden_->get<float>("encoder_row_norms"));
  EXPECT_EQ(testing::encoder_output(*loaded_, mel_, kFrames / 2), output);
}

TEST_P(GoldenTest, EncoderOnAShortContext) {
  const int positions = golden_->number("short_positions");
  const auto frames =
      std::span(mel_).first(static_cast<size_t>(2 * positions * loaded_->config.n_mels));
  const auto output = testing::encoder_output(*loaded_, frames, positions);
  compare("short_output",
          rows_of(output, golden_->get<int32_t>("short_rows"), loaded_->config.d_model),
          golden_->get<float>("short_output"));
}

TEST_P(GoldenTest, DecoderOnForcedTokens) {
  const Config& config = loaded_->config;
  const auto n_vocab = static_cast<size_t>(config.n_vocab);
  const auto window = testing::encode(*loaded_, mel_, kFrames / 2);
  const auto tokens = golden_->get<int32_t>("tokens");
  const auto prompt = static_cast<size_t>(golden_->number("prompt_length"));
  const int stride = golden_->number("logit_stride");
  const auto expected = golden_->get<float>("logits");
  const auto logits = testing::forward(*loaded_, *window, tokens);
  const size_t block = (n_vocab + static_cast<size_t>(stride) - 1) / static_cast<size_t>(stride);
  const int end_of_text = config.n_vocab == 51864 ? 50256 : 50257;
  std::vector<float> got;
  for (size_t row = prompt - 1; row < tokens.size(); ++row) {
    const float* scores = &logits[row * n_vocab];
    const auto sample = every(scores, n_vocab, stride);
    got.insert(got.end(), sample.begin(), sample.end());
    // CTranslate2 found the tokens by taking the best one each time.
    const int next = row + 1 < tokens.size() ? tokens[row + 1] : end_of_text;
    EXPECT_EQ(std::max_element(scores, scores + n_vocab) - scores, next) << "after token " << row;
  }
  ASSERT_EQ(got.size(), expected.size());
  ASSERT_EQ(got.size() % block, 0U);
  compare("logits", got, expected);
}

TEST_P(GoldenTest, DecoderLayerByLayer) {
  const auto n_vocab = static_cast<size_t>(loaded_->config.n_vocab);
  const auto window = testing::encode(*loaded_, mel_, kFrames / 2);
  const auto tokens = golden_->get<int32_t>("tokens");
  const int stride = golden_->number("logit_stride");
  const auto by_layer = golden_->get<float>("logits_by_layer");
  const size_t layers = loaded_->weights.decoder.size();
  const size_t block = by_layer.size() / (layers + 1);
  const Weights all = loaded_->weights;
  for (size_t i = 1; i <= layers; ++i) {
    loaded_->weights.decoder.assign(all.decoder.begin(),
                                    all.decoder.begin() + static_cast<ptrdiff_t>(i));
    const auto logits = testing::forward(*loaded_, *window, tokens);
    compare("decoder_layers_" + std::to_string(i),
            every(&logits[logits.size() - n_vocab], n_vocab, stride),
            std::span(by_layer).subspan(i * block, block));
  }
}

TEST_P(GoldenTest, AlignmentHeads) {
  const Config& config = loaded_->config;
  const auto heads = golden_->get<int32_t>("alignment_heads");
  ASSERT_EQ(config.alignment_heads.size() * 2, heads.size());
  for (size_t i = 0; i < config.alignment_heads.size(); ++i) {
    EXPECT_EQ(config.alignment_heads[i], std::pair(heads[2 * i], heads[2 * i + 1]));
  }
  const auto window = testing::encode(*loaded_, mel_, kFrames / 2);
  const auto tokens = golden_->get<int32_t>("tokens");
  DecodeBatch batch{tokens, {}, std::vector<const EncodedWindow*>(tokens.size(), window.get()), {}};
  for (size_t i = 0; i < tokens.size(); ++i)
    batch.rows.push_back({0, static_cast<int64_t>(i)});
  const auto decoder =
      CachedDecoder::create(*loaded_->backend, config, loaded_->weights, 1).value();
  std::vector<float> alignment;
  const Status status = decoder->step(batch, {}, &alignment);
  ASSERT_TRUE(status.ok()) << status.message();
  constexpr size_t kSources = kFrames / 2;
  const size_t block = tokens.size() * kSources;
  ASSERT_EQ(alignment.size(), config.alignment_heads.size() * block);
  std::vector<float> last_rows;
  for (size_t head = 0; head < config.alignment_heads.size(); ++head) {
    const float* row = &alignment[(head + 1) * block - kSources];
    const auto sample = every(row, kSources, golden_->number("source_stride"));
    last_rows.insert(last_rows.end(), sample.begin(), sample.end());
  }
  compare("alignment", last_rows, golden_->get<float>("alignment_last_row"));
}

/// Resident bytes of this process that are pages of mapped files.
int64_t resident_file_bytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  int64_t kilobytes = -1;
  while (status >> word) {
    if (word == "RssFile:") status >> kilobytes;
  }
  return kilobytes * 1024;
}

TEST(GoldenMemory, TheFileLeavesMemoryOnceItsWeightsAreUploaded) {
  const char* folder = std::getenv("SOTTO_TEST_MODELS");
  ASSERT_NE(folder, nullptr) << "set SOTTO_TEST_MODELS (scripts/test does)";
  const int64_t before = resident_file_bytes();
  ASSERT_GT(before, 0);
  const auto loaded = testing::load_checkpoint(std::string(folder) + "/base", ComputeType::kF32);
  const auto file_bytes = static_cast<int64_t>(loaded->file.files.at(0).bytes().size());
  EXPECT_LT(resident_file_bytes() - before, file_bytes / 10);
}

}  // namespace
}  // namespace sotto::whisper
