// Sliding windows: query r looks at the keys from r + SK - SQ - left to r + SK - SQ + right, of an argument below 0 at all
// on that side.
#include "attention_walker.cuh"

// Tiles with whole windows first, a head's side by side, and then those that the first key cuts off, longest first and
// dealt out forth and back.  Blocks come from the last to the first: those at the right edge while nothing is rescaled.
// In tiles of more queries than a block has keys there are blocks of which some warpgroups need nothing.  A window reaches
// at most past all keys and queries.
#define PLC_WINDOW_WALKER(NAME, ROWS, KEYS)                                                                            \
  PL_COMPONENT(NAME) {                                                                                                 \
    PLC_ATTENTION_WALKER_;                                                                                             \
    PL_REQUIRE(plc_tile_queries, ROWS);                                                                                \
    PL_REQUIRE(plc_block_keys, KEYS);                                                                                  \
    PL_PARAM(left, int);                                                                                               \
    PL_PARAM(right, int);                                                                                              \
    PL_DEFINE(next)(pl::self self, int i) -> plc::attention_tile {                                                     \
      const int t = i * gridDim.x + (i % 2 ? gridDim.x - 1 - blockIdx.x : blockIdx.x);                                 \
      const int all = heads(self) * batches(self);                                                                     \
      const int before = min(unsigned(left(self)), unsigned(keys(self) + queries(self)));                              \
      const int cut = min(max(before - keys(self) + queries(self) + ROWS - 1, 0) / ROWS, q_tiles(self));               \
      const int whole = q_tiles(self) - cut, last = t - whole * all;                                                   \
      const int m = last < 0 ? cut + t % whole : cut - 1 - last / all, of = last < 0 ? t / whole : last % all;         \
      plc::attention_tile tile = plc::batched_tile(m, of % heads(self), group(self), of / heads(self), queries(self),  \
                                                   keys(self), m >= 0);                                                \
      tile.skips = ROWS > KEYS;                                                                                        \
      return tile;                                                                                                     \
    }                                                                                                                  \
    PL_DEFINE(blocks)(pl::self self, plc::attention_tile tile, int j, int row) -> plc::attention_block {               \
      constexpr int N = KEYS;                                                                                          \
      const unsigned all = tile.keys + tile.queries;                                                                   \
      const int before = min(unsigned(left(self)), all), behind = min(unsigned(right(self)), all);                     \
      const int ahead = tile.keys - tile.queries, first = tile.m * ROWS + ahead;                                       \
      const int end = min(min(first + ROWS, tile.keys) + behind, tile.keys);                                           \
      const int index = (max(end, 0) + N - 1) / N - 1 - j, begin = max(first - before, 0) / N;                         \
      const int column = index * N, own = row + ahead, top = row / 64 * 64 + ahead;                                    \
      const bool mine = (column < top + 64 + behind) & (column + N > top - before) | (ROWS <= N);                      \
      const bool whole = (column + N <= min(own + behind + 1, tile.keys)) & (column >= own + 15 - before);             \
      const int kind = !mine ? plc::skipped_block : whole ? plc::full_block : plc::edge_block;                         \
      return {index, index < begin ? plc::no_block : kind};                                                            \
    }                                                                                                                  \
  }
PLC_WINDOW_WALKER(plc::attention_window_128, 128, 128)
PLC_WINDOW_WALKER(plc::attention_window_192, 192, 128)
PLC_WINDOW_WALKER(plc::attention_window_128_k64, 128, 64)

#define PLC_WINDOW_MASK(NAME, KEYS)                                                                                    \
  PL_COMPONENT(NAME) {                                                                                                 \
    PL_ANSWER(mask, void(plc::scores_of<KEYS>&, plc::attention_tile, int, int, int));                                  \
    PL_PARAM(left, int);                                                                                               \
    PL_PARAM(right, int);                                                                                              \
    PL_DEFINE(mask)(pl::self self, plc::scores_of<KEYS>& s, plc::attention_tile tile, int row, int column,             \
                    int) -> void {                                                                                     \
      const int lane = threadIdx.x % 32, own = column + lane % 4 * 2;                                                  \
      const unsigned all = tile.keys + tile.queries;                                                                   \
      const int before = min(unsigned(left(self)), all), behind = min(unsigned(right(self)), all);                     \
      _Pragma("unroll") for (int h = 0; h < 2; ++h) {                                                                  \
        const int at = row + lane / 4 + 8 * h + tile.keys - tile.queries;                                              \
        const int begin = at - before, place = own - begin;                                                            \
        const unsigned width = max(min(at + behind + 1, tile.keys) - begin, 0);                                        \
        _Pragma("unroll") for (int g = 0; g < KEYS / 8; ++g)                                                           \
          _Pragma("unroll") for (int e = 0; e < 2; ++e)                                                                \
            if (unsigned(place + 8 * g + e) >= width) s[4 * g + 2 * h + e] = plc::minus_infinity();                    \
      }                                                                                                                \
    }                                                                                                                  \
  }
PLC_WINDOW_MASK(plc::attention_window_mask, 128)
PLC_WINDOW_MASK(plc::attention_window_mask_k64, 64)
