// Loads the tiles of A and B that two CTAs multiply together, each its own part of them.  sm_100a, sm_103a, sm_110a.
#include "sm100_gemm.cuh"

PLC_PAIR_LOADER(plc::pair_loader_256x256x64, 256)
PLC_PAIR_LOADER_GATED(plc::pair_loader_gated_256x256x64, 256)
