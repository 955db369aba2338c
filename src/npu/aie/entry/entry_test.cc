// The entry points that peano compiles, here against the host's aie_api: names and arguments are
// those of the designs, results those of the simulator's table.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "npu/aie/kernel_table.h"
#include "npu/library/gemm.h"

// Declared without the shim's types: pointers are pointers.
extern "C" {
void zero_f32(void* c);
void matmul_bf16_f32(const void* a, const void* b, void* c);
void zero_i32(void* c);
void matmul_i8_i32(const void* a, const void* b, void* c);
void epilogue(void* sums, void* out, int32_t mode, int32_t half);
void read_header(const void* header, void* parameters);
void softmax_row(const void* in, void* out, int32_t n);
}

namespace sotto::npu {
namespace {

using Bytes = std::vector<std::byte>;

/// bf16 between -1 and 1, as bytes.
Bytes random_bytes(const ObjectType& type, uint32_t seed) {
  std::mt19937 rng(seed);
  Bytes out(static_cast<size_t>(type.bytes()));
  for (size_t i = 0; i + 1 < out.size(); i += 2) {
    const auto bits = static_cast<uint16_t>((rng() & 0x80ffU) | 0x3e80U);
    std::memcpy(&out[i], &bits, 2);
  }
  return out;
}

const ObjectType kA{{64, 64}, ElementType::kBf16};
const ObjectType kB{{64, 32}, ElementType::kBf16};
const ObjectType kC{{64, 32}, ElementType::kF32};

TEST(Entry, EveryKernelOfTheUniversalArrayHasOne) {
  const Design design = universal_array(UniversalOptions{});
  const KernelTable table = aie_kernels(GenerationId::kXdna1, CpuIsa::kScalar).value();
  Bytes a = random_bytes(kA, 1);
  Bytes b = random_bytes(kB, 2);
  Bytes ours(static_cast<size_t>(kC.bytes()), std::byte{1});
  Bytes theirs = ours;
  zero_f32(ours.data());
  matmul_bf16_f32(a.data(), b.data(), ours.data());
  const auto call = [&](const char* name, std::vector<KernelArgument> arguments) {
    ASSERT_NE(design.kernel(name), nullptr) << name;
    const Status status = table.find(name)->second.run(arguments);
    ASSERT_TRUE(status.ok()) << status.message();
  };
  call("zero_f32", {{theirs, &kC, 0}});
  call("matmul_bf16_f32", {{a, &kA, 0}, {b, &kB, 0}, {theirs, &kC, 0}});
  EXPECT_EQ(ours, theirs);
  EXPECT_NE(ours, Bytes(ours.size()));
  for (const int mode : {0, 1, 2, 3}) {
    Bytes sums[2] = {ours, ours};
    Bytes out[2] = {Bytes(ours.size()), Bytes(ours.size())};
    epilogue(sums[0].data(), out[0].data(), mode, 1);
    call("epilogue", {{sums[1], &kC, 0}, {out[1], &kC, 0}, {{}, nullptr, mode}, {{}, nullptr, 1}});
    EXPECT_EQ(out[0], out[1]) << mode;
  }
  int32_t parameters[4] = {};
  const int32_t expected[4] = {6, 3, 2, 1};
  std::memcpy(a.data(), expected, sizeof expected);
  read_header(a.data(), parameters);
  EXPECT_EQ(std::memcmp(parameters, expected, sizeof expected), 0);
  ASSERT_EQ(design.kernels.size(), 4U) << "a kernel without an entry point here";
}

TEST(Entry, RowsAndIntegers) {
  const KernelTable table = aie_kernels(GenerationId::kXdna1, CpuIsa::kScalar).value();
  const ObjectType row{{128}, ElementType::kBf16};
  Bytes in = random_bytes(row, 3);
  Bytes out[2] = {Bytes(in.size()), Bytes(in.size())};
  softmax_row(in.data(), out[0].data(), 128);
  ASSERT_TRUE(
      table.find("softmax_row")
          ->second
          .run(std::vector<KernelArgument>{{in, &row, 0}, {out[1], &row, 0}, {{}, nullptr, 128}})
          .ok());
  EXPECT_EQ(out[0], out[1]);
  const std::vector<int8_t> a(64 * 64, 3);
  const std::vector<int8_t> b(64 * 32, -2);
  std::vector<int32_t> c(64 * 32, 9);
  zero_i32(c.data());
  matmul_i8_i32(a.data(), b.data(), c.data());
  EXPECT_EQ(c, std::vector<int32_t>(64 * 32, -6 * 64));
}

}  // namespace
}  // namespace sotto::npu
