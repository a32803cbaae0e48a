// Lists of blocks: which of them a row of blocks needs, and in which of them only some pairs count.
//
// `attention_blocks` reads lists as FlexAttention's BlockMask and FlashAttention 4 have them, of blocks that tiles fit
// into.  `attention_plan` reads lists of its own, made ahead (pipelink.torch.block_mask) of blocks of any multiple of 64
// queries and keys: what a tile visits, and of each visit what every 64 of its queries have to do with it.
#include "attention_walker.cuh"

// For each batch, head and row of blocks `kv_num_blocks` of `kv_indices` name blocks that the mask decides on, and
// `full_kv_num_blocks` of `full_kv_indices` those in which all pairs count; the former come first, each in its list's
// order.  Batches or heads that share lists have an extent of 1.  A block is `q_block` tiles of queries high and
// `kv_block` times 128 keys wide.  Each CTA takes one tile, since nobody knows how long lists are.
// Quotients are by 2^30 / divisor, rounded up: of numbers whose product with the divisor is below 2^30 they are exact.
// Addresses are computed anew for each block, for which the loader has registers.
#define PLC_BLOCKS_WALKER(NAME, ROWS)                                                                                  \
  PL_COMPONENT(NAME) {                                                                                                 \
    PLC_ATTENTION_LAUNCH_;                                                                                             \
    PL_REQUIRE(plc_tile_queries, ROWS);                                                                                \
    PL_REQUIRE(plc_block_keys, 128);                                                                                   \
    PL_GRID("B * H * q_tiles");                                                                                        \
    PL_PARAM(q_block, int);                                                                                            \
    PL_PARAM(kv_block, int);                                                                                           \
    PL_PARAM(q_share, int);                                                                                            \
    PL_PARAM(kv_share, int);                                                                                           \
    PL_PARAM(kv_num_blocks, const int*);                                                                               \
    PL_PARAM(kv_indices, const int*);                                                                                  \
    PL_PARAM(full_kv_num_blocks, const int*);                                                                          \
    PL_PARAM(full_kv_indices, const int*);                                                                             \
    PL_PARAM(rows_batch, int);                                                                                         \
    PL_PARAM(rows_head, int);                                                                                          \
    PL_PARAM(longest, int);                                                                                            \
    PL_PARAM(longest_full, int);                                                                                       \
    PL_TENSOR(kv_num_blocks, int, "LB, LH, ceildiv(SQ, " #ROWS " * q_block)", pl::read);                               \
    PL_TENSOR(kv_indices, int, "LB + (LB - 1) * (B - LB), LH + (LH - 1) * (H - LH), ceildiv(SQ, " #ROWS " * q_block), NB",\
              pl::read);                                                                                               \
    PL_TENSOR(full_kv_num_blocks, int, "LB, LH, ceildiv(SQ, " #ROWS " * q_block)", pl::read);                          \
    PL_TENSOR(full_kv_indices, int, "LB, LH, ceildiv(SQ, " #ROWS " * q_block), NF", pl::read);                         \
    PL_BIND(q_share, "ceildiv(1073741824, q_block)");                                                                  \
    PL_BIND(kv_share, "ceildiv(1073741824, kv_block)");                                                                \
    PL_BIND(rows_batch, "min(LB - 1, 1) * LH * ceildiv(SQ, " #ROWS " * q_block)");                                     \
    PL_BIND(rows_head, "min(LH - 1, 1) * ceildiv(SQ, " #ROWS " * q_block)");                                           \
    PL_BIND(longest, "NB");                                                                                            \
    PL_BIND(longest_full, "NF");                                                                                       \
    PL_DEFINE(next)(pl::self self, int i) -> plc::attention_tile {                                                     \
      const int t = blockIdx.x + i * gridDim.x, of = t / q_tiles(self);                                                \
      return plc::batched_tile(t % q_tiles(self), of % heads(self), group(self), of / heads(self), queries(self),      \
                               keys(self), of < heads(self) * batches(self));                                          \
    }                                                                                                                  \
    PL_DEFINE(blocks)(pl::self self, plc::attention_tile tile, int j, int) -> plc::attention_block {                   \
      constexpr int N = plc::attention_columns;                                                                        \
      const int n = 1ull * j * kv_share(self) >> 30, of = 1ull * tile.m * q_share(self) >> 30;                         \
      int row = tile.batch * rows_batch(self) + tile.head * rows_head(self) + of;                                      \
      asm volatile("" : "+r"(row));                                                                                    \
      const int* counts = kv_num_blocks(self) + row;                                                                   \
      const int some = __ldg(counts), all = some + __ldg(full_kv_num_blocks(self) + row);                              \
      const int* full = full_kv_indices(self) + 1ll * row * longest_full(self) + n - some;                             \
      const int* from = n < some ? kv_indices(self) + 1ll * row * longest(self) + n : n < all ? full : counts;         \
      const int index = __ldg(from) * kv_block(self) + j - n * kv_block(self);                                         \
      const bool whole = (n >= some) & ((index + 1) * N <= tile.keys);                                                 \
      return {index, n >= all ? plc::no_block : whole ? plc::full_block : plc::edge_block};                            \
    }                                                                                                                  \
  }
PLC_BLOCKS_WALKER(plc::attention_blocks_128, 128)
PLC_BLOCKS_WALKER(plc::attention_blocks_192, 192)

// `list_order`: the tiles of each CTA, numbers (batch * H + head) * q_tiles + m, and behind the last -1.  A tile's visits
// are `list_entries` from `list_ends[.., 0]` up to `list_ends[.., 1]`: the index of a block of 128 keys, and what each 64
// of the tile's queries do there: `skipped_block`, `full_block`, or `edge_block + 1 + n`, n counting `mask_bits`.
#define PLC_PLAN_WALKER(NAME, ROWS)                                                                                    \
  PL_COMPONENT(NAME) {                                                                                                 \
    PLC_ATTENTION_LAUNCH_;                                                                                             \
    PL_REQUIRE(plc_tile_queries, ROWS);                                                                                \
    PL_REQUIRE(plc_block_keys, 128);                                                                                   \
    PL_GRID("CTAS");                                                                                                   \
    PL_PARAM(list_order, const int*);                                                                                  \
    PL_PARAM(list_ends, const int*);                                                                                   \
    PL_PARAM(list_entries, const int*);                                                                                \
    PL_PARAM(turns, int);                                                                                              \
    PL_PARAM(rows_batch, int);                                                                                         \
    PL_PARAM(rows_head, int);                                                                                          \
    PL_TENSOR(list_order, int, "CTAS, TURNS", pl::read);                                                               \
    PL_TENSOR(list_ends, int, "LB, LH, ceildiv(SQ, " #ROWS ") + (LB - 1) * (B - LB), 2 + (LH - 1) * (H - LH)",         \
              pl::read);                                                                                               \
    PL_TENSOR(list_entries, int, "VISITS, 4", pl::read);                                                               \
    PL_BIND(turns, "TURNS");                                                                                           \
    PL_BIND(rows_batch, "min(LB - 1, 1) * LH * q_tiles");                                                              \
    PL_BIND(rows_head, "min(LH - 1, 1) * q_tiles");                                                                    \
    PL_DEFINE(next)(pl::self self, int i) -> plc::attention_tile {                                                     \
      const int t = i < turns(self) ? __ldg(list_order(self) + blockIdx.x * turns(self) + i) : -1;                     \
      const int of = t / q_tiles(self);                                                                                \
      plc::attention_tile tile = plc::batched_tile(t % q_tiles(self), of % heads(self), group(self), of / heads(self), \
                                                   queries(self), keys(self), t >= 0);                                 \
      tile.skips = true;                                                                                               \
      return tile;                                                                                                     \
    }                                                                                                                  \
    PL_DEFINE(blocks)(pl::self self, plc::attention_tile tile, int j, int row) -> plc::attention_block {               \
      const int* ends = list_ends(self) + (tile.batch * rows_batch(self) + tile.head * rows_head(self) + tile.m) * 2;  \
      const int at = __ldg(ends) + j, end = __ldg(ends + 1);                                                           \
      const int* entry = list_entries(self) + 4ll * at;                                                                \
      const int index = __ldg(at < end ? entry : ends);                                                                \
      const int kind = __ldg(at < end ? entry + 1 + (row - tile.m * ROWS) / 64 : ends);                                \
      return {index, at < end ? kind : plc::no_block};                                                                 \
    }                                                                                                                  \
  }
PLC_PLAN_WALKER(plc::attention_plan_128, 128)
PLC_PLAN_WALKER(plc::attention_plan_192, 192)

// Which pairs count is a bit each: of kind `edge_block + 1 + n` those of `mask_bits[n]`, of 64 queries and 128 keys, of
// `edge_block` all; and no key behind the end.  Words are [16 queries][lane][h], so that a lane reads two: bit 2g + e of
// word h of lane l is query l / 4 + 8h, key 8g + 2 * (l % 4) + e, which is value 4g + 2h + e of its scores.
PL_COMPONENT(plc::attention_block_mask) {
PL_ANSWER(mask, void(plc::scores&, plc::attention_tile, int, int, int));
PL_PARAM(mask_bits, const uint2*);
PL_TENSOR(mask_bits, int, "MASKS, 256", pl::read);
PL_DEFINE(mask)(pl::self self, plc::scores& s, plc::attention_tile tile, int row, int column, int kind) -> void {
  const int lane = threadIdx.x % 32, rest = tile.keys - column - lane % 4 * 2, n = kind - plc::edge_block - 1;
  const int there = max(min(rest / 8 * 2 + min(rest % 8, 2), 32), 0);
  // Not `there == 32 ? ~0u : …`: ptxas 13.0 takes the predicate of that from a VIMNMX.RELU, where it is another one.
  const unsigned kept = ~static_cast<unsigned>(~0ull << there);
  uint2 words{kept, kept};
  if (n >= 0) {
    const uint2 given = __ldg(mask_bits(self) + n * 128ll + row / 16 % 4 * 32 + lane);
    words.x &= given.x, words.y &= given.y;
  }
#pragma unroll
  for (int h = 0; h < 2; ++h)
#pragma unroll
    for (int g = 0; g < plc::attention_columns / 8; ++g)
#pragma unroll
      for (int e = 0; e < 2; ++e)
        if (!((h ? words.y : words.x) >> (2 * g + e) & 1)) s[4 * g + 2 * h + e] = plc::minus_infinity();
}
}
