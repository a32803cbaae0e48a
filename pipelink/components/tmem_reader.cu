// Brings accumulators from tensor memory to an epilogue, chunk by chunk.  sm_100a, sm_103a, sm_110a.
#include "sm100_gemm.cuh"

PLC_TMEM_READER(plc::tmem_reader_128x256, 256, PLC_ONE_CTA)
PLC_TMEM_READER(plc::tmem_reader_128x128, 128, PLC_ONE_CTA)
PLC_TMEM_READER(plc::tmem_pair_reader_256x256, 256, PLC_TWO_CTAS)
