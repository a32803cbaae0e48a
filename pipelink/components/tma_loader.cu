// Loads the tiles of A and B that a scheduler names, by TMA, into a ring.  sm_90a.
#include "sm90_gemm.cuh"

PLC_TMA_LOADER(plc::tma_loader_128x256x64, 128, 256)
PLC_TMA_LOADER(plc::tma_loader_128x128x64, 128, 128)
