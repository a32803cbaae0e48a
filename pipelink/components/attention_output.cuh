// What components that write O have in common: where it is, and the logarithms of the rows' sums.
#pragma once
#include "attention.cuh"

namespace plc {
// Rounds 16 queries of a head, of which `row` is the first, and stores those of them that are below `queries`.
template <int D, class Element>
__device__ __forceinline__ void store_head(const Element* head, const pl::fragment<float, D / 2>& values, int queries,
                                           int stride, int row) {
  const matrix_of<Element> out{head, queries, D, stride};
#pragma unroll
  for (int panel = 0; panel < D / 64; ++panel) {
    chunk part;
#pragma unroll
    for (int n = 0; n < 32; ++n) part[n] = values[32 * panel + n];
    store_chunk(out, part, row, 64 * panel);
  }
}
// The same, without rounding.
template <int D>
__device__ __forceinline__ void store_head(float* head, const pl::fragment<float, D / 2>& values, int queries, int stride,
                                           int row) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int r = row + lane / 4 + 8 * h;
    float2* to = reinterpret_cast<float2*>(head + static_cast<long long>(r) * stride) + lane % 4;
    if (r >= queries) continue;
#pragma unroll
    for (int g = 0; g < D / 8; ++g) to[4 * g] = {values[4 * g + 2 * h], values[4 * g + 2 * h + 1]};
  }
}
}  // namespace plc

#define PLC_ATTENTION_OUTPUT_(ELEMENT, D)                                                                              \
  PL_ANSWER(store, void(pl::fragment<float, D / 2>&, plc::row_pair&, plc::attention_tile, int));                       \
  PL_PARAM(o, ELEMENT*);                                                                                               \
  PL_PARAM(o_batch, int);                                                                                              \
  PL_PARAM(o_row, int);                                                                                                \
  PL_PARAM(o_head, int);                                                                                               \
  PL_TENSOR(o, ELEMENT, "B, SQ, H, " #D, pl::write, pl::align<16>);                                                    \
  PL_BIND(o_batch, "stride(o, 0)");                                                                                    \
  PL_BIND(o_row, "stride(o, 1)");                                                                                      \
  PL_BIND(o_head, "stride(o, 2)");                                                                                     \
  static __device__ __forceinline__ void store_head(pl::self self, pl::fragment<float, D / 2>& values,                 \
                                                    plc::attention_tile tile, int row) {                               \
    const long long at = static_cast<long long>(tile.batch) * o_batch(self) +                                          \
                    static_cast<long long>(tile.q_begin) * o_row(self) + tile.head * o_head(self);                     \
    plc::store_head<D>(plc::behind(o(self), at), values, tile.queries, o_row(self), row);                              \
  }                                                                                                                    \
  static_assert(true, "")

#define PLC_ATTENTION_OUTPUT_LSE_                                                                                      \
  PL_PARAM(lse, float*);                                                                                               \
  PL_PARAM(lse_batch, int);                                                                                            \
  PL_PARAM(lse_head, int);                                                                                             \
  PL_TENSOR(lse, float, "B, H, SQ", pl::write);                                                                        \
  PL_BIND(lse_batch, "stride(lse, 0)");                                                                                \
  PL_BIND(lse_head, "stride(lse, 1)");                                                                                 \
  static __device__ __forceinline__ void store_log_sum(pl::self self, const plc::row_pair& log_sum,                    \
                                                       plc::attention_tile tile, int row) {                            \
    const int lane = threadIdx.x % 32;                                                                                 \
    float* to = lse(self) + static_cast<long long>(tile.batch) * lse_batch(self) + tile.head * lse_head(self) +        \
                tile.q_begin;                                                                                          \
    _Pragma("unroll") for (int h = 0; h < 2; ++h) {                                                                    \
      const int r = row + lane / 4 + 8 * h;                                                                            \
      if (lane % 4 == 0 && r < tile.queries) to[r] = log_sum[h];                                                       \
    }                                                                                                                  \
  }                                                                                                                    \
  static_assert(true, "")
