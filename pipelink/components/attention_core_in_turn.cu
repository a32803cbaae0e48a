// The core of attention: scores, online softmax and output of the tiles that come through three rings.
// The warpgroups take turns in issuing their products.  sm_90a.
#include "attention.cuh"

#define PLC_REGISTERS(MIN, MAX) pl::registers<MIN, MAX>
PLC_ATTENTION_CORE(plc::attention_core_in_turn_128, pl::bf16, 128, 128, 128, PLC_REGISTERS(216, 240), IN_TURN)
PLC_ATTENTION_CORE(plc::attention_core_in_turn_64, pl::bf16, 192, 128, 64, PLC_REGISTERS(160, 160), IN_TURN)
