// A functional stand-in on the host for the part of AMD's aie_api that the kernels of npu/aie use,
// with its names and meanings, so that a kernel's source is the same here and under peano.
//
// What the device keeps in control registers (rounding, saturation) is state of a core here too:
// host_core(). What published sources disagree on is a parameter of that state.
#ifndef SOTTO_NPU_AIE_HOST_AIE_API_AIE_HPP_
#define SOTTO_NPU_AIE_HOST_AIE_API_AIE_HPP_

#include "npu/aie/host/lanes.h"

/// Upper half of an f32. Arithmetic happens in vectors only, as on the device.
struct bfloat16 {
  uint16_t bits;
  bfloat16() = default;
  constexpr explicit bfloat16(float x) : bits(nearest(x)) {}
  constexpr explicit operator float() const {
    return __builtin_bit_cast(float, (uint32_t)bits << 16);
  }

 private:
  static constexpr uint16_t nearest(float x) {
    const uint32_t u = __builtin_bit_cast(uint32_t, x);
    return (uint16_t)((u + 0x7fffU + ((u >> 16) & 1U)) >> 16);
  }
};

/// Kinds of accumulators.
struct accfloat {};
struct acc32 {};

namespace aie {

/// Codes of the hardware's control register.
enum class rounding_mode : uint8_t {
  floor = 0,
  ceil = 1,
  symmetric_floor = 2,
  symmetric_ceil = 3,
  negative_inf = 8,
  positive_inf = 9,
  symmetric_zero = 10,
  symmetric_inf = 11,
  conv_even = 12,
  conv_odd = 13,
};
enum class saturation_mode : uint8_t { none = 0, saturate = 1, symmetric = 3 };

inline namespace SOTTO_AIE_HOST_ISA {

/// Control registers of the core that runs on this thread, and how the disputed facts are read.
struct HostCore {
  rounding_mode rounding = rounding_mode::floor;
  saturation_mode saturation = saturation_mode::none;
  /// Mode 0 cuts the magnitude (the first encoder's authors) instead of rounding towards minus
  /// infinity (aie_api, the compiler's lowering, the emulator).
  bool floor_truncates = false;
  /// Arguments of the table exp below this fetch wrong entries: -128 by the index arithmetic, about
  /// -142 as measured.
  float exp_aliases_below = -128;
};
inline HostCore& host_core() {
  static constinit thread_local HostCore core;
  return core;
}

inline void set_rounding(rounding_mode mode) {
  host_core().rounding = mode;
}
inline rounding_mode get_rounding() {
  return host_core().rounding;
}
inline void set_saturation(saturation_mode mode) {
  host_core().saturation = mode;
}
inline saturation_mode get_saturation() {
  return host_core().saturation;
}

namespace host {

/// f32 -> bf16 under the core's rounding mode: what is added below bit 16 decides the carry.
SOTTO_AIE_INLINE U16x16 narrow(F32x16 x) {
  const HostCore& core = host_core();
  const U32x16 u = (U32x16)x;
  const U32x16 sign = u >> 31;
  const U32x16 odd = (u >> 16) & 1U;
  U32x16 add = splat_bits(0);
  switch (core.rounding) {
    case rounding_mode::floor:
      if (!core.floor_truncates) add = sign * 0xffffU;
      break;
    case rounding_mode::ceil:
      add = (1U - sign) * 0xffffU;
      break;
    case rounding_mode::symmetric_floor:
      break;
    case rounding_mode::symmetric_ceil:
      add = splat_bits(0xffffU);
      break;
    case rounding_mode::negative_inf:
      add = 0x7fffU + sign;
      break;
    case rounding_mode::positive_inf:
      add = 0x8000U - sign;
      break;
    case rounding_mode::symmetric_zero:
      add = splat_bits(0x7fffU);
      break;
    case rounding_mode::symmetric_inf:
      add = splat_bits(0x8000U);
      break;
    case rounding_mode::conv_even:
      add = 0x7fffU + odd;
      break;
    case rounding_mode::conv_odd:
      add = 0x8000U - odd;
      break;
  }
  const I32x16 nan = (U32x16)(u & 0x7fffffffU) > splat_bits(0x7f800000U);
  const U32x16 rounded = select(nan, (u >> 16) | 0x40U, (u + add) >> 16);
  return __builtin_convertvector(rounded, U16x16);
}

/// How sixteen elements of a type are held.
template <typename T>
struct ChunkOf;
template <>
struct ChunkOf<float> {
  using Type = F32x16;
};
template <>
struct ChunkOf<bfloat16> {
  using Type = U16x16;
};
template <>
struct ChunkOf<int32_t> {
  using Type = I32x16;
};
template <>
struct ChunkOf<int16_t> {
  using Type = I16x16;
};
template <>
struct ChunkOf<int8_t> {
  using Type = I8x16;
};
inline constexpr unsigned kLanes = 16;

SOTTO_AIE_INLINE U16x16 splat_of(bfloat16 x) {
  return U16x16{} + x.bits;
}
SOTTO_AIE_INLINE F32x16 splat_of(float x) {
  return splat(x);
}
SOTTO_AIE_INLINE I32x16 splat_of(int32_t x) {
  return I32x16{} + x;
}
SOTTO_AIE_INLINE I16x16 splat_of(int16_t x) {
  return I16x16{} + x;
}
SOTTO_AIE_INLINE I8x16 splat_of(int8_t x) {
  return I8x16{} + x;
}

}  // namespace host

template <typename T, unsigned N>
struct vector {
  static_assert(N % host::kLanes == 0);
  using Chunk = typename host::ChunkOf<T>::Type;
  static constexpr unsigned kChunks = N / host::kLanes;
  Chunk chunk[kChunks];

  [[nodiscard]] T get(unsigned i) const {
    T out;
    memcpy(&out, (const char*)chunk + i * sizeof(T), sizeof(T));
    return out;
  }
  template <unsigned M>
  [[nodiscard]] SOTTO_AIE_INLINE vector<T, M> extract(unsigned i) const {
    vector<T, M> out;
    for (unsigned c = 0; c < M / host::kLanes; ++c)
      out.chunk[c] = chunk[i * (M / host::kLanes) + c];
    return out;
  }
  template <unsigned M>
  SOTTO_AIE_INLINE void insert(unsigned i, const vector<T, M>& part) {
    for (unsigned c = 0; c < M / host::kLanes; ++c)
      chunk[i * (M / host::kLanes) + c] = part.chunk[c];
  }
};

/// A bit a lane.
template <unsigned N>
struct mask {
  host::I32x16 chunk[N / host::kLanes];  ///< All ones where set
};

template <typename Tag, unsigned N>
struct accum;
template <unsigned N>
struct accum<accfloat, N> {
  static constexpr unsigned kChunks = N / host::kLanes;
  host::F32x16 chunk[kChunks];

  accum() = default;
  SOTTO_AIE_INLINE explicit accum(const vector<float, N>& v) {
    for (unsigned c = 0; c < kChunks; ++c)
      chunk[c] = v.chunk[c];
  }
  SOTTO_AIE_INLINE explicit accum(const vector<bfloat16, N>& v) {
    for (unsigned c = 0; c < kChunks; ++c)
      chunk[c] = host::widen(v.chunk[c]);
  }
  template <typename T>
  [[nodiscard]] SOTTO_AIE_INLINE vector<T, N> to_vector(int /*shift*/ = 0) const {
    vector<T, N> out;
    for (unsigned c = 0; c < kChunks; ++c) {
      if constexpr (sizeof(T) == sizeof(float)) {
        out.chunk[c] = chunk[c];
      } else {
        out.chunk[c] = host::narrow(chunk[c]);
      }
    }
    return out;
  }
  template <typename T>
  SOTTO_AIE_INLINE void from_vector(const vector<T, N>& v, int /*shift*/ = 0) {
    *this = accum(v);
  }
};
template <unsigned N>
struct accum<acc32, N> {
  static constexpr unsigned kChunks = N / host::kLanes;
  host::I32x16 chunk[kChunks];
  template <typename T>
  [[nodiscard]] SOTTO_AIE_INLINE vector<T, N> to_vector(int /*shift*/ = 0) const {
    static_assert(sizeof(T) == sizeof(int32_t), "only whole sums are read");
    vector<T, N> out;
    for (unsigned c = 0; c < kChunks; ++c)
      out.chunk[c] = chunk[c];
    return out;
  }
};

// ---- Memory

template <unsigned N, typename T>
SOTTO_AIE_INLINE vector<T, N> load_v(const T* p) {
  vector<T, N> out;
  memcpy(&out, p, N * sizeof(T));
  return out;
}
template <typename T, unsigned N>
SOTTO_AIE_INLINE void store_v(T* p, const vector<T, N>& v) {
  memcpy((void*)p, &v, N * sizeof(T));
}
template <typename T, unsigned N>
SOTTO_AIE_INLINE vector<T, N> broadcast(T x) {
  vector<T, N> out;
  for (auto& chunk : out.chunk)
    chunk = host::splat_of(x);
  return out;
}
template <typename T, unsigned N>
SOTTO_AIE_INLINE vector<T, N> zeros() {
  return broadcast<T, N>(T{});
}

// ---- Element by element

template <unsigned N>
SOTTO_AIE_INLINE accum<accfloat, N> mac(const accum<accfloat, N>& acc, const vector<bfloat16, N>& a,
                                        const vector<bfloat16, N>& b) {
  accum<accfloat, N> out;
  for (unsigned c = 0; c < out.kChunks; ++c) {
    const host::F32x16 x[1] = {host::widen(a.chunk[c])};
    const host::F32x16 y[1] = {host::widen(b.chunk[c])};
    const bool denormal =
        host::any((host::I16x16)(host::denormals(a.chunk[c]) | host::denormals(b.chunk[c])));
    out.chunk[c] = __builtin_expect(denormal, 0) ? host::fused_by_lane(acc.chunk[c], x, y)
                                                 : host::fused(acc.chunk[c], x, y);
  }
  return out;
}
template <unsigned N>
SOTTO_AIE_INLINE vector<bfloat16, N> neg(const vector<bfloat16, N>& a) {
  vector<bfloat16, N> out;
  for (unsigned c = 0; c < out.kChunks; ++c)
    out.chunk[c] = a.chunk[c] ^ 0x8000U;
  return out;
}
/// acc - a * b
template <unsigned N>
SOTTO_AIE_INLINE accum<accfloat, N> msc(const accum<accfloat, N>& acc, const vector<bfloat16, N>& a,
                                        const vector<bfloat16, N>& b) {
  return mac(acc, neg(a), b);
}
template <unsigned N>
SOTTO_AIE_INLINE accum<accfloat, N> mul(const vector<bfloat16, N>& a,
                                        const vector<bfloat16, N>& b) {
  return mac(accum<accfloat, N>(zeros<float, N>()), a, b);
}
template <unsigned N>
SOTTO_AIE_INLINE accum<accfloat, N> add(const accum<accfloat, N>& a, const accum<accfloat, N>& b) {
  accum<accfloat, N> out;
  for (unsigned c = 0; c < out.kChunks; ++c)
    out.chunk[c] = a.chunk[c] + b.chunk[c];
  return out;
}
template <unsigned N>
SOTTO_AIE_INLINE vector<bfloat16, N> add(const vector<bfloat16, N>& a,
                                         const vector<bfloat16, N>& b) {
  return add(accum<accfloat, N>(a), accum<accfloat, N>(b)).template to_vector<bfloat16>();
}
template <unsigned N>
SOTTO_AIE_INLINE vector<bfloat16, N> sub(const vector<bfloat16, N>& a,
                                         const vector<bfloat16, N>& b) {
  return add(a, neg(b));
}
template <unsigned N>
SOTTO_AIE_INLINE mask<N> lt(const vector<bfloat16, N>& a, const vector<bfloat16, N>& b) {
  mask<N> out;
  for (unsigned c = 0; c < a.kChunks; ++c)
    out.chunk[c] = host::widen(a.chunk[c]) < host::widen(b.chunk[c]);
  return out;
}
/// b where the mask is set, else a.
template <unsigned N>
SOTTO_AIE_INLINE vector<bfloat16, N> select(const vector<bfloat16, N>& a,
                                            const vector<bfloat16, N>& b, const mask<N>& m) {
  vector<bfloat16, N> out;
  for (unsigned c = 0; c < out.kChunks; ++c) {
    const host::U16x16 chosen = __builtin_convertvector((host::U32x16)m.chunk[c], host::U16x16);
    out.chunk[c] = (b.chunk[c] & chosen) | (a.chunk[c] & ~chosen);
  }
  return out;
}
template <unsigned N>
SOTTO_AIE_INLINE vector<bfloat16, N> max(const vector<bfloat16, N>& a,
                                         const vector<bfloat16, N>& b) {
  return select(a, b, lt(a, b));
}
template <unsigned N>
SOTTO_AIE_INLINE vector<bfloat16, N> min(const vector<bfloat16, N>& a,
                                         const vector<bfloat16, N>& b) {
  return select(a, b, lt(b, a));
}

/// Groups of kStep elements of a and b in turn; the first and the second half of the result.
template <typename T>
struct vector_pair {
  vector<T, host::kLanes> first, second;
};
inline vector_pair<bfloat16> interleave_zip(const vector<bfloat16, 16>& a,
                                            const vector<bfloat16, 16>& b, unsigned step) {
  vector_pair<bfloat16> out{};
  uint16_t from[2][16];
  uint16_t to[32];
  memcpy(from[0], &a, sizeof from[0]);
  memcpy(from[1], &b, sizeof from[1]);
  for (unsigned i = 0; i < 32; ++i)
    to[i] = from[i / step % 2][i / (2 * step) * step + i % step];
  memcpy(&out, to, sizeof to);
  return out;
}

// ---- Reductions

/// Sixteen lanes as a halving tree, wider vectors first folded onto sixteen.
template <unsigned N>
SOTTO_AIE_INLINE float reduce_add(const vector<float, N>& v) {
  host::F32x16 sum = v.chunk[0];
  for (unsigned c = 1; c < v.kChunks; ++c)
    sum += v.chunk[c];
  float lane[16];
  memcpy(lane, &sum, sizeof lane);
  for (int half = 8; half > 0; half /= 2) {
    for (int i = 0; i < half; ++i)
      lane[i] += lane[i + half];
  }
  return lane[0];
}
template <unsigned N>
SOTTO_AIE_INLINE bfloat16 reduce_max(const vector<bfloat16, N>& v) {
  bfloat16 best = v.get(0);
  for (unsigned i = 1; i < N; ++i)
    best = (float)best < (float)v.get(i) ? v.get(i) : best;
  return best;
}

// ---- Matrix unit

namespace host {

// Lane `lane` of chunk kChunk of a product [r, t] holds element (e / t, e % t), e its index. For
// depth k it needs A(row, k) and B(k, col); their places among the operands' chunks:
template <int kS, int kT, int kChunk, int kK, int... kLane, typename V>
SOTTO_AIE_INLINE V rows_of_a(const V* a, std::integer_sequence<int, kLane...>) {
  constexpr int kFirst = (kChunk * 16 / kT) * kS / 16;
  constexpr int kLast = ((kChunk * 16 + 15) / kT * kS + kS - 1) / 16;
  static_assert(kLast - kFirst <= 1);
  return shuffle<((kChunk * 16 + kLane) / kT * kS + kK - kFirst * 16)...>(a[kFirst], a[kLast]);
}
template <int kT, int kChunk, int kK, int... kLane, typename V>
SOTTO_AIE_INLINE V cols_of_b(const V* b, std::integer_sequence<int, kLane...>) {
  constexpr int kFrom = kK * kT / 16;
  return shuffle<(kK * kT + (kChunk * 16 + kLane) % kT - kFrom * 16)...>(b[kFrom], b[kFrom]);
}
using Lanes = std::make_integer_sequence<int, 16>;

template <int kS, int kT, int kChunk, int... kK>
SOTTO_AIE_INLINE void gather_operands(const F32x16* a, const F32x16* b, F32x16 (&x)[kS],
                                      F32x16 (&y)[kS], std::integer_sequence<int, kK...>) {
  ((x[kK] = rows_of_a<kS, kT, kChunk, kK>(a, Lanes{})), ...);
  ((y[kK] = cols_of_b<kT, kChunk, kK>(b, Lanes{})), ...);
}
template <int kS, int kT, int kChunk, int... kK>
SOTTO_AIE_INLINE I32x16 int_step(I32x16 acc, const I32x16* a, const I32x16* b,
                                 std::integer_sequence<int, kK...>) {
  ((acc += rows_of_a<kS, kT, kChunk, kK>(a, Lanes{}) * cols_of_b<kT, kChunk, kK>(b, Lanes{})), ...);
  return acc;
}

}  // namespace host

/// C [r, t] += A [r, s] x B [s, t]; operands row-major in one vector each.
template <int kR, int kS, int kT, typename A, typename B, typename Tag>
class mmul;

template <int kR, int kS, int kT>
class mmul<kR, kS, kT, bfloat16, bfloat16, accfloat> {
 public:
  static constexpr unsigned size_A = kR * kS, size_B = kS * kT, size_C = kR * kT;
  mmul() = default;
  SOTTO_AIE_INLINE explicit mmul(const vector<float, size_C>& c) : acc_(c) {}

  SOTTO_AIE_INLINE void mac(const vector<bfloat16, size_A>& a, const vector<bfloat16, size_B>& b) {
    host::F32x16 wide_a[size_A / host::kLanes];
    host::F32x16 wide_b[size_B / host::kLanes];
    host::I16x16 found{};
    for (unsigned c = 0; c < size_A / host::kLanes; ++c) {
      wide_a[c] = host::widen(a.chunk[c]);
      found |= host::denormals(a.chunk[c]);
    }
    for (unsigned c = 0; c < size_B / host::kLanes; ++c) {
      wide_b[c] = host::widen(b.chunk[c]);
      found |= host::denormals(b.chunk[c]);
    }
    steps(wide_a, wide_b, host::any(found),
          std::make_integer_sequence<int, size_C / host::kLanes>{});
  }
  template <typename T>
  [[nodiscard]] SOTTO_AIE_INLINE vector<T, size_C> to_vector(int shift = 0) const {
    return acc_.template to_vector<T>(shift);
  }
  [[nodiscard]] SOTTO_AIE_INLINE const accum<accfloat, size_C>& to_accum() const { return acc_; }

 private:
  template <int... kChunk>
  SOTTO_AIE_INLINE void steps(const host::F32x16* a, const host::F32x16* b, bool denormal,
                              std::integer_sequence<int, kChunk...>) {
    (step<kChunk>(a, b, denormal), ...);
  }
  template <int kChunk>
  SOTTO_AIE_INLINE void step(const host::F32x16* a, const host::F32x16* b, bool denormal) {
    host::F32x16 x[kS];
    host::F32x16 y[kS];
    host::gather_operands<kS, kT, kChunk>(a, b, x, y, std::make_integer_sequence<int, kS>{});
    acc_.chunk[kChunk] = __builtin_expect(denormal, 0)
                             ? host::fused_by_lane(acc_.chunk[kChunk], x, y)
                             : host::fused(acc_.chunk[kChunk], x, y);
  }
  accum<accfloat, size_C> acc_;
};

template <int kR, int kS, int kT>
class mmul<kR, kS, kT, int8_t, int8_t, acc32> {
 public:
  static constexpr unsigned size_A = kR * kS, size_B = kS * kT, size_C = kR * kT;
  mmul() = default;
  SOTTO_AIE_INLINE explicit mmul(const vector<int32_t, size_C>& c) {
    for (unsigned i = 0; i < acc_.kChunks; ++i)
      acc_.chunk[i] = c.chunk[i];
  }
  SOTTO_AIE_INLINE void mac(const vector<int8_t, size_A>& a, const vector<int8_t, size_B>& b) {
    host::I32x16 wide_a[size_A / host::kLanes];
    host::I32x16 wide_b[size_B / host::kLanes];
    for (unsigned c = 0; c < size_A / host::kLanes; ++c)
      wide_a[c] = __builtin_convertvector(a.chunk[c], host::I32x16);
    for (unsigned c = 0; c < size_B / host::kLanes; ++c)
      wide_b[c] = __builtin_convertvector(b.chunk[c], host::I32x16);
    steps(wide_a, wide_b, std::make_integer_sequence<int, size_C / host::kLanes>{});
  }
  template <typename T>
  [[nodiscard]] SOTTO_AIE_INLINE vector<T, size_C> to_vector(int shift = 0) const {
    return acc_.template to_vector<T>(shift);
  }

 private:
  template <int... kChunk>
  SOTTO_AIE_INLINE void steps(const host::I32x16* a, const host::I32x16* b,
                              std::integer_sequence<int, kChunk...>) {
    ((acc_.chunk[kChunk] = host::int_step<kS, kT, kChunk>(acc_.chunk[kChunk], a, b,
                                                          std::make_integer_sequence<int, kS>{})),
     ...);
  }
  accum<acc32, size_C> acc_;
};

}  // namespace SOTTO_AIE_HOST_ISA
}  // namespace aie

#endif  // SOTTO_NPU_AIE_HOST_AIE_API_AIE_HPP_
