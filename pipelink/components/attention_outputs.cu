// What becomes of a tile of attention: O in bf16 or f16, and the logarithms of the rows' sums where they are wanted; or both
// in f32, as a part that attention_merge.cu puts together with others.
#include "attention_output.cuh"

#define PLC_ATTENTION_OUTPUT(NAME, ELEMENT, D)                                                                         \
  PL_COMPONENT(NAME) {                                                                                                 \
    PLC_ATTENTION_OUTPUT_(ELEMENT, D);                                                                                 \
    PL_DEFINE(store)(pl::self self, pl::fragment<float, D / 2>& values, plc::row_pair&, plc::attention_tile tile,      \
                     int row) -> void {                                                                                \
      store_head(self, values, tile, row);                                                                             \
    }                                                                                                                  \
  }
#define PLC_ATTENTION_OUTPUT_LSE(NAME, ELEMENT, D)                                                                     \
  PL_COMPONENT(NAME) {                                                                                                 \
    PLC_ATTENTION_OUTPUT_(ELEMENT, D);                                                                                 \
    PLC_ATTENTION_OUTPUT_LSE_;                                                                                         \
    PL_DEFINE(store)(pl::self self, pl::fragment<float, D / 2>& values, plc::row_pair& log_sum,                        \
                     plc::attention_tile tile, int row) -> void {                                                      \
      store_head(self, values, tile, row);                                                                             \
      store_log_sum(self, log_sum, tile, row);                                                                         \
    }                                                                                                                  \
  }

PLC_ATTENTION_OUTPUT(plc::attention_store_64, pl::bf16, 64)
PLC_ATTENTION_OUTPUT(plc::attention_store_128, pl::bf16, 128)
PLC_ATTENTION_OUTPUT(plc::attention_store_256, pl::bf16, 256)
PLC_ATTENTION_OUTPUT_LSE(plc::attention_store_lse_64, pl::bf16, 64)
PLC_ATTENTION_OUTPUT_LSE(plc::attention_store_lse_128, pl::bf16, 128)
PLC_ATTENTION_OUTPUT_LSE(plc::attention_store_lse_256, pl::bf16, 256)
PLC_ATTENTION_OUTPUT(plc::attention_store_64_f16, pl::f16, 64)
PLC_ATTENTION_OUTPUT(plc::attention_store_128_f16, pl::f16, 128)
PLC_ATTENTION_OUTPUT(plc::attention_store_256_f16, pl::f16, 256)
PLC_ATTENTION_OUTPUT_LSE(plc::attention_store_lse_64_f16, pl::f16, 64)
PLC_ATTENTION_OUTPUT_LSE(plc::attention_store_lse_128_f16, pl::f16, 128)
PLC_ATTENTION_OUTPUT_LSE(plc::attention_store_lse_256_f16, pl::f16, 256)
PLC_ATTENTION_OUTPUT_LSE(plc::attention_store_lse_64_f32, float, 64)
PLC_ATTENTION_OUTPUT_LSE(plc::attention_store_lse_128_f32, float, 128)
PLC_ATTENTION_OUTPUT_LSE(plc::attention_store_lse_256_f32, float, 256)
