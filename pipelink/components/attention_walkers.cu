// Which tiles of queries a CTA takes, and which blocks of keys each of them needs.  A walker that counts blocks, or a
// tile's queries, requires the core that takes as many.
//
// Blocks come from the last to the first, so that those that need the mask come first, while nothing is to be rescaled.
#include "attention_walker.cuh"

// Every query looks at every key.  Tiles of one head run at the same time: they share its keys in the L2 cache.
//
// Tiles are dealt out in waves of one a CTA.  A last wave that would leave CTAs idle is shared: its tiles' blocks of keys
// stand in a row, of which each CTA takes an equal stretch, and so the end of one tile and the begin of the next
// (Osama et al., Stream-K, PPoPP 2023).  An output that combines parts puts them together.
#define PLC_DENSE_WALKER(NAME, KEYS, IN_TURN)                                                                          \
  PL_COMPONENT(NAME) {                                                                                                 \
    PLC_ATTENTION_LAUNCH_;                                                                                             \
    PL_REQUIRE(plc_block_keys, KEYS);                                                                                  \
    PL_GRID("sms * occupancy");                                                                                        \
    PL_DEFINE(next)(pl::self self, int i) -> plc::attention_tile {                                                     \
      const int ctas = plc::volatile_ctas();                                                                           \
      const int all = heads(self) * batches(self) * q_tiles(self), length = (keys(self) + KEYS - 1) / KEYS;            \
      const int waves = all / ctas, left = all - waves * ctas;                                                         \
      const int stretch = max((left * length + ctas - 1) / ctas, 1);                                                   \
      int t = i * ctas + blockIdx.x, begin = 0, end = length, part = 0, parts = 1, share = 0;                          \
      bool valid = t < all;                                                                                            \
      if (i >= waves && stretch + plc::attention_part_cost < length) {                                                 \
        const int from = blockIdx.x * stretch, to = min(from + stretch, left * length);                                \
        const int which = from / length + (i - waves), start = which * length, cta = start / stretch;                  \
        begin = max(from, start) - start, end = min(to - start, length);                                               \
        part = blockIdx.x - cta, parts = (start + length - 1) / stretch - cta + 1, share = cta + which;                \
        t = waves * ctas + which, valid = max(from, start) < to;                                                       \
      }                                                                                                                \
      const int of = t / q_tiles(self), head = of % heads(self), batch = of / heads(self);                             \
      return {t % q_tiles(self), head,      head / group(self), batch, batch, queries(self),                           \
              keys(self),        0,         0,                  part,  parts, share,                                   \
              begin,             end,       valid,            false, IN_TURN};                                                             \
    }                                                                                                                  \
    PL_DEFINE(blocks)(pl::self, plc::attention_tile tile, int j, int) -> plc::attention_block {                        \
      const int index = tile.block_end - 1 - j;                                                                        \
      const int kind = (index + 1) * KEYS > tile.keys ? plc::edge_block : plc::full_block;                             \
      return {index, index < tile.block_begin ? plc::no_block : kind};                                                 \
    }                                                                                                                  \
  }
PLC_DENSE_WALKER(plc::attention_dense_128, 128, false)  // 1 to 2% faster so
PLC_DENSE_WALKER(plc::attention_dense_192, 128, true)
PLC_DENSE_WALKER(plc::attention_dense_128_k64, 64, false)

// Query r looks at the keys up to r + SK - SQ: the last query at all of them.  Long tiles first, dealt out forth and
// back, so that every CTA gets about the same.
#define PLC_CAUSAL_WALKER(NAME, ROWS, KEYS)                                                                            \
  PL_COMPONENT(NAME) {                                                                                                 \
    PLC_ATTENTION_WALKER_;                                                                                             \
    PL_REQUIRE(plc_tile_queries, ROWS);                                                                                \
    PL_REQUIRE(plc_block_keys, KEYS);                                                                                  \
    PL_DEFINE(next)(pl::self self, int i) -> plc::attention_tile {                                                     \
      const int t = i * gridDim.x + (i % 2 ? gridDim.x - 1 - blockIdx.x : blockIdx.x);                                 \
      const int all = heads(self) * batches(self), from_end = t / all, of = t % all, head = of % heads(self);          \
      return plc::batched_tile(q_tiles(self) - 1 - from_end, head, group(self), of / heads(self), queries(self),       \
                               keys(self), from_end < q_tiles(self));                                                  \
    }                                                                                                                  \
    PL_DEFINE(blocks)(pl::self, plc::attention_tile tile, int j, int) -> plc::attention_block {                        \
      const int first = tile.m * ROWS + tile.keys - tile.queries, end = min(first + ROWS, tile.keys);                  \
      const int index = (max(end, 0) + KEYS - 1) / KEYS - 1 - j;                                                       \
      return {index, index < 0 ? plc::no_block : (index + 1) * KEYS > first + 1 ? plc::edge_block : plc::full_block};  \
    }                                                                                                                  \
  }
PLC_CAUSAL_WALKER(plc::attention_causal_128, 128, 128)
PLC_CAUSAL_WALKER(plc::attention_causal_192, 192, 128)
PLC_CAUSAL_WALKER(plc::attention_causal_128_k64, 128, 64)
