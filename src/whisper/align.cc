#include "whisper/align.h"

#include <algorithm>
#include <cmath>

#include "whisper/dtw.h"
#include "whisper/logits.h"
#include "whisper/prompt.h"
#include "whisper/times.h"

namespace sotto::whisper {
namespace {

constexpr int kMedianWidth = 7;
constexpr size_t kRowsPerStep = 32;  // Bounds the memory of the logits

/// What one pass over the tokens gives.
struct Pass {
  std::vector<float> attention;      ///< [heads, rows, positions]
  std::vector<float> probabilities;  ///< Of tokens[first_text..] but the last
};

/// Puts attention rows [heads, count, positions] of one step in their place in [heads, total,
/// positions].
void place_rows(std::span<const float> part, size_t count, size_t first, size_t total,
                size_t positions, std::vector<float>& all) {
  const size_t heads = part.size() / (count * positions);
  all.resize(heads * total * positions);
  for (size_t head = 0; head < heads; ++head) {
    const auto from = part.subspan(head * count * positions, count * positions);
    std::copy(from.begin(), from.end(),
              all.begin() + static_cast<std::ptrdiff_t>((head * total + first) * positions));
  }
}

/// Feeds `tokens` in steps of kRowsPerStep. Text is tokens[first_text .. size - 2]; end-of-text
/// follows it.
Result<Pass> run_tokens(const Model& model, Decoder& decoder, const EncodedWindow& window,
                        std::span<const int> tokens, size_t first_text, size_t positions) {
  const auto vocabulary = static_cast<size_t>(model.config().n_vocab);
  const auto text_ids = static_cast<size_t>(model.tokens().eot);
  Pass pass;
  std::vector<float> logits;
  std::vector<float> attention;
  decoder.clear();
  for (size_t first = 0; first < tokens.size(); first += kRowsPerStep) {
    const size_t count = std::min(kRowsPerStep, tokens.size() - first);
    DecodeBatch batch;
    batch.tokens.assign(tokens.begin() + static_cast<std::ptrdiff_t>(first),
                        tokens.begin() + static_cast<std::ptrdiff_t>(first + count));
    batch.windows.assign(count, &window);
    for (size_t i = 0; i < count; ++i) {
      const size_t index = first + i;
      batch.rows.push_back({0, static_cast<int64_t>(index)});
      // The row before a token is the one that predicts it.
      if (index + 1 >= first_text && index + 2 < tokens.size())
        batch.logit_rows.push_back(static_cast<int64_t>(i));
    }
    logits.resize(batch.logit_rows.size() * vocabulary);
    SOTTO_RETURN_IF_ERROR(decoder.step(batch, logits, &attention));
    if (attention.empty() || attention.size() % (count * positions) != 0) {
      return internal_error(
          "word times: the decoder returned no cross-attention of the alignment heads");
    }
    place_rows(attention, count, first, tokens.size(), positions, pass.attention);
    for (size_t i = 0; i < batch.logit_rows.size(); ++i) {
      const auto row = std::span(logits).subspan(i * vocabulary, text_ids);
      const int next = tokens[first + static_cast<size_t>(batch.logit_rows[i]) + 1];
      pass.probabilities.push_back(std::exp(row[static_cast<size_t>(next)] - log_sum_exp(row)));
    }
  }
  return pass;
}

/// In place, per column of [rows, cols]: mean 0 and deviation 1 over the rows.
void standardise_columns(std::span<float> matrix, size_t rows, size_t cols) {
  std::vector<double> sum(cols), squares(cols);
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < cols; ++j) {
      sum[j] += matrix[i * cols + j];
    }
  }
  const auto count = static_cast<double>(rows);
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < cols; ++j) {
      const double x = matrix[i * cols + j] - sum[j] / count;
      squares[j] += x * x;
    }
  }
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < cols; ++j) {
      const double deviation = std::sqrt(squares[j] / count);
      const double x = matrix[i * cols + j] - sum[j] / count;
      matrix[i * cols + j] = deviation > 0 ? static_cast<float>(x / deviation) : 0.0f;
    }
  }
}

}  // namespace

void median_filter(std::span<float> row, int width) {
  const auto half = static_cast<std::ptrdiff_t>(width / 2);
  const auto size = static_cast<std::ptrdiff_t>(row.size());
  if (size <= half) return;
  const std::vector<float> source(row.begin(), row.end());
  std::vector<float> neighbours(static_cast<size_t>(width));
  for (std::ptrdiff_t i = 0; i < size; ++i) {
    for (std::ptrdiff_t k = -half; k <= half; ++k) {
      std::ptrdiff_t at = std::abs(i + k);
      if (at >= size) at = 2 * (size - 1) - at;
      neighbours[static_cast<size_t>(k + half)] = source[static_cast<size_t>(at)];
    }
    const auto middle = neighbours.begin() + half;
    std::nth_element(neighbours.begin(), middle, neighbours.end());
    row[static_cast<size_t>(i)] = *middle;
  }
}

std::vector<float> alignment_weights(std::span<const float> attention, int rows, int positions,
                                     int cols) {
  const auto height = static_cast<size_t>(rows);
  const auto width = static_cast<size_t>(cols);
  const auto source_width = static_cast<size_t>(positions);
  const size_t heads = attention.size() / (height * source_width);
  std::vector<float> mean(height * width);
  std::vector<float> one(height * width);
  for (size_t head = 0; head < heads; ++head) {
    for (size_t i = 0; i < height; ++i) {
      const auto from = attention.subspan((head * height + i) * source_width, width);
      double kept = 0;
      for (const float p : from)
        kept += p;
      for (size_t j = 0; j < width; ++j) {
        one[i * width + j] = kept > 0 ? static_cast<float>(from[j] / kept) : 0.0f;
      }
    }
    standardise_columns(one, height, width);
    for (size_t i = 0; i < height; ++i)
      median_filter(std::span(one).subspan(i * width, width), kMedianWidth);
    for (size_t i = 0; i < one.size(); ++i)
      mean[i] += one[i] / static_cast<float>(heads);
  }
  return mean;
}

Result<TokenAlignment> align_tokens(const Model& model, Decoder& decoder,
                                    const EncodedWindow& window, const std::string& language,
                                    Task task, std::span<const int> text, int positions,
                                    int64_t frames) {
  std::vector<int> tokens = start_sequence(model.tokens(), language, task);
  const size_t start_length = tokens.size();
  tokens.push_back(model.tokens().no_timestamps);
  tokens.insert(tokens.end(), text.begin(), text.end());
  tokens.push_back(model.tokens().eot);
  SOTTO_ASSIGN_OR_RETURN(
      const Pass pass,
      run_tokens(model, decoder, window, tokens, start_length + 1, static_cast<size_t>(positions)));

  const int rows = static_cast<int>(tokens.size());
  const int cols = static_cast<int>(std::min<int64_t>(positions, frames / kFramesPerPosition));
  const std::vector<float> weights = alignment_weights(pass.attention, rows, positions, cols);
  // Row start_length (no_timestamps) predicts the first text token; the row of end-of-text predicts
  // nothing.
  const auto used = std::span(weights).subspan(start_length * static_cast<size_t>(cols),
                                               (text.size() + 1) * static_cast<size_t>(cols));
  TokenAlignment alignment;
  for (const int column : enter_columns(used, static_cast<int>(text.size()) + 1, cols)) {
    alignment.borders.push_back(column * kSecondsPerPosition);
  }
  alignment.probabilities = pass.probabilities;
  return alignment;
}

}  // namespace sotto::whisper
