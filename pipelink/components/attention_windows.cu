// Sliding windows: query r looks at the keys from r + SK - SQ - left to r + SK - SQ + right, of an argument below 0 at all
// on that side.
#include "attention_walker.cuh"

namespace plc {
// How far a window reaches to a side: at most past all keys and queries, of which there are so many.
__device__ __forceinline__ int window_reach(int side, int all) { return min(unsigned(side), unsigned(all)); }
}  // namespace plc

// Tiles with whole windows first, a head's side by side, and then those that the first key cuts off, longest first and
// dealt out forth and back.  Blocks come from the last to the first: those at the right edge while nothing is rescaled.
// In tiles of more queries than a block has keys there are blocks of which some warpgroups need nothing.
#define PLC_WINDOW_WALKER(NAME, ROWS)                                                                                  \
  PL_COMPONENT(NAME) {                                                                                                 \
    PLC_ATTENTION_WALKER_;                                                                                             \
    PL_PARAM(left, int);                                                                                               \
    PL_PARAM(right, int);                                                                                              \
    PL_DEFINE(next)(pl::self self, int i) -> plc::attention_tile {                                                     \
      const int t = i * gridDim.x + (i % 2 ? gridDim.x - 1 - blockIdx.x : blockIdx.x), all = heads(self) * batches(self);\
      const int before = plc::window_reach(left(self), keys(self) + queries(self));                                    \
      const int cut = min(max(before - keys(self) + queries(self) + ROWS - 1, 0) / ROWS, q_tiles(self));               \
      const int whole = q_tiles(self) - cut, last = t - whole * all;                                                   \
      const int m = last < 0 ? cut + t % whole : cut - 1 - last / all, of = last < 0 ? t / whole : last % all;         \
      plc::attention_tile tile = plc::batched_tile(m, of % heads(self), group(self), of / heads(self), queries(self),  \
                                                   keys(self), m >= 0);                                                \
      tile.skips = ROWS > plc::attention_columns;                                                                      \
      return tile;                                                                                                     \
    }                                                                                                                  \
    PL_DEFINE(blocks)(pl::self self, plc::attention_tile tile, int j, int row) -> plc::attention_block {               \
      constexpr int N = plc::attention_columns;                                                                        \
      const int before = plc::window_reach(left(self), tile.keys + tile.queries);                                      \
      const int behind = plc::window_reach(right(self), tile.keys + tile.queries);                                     \
      const int ahead = tile.keys - tile.queries, first = tile.m * ROWS + ahead;                                       \
      const int end = min(min(first + ROWS, tile.keys) + behind, tile.keys);                                           \
      const int index = (max(end, 0) + N - 1) / N - 1 - j, begin = max(first - before, 0) / N;                         \
      const int column = index * N, own = row + ahead, top = row / 64 * 64 + ahead;                                    \
      if (index < begin) return {index, plc::no_block};                                                                \
      if (ROWS > N && (column >= top + 64 + behind || column + N <= top - before)) return {index, plc::skipped_block}; \
      const bool whole = column + N <= min(own + behind + 1, tile.keys) && column >= own + 15 - before;                \
      return {index, whole ? plc::full_block : plc::edge_block};                                                       \
    }                                                                                                                  \
  }
PLC_WINDOW_WALKER(plc::attention_window_128, 128)
PLC_WINDOW_WALKER(plc::attention_window_192, 192)

PL_COMPONENT(plc::attention_window_mask) {
PL_ANSWER(mask, void(plc::scores&, plc::attention_tile, int, int, int));
PL_PARAM(left, int);
PL_PARAM(right, int);
PL_DEFINE(mask)(pl::self self, plc::scores& s, plc::attention_tile tile, int row, int column, int) -> void {
  const int lane = threadIdx.x % 32, own = column + lane % 4 * 2;
  const int before = plc::window_reach(left(self), tile.keys + tile.queries);
  const int behind = plc::window_reach(right(self), tile.keys + tile.queries);
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int at = row + lane / 4 + 8 * h + tile.keys - tile.queries;
    const int begin = at - before - own, end = min(at + behind + 1, tile.keys) - own;
#pragma unroll
    for (int g = 0; g < plc::attention_columns / 8; ++g)
#pragma unroll
      for (int e = 0; e < 2; ++e)
        if (8 * g + e < begin || 8 * g + e >= end) s[4 * g + 2 * h + e] = plc::minus_infinity();
  }
}
}
