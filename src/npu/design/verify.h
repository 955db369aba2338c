// The verifier: rules of the hardware and of the compiler, each with a name, checked before
// anything is built or run.
#ifndef SOTTO_NPU_DESIGN_VERIFY_H_
#define SOTTO_NPU_DESIGN_VERIFY_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "npu/design/design.h"

namespace sotto::npu {

/// A rule and what it protects; `sotto npu verify --rules` prints the table.
struct Rule {
  std::string_view name;
  std::string_view meaning;
};
std::span<const Rule> verifier_rules();

struct Violation {
  std::string rule;     ///< Name in verifier_rules()
  std::string message;  ///< One sentence with the figures
};

/// Everything that is wrong with the design; empty when it may be built. What only shows in
/// execution (a deadlock, data left behind) is the simulator's to find.
std::vector<Violation> verify(const Design& design);

/// Only the sequences, against the fifos, buffers and locks of the design.
std::vector<Violation> verify_sequence(const Design& design, const Sequence& sequence);

/// Dimensions (four, outermost first) rearranged so that a shim descriptor can hold them where the
/// order of words stays the same: sizes over the field move to a dimension without a size field.
/// The input when nothing helps.
std::vector<Dim> legalise(const std::vector<Dim>& dims, const Generation& generation,
                          bool may_use_iteration);

}  // namespace sotto::npu

#endif  // SOTTO_NPU_DESIGN_VERIFY_H_
