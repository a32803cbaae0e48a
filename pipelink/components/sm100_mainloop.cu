// Multiplies tiles of A and B out of a ring with tcgen05.mma into accumulators in tensor memory.  sm_100a and later.
#include "sm100_gemm.cuh"

PLC_UMMA_MAINLOOP(plc::sm100_mainloop_128x256x64, 256, 1, PLC_ONE_CTA)
PLC_UMMA_MAINLOOP(plc::sm100_mainloop_128x128x64, 128, 1, PLC_ONE_CTA)
PLC_UMMA_MAINLOOP(plc::sm100_pair_mainloop_256x256x64, 256, 2, PLC_TWO_CTAS)
