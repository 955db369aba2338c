// Designs by name, for the command line and for tests that walk over many.
#ifndef SOTTO_NPU_LIBRARY_CATALOGUE_H_
#define SOTTO_NPU_LIBRARY_CATALOGUE_H_

#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "npu/design/design.h"
#include "npu/library/gemm.h"
#include "npu/library/row_op.h"
#include "sotto/status.h"

namespace sotto::npu {

struct GemmJob {
  GemmShape shape;
  EpilogueMode mode = EpilogueMode::kF32;
};
struct MlpJob {
  int64_t m, k, h, n;
};
struct AttentionJob {
  int64_t heads, t, d, dv;
};

/// A design with one sequence, and what that sequence computes.
struct NamedDesign {
  Design design;
  UniversalOptions options;  ///< For the universal array's jobs
  bool universal = false;
  std::variant<GemmJob, MlpJob, AttentionJob, RowOp> job;
};

struct DesignForm {
  std::string_view form;     ///< "gemm-MxKxN"
  std::string_view example;  ///< A name of that form
  std::string_view meaning;
};
std::span<const DesignForm> design_forms();

/// Builds the design called `name`; shapes are padded to what the array divides into.
/// kInvalidArgument lists the forms.
Result<NamedDesign> design_by_name(std::string_view name, GenerationId generation);

}  // namespace sotto::npu

#endif  // SOTTO_NPU_LIBRARY_CATALOGUE_H_
