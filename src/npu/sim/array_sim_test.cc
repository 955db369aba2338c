// The simulator on designs of the library: many shapes on one array, and what it says of faults
// that only execution shows.
#include "npu/sim/array_sim.h"

#include <gtest/gtest.h>

#include "npu/design/testing/golden.h"
#include "npu/design/verify.h"
#include "npu/emit/parse.h"
#include "npu/library/gemm.h"
#include "npu/library/row_op.h"
#include "npu/sim/testing/gemm_run.h"
#include "npu/txn/sequence.h"

namespace sotto::npu {
namespace {

using testing::HostBytes;
using testing::Matrix;

struct Machine {
  explicit Machine(Design d)
      : design(std::move(d)), kernels(functional_kernels(design.generation)) {
    Result<LoweredArray> lowered = lower(design);
    EXPECT_TRUE(lowered.ok()) << lowered.status().message();
    array = std::move(lowered).value();
    Result<std::unique_ptr<ArraySim>> made = ArraySim::create(design, array, kernels, pool);
    EXPECT_TRUE(made.ok()) << made.status().message();
    sim = std::move(made).value();
  }
  ThreadPool pool{2};
  Design design;
  LoweredArray array;
  KernelTable kernels;
  std::unique_ptr<ArraySim> sim;
};

class UniversalArray : public ::testing::TestWithParam<std::tuple<GenerationId, Gate>> {};

TEST_P(UniversalArray, RunsThirtyRandomShapesInARow) {
  const auto [generation_id, gate] = GetParam();
  const UniversalOptions options{generation_id, gate, true, {}};
  Machine machine(universal_array(options));
  ASSERT_TRUE(verify(machine.design).empty());
  std::mt19937 rng(7);
  const auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(rng);
  };
  for (int run = 0; run < 30; ++run) {
    const auto mode = static_cast<EpilogueMode>(pick(0, 3));
    const GemmShape shape = pad_gemm({pick(1, 600), pick(1, 300), pick(1, 700)}, options.tile,
                                     generation_id, mode != EpilogueMode::kF32);
    SCOPED_TRACE(std::to_string(run) + ": " + std::to_string(shape.m) + "x" +
                 std::to_string(shape.k) + "x" + std::to_string(shape.n) + " mode " +
                 std::to_string(static_cast<int>(mode)));
    Result<Sequence> sequence = gemm_sequence(options, "gemm", shape, mode);
    ASSERT_TRUE(sequence.ok()) << sequence.status().message();
    ASSERT_TRUE(verify_sequence(machine.design, *sequence).empty());
    const Matrix a = testing::random_matrix(shape.m * shape.k, rng, 0.1);
    const Matrix b = testing::random_matrix(shape.k * shape.n, rng, 0.1);
    std::vector<HostBytes> buffers = {testing::pack(a, ElementType::kBf16),
                                      testing::pack(b, ElementType::kBf16),
                                      testing::unwritten(sequence->arguments[2])};
    if (gate == Gate::kHeader) {
      testing::append_header(buffers[1], launch_parameters(options, shape, mode),
                             header_elements(options));
    }
    Result<Stream> stream = encode_sequence(*sequence, machine.array);
    ASSERT_TRUE(stream.ok()) << stream.status().message();
    Result<LaunchReport> report =
        machine.sim->launch(encode_stream(*stream), testing::spans(buffers));
    ASSERT_TRUE(report.ok()) << report.status().message();
    ASSERT_EQ(testing::unpack(buffers[2], sequence->arguments[2].element),
              testing::product(a, b, shape.m, shape.k, shape.n));
    EXPECT_GE(report->cycles, static_cast<double>(shape.m * shape.k * shape.n) /
                                  (generation(generation_id).cores() *
                                   generation(generation_id).bf16_macs_per_cycle));
  }
}

INSTANTIATE_TEST_SUITE_P(Generations, UniversalArray,
                         ::testing::Combine(::testing::Values(GenerationId::kXdna1,
                                                              GenerationId::kXdna2),
                                            ::testing::Values(Gate::kHeader, Gate::kLock)));

TEST(ArraySim, ResultsAndReportsDoNotDependOnThreads) {
  const UniversalOptions options;
  const GemmShape shape{512, 128, 256};
  std::mt19937 rng(3);
  const Matrix a = testing::random_matrix(shape.m * shape.k, rng, 0.3);
  const Matrix b = testing::random_matrix(shape.k * shape.n, rng, 0.3);
  const Sequence sequence = gemm_sequence(options, "gemm", shape, EpilogueMode::kBf16).value();
  std::vector<HostBytes> first;
  double cycles = 0;
  for (const int threads : {1, 2, 5}) {
    const Design design = universal_array(options);
    const KernelTable kernels = functional_kernels(design.generation);
    ThreadPool pool(threads);
    auto sim = ArraySim::create(design, lower(design).value(), kernels, pool).value();
    std::vector<HostBytes> buffers = {testing::pack(a, ElementType::kBf16),
                                      testing::pack(b, ElementType::kBf16),
                                      testing::unwritten(sequence.arguments[2])};
    testing::append_header(buffers[1], launch_parameters(options, shape, EpilogueMode::kBf16),
                           header_elements(options));
    Result<LaunchReport> report = sim->launch(sequence, testing::spans(buffers));
    ASSERT_TRUE(report.ok()) << report.status().message();
    if (first.empty()) {
      first = buffers;
      cycles = report->cycles;
    }
    EXPECT_EQ(buffers, first);
    EXPECT_EQ(report->cycles, cycles);
  }
}

// Faults that the compiler accepts and that show in execution only.
TEST(ArraySim, NamesADeadlockAndWhoWaits) {
  Design design =
      parse_design(testing::read_text(testing::golden_root() / "negative/n25_program_phase.mlir"))
          .value();
  EXPECT_TRUE(verify(design).empty());
  KernelTable kernels;
  kernels["k"] = {[](std::span<const KernelArgument> a) {
                    std::memcpy(a[1].memory.data(), a[0].memory.data(), a[1].memory.size());
                    return Status();
                  },
                  {1},
                  {}};
  ThreadPool pool(1);
  auto sim = ArraySim::create(design, lower(design).value(), kernels, pool).value();
  std::vector<HostBytes> buffers;
  for (const HostArgument& argument : design.sequences[0].arguments)
    buffers.push_back(testing::unwritten(argument));
  const Result<LaunchReport> report = sim->launch(design.sequences[0], testing::spans(buffers));
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.status().message().rfind("deadlock: ", 0), 0U) << report.status().message();
  EXPECT_NE(report.status().message().find("core(0,2) waits for data in @inp"), std::string::npos)
      << report.status().message();
}

TEST(ArraySim, FindsAReusedDescriptorInFlight) {
  Design design = parse_design(testing::read_text(testing::golden_root() /
                                                  "negative/n26_bd_rewritten_in_flight.mlir"))
                      .value();
  const Result<Stream> stream = encode_sequence(design.sequences[0], lower(design).value());
  ASSERT_TRUE(stream.ok()) << stream.status().message();
  KernelTable kernels;
  kernels["k"] = {[](std::span<const KernelArgument> a) {
                    std::memcpy(a[1].memory.data(), a[0].memory.data(), a[1].memory.size());
                    return Status();
                  },
                  {1},
                  {}};
  ThreadPool pool(1);
  auto sim = ArraySim::create(design, lower(design).value(), kernels, pool).value();
  std::vector<HostBytes> buffers;
  for (const HostArgument& argument : design.sequences[0].arguments)
    buffers.push_back(testing::unwritten(argument));
  const Result<LaunchReport> report = sim->launch(encode_stream(*stream), testing::spans(buffers));
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.status().message().rfind("descriptor in flight: ", 0), 0U)
      << report.status().message();
}

TEST(ArraySim, FindsTooSmallHostBuffersAndMissingKernels) {
  const UniversalOptions options;
  Machine machine(universal_array(options));
  const GemmShape shape{256, 64, 128};
  const Sequence sequence = gemm_sequence(options, "gemm", shape, EpilogueMode::kF32).value();
  std::vector<HostBytes> buffers;
  for (const HostArgument& argument : sequence.arguments)
    buffers.push_back(testing::unwritten(argument));
  buffers[1].resize(buffers[1].size() / 2);
  Result<LaunchReport> report = machine.sim->launch(sequence, testing::spans(buffers));
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.status().message().rfind("host bounds: ", 0), 0U) << report.status().message();
  buffers.pop_back();
  EXPECT_EQ(machine.sim->launch(sequence, testing::spans(buffers)).status().code(),
            StatusCode::kInvalidArgument);

  KernelTable kernels = functional_kernels(GenerationId::kXdna1);
  kernels.erase("epilogue");
  ThreadPool pool(1);
  EXPECT_EQ(ArraySim::create(machine.design, machine.array, kernels, pool).status().code(),
            StatusCode::kUnsupported);
}

TEST(ArraySim, FindsDataLeftBehindAndUninitialisedReads) {
  const UniversalOptions options;
  const GemmShape shape{256, 64, 128};
  // One k step too many in the header: the cores wait for operands that never come.
  for (const int extra : {1, -1}) {
    Machine machine(universal_array(options));
    Sequence sequence = gemm_sequence(options, "gemm", {256, 128, 128}, EpilogueMode::kF32).value();
    std::vector<HostBytes> buffers;
    for (const HostArgument& argument : sequence.arguments) {
      buffers.emplace_back(
          static_cast<size_t>(argument.elements * element_bytes(argument.element)));
    }
    std::vector<int32_t> words = launch_parameters(options, {256, 128, 128}, EpilogueMode::kF32);
    words[0] += extra;
    std::memcpy(buffers[1].data() + 128 * 128 * 2, words.data(), words.size() * 4);
    const Result<LaunchReport> report = machine.sim->launch(sequence, testing::spans(buffers));
    ASSERT_FALSE(report.ok());
  }
  // A core that multiplies into an accumulator which nothing has cleared.
  Design design =
      fixed_gemm(GenerationId::kXdna1, shape, {}, ElementType::kF32, CTasks::kRow).value();
  for (CoreProgram& program : design.programs) {
    auto& launch = std::get<Loop>(program.body[0]);
    auto& tile = std::get<Loop>(launch.body[0]);
    tile.body.erase(tile.body.begin() + 1);  // the call of zero_f32
  }
  Machine machine(design);
  std::vector<HostBytes> buffers;
  for (const HostArgument& argument : design.sequences[0].arguments)
    buffers.push_back(testing::unwritten(argument));
  const Result<LaunchReport> report =
      machine.sim->launch(design.sequences[0], testing::spans(buffers));
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.status().message().rfind("uninitialised read: ", 0), 0U)
      << report.status().message();
}

}  // namespace
}  // namespace sotto::npu
