// Multiplies e4m3 tiles of A and B out of a ring with wgmma; scales for 1 x 128 of A and 128 x 128 of B.  sm_90a.
//
// The gated mainloop takes b_scale with the gate's rows of blocks first and then as many of the up half.
#include "fp8_gemm.cuh"

#define PLC_REGISTERS_(MIN, MAX) pl::registers<MIN, MAX>
PLC_FP8_BLOCK_MAINLOOP(plc::fp8_block_mainloop_128x128x128, "ceildiv(N, 128)", n, n, PLC_REGISTERS_(168, 240))
PLC_FP8_BLOCK_MAINLOOP(plc::fp8_block_mainloop_gated_128x128x128, "2 * ceildiv(N, 128)", n / 2, rows / 2 + n / 2,
                       PLC_REGISTERS_(168, 240))
