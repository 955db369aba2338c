// The two tables behind getExpBf16: bf16 nearest values of exp(k), k a signed byte, and exp(j/256).
#ifndef SOTTO_NPU_AIE_HOST_EXP_TABLES_H_
#define SOTTO_NPU_AIE_HOST_EXP_TABLES_H_

#include "npu/aie/host/aie_api/aie.hpp"

inline namespace SOTTO_AIE_HOST_ISA {

struct ExpTable {
  bfloat16 entry[256];
  constexpr bfloat16 operator[](uint32_t i) const { return entry[i]; }
};

constexpr double exp_series(double x) {  // |x| <= 1
  double term = 1;
  double sum = 1;
  for (int i = 1; i < 24; ++i) {
    term *= x / i;
    sum += term;
  }
  return sum;
}

constexpr ExpTable exp_of_integers() {
  constexpr int kHighest = 88;
  constexpr int kLowest = -92;
  ExpTable table{};
  double up = 1;
  double down = 1;
  for (int k = 0; k < 128; ++k) {
    table.entry[k] = bfloat16((float)up);
    if (k < kHighest) up *= exp_series(1);
  }
  for (int k = -1; k >= kLowest; --k) {
    down *= exp_series(-1);
    table.entry[k + 256] = bfloat16((float)down);
  }
  return table;
}

constexpr ExpTable exp_of_fractions() {
  ExpTable table{};
  for (int j = 0; j < 256; ++j)
    table.entry[j] = bfloat16((float)exp_series(j / 256.0));
  return table;
}

inline constexpr ExpTable kExpInteger = exp_of_integers();
inline constexpr ExpTable kExpFraction = exp_of_fractions();

}  // namespace SOTTO_AIE_HOST_ISA

#endif  // SOTTO_NPU_AIE_HOST_EXP_TABLES_H_
