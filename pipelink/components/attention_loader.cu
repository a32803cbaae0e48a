// Loads queries, keys and values of the tiles and blocks that a walker names, by TMA, into three rings.  sm_90.
#include "attention.cuh"

PLC_ATTENTION_LOADER(plc::attention_loader_128, pl::bf16, 128, 128, 128)
PLC_ATTENTION_LOADER(plc::attention_loader_64, pl::bf16, 192, 128, 64)
PLC_ATTENTION_LOADER(plc::attention_loader_256, pl::bf16, 128, 64, 256)
PLC_ATTENTION_LOADER(plc::attention_loader_128_f16, pl::f16, 128, 128, 128)
PLC_ATTENTION_LOADER(plc::attention_loader_64_f16, pl::f16, 192, 128, 64)
PLC_ATTENTION_LOADER(plc::attention_loader_256_f16, pl::f16, 128, 64, 256)
