// What becomes of tiles whose keys neighbouring CTAs share, and whose rows are queries times `pack` heads: O in bf16 or
// f16, and the logarithms of the rows' sums where they are wanted; or both in f32, for attention_merge.cu.
//
// A tile that has one part is rounded and stored.  Of any other, each CTA leaves its part in a workspace, in f32, and
// the last to arrive adds all of them up, in the order of the keys, whoever was last: a warp a row.  Nobody waits for
// anybody else.  The counters are back at 0 when the kernel ends.
#include "attention_parts.cuh"

namespace plc {
// Where the parts of `Rows` rows of `Columns` are.  A CTA has two at most: the first of a tile in one place, any other in
// the other.
template <int Rows, int Columns>
struct split_parts {
  float *values, *log_sums;
  int first;  // the CTA with the first part
  __device__ __forceinline__ int row(int part, int row) const {
    return (2 * (first + part) + (part == 0)) * Rows + row;
  }
  __device__ __forceinline__ float* value(int part, int at) const {
    return values + static_cast<long long>(row(part, at)) * Columns;
  }
};

// Stores 16 rows, of which a lane knows where its two begin, or null, rounded to a type of 16 bits or as they are.  Called
// by whole warps.
template <class Element, int N>
__device__ __forceinline__ void store_rows(Element* const (&to)[2], const pl::fragment<float, N>& values) {
  const int lane = threadIdx.x % 4;
#pragma unroll
  for (int h = 0; h < 2; ++h)
#pragma unroll
    for (int g = 0; g < N / 4; g += 4)
      if constexpr (bytes_of<Element> == 4) {
#pragma unroll
        for (int j = g; j < g + 4; ++j)
          if (to[h]) reinterpret_cast<float2*>(to[h])[4 * j + lane] = {values[4 * j + 2 * h], values[4 * j + 2 * h + 1]};
      } else {
        unsigned w[4];
#pragma unroll
        for (int j = 0; j < 4; ++j)
          w[j] = words<Element>::pack(values[4 * (g + j) + 2 * h], values[4 * (g + j) + 2 * h + 1]);
        transpose_quad(w);
        if (to[h]) *reinterpret_cast<uint4*>(behind(to[h], 8 * (g + lane))) = {w[0], w[1], w[2], w[3]};
      }
}
}  // namespace plc

// WARPS call it: those with 16 of the ROWS of a tile each, and where there are more, others, whose rows are behind the
// tile's and for nobody, which help to add up.  LOG_SUM(batch, head, query, value) and what it takes, WHERE, are nothing
// where the logarithms are not wanted.
#define PLC_SPLIT_OUTPUT(NAME, ELEMENT, ROWS, WARPS, D, WHERE, LOG_SUM)                                                \
  PL_COMPONENT(NAME) {                                                                                                 \
    PL_ANSWER(store, void(pl::fragment<float, D / 2>&, plc::row_pair&, plc::attention_tile, int));                     \
    PL_REQUIRE(plc_tile_queries, ROWS);                                                                                \
    PL_REQUIRE(plc_parts, "neighbours");                                                                               \
    PL_SMEM(last, int);                                                                                                \
    PL_BARRIER(met, pl::threads<WARPS * 32>);                                                                          \
    PL_PARAM(pack, int);                                                                                               \
    PL_PARAM(group, int);                                                                                              \
    PL_PARAM(queries, int);                                                                                            \
    PL_PARAM(o, ELEMENT*);                                                                                             \
    PL_PARAM(o_batch, int);                                                                                            \
    PL_PARAM(o_row, int);                                                                                              \
    PL_PARAM(o_head, int);                                                                                             \
    PL_PARAM(partial, float*);                                                                                         \
    PL_PARAM(partial_sums, float*);                                                                                    \
    PL_PARAM(arrived, unsigned*);                                                                                      \
    PL_TENSOR(o, ELEMENT, "B, SQ, H, " #D, pl::write, pl::align<16>);                                                  \
    PL_BIND(o_batch, "stride(o, 0)");                                                                                  \
    PL_BIND(o_row, "stride(o, 1)");                                                                                    \
    PL_BIND(o_head, "stride(o, 2)");                                                                                   \
    PL_BIND(group, "H / HK");                                                                                          \
    PL_BIND(queries, "SQ");                                                                                            \
    PL_WORKSPACE(partial, "split_ctas * 2 * 4 * " #ROWS " * " #D, pl::uninitialised);                                  \
    PL_WORKSPACE(partial_sums, "split_ctas * 2 * 4 * " #ROWS, pl::uninitialised);                                      \
    PL_WORKSPACE(arrived, "split_ctas * 4", pl::cleared_once);                                                         \
    WHERE;                                                                                                             \
    PL_PROTOCOL(store, "choose shared_keys { met.sync; last.write by 1 thread; met.sync; last.read; } or { }");        \
    /* Where the row begins in O, or null of one that is for nobody. */                                                \
    static __device__ __forceinline__ ELEMENT* place(pl::self self, const plc::attention_tile& tile, int row) {        \
      const int shift = __ffs(pack(self)) - 1, query = row >> shift;                                                   \
      const int of = row & (pack(self) - 1), head = tile.head + of;                                                    \
      if (query >= queries(self) || tile.head % group(self) + of >= group(self)) return nullptr;                       \
      return plc::behind(o(self), static_cast<long long>(tile.batch) * o_batch(self) +                                 \
             static_cast<long long>(tile.q_begin + query) * o_row(self) + head * o_head(self));                        \
    }                                                                                                                  \
    static __device__ __forceinline__ void keep_sum(pl::self self, const plc::attention_tile& tile, int row, float sum) {\
      const int shift = __ffs(pack(self)) - 1, head = tile.head + (row & (pack(self) - 1));                            \
      LOG_SUM(tile.batch, head, tile.q_begin + (row >> shift), sum);                                                   \
    }                                                                                                                  \
    PL_DEFINE(store)(pl::self self, pl::fragment<float, D / 2>& values, plc::row_pair& log_sum,                        \
                     plc::attention_tile tile, int row) -> void {                                                      \
      const int lane = threadIdx.x % 32, tile_row = tile.m * ROWS, begin = row - tile_row;                             \
      if (plc::uniform(tile.parts == 1)) {                                                                             \
        if (WARPS * 16 > ROWS && begin >= ROWS) return;                                                                \
        ELEMENT* to[2];                                                                                                \
        _Pragma("unroll") for (int h = 0; h < 2; ++h) {                                                                \
          const int r = row + lane / 4 + 8 * h;                                                                        \
          to[h] = place(self, tile, r);                                                                                \
          if (to[h] && lane % 4 == 0) keep_sum(self, tile, r, log_sum[h]);                                             \
        }                                                                                                              \
        plc::store_rows(to, values);                                                                                   \
        return;                                                                                                        \
      }                                                                                                                \
      const plc::split_parts<ROWS, D> parts{partial(self), partial_sums(self), plc::volatile_cta() - tile.part};       \
      _Pragma("unroll") for (int h = 0; h < 2; ++h) {                                                                  \
        const int at = begin + lane / 4 + 8 * h;                                                                       \
        if ((WARPS * 16 > ROWS && at >= ROWS) || !place(self, tile, tile_row + at)) continue;                          \
        float2* to = reinterpret_cast<float2*>(parts.value(tile.part, at)) + lane % 4;                                 \
        _Pragma("unroll") for (int g = 0; g < D / 8; ++g) to[4 * g] = {values[4 * g + 2 * h], values[4 * g + 2 * h + 1]};\
        if (lane % 4 == 0) parts.log_sums[parts.row(tile.part, at)] = log_sum[h];                                      \
      }                                                                                                                \
      __threadfence();                                                                                                 \
      met::sync(self);                                                                                                 \
      if (begin + lane == 0) {                                                                                         \
        const unsigned before = atomicAdd(arrived(self) + parts.first, 1u);                                            \
        *last(self) = before + 1 == static_cast<unsigned>(tile.parts);                                                 \
      }                                                                                                                \
      met::sync(self);                                                                                                 \
      if (!plc::uniform(*last(self) != 0)) return;                                                                     \
      __threadfence();                                                                                                 \
      if (begin + lane == 0) arrived(self)[parts.first] = 0;                                                           \
      for (int at = begin / 16; at < ROWS; at += WARPS) {                                                              \
        ELEMENT* to = place(self, tile, tile_row + at);                                                                \
        if (!to) continue;                                                                                             \
        plc::split_columns<D / 32> all;                                                                                \
        const float sum = plc::add_parts(all, parts, tile.parts, at);                                                  \
        plc::store_columns(plc::behind(to, lane * (D / 32)), all);                                                     \
        if (lane == 0) keep_sum(self, tile, tile_row + at, sum);                                                       \
      }                                                                                                                \
    }                                                                                                                  \
  }

#define PLC_SPLIT_NO_SUM(BATCH, HEAD, QUERY, VALUE) static_cast<void>(VALUE)
#define PLC_SPLIT_NO_SUM_DECLARED static_assert(true, "")
#define PLC_SPLIT_SUM(BATCH, HEAD, QUERY, VALUE)                                                                       \
  lse(self)[static_cast<long long>(BATCH) * lse_batch(self) + (HEAD) * lse_head(self) + (QUERY)] = VALUE
#define PLC_SPLIT_SUM_DECLARED                                                                                         \
  PL_PARAM(lse, float*);                                                                                               \
  PL_PARAM(lse_batch, int);                                                                                            \
  PL_PARAM(lse_head, int);                                                                                             \
  PL_TENSOR(lse, float, "B, H, SQ", pl::write);                                                                        \
  PL_BIND(lse_batch, "stride(lse, 0)");                                                                                \
  PL_BIND(lse_head, "stride(lse, 1)")

#define PLC_SPLIT_OUTPUTS(ELEMENT, ROWS, WARPS, D, NAME)                                                               \
  PLC_SPLIT_OUTPUT(plc::attention_split_store_##NAME, ELEMENT, ROWS, WARPS, D, PLC_SPLIT_NO_SUM_DECLARED,              \
                   PLC_SPLIT_NO_SUM)                                                                                   \
  PLC_SPLIT_OUTPUT(plc::attention_split_store_lse_##NAME, ELEMENT, ROWS, WARPS, D, PLC_SPLIT_SUM_DECLARED,             \
                   PLC_SPLIT_SUM)
PLC_SPLIT_OUTPUTS(pl::bf16, 128, 8, 128, 128)
PLC_SPLIT_OUTPUTS(pl::bf16, 192, 12, 64, 64)
PLC_SPLIT_OUTPUTS(pl::f16, 128, 8, 128, 128_f16)
PLC_SPLIT_OUTPUTS(pl::f16, 192, 12, 64, 64_f16)
PLC_SPLIT_OUTPUTS(pl::bf16, 16, 16, 128, 128_r16)
PLC_SPLIT_OUTPUTS(pl::bf16, 16, 16, 64, 64_r16)
PLC_SPLIT_OUTPUT(plc::attention_split_store_lse_128_f32, float, 128, 8, 128, PLC_SPLIT_SUM_DECLARED, PLC_SPLIT_SUM)
PLC_SPLIT_OUTPUT(plc::attention_split_store_lse_64_f32, float, 192, 12, 64, PLC_SPLIT_SUM_DECLARED, PLC_SPLIT_SUM)
PLC_SPLIT_OUTPUT(plc::attention_split_store_lse_128_f32_r16, float, 16, 16, 128, PLC_SPLIT_SUM_DECLARED, PLC_SPLIT_SUM)
PLC_SPLIT_OUTPUT(plc::attention_split_store_lse_64_f32_r16, float, 16, 16, 64, PLC_SPLIT_SUM_DECLARED, PLC_SPLIT_SUM)
