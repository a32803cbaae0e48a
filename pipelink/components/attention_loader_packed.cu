// The loader of attention for few queries: the 2, 4, 8 or 16 heads that share keys and values stand as rows of one query
// in a tile.  Where a group has other than that many, what is read of the next one's heads is for nobody.  Behind `_r16`
// tiles have 16 rows.  sm_90.
#include "attention.cuh"

#define PLC_PACKED_LOADERS(PACK)                                                                                       \
  PLC_ATTENTION_LOADER_PACKED(plc::attention_loader_packed_##PACK##_128, pl::bf16, 128, 128, 128, PACK)                \
  PLC_ATTENTION_LOADER_PACKED(plc::attention_loader_packed_##PACK##_64, pl::bf16, 192, 128, 64, PACK)                  \
  PLC_ATTENTION_LOADER_PACKED(plc::attention_loader_packed_##PACK##_128_f16, pl::f16, 128, 128, 128, PACK)             \
  PLC_ATTENTION_LOADER_PACKED(plc::attention_loader_packed_##PACK##_64_f16, pl::f16, 192, 128, 64, PACK)               \
  PLC_ATTENTION_LOADER_PACKED(plc::attention_loader_packed_##PACK##_128_r16, pl::bf16, 16, 128, 128, PACK)             \
  PLC_ATTENTION_LOADER_PACKED(plc::attention_loader_packed_##PACK##_64_r16, pl::bf16, 16, 128, 64, PACK)
PLC_PACKED_LOADERS(2)
PLC_PACKED_LOADERS(4)
PLC_PACKED_LOADERS(8)
PLC_PACKED_LOADERS(16)
