// Walkers and the mask of attention whose sequence several GPUs share: context parallelism.
//
// The sequence is cut into 2 * gpus chunks, of which rank r holds r and 2 * gpus - 1 - r, one behind the other, in rows of
// its own Q, K and V: so all have the same to do where attention is causal.  Of its own keys query r of a rank looks at
// those up to r.  Of a peer's it needs a prefix: queries of the first chunk the peer's first chunk where that is of a lower
// rank, and nothing of a higher one; queries of the second chunk all of a higher rank, and of a lower one the first chunk.
// What peers have is full, therefore, and no mask asks where in the sequence it stands.
//
// `index` of a block counts those of the own keys first and then, in the order in which they come, those of the peers: of
// `far_whole` peers all, and then of the others the first chunk.  Both chunks are whole blocks.
#include "attention_mask.cuh"

// Own blocks come from the last to the first, so that those that need the mask come first, and the peers' behind them,
// when they have had time to come.  Long tiles first, dealt out forth and back.
//
// WHOLE: of how many peers all keys are needed.  SERVED: peers of a rank below that need all of this one's.  A tile that both chunks have rows of takes the blocks of the
// second; in those of higher ranks the mask takes the first one's out.
#define PLC_CONTEXT_WALKER(NAME, ROWS, CAUSAL, IN_TURN, WHOLE, SERVED)                                                    \
  PL_COMPONENT(NAME) {                                                                                                 \
    PL_ANSWER(next, plc::attention_tile(int));                                                                         \
    PL_ANSWER(blocks, plc::attention_block(plc::attention_tile, int, int));                                            \
    PL_REQUIRE(plc_tile_queries, ROWS);                                                                                \
    PL_REQUIRE(plc_block_keys, 128);                                                                                   \
    PL_REQUIRE(plc_keys, "sharded");                                                                                   \
    PL_PROMISE(plc_rows, "sharded");                                                                                   \
    PL_PARAM(q_tiles, int);                                                                                            \
    PL_PARAM(heads, int);                                                                                              \
    PL_PARAM(group, int);                                                                                              \
    PL_PARAM(all, int);                                                                                                \
    PL_PARAM(queries, int);                                                                                            \
    PL_PARAM(own_blocks, int);                                                                                         \
    PL_PARAM(whole_blocks, int);                                                                                       \
    PL_PARAM(far_blocks, int);                                                                                         \
    PL_DERIVE(far_whole, WHOLE);                                                                                       \
    PL_DERIVE(far_served, SERVED);                                                                                     \
    PL_DERIVE(far_blocks, "(gpus - 1 + far_whole) * (SQ / 256)");                                                      \
    PL_BIND(heads, "H");                                                                                               \
    PL_BIND(group, "H / HK");                                                                                          \
    PL_BIND(all, "B * H");                                                                                             \
    PL_BIND(queries, "SQ");                                                                                            \
    PL_BIND(own_blocks, "SQ / 128");                                                                                   \
    PL_BIND(whole_blocks, "SQ / 128 * far_whole");                                                                     \
    PL_GRID("min(B * H * q_tiles, sms * occupancy)");                                                                  \
    PL_DEFINE(next)(pl::self self, int i) -> plc::attention_tile {                                                     \
      const int t = i * gridDim.x + (i % 2 ? gridDim.x - 1 - blockIdx.x : blockIdx.x);                                 \
      const int from_end = t / all(self), of = t % all(self), head = of % heads(self), batch = of / heads(self);       \
      const int m = q_tiles(self) - 1 - from_end, keys = queries(self);                                                \
      const bool low = CAUSAL && (m + 1) * ROWS <= keys / 2;                                                           \
      const int own = own_blocks(self), begin = own + (low ? whole_blocks(self) : 0), end = own + far_blocks(self);    \
      return {m, head, head / group(self), batch, batch, keys, keys, 0, 0, 0, 1, 0, begin, end,                        \
              from_end < q_tiles(self), false, IN_TURN};                                                               \
    }                                                                                                                  \
    PL_DEFINE(blocks)(pl::self self, plc::attention_tile tile, int j, int) -> plc::attention_block {                   \
      const int first = tile.m * ROWS, end = CAUSAL ? min(first + ROWS, tile.keys) : tile.keys;                        \
      const int own = (end + 127) / 128, left = own - 1 - j;                                                           \
      const int index = left < 0 ? tile.block_begin + j - own : left;                                                  \
      const bool both = CAUSAL && ROWS > 128 && first < tile.keys / 2 && index - tile.keys / 128 < whole_blocks(self); \
      const int far = index >= tile.block_end ? plc::no_block : both ? plc::edge_block + 1 : plc::full_block;          \
      const int near = CAUSAL && (index + 1) * 128 > first + 1 ? plc::edge_block : plc::full_block;                    \
      return {index, left < 0 ? far : near};                                                                           \
    }                                                                                                                  \
  }
PLC_CONTEXT_WALKER(plc::attention_context_dense_128, 128, false, false, "gpus - 1", "gpus")
PLC_CONTEXT_WALKER(plc::attention_context_dense_192, 192, false, true, "gpus - 1", "gpus")
PLC_CONTEXT_WALKER(plc::attention_context_causal_128, 128, true, true, "gpus - 1 - rank", "rank")
PLC_CONTEXT_WALKER(plc::attention_context_causal_192, 192, true, true, "gpus - 1 - rank", "rank")

// Own keys: query r looks at those up to r.  A peer's of which only the second chunk's queries need something: those of
// the first look at nothing.
PL_COMPONENT(plc::attention_context_mask) {
PL_ANSWER(mask, void(plc::scores&, plc::attention_tile, int, int, int));
PL_DEFINE(mask)(pl::self, plc::scores& s, plc::attention_tile tile, int row, int column, int kind) -> void {
  const int behind = row < tile.keys / 2 ? -16 : plc::attention_columns;
  const int end = kind == plc::edge_block ? row + 1 - column : behind;
  plc::keep_below<plc::attention_columns>(s, [=](int below) { return end + below; });
}
}
