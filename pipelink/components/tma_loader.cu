// Loads the tiles of A and B that a scheduler names, by TMA, into a ring.  sm_90a.
#include "sm90_gemm.cuh"

PLC_TMA_LOADER(plc::tma_loader_128x256x64, 128, 256)
PLC_TMA_LOADER(plc::tma_loader_256x128x64, 256, 128)
PLC_TMA_LOADER(plc::tma_loader_128x192x64, 128, 192)
PLC_TMA_LOADER(plc::tma_loader_128x128x64, 128, 128)
PLC_TMA_LOADER(plc::tma_loader_128x64x64, 128, 64)
PLC_TMA_LOADER(plc::tma_loader_64x256x64, 64, 256)

// The same for a weight of [gate; up] rows and a gated epilogue.
PLC_TMA_LOADER_GATED(plc::tma_loader_gated_128x256x64, 128, 256)
PLC_TMA_LOADER_GATED(plc::tma_loader_gated_256x128x64, 256, 128)
PLC_TMA_LOADER_GATED(plc::tma_loader_gated_128x192x64, 128, 192)
PLC_TMA_LOADER_GATED(plc::tma_loader_gated_128x128x64, 128, 128)
PLC_TMA_LOADER_GATED(plc::tma_loader_gated_128x64x64, 128, 64)
PLC_TMA_LOADER_GATED(plc::tma_loader_gated_64x256x64, 64, 256)
