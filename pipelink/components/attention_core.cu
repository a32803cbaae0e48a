// The core of attention: scores, online softmax and output of the tiles that come through three rings.  sm_90a.
#include "attention.cuh"

#define PLC_REGISTERS(MIN, MAX) pl::registers<MIN, MAX>
PLC_ATTENTION_CORE(plc::attention_core_128, pl::bf16, 128, 128, 128, PLC_REGISTERS(216, 240))
PLC_ATTENTION_CORE(plc::attention_core_64, pl::bf16, 192, 128, 64, PLC_REGISTERS(160, 160))
