#define SOTTO_AIE_ARCH 2
#define SOTTO_AIE_HOST_ISA plain
#define SOTTO_AIE_NAMESPACE sotto_aie2_plain
#define SOTTO_AIE_HOST_TABLE host_kernels_aie2_plain
#include "npu/aie/host/host_kernels-inl.h"
