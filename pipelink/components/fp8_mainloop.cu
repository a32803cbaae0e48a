// Multiplies e4m3 tiles of A and B out of a ring with wgmma; one scale for each operand.  sm_90a.
#include "fp8_gemm.cuh"

#define PLC_REGISTERS_(MIN, MAX) pl::registers<MIN, MAX>
PLC_FP8_MAINLOOP(plc::fp8_mainloop_128x256x128, 256, PLC_REGISTERS_(168, 240))
PLC_FP8_MAINLOOP(plc::fp8_mainloop_128x128x128, 128, PLC_REGISTERS_(104, 240))
