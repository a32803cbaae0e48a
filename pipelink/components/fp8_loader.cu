// Loads e4m3 tiles of A and B that a scheduler names, by TMA, into a ring; the block loaders also A's scales.  sm_90a.
#include "fp8_gemm.cuh"

PLC_FP8_LOADER(plc::fp8_loader_128x256x128, 128, 256, PLC_FP8_B)
PLC_FP8_LOADER(plc::fp8_loader_128x128x128, 128, 128, PLC_FP8_B)
PLC_FP8_LOADER(plc::fp8_loader_gated_128x256x128, 128, 256, PLC_FP8_B_GATED)
PLC_FP8_LOADER(plc::fp8_loader_gated_128x128x128, 128, 128, PLC_FP8_B_GATED)
PLC_FP8_BLOCK_LOADER(plc::fp8_block_loader_128x128x128, 128, 128, PLC_FP8_B)
PLC_FP8_BLOCK_LOADER(plc::fp8_block_loader_gated_128x128x128, 128, 128, PLC_FP8_B_GATED)
