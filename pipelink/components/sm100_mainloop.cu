// Multiplies tiles of A and B out of a ring with tcgen05.mma into accumulators in tensor memory.  sm_100a, sm_103a.
#include "sm100_gemm.cuh"

PLC_UMMA_MAINLOOP(plc::sm100_mainloop_128x256x64, 256)
PLC_UMMA_MAINLOOP(plc::sm100_mainloop_128x128x64, 128)
