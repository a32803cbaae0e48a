// Multiplies tiles of A and B out of a ring with wgmma; two warpgroups share a tile of C.  sm_90a.
#include "sm90_gemm.cuh"

PLC_WGMMA_MAINLOOP(plc::wgmma_mainloop_128x256x64, 128, 256, PLC_REGISTERS(168, 240))
PLC_WGMMA_MAINLOOP(plc::wgmma_mainloop_256x128x64, 256, 128, PLC_REGISTERS(168, 240))
PLC_WGMMA_MAINLOOP(plc::wgmma_mainloop_128x192x64, 128, 192, PLC_REGISTERS(136, 240))
PLC_WGMMA_MAINLOOP(plc::wgmma_mainloop_128x128x64, 128, 128, PLC_REGISTERS(104, 240))
PLC_WGMMA_MAINLOOP(plc::wgmma_mainloop_128x64x64, 128, 64, PLC_REGISTERS(80, 240))
PLC_WGMMA_MAINLOOP(plc::wgmma_mainloop_64x256x64, 64, 256, PLC_REGISTERS(104, 240))
