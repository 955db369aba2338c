#define SOTTO_AIE_ARCH 2
#define SOTTO_AIE_HOST_ISA avx2
#define SOTTO_AIE_NAMESPACE sotto_aie2_avx2
#define SOTTO_AIE_HOST_TABLE host_kernels_aie2_avx2
#include "npu/aie/host/host_kernels-inl.h"
