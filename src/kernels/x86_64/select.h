// Chooses among the kernels of this folder.
#ifndef SOTTO_KERNELS_X86_64_SELECT_H_
#define SOTTO_KERNELS_X86_64_SELECT_H_

#include "kernels/kernel_table.h"

namespace sotto::kernels::x86_64 {

/// Replaces the entries of `table` that table.isa has a faster kernel for.
void select(KernelTable& table);

}  // namespace sotto::kernels::x86_64

#endif  // SOTTO_KERNELS_X86_64_SELECT_H_
