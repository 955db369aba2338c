// A design's host sequence as an instruction stream.
#ifndef SOTTO_NPU_TXN_SEQUENCE_H_
#define SOTTO_NPU_TXN_SEQUENCE_H_

#include "npu/design/design.h"
#include "npu/design/lowered.h"
#include "npu/txn/stream.h"

namespace sotto::npu {

/// Encodes `sequence` for the array that `lowered` describes (shim channels of the fifos, addresses
/// of parameter buffers, ids of locks). Descriptor ids are taken lowest free first, as the compiler
/// does. kInvalidArgument when the sequence names what the array does not have, or needs more than
/// the shim's 16 descriptors at once.
Result<Stream> encode_sequence(const Sequence& sequence, const LoweredArray& lowered);

/// The descriptor of one task (offset and dims in elements of `element`).
Result<ShimDescriptor> shim_descriptor(const Task& task, ElementType element,
                                       const Generation& generation);

}  // namespace sotto::npu

#endif  // SOTTO_NPU_TXN_SEQUENCE_H_
