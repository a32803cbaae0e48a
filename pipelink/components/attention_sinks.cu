// A logit that joins each row's sum, once and with no value: what a query can look at instead of keys.
#include "attention.cuh"

namespace plc {
template <class Element>
__device__ __forceinline__ float logit_of(const Element* sinks, int head) {
  unsigned short half;
  asm("ld.global.nc.u16 %0, [%1];" : "=h"(half) : "l"(reinterpret_cast<const char*>(sinks) + 2 * head));
  return words<Element>::low(half);
}
template <>
__device__ __forceinline__ float logit_of(const float* sinks, int head) { return __ldg(sinks + head); }
}  // namespace plc

// None.
PL_COMPONENT(plc::attention_no_sink) {
PL_ANSWER(sink, void(plc::row_pair&, plc::attention_tile, int));
PL_DEFINE(sink)(pl::self, plc::row_pair&, plc::attention_tile, int) -> void {}
}

// That of the row's head: where `pack` heads are rows of a query, the tile names the first of them.  Rows beyond the last
// head are of no account.  Where several tiles share the keys of a query, it counts in the first.
#define PLC_ATTENTION_SINKS(NAME, ELEMENT)                                                                             \
  PL_COMPONENT(NAME) {                                                                                                 \
    PL_ANSWER(sink, void(plc::row_pair&, plc::attention_tile, int));                                                   \
    PL_PARAM(pack, int);                                                                                               \
    PL_PARAM(heads, int);                                                                                              \
    PL_PARAM(sinks, const ELEMENT*);                                                                                   \
    PL_TENSOR(sinks, ELEMENT, "H", pl::read);                                                                          \
    PL_BIND(heads, "H");                                                                                               \
    PL_DEFINE(sink)(pl::self self, plc::row_pair& logits, plc::attention_tile tile, int row) -> void {                 \
      if (tile.part != 0) return;                                                                                      \
      _Pragma("unroll") for (int h = 0; h < 2; ++h) {                                                                  \
        const int of = (row + threadIdx.x % 32 / 4 + 8 * h) & (pack(self) - 1);                                        \
        logits[h] = plc::logit_of(sinks(self), min(tile.head + of, heads(self) - 1));                                  \
      }                                                                                                                \
    }                                                                                                                  \
  }
PLC_ATTENTION_SINKS(plc::attention_sinks_f32, float)
PLC_ATTENTION_SINKS(plc::attention_sinks_bf16, pl::bf16)
PLC_ATTENTION_SINKS(plc::attention_sinks_f16, pl::f16)
