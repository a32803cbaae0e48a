// Epilogue: out = accumulators, rounded to bf16 and left in shared memory for tma_store_chunks.  For mainloops of eight
// warps, each of which puts its chunk of 16 rows x 64 columns into a slot with seven others.
#include "fragment.cuh"
#include "placed.cuh"

PL_COMPONENT(plc::staged_store) {
PL_REQUIRE(plc_columns, "plain");
PL_ANSWER(store, void(plc::chunk&, int, int));
PL_OUT(blocks, plc::placed_blocks<pl::bf16, 8, 16>, pl::ring<2, 2>, pl::by_threads);

PL_DEFINE(store)(pl::self self, plc::chunk& values, int row, int col) -> void {
  const int lane = threadIdx.x & 31, block = threadIdx.x / 32 % 8;
  pl::slot slot = blocks::acquire(self);
  const unsigned to = blocks::address<0>(self, slot) + block * 16 * 128;
#pragma unroll
  for (int h = 0; h < 2; ++h)
#pragma unroll
    for (int g = 0; g < 8; g += 4) {
      unsigned w[4];
#pragma unroll
      for (int j = 0; j < 4; ++j)
        w[j] = plc::words<pl::bf16>::pack(values[4 * (g + j) + 2 * h], values[4 * (g + j) + 2 * h + 1]);
      plc::transpose_quad(w);
      plc::store_shared(to + plc::swizzled(lane / 4 + 8 * h, lane % 4 + g), w);
    }
  if (lane == 0) {
    plc::places<8>& at = *blocks::pointer<plc::places<8>, 1>(self, slot);
    at.row[block] = row, at.col[block] = col;
  }
  blocks::commit(self, slot);
}
}
