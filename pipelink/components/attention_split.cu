// Few queries and many keys: walkers that share the keys of a sequence among CTAs, and the masks that go with them.
//
// The blocks of keys of all tiles stand in a row, of which each CTA takes an equal stretch (Osama et al., Stream-K,
// PPoPP 2023).  A part of a tile looks like a sequence of its own: `kv_begin` and `keys` are the part's, and `queries` is
// less by the keys behind it, so that it is still keys - queries that a causal mask adds.  The parts of a tile are those
// of neighbouring CTAs, of the first the last of its stretch, of all others the first: the output that puts them together
// relies on that.
//
// Rows of a tile are queries times `pack` heads that share keys and values, as the loader says.  A warpgroup whose rows
// are all behind the last query skips every block.
#include "attention.cuh"

// LENGTH(batch): how many keys the sequence has; WHERE: what else is declared; STRETCHES: says of which batch the i-th
// tile of the CTA is, which `tile` of it, how many `blocks` it has, where among all blocks it `start`s, and the `share`.
#define PLC_SPLIT_WALKER(NAME, ROWS, SKIPS, IN_TURN, CAUSAL, LENGTH, WHERE, STRETCHES)                                 \
  PL_COMPONENT(NAME) {                                                                                                 \
    PL_ANSWER(next, plc::attention_tile(int));                                                                         \
    PL_ANSWER(blocks, plc::attention_block(plc::attention_tile, int, int));                                            \
    PL_PARAM(q_tiles, int);                                                                                            \
    PL_PARAM(pack, int);                                                                                               \
    PL_PARAM(batches, int);                                                                                            \
    PL_PARAM(head_tiles, int);                                                                                         \
    PL_PARAM(group, int);                                                                                              \
    PL_PARAM(queries, int);                                                                                            \
    PL_DERIVE(split_tiles, "B * HK * ceildiv(H / HK, pack) * q_tiles");                                                \
    PL_DERIVE(split_blocks, "split_tiles * max(1, ceildiv(most_keys, 128))");                                          \
    PL_DERIVE(split_share, "max(1, ceildiv(split_blocks, sms * occupancy))");                                          \
    PL_DERIVE(split_ctas, "ceildiv(split_blocks, split_share)");                                                       \
    PL_BIND(batches, "B");                                                                                             \
    PL_BIND(head_tiles, "HK * ceildiv(H / HK, pack)");                                                                 \
    PL_BIND(group, "H / HK");                                                                                          \
    PL_BIND(queries, "SQ");                                                                                            \
    PL_REQUIRE(plc_tile_queries, ROWS);                                                                                \
    PL_REQUIRE(plc_block_keys, 128);                                                                                   \
    PL_PROMISE(plc_rows, "packed");                                                                                    \
    PL_PROMISE(plc_parts, "neighbours");                                                                               \
    PL_GRID("split_ctas");                                                                                             \
    WHERE;                                                                                                             \
    PL_DEFINE(next)(pl::self self, int i) -> plc::attention_tile {                                                     \
      constexpr int N = plc::attention_columns;                                                                        \
      const int none = plc::volatile_zero(), cta = plc::volatile_cta();                                                \
      const int rows = q_tiles(self) + none, tiles = head_tiles(self) * rows;                                          \
      int batch, tile, blocks, start, share;                                                                           \
      STRETCHES;                                                                                                       \
      const bool valid = batch < batches(self);                                                                        \
      const int length = valid ? LENGTH(batch) : 0, from = cta * share;                                                \
      const int begin = max(from - start, 0), end = min(from + share - start, blocks);                                 \
      const int part = cta - start / share, parts = (start + blocks - 1) / share - start / share + 1;                  \
      const int of = tile / rows, most = pack(self) + none, each = (group(self) + most - 1) / most;                    \
      const int kv_head = of / each, head = kv_head * group(self) + (of - kv_head * each) * most;                      \
      const int m = tile - of * rows, seen = min(length - begin * N, (end - begin) * N);                               \
      const int behind = length - begin * N - seen;                                                                    \
      const int in_use = (queries(self) * pack(self) + 63) / 64 * 64; /* rows of warpgroups that have any query */     \
      return {m, head, kv_head, batch, batch, queries(self) - behind, seen, 0, begin * N, part, parts, in_use, 0, 0,   \
              valid && begin < end, SKIPS, IN_TURN};                                                                   \
    }                                                                                                                  \
    PL_DEFINE(blocks)(pl::self, plc::attention_tile tile, int j, int row) -> plc::attention_block {                    \
      constexpr int N = plc::attention_columns;                                                                        \
      const int index = (tile.keys + N - 1) / N - 1 - j;                                                               \
      const int end = CAUSAL ? tile.keys - tile.queries + 1 : tile.keys; /* that the first query sees */               \
      const int kind = (index + 1) * N > end ? plc::edge_block : plc::full_block;                                      \
      return {index, index < 0 ? plc::no_block : SKIPS && row >= tile.share ? plc::skipped_block : kind};              \
    }                                                                                                                  \
  }

// Sequences of one length.
#define PLC_SPLIT_SAME_LENGTH_(BATCH) keys(self)
#define PLC_SPLIT_SAME_DECLARED_                                                                                       \
  PL_PARAM(keys, int);                                                                                                 \
  PL_BIND(keys, "most_keys")
#define PLC_SPLIT_SAME_WALKER_                                                                                         \
  PLC_SPLIT_SAME_DECLARED_;                                                                                            \
  PL_PARAM(split_share, int)
#define PLC_SPLIT_SAME_STRETCHES_                                                                                      \
  share = split_share(self) + none, blocks = (max(keys(self), 1) + none + N - 1) / N;                                  \
  const int t = cta * share / blocks + i;                                                                              \
  start = t * blocks, batch = t / tiles, tile = t - batch * tiles

// Sequences of the lengths seqused_k [B].  Stretches come from all of them, which every CTA adds up.
#define PLC_SPLIT_OWN_LENGTH_(BATCH) __ldg(seqused_k(self) + (BATCH))
#define PLC_SPLIT_OWN_DECLARED_                                                                                        \
  PL_PARAM(seqused_k, const int*);                                                                                     \
  PL_TENSOR(seqused_k, int, "B", pl::read)
#define PLC_SPLIT_OWN_STRETCHES_                                                                                       \
  int all = none;                                                                                                      \
  _Pragma("unroll 1") for (int b = 0; b < batches(self); ++b) all += (max(PLC_SPLIT_OWN_LENGTH_(b), 1) + N - 1) / N;   \
  const int ctas = gridDim.x + none;                                                                                   \
  share = (all * tiles + ctas - 1) / ctas;                                                                             \
  start = none, tile = 0, blocks = 1;                                                                                  \
  int left = i; /* tiles behind that in which the stretch begins */                                                    \
  _Pragma("unroll 1") for (batch = 0; batch < batches(self); ++batch) {                                                \
    blocks = (max(PLC_SPLIT_OWN_LENGTH_(batch), 1) + N - 1) / N;                                                       \
    tile = max(cta * share - start, 0) / blocks;                                                                       \
    if (tile < tiles) {                                                                                                \
      tile += left;                                                                                                    \
      if (tile < tiles) break;                                                                                         \
      left = tile - tiles;                                                                                             \
    }                                                                                                                  \
    start += blocks * tiles;                                                                                           \
  }                                                                                                                    \
  start += tile * blocks

// By the queries of a tile: whether warpgroups skip blocks, and take turns.
#define PLC_SPLIT_WALKERS(ROWS, ...)                                                                                   \
  PLC_SPLIT_WALKER(plc::attention_split_##ROWS, ROWS, __VA_ARGS__, false, PLC_SPLIT_SAME_LENGTH_,                      \
                   PLC_SPLIT_SAME_WALKER_, PLC_SPLIT_SAME_STRETCHES_)                                                  \
  PLC_SPLIT_WALKER(plc::attention_split_causal_##ROWS, ROWS, __VA_ARGS__, true, PLC_SPLIT_SAME_LENGTH_,                \
                   PLC_SPLIT_SAME_WALKER_, PLC_SPLIT_SAME_STRETCHES_)                                                  \
  PLC_SPLIT_WALKER(plc::attention_split_lengths_##ROWS, ROWS, __VA_ARGS__, false, PLC_SPLIT_OWN_LENGTH_,               \
                   PLC_SPLIT_OWN_DECLARED_, PLC_SPLIT_OWN_STRETCHES_)                                                  \
  PLC_SPLIT_WALKER(plc::attention_split_lengths_causal_##ROWS, ROWS, __VA_ARGS__, true, PLC_SPLIT_OWN_LENGTH_,         \
                   PLC_SPLIT_OWN_DECLARED_, PLC_SPLIT_OWN_STRETCHES_)
PLC_SPLIT_WALKERS(128, true, false)
PLC_SPLIT_WALKERS(16, false, false)
PLC_SPLIT_WALKERS(192, false, true)  // skipping would take registers that are not there

// Query r looks at the keys up to r + keys - queries.
PL_COMPONENT(plc::attention_split_causal_mask) {
PL_ANSWER(mask, void(plc::scores&, plc::attention_tile, int, int, int));
PL_PARAM(pack, int);
PL_DEFINE(mask)(pl::self self, plc::scores& s, plc::attention_tile tile, int row, int column, int) -> void {
  const int lane = threadIdx.x % 32, shift = __ffs(pack(self)) - 1;
  const int limit = tile.keys - tile.queries + 1 - column - lane % 4 * 2;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int end = ((row + lane / 4 + 8 * h) >> shift) + limit;
#pragma unroll
    for (int g = 0; g < plc::attention_columns / 8; ++g)
#pragma unroll
      for (int e = 0; e < 2; ++e)
        if (8 * g + e >= end) s[4 * g + 2 * h + e] = plc::minus_infinity();
  }
}
}
