// Puts parts of attention together, each over keys of its own: O and the logarithms of its rows' sums in f32, as the
// outputs with `_f32` write them.  A warp a row.  A part in which nothing counts has the logarithm minus infinity.
#include "attention_parts.cuh"

namespace plc {
// One row's parts, `value_stride` and `sum_stride` elements apart.
struct merged_parts {
  const float *values, *log_sums;
  long long value_stride, sum_stride;
  __device__ __forceinline__ const float* value(int part, int) const { return values + part * value_stride; }
  __device__ __forceinline__ long long row(int part, int) const { return part * sum_stride; }
};
}  // namespace plc

// COLUMNS of a row are added up at once.
#define PLC_ATTENTION_MERGE(NAME, ELEMENT, D, COLUMNS)                                                                 \
  PL_COMPONENT(NAME) {                                                                                                 \
    PL_ROLE(merge, pl::warps<8>);                                                                                      \
    PL_PARAM(parts, const float*);                                                                                     \
    PL_PARAM(part_sums, const float*);                                                                                 \
    PL_PARAM(o, ELEMENT*);                                                                                             \
    PL_PARAM(lse, float*);                                                                                             \
    PL_PARAM(count, int);                                                                                              \
    PL_PARAM(batches, int);                                                                                            \
    PL_PARAM(queries, int);                                                                                            \
    PL_PARAM(heads, int);                                                                                              \
    PL_TENSOR(parts, float, "P, B, SQ, H, " #D, pl::read, pl::align<16>);                                              \
    PL_TENSOR(part_sums, float, "P, B, H, SQ", pl::read);                                                              \
    PL_TENSOR(o, ELEMENT, "B, SQ, H, " #D, pl::write, pl::align<16>);                                                  \
    PL_TENSOR(lse, float, "B, H, SQ", pl::write);                                                                      \
    PL_BIND(count, "P");                                                                                               \
    PL_BIND(batches, "B");                                                                                             \
    PL_BIND(queries, "SQ");                                                                                            \
    PL_BIND(heads, "H");                                                                                               \
    PL_GRID("max(1, ceildiv(B * SQ * H, 8))");                                                                         \
    PL_ENTRY(merge) {                                                                                                  \
      const int lane = threadIdx.x % 32, row = blockIdx.x * 8 + merge::thread(self) / 32;                              \
      const int rows = batches(self) * queries(self) * heads(self);                                                    \
      if (row >= rows) return;                                                                                         \
      const int of = row / heads(self), head = row - of * heads(self), batch = of / queries(self);                     \
      const int sum = (batch * heads(self) + head) * queries(self) + (of - batch * queries(self));                     \
      _Pragma("unroll") for (int column = 0; column < D; column += COLUMNS) {                                          \
        const long long at = static_cast<long long>(row) * D + column;                                                 \
        const plc::merged_parts all{parts(self) + at, part_sums(self) + sum, static_cast<long long>(rows) * D, rows};  \
        plc::split_columns<COLUMNS / 32> merged;                                                                       \
        const float log_sum = plc::add_parts(merged, all, count(self), 0);                                             \
        plc::store_columns(plc::behind(o(self), at + lane * (COLUMNS / 32)), merged);                                  \
        if (column == 0 && lane == 0) lse(self)[sum] = log_sum;                                                        \
      }                                                                                                                \
    }                                                                                                                  \
  }

PLC_ATTENTION_MERGE(plc::attention_merge_64, pl::bf16, 64, 64)
PLC_ATTENTION_MERGE(plc::attention_merge_128, pl::bf16, 128, 128)
PLC_ATTENTION_MERGE(plc::attention_merge_256, pl::bf16, 256, 128)
PLC_ATTENTION_MERGE(plc::attention_merge_64_f16, pl::f16, 64, 64)
PLC_ATTENTION_MERGE(plc::attention_merge_128_f16, pl::f16, 128, 128)
PLC_ATTENTION_MERGE(plc::attention_merge_256_f16, pl::f16, 256, 128)
