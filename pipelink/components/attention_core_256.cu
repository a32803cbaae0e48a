// The core of attention for heads of 256, whose output takes half of a thread's registers: blocks of 64 keys.  sm_90a.
#include "attention.cuh"

#define PLC_REGISTERS(MIN, MAX) pl::registers<MIN, MAX>
PLC_ATTENTION_CORE(plc::attention_core_256, pl::bf16, 128, 64, 256, PLC_REGISTERS(216, 240))
PLC_ATTENTION_CORE(plc::attention_core_256_f16, pl::f16, 128, 64, 256, PLC_REGISTERS(216, 240))
