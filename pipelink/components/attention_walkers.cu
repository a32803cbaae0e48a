// Which tiles of queries a CTA takes, and which blocks of keys each of them needs.  A walker that counts blocks, or a
// tile's queries, requires the core that takes as many.
//
// Blocks come from the last to the first, so that those that need the mask come first, while nothing is to be rescaled.
#include "attention_walker.cuh"

// Every query looks at every key.  Tiles of one head run at the same time: they share its keys in the L2 cache.
#define PLC_DENSE_WALKER(NAME, KEYS)                                                                                   \
  PL_COMPONENT(NAME) {                                                                                                 \
    PLC_ATTENTION_WALKER_;                                                                                             \
    PL_REQUIRE(plc_block_keys, KEYS);                                                                                  \
    PL_DEFINE(next)(pl::self self, int i) -> plc::attention_tile {                                                     \
      const int t = blockIdx.x + i * gridDim.x, of = t / q_tiles(self), head = of % heads(self);                       \
      return plc::batched_tile(t % q_tiles(self), head, group(self), of / heads(self), queries(self), keys(self),      \
                               of < heads(self) * batches(self));                                                      \
    }                                                                                                                  \
    PL_DEFINE(blocks)(pl::self, plc::attention_tile tile, int j, int) -> plc::attention_block {                        \
      const int index = (tile.keys + KEYS - 1) / KEYS - 1 - j;                                                         \
      return {index, index < 0 ? plc::no_block : (index + 1) * KEYS > tile.keys ? plc::edge_block : plc::full_block};  \
    }                                                                                                                  \
  }
PLC_DENSE_WALKER(plc::attention_dense, 128)
PLC_DENSE_WALKER(plc::attention_dense_k64, 64)

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
