// Two hundred single-field changes of designs and instruction streams: the verifier, the simulator
// or the result notices nearly every one. A chain of checks that lets wrong designs through is
// worth nothing on hardware that nobody here has.
#include <gtest/gtest.h>

#include <functional>

#include "npu/design/verify.h"
#include "npu/library/gemm.h"
#include "npu/library/row_op.h"
#include "npu/sim/array_sim.h"
#include "npu/sim/testing/gemm_run.h"
#include "npu/txn/sequence.h"

namespace sotto::npu {
namespace {

using testing::HostBytes;
using testing::Matrix;

/// A design with inputs and the result that is right.
struct Subject {
  Design design;
  std::vector<HostBytes> inputs;
  std::vector<HostBytes> wanted;
};

Subject fixed_subject(std::mt19937& rng) {
  const GemmShape shape{512, 128, 256};
  Subject out;
  out.design = fixed_gemm(GenerationId::kXdna1, shape, {}, ElementType::kF32, CTasks::kRow).value();
  const Matrix a = testing::random_matrix(shape.m * shape.k, rng, 0.5);
  const Matrix b = testing::random_matrix(shape.k * shape.n, rng, 0.5);
  out.inputs = {testing::pack(a, ElementType::kBf16), testing::pack(b, ElementType::kBf16),
                testing::unwritten(out.design.sequences[0].arguments[2])};
  out.wanted = out.inputs;
  out.wanted[2] =
      testing::pack(testing::product(a, b, shape.m, shape.k, shape.n), ElementType::kF32);
  return out;
}

Subject universal_subject(std::mt19937& rng) {
  const UniversalOptions options;
  const GemmShape shape{512, 128, 256};
  Subject out;
  out.design = universal_array(options);
  out.design.sequences = {gemm_sequence(options, "gemm", shape, EpilogueMode::kBf16).value()};
  const Matrix a = testing::random_matrix(shape.m * shape.k, rng, 0.5);
  const Matrix b = testing::random_matrix(shape.k * shape.n, rng, 0.5);
  out.inputs = {testing::pack(a, ElementType::kBf16), testing::pack(b, ElementType::kBf16),
                testing::unwritten(out.design.sequences[0].arguments[2])};
  testing::append_header(out.inputs[1], launch_parameters(options, shape, EpilogueMode::kBf16),
                         header_elements(options));
  out.wanted = out.inputs;
  out.wanted[2] =
      testing::pack(testing::product(a, b, shape.m, shape.k, shape.n), ElementType::kBf16);
  return out;
}

Subject row_subject(std::mt19937& rng) {
  Subject out;
  const int64_t rows = 128, window = 32, pitch = 48;
  out.design = row_op({GenerationId::kXdna1, "gelu_row", rows, window, pitch, pitch,
                       ElementType::kF32, ElementType::kBf16, 0})
                   .value();
  const Matrix x = testing::random_matrix(rows * pitch, rng, 0.5);
  Matrix y(static_cast<size_t>(rows * pitch));
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < window; ++c)
      y[static_cast<size_t>(r * pitch + c)] = x[static_cast<size_t>(r * pitch + c)] + 1;
  }
  out.inputs = {testing::pack(x, ElementType::kF32),
                HostBytes(static_cast<size_t>(rows * pitch * 2))};
  out.wanted = {out.inputs[0], testing::pack(y, ElementType::kBf16)};
  return out;
}

/// "" when nothing is noticed; else what noticed it.
std::string notice(const Design& design, const std::vector<uint32_t>* words,
                   const Subject& subject) {
  const std::vector<Violation> found = verify(design);
  if (!found.empty()) return found[0].rule;
  const Result<LoweredArray> array = lower(design);
  if (!array.ok()) return array.status().message();
  const KernelTable kernels = functional_kernels(design.generation);
  static ThreadPool pool(2);
  auto sim = ArraySim::create(design, *array, kernels, pool);
  if (!sim.ok()) return sim.status().message();
  std::vector<HostBytes> buffers = subject.inputs;
  Result<LaunchReport> report = words != nullptr
                                    ? (*sim)->launch(*words, testing::spans(buffers))
                                    : (*sim)->launch(design.sequences[0], testing::spans(buffers));
  if (!report.ok()) return report.status().message();
  // A launch must leave the array ready for the next one.
  std::vector<HostBytes> second = subject.inputs;
  report = words != nullptr ? (*sim)->launch(*words, testing::spans(second))
                            : (*sim)->launch(design.sequences[0], testing::spans(second));
  if (!report.ok()) return report.status().message();
  return buffers == subject.wanted && second == subject.wanted ? "" : "wrong result";
}

// ---- Changes of designs
// ---------------------------------------------------------------------------

/// Every number and name of a design that means something, as a change that can be made.
std::vector<std::pair<std::string, std::function<void(Design&)>>> design_changes(
    const Design& design) {
  std::vector<std::pair<std::string, std::function<void(Design&)>>> out;
  for (size_t f = 0; f < design.fifos.size(); ++f) {
    const std::string who = design.fifos[f].name;
    out.emplace_back(who + " depth 0", [f](Design& d) { d.fifos[f].depths = {0}; });
    out.emplace_back(who + " shape", [f](Design& d) { d.fifos[f].type.shape[0] += 4; });
    out.emplace_back(who + " element",
                     [f](Design& d) { d.fifos[f].type.element = ElementType::kI8; });
    out.emplace_back(who + " producer", [f](Design& d) { d.fifos[f].producer.col ^= 1; });
    out.emplace_back(who + " consumer", [f](Design& d) { d.fifos[f].consumers[0].tile.col ^= 1; });
    for (size_t i = 0; i < design.fifos[f].to_stream.size(); ++i) {
      out.emplace_back(who + " transform size",
                       [f, i](Design& d) { d.fifos[f].to_stream[i].size += 1; });
      out.emplace_back(who + " transform stride",
                       [f, i](Design& d) { d.fifos[f].to_stream[i].stride += 2; });
    }
  }
  for (size_t l = 0; l < design.links.size(); ++l) {
    out.emplace_back("link dropped", [l](Design& d) {
      d.links.erase(d.links.begin() + static_cast<std::ptrdiff_t>(l));
    });
    for (size_t i = 0; i < design.links[l].input_offsets.size(); ++i) {
      out.emplace_back("join offset", [l, i](Design& d) { d.links[l].input_offsets[i] += 16; });
    }
    if (design.links[l].output_offsets.size() > 1) {
      out.emplace_back("split offset", [l](Design& d) { d.links[l].output_offsets[1] += 16; });
    }
  }
  for (size_t p = 0; p < design.programs.size(); ++p) {
    out.emplace_back("stack", [p](Design& d) { d.programs[p].stack_bytes = 60000; });
    out.emplace_back("program tile", [p](Design& d) { d.programs[p].tile.row ^= 1; });
    out.emplace_back("program dropped", [p](Design& d) {
      d.programs.erase(d.programs.begin() + static_cast<std::ptrdiff_t>(p));
    });
    const size_t statements = std::get<Loop>(design.programs[p].body[0]).body.size();
    for (size_t s = 0; s < statements; ++s) {
      out.emplace_back("statement dropped", [p, s](Design& d) {
        auto& body = std::get<Loop>(d.programs[p].body[0]).body;
        body.erase(body.begin() + static_cast<std::ptrdiff_t>(s));
      });
    }
  }
  for (size_t o = 0; o < design.sequences[0].ops.size(); ++o) {
    if (!std::holds_alternative<StartTask>(design.sequences[0].ops[o])) {
      if (std::holds_alternative<AwaitTask>(design.sequences[0].ops[o])) {
        out.emplace_back("await dropped", [o](Design& d) {
          auto& ops = d.sequences[0].ops;
          ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(o));
        });
      }
      continue;
    }
    const auto task = [o](Design& d) -> Task& {
      return std::get<StartTask>(d.sequences[0].ops[o]).task;
    };
    out.emplace_back("task argument", [task](Design& d) { task(d).argument ^= 1; });
    out.emplace_back("task offset", [task](Design& d) { task(d).offset += 2; });
    out.emplace_back("task length", [task](Design& d) { task(d).len += 2; });
    out.emplace_back("task token",
                     [task](Design& d) { task(d).issue_token = !task(d).issue_token; });
    out.emplace_back("task repeat", [task](Design& d) { task(d).repeat_count += 1; });
    const auto& dims = std::get<StartTask>(design.sequences[0].ops[o]).task.dims;
    for (size_t i = 0; i < dims.size(); ++i) {
      out.emplace_back("task size", [task, i](Design& d) { task(d).dims[i].size += 1; });
      if (dims[i].size > 1)
        out.emplace_back("task stride", [task, i](Design& d) { task(d).dims[i].stride += 2; });
    }
    out.emplace_back("task dropped", [o](Design& d) {
      auto& ops = d.sequences[0].ops;
      ops.erase(ops.begin() + static_cast<std::ptrdiff_t>(o));
    });
  }
  return out;
}

// ---- Changes of streams
// ---------------------------------------------------------------------------

/// One field of one operation, changed.
void change_stream(Stream& stream, std::mt19937& rng, std::string& what) {
  const auto pick = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(rng); };
  const auto flip = [&](uint32_t& word, std::initializer_list<int> bits, const char* name) {
    what = name;
    word ^= 1U << *(bits.begin() + pick(bits.size()));
  };
  StreamOp& op = stream.ops[pick(stream.ops.size())];
  if (auto* w = std::get_if<Write32>(&op)) {
    pick(2) == 0 ? flip(w->address, {2, 3, 4, 20, 25}, "write address")
                 : flip(w->value, {0, 1, 2, 3, 16, 17, 31}, "write value");
  } else if (auto* b = std::get_if<BlockWrite>(&op)) {
    switch (pick(6)) {
      case 0:
        flip(b->address, {5, 6, 20, 25}, "descriptor address");
        break;
      case 1:
        flip(b->data[0], {0, 3, 5, 8}, "descriptor length");
        break;
      case 2:
        flip(b->data[1], {2, 5, 9}, "descriptor base");
        break;
      case 3:
        if (b->data[3] >> 20 == 0)
          return change_stream(stream, rng, what);  // a linear transfer ignores the rest
        flip(b->data[3], {20, 21, 24}, "descriptor d0");
        break;
      case 4:
        if (b->data[3] >> 20 == 0) return change_stream(stream, rng, what);
        flip(b->data[4], {0, 1, 4, 20, 22}, "descriptor d1");
        break;
      default:
        flip(b->data[7], {25}, "descriptor valid");
        break;
    }
  } else if (auto* p = std::get_if<PatchAddress>(&op)) {
    switch (pick(3)) {
      case 0:
        flip(p->address, {2, 5, 25}, "patch address");
        break;
      case 1:
        flip(p->argument, {0, 1}, "patch argument");
        break;
      default:
        flip(p->plus, {2, 6, 10}, "patch offset");
        break;
    }
  } else if (auto* m = std::get_if<MaskWrite>(&op)) {
    pick(2) == 0 ? flip(m->value, {8, 9}, "controller id")
                 : flip(m->address, {3, 4, 25}, "controller address");
  } else if (auto* s = std::get_if<Sync>(&op)) {
    what = "sync channel";
    pick(2) == 0 ? (void)(s->channel ^= 1) : (void)(s->tile.col ^= 1);
  }
}

TEST(Mutation, NearlyEverySingleFieldChangeIsNoticed) {
  std::mt19937 rng(2026);
  const std::vector<Subject> subjects = {fixed_subject(rng), universal_subject(rng),
                                         row_subject(rng)};
  for (const Subject& subject : subjects)
    ASSERT_EQ(notice(subject.design, nullptr, subject), "");
  const auto pick = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(rng); };
  constexpr int kDesignChanges = 120;
  constexpr int kStreamChanges = 80;
  int noticed = 0;
  std::string missed;
  for (int i = 0; i < kDesignChanges; ++i) {
    const Subject& subject = subjects[pick(subjects.size())];
    const auto changes = design_changes(subject.design);
    const auto& [what, change] = changes[pick(changes.size())];
    Design changed = subject.design;
    change(changed);
    const bool seen = !notice(changed, nullptr, subject).empty();
    noticed += seen ? 1 : 0;
    if (!seen) missed += "\n  design: " + what;
  }
  for (int i = 0; i < kStreamChanges; ++i) {
    const Subject& subject = subjects[pick(subjects.size())];
    Stream stream =
        encode_sequence(subject.design.sequences[0], lower(subject.design).value()).value();
    std::string what;
    change_stream(stream, rng, what);
    const std::vector<uint32_t> words = encode_stream(stream);
    const bool seen = !notice(subject.design, &words, subject).empty();
    noticed += seen ? 1 : 0;
    if (!seen) missed += "\n  stream: " + what;
  }
  RecordProperty("noticed", noticed);
  EXPECT_GE(noticed, 195) << "missed:" << missed;
}

}  // namespace
}  // namespace sotto::npu
