// Every `step`-th key: query r looks at `count` keys, its own, at r + SK - SQ, and those `step`, 2 `step`, … before it.
#include "attention_walker.cuh"

PL_COMPONENT(example::dilated) {
PLC_ATTENTION_WALKER_;
PL_ANSWER(mask, void(plc::scores&, plc::attention_tile, int, int, int));
PL_PARAM(count, int);
PL_PARAM(step, int);
PL_REQUIRE(plc_tile_queries, 128);
PL_REQUIRE(plc_block_keys, 128);

PL_DEFINE(next)(pl::self self, int i) -> plc::attention_tile {
  const int t = blockIdx.x + i * gridDim.x, of = t / q_tiles(self), all = heads(self) * batches(self);
  return plc::batched_tile(t % q_tiles(self), of % heads(self), group(self), of / heads(self), queries(self), keys(self),
                           of < all);
}
PL_DEFINE(blocks)(pl::self self, plc::attention_tile tile, int j, int) -> plc::attention_block {
  const int first = tile.m * 128 + tile.keys - tile.queries, last = min(first + 127, tile.keys - 1);
  const int index = last / 128 - j, begin = max(first - (count(self) - 1) * step(self), 0) / 128;
  return {index, index < begin || last < 0 ? plc::no_block : plc::edge_block};
}
PL_DEFINE(mask)(pl::self self, plc::scores& s, plc::attention_tile tile, int row, int column, int) -> void {
  const int back = row + threadIdx.x % 32 / 4 + tile.keys - tile.queries - column - threadIdx.x % 4 * 2;
#pragma unroll
  for (int n = 0; n < plc::attention_columns / 2; ++n) {
    const int d = back + n / 2 % 2 * 8 - n / 4 * 8 - n % 2;
    if (unsigned(d) >= unsigned(count(self) * step(self)) || d % step(self)) s[n] = plc::minus_infinity();
  }
}
}
