// Loads the tiles of A and B that a scheduler names, by TMA, into a ring, for mainloops of warps.  sm_90, and so also
// sm_120a, whose 99 KiB of shared memory hold three slots.
#include "sm90_gemm.cuh"

PLC_TMA_LOADER(plc::sm120_loader_128x128x64, 128, 128)
PLC_TMA_LOADER_GATED(plc::sm120_loader_gated_128x128x64, 128, 128)
