#include "npu/aie/gelu_fit.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "base/float16.h"

namespace sotto::npu {
namespace {

constexpr int kTerms = kGeluDegree + 1;

double correction(double s) {
  return -0.5 * s * std::erfc(s / std::sqrt(2.0));
}

double bin_center(int bin) {
  return (bin + 0.5) / kGeluBinsPerUnit;
}

/// Solves the normal equations a x = b of `n` unknowns by elimination with pivots.
std::array<double, kTerms> solve(std::array<std::array<double, kTerms>, kTerms> a,
                                 std::array<double, kTerms> b, size_t n) {
  for (size_t column = 0; column < n; ++column) {
    size_t pivot = column;
    for (size_t row = column; row < n; ++row) {
      if (std::fabs(a[row][column]) > std::fabs(a[pivot][column])) pivot = row;
    }
    std::swap(a[column], a[pivot]);
    std::swap(b[column], b[pivot]);
    for (size_t row = column + 1; row < n; ++row) {
      const double factor = a[row][column] / a[column][column];
      for (size_t k = column; k < n; ++k)
        a[row][k] -= factor * a[column][k];
      b[row] -= factor * b[column];
    }
  }
  std::array<double, kTerms> x{};
  for (size_t row = n; row-- > 0;) {
    double sum = b[row];
    for (size_t k = row + 1; k < n; ++k)
      sum -= a[row][k] * x[k];
    x[row] = sum / a[row][row];
  }
  return x;
}

/// Fits piece.coefficients.
void fit_piece(std::span<const int64_t> histogram, double floor_weight, GeluFitPiece& piece) {
  const int first = static_cast<int>(piece.begin * kGeluBinsPerUnit);
  const int last = static_cast<int>(piece.end * kGeluBinsPerUnit);
  // Degree `top` is the highest that is still free; those above are rounded already.
  for (int top = kGeluDegree; top >= 0; --top) {
    std::array<std::array<double, kTerms>, kTerms> a{};
    std::array<double, kTerms> b{};
    for (int bin = first; bin < last; ++bin) {
      const double s = bin_center(bin);
      const double u = (s - piece.shift) * piece.scale;
      const double weight = static_cast<double>(histogram[static_cast<size_t>(bin)]) + floor_weight;
      std::array<double, kTerms> power{};
      power[0] = 1;
      for (size_t d = 1; d < kTerms; ++d)
        power[d] = power[d - 1] * u;
      double rest = correction(s);
      for (int d = kGeluDegree; d > top; --d)
        rest -= double{piece.coefficients[static_cast<size_t>(kGeluDegree - d)]} *
                power[static_cast<size_t>(d)];
      for (size_t i = 0; i <= static_cast<size_t>(top); ++i) {
        b[i] += weight * power[i] * rest;
        for (size_t j = 0; j <= static_cast<size_t>(top); ++j)
          a[i][j] += weight * power[i] * power[j];
      }
    }
    const auto free = solve(a, b, static_cast<size_t>(top) + 1);
    piece.coefficients[static_cast<size_t>(kGeluDegree - top)] =
        to_float(to_bf16(static_cast<float>(free[static_cast<size_t>(top)])));
  }
}

double evaluate(const GeluFitPiece& piece, double s) {
  const double u = (s - piece.shift) * piece.scale;
  double q = 0;
  for (const float c : piece.coefficients)
    q = q * u + double{c};
  return q;
}

std::string number(float value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  std::string out(text, end);
  return out.find_first_of(".e") == std::string::npos ? out : out + "F";
}

}  // namespace

Result<std::vector<GeluFitPiece>> fit_gelu(std::span<const int64_t> histogram) {
  if (histogram.size() != kGeluBins || *std::min_element(histogram.begin(), histogram.end()) < 0) {
    return invalid_argument("a histogram of GELU inputs has " + std::to_string(kGeluBins) +
                            " counts, none negative");
  }
  const int64_t total = std::accumulate(histogram.begin(), histogram.end(), int64_t{0});
  if (total == 0) return invalid_argument("the histogram of GELU inputs is empty");
  constexpr double kFloorShare = 0.02;
  const double floor_weight = kFloorShare * static_cast<double>(total) / kGeluBins;
  std::vector<GeluFitPiece> pieces = {{0, 1, 0.5, 2, {}}, {1, 2, 1.5, 2, {}}, {2, 4, 3, 1, {}}};
  for (GeluFitPiece& piece : pieces)
    fit_piece(histogram, floor_weight, piece);
  return pieces;
}

GeluFitError gelu_fit_error(std::span<const GeluFitPiece> pieces,
                            std::span<const int64_t> histogram) {
  double square = 0;
  double sum = 0;
  double total = 0;
  for (const GeluFitPiece& piece : pieces) {
    const int last = static_cast<int>(piece.end * kGeluBinsPerUnit);
    for (int bin = static_cast<int>(piece.begin * kGeluBinsPerUnit); bin < last; ++bin) {
      const auto weight = static_cast<double>(histogram[static_cast<size_t>(bin)]);
      const double error = evaluate(piece, bin_center(bin)) - correction(bin_center(bin));
      square += weight * error * error;
      sum += weight * error;
      total += weight;
    }
  }
  if (total == 0) return {};
  return {std::sqrt(square / total), sum / total};
}

std::string gelu_header(std::span<const GeluFitPiece> pieces) {
  std::string out =
      "// Coefficients of GELU's correction q (gelu.h), written by `sotto npu gelu-fit`; a test\n"
      "// makes them again from testdata/gelu_histogram.txt.\n"
      "#ifndef SOTTO_NPU_AIE_GELU_COEFFICIENTS_H_\n"
      "#define SOTTO_NPU_AIE_GELU_COEFFICIENTS_H_\n\n"
      "#include \"npu/aie/arch.h\"\n\n"
      "namespace SOTTO_AIE_NAMESPACE {\n\n"
      "inline constexpr int kGeluPieces = 3;\n"
      "inline constexpr int kGeluTerms = 5;\n\n"
      "struct GeluPiece {\n"
      "  float end;                       // Of the piece; it begins where the one before ends\n"
      "  float shift, scale;              // u = (s - shift) * scale\n"
      "  float coefficients[kGeluTerms];  // Highest degree first; bf16 values\n"
      "};\n\n"
      "inline constexpr GeluPiece kGelu[kGeluPieces] = {\n";
  for (const GeluFitPiece& piece : pieces) {
    out += "    {" + number(static_cast<float>(piece.end)) + ", " +
           number(static_cast<float>(piece.shift)) + ", " +
           number(static_cast<float>(piece.scale)) + ", {";
    for (size_t i = 0; i < piece.coefficients.size(); ++i)
      out += (i == 0 ? "" : ", ") + number(piece.coefficients[i]);
    out += "}},\n";
  }
  return out +
         "};\n\n"
         "}  // namespace SOTTO_AIE_NAMESPACE\n\n"
         "#endif  // SOTTO_NPU_AIE_GELU_COEFFICIENTS_H_\n";
}

std::string write_histogram(std::span<const int64_t> histogram) {
  constexpr size_t kLine = kGeluBins / 64;
  std::string out;
  for (size_t i = 0; i < histogram.size(); ++i)
    out += std::to_string(histogram[i]) + ((i + 1) % kLine == 0 ? "\n" : " ");
  return out;
}

Result<GeluHistogram> read_histogram(const std::string& text) {
  GeluHistogram out;
  size_t line = 1;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    if (*at == ' ' || *at == '\n') {
      line += *at++ == '\n' ? 1 : 0;
      continue;
    }
    int64_t value = 0;
    const auto parsed = std::from_chars(at, end, value);
    if (parsed.ec != std::errc() || value < 0 || out.size() == kGeluBins)
      return corrupt("line " + std::to_string(line) +
                     " of the histogram: no count, or one too many");
    out.push_back(value);
    at = parsed.ptr;
  }
  if (out.size() != kGeluBins) {
    return corrupt("the histogram has " + std::to_string(out.size()) + " of " +
                   std::to_string(kGeluBins) + " counts");
  }
  return out;
}

}  // namespace sotto::npu
