// Stores what other warps put into shared memory, by TMA: one thread copies the blocks of each slot to their places.
//
// A slot is given back when its copies have read it, one slot later, so that the next slot's copies start meanwhile.
// Rows and columns outside the tensor are not written.  The port is read by TMA, so the linker has every writer pass a
// proxy fence.  tma_store serves any producer that ends its stream; tma_store_chunks serves staged_store, whose caller
// says what there is to do: `slots` for each tile, M * N / 8192 of a tile of M x N.
#include "placed.cuh"

namespace plc {

__device__ __forceinline__ void store_box(unsigned from, const void* map, int row, int col) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map), "r"(col),
               "r"(row), "r"(from)
               : "memory");
}

// Starts the copies of a slot and gives the previous one back.
template <class Tiles, int Blocks, int Rows, class Map>
__device__ __forceinline__ void store_slot(pl::self self, pl::slot slot, pl::slot& previous, bool first, const Map& map) {
  const unsigned from = Tiles::template address<0>(self, slot);
  const places<Blocks>& at = *Tiles::template pointer<places<Blocks>, 1>(self, slot);
#pragma unroll
  for (int b = 0; b < Blocks; ++b) store_box(from + b * Rows * 128, &map, at.row[b], at.col[b]);
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
  if (!first) Tiles::release(self, previous);
  previous = slot;
}

}  // namespace plc

PL_COMPONENT(plc::tma_store) {
PL_ROLE(store, pl::warps<1>, pl::registers<24, 40>, pl::one_thread);
PL_IN(blocks, plc::placed_blocks<pl::bf16, 1, 64>, pl::ring<2, 4>, pl::by_tma, pl::ends);
PL_PARAM(map_out, pl::tensor_map<blocks, 0>);
PL_TENSOR(out, pl::bf16, "M, N", pl::write);
PL_BIND(map_out, "out");
PL_PROTOCOL(store, "until blocks { blocks.wait; blocks.release keep 1; }");

PL_ENTRY(store) {
  pl::slot previous{};
  for (bool first = true;; first = false) {
    pl::slot slot = blocks::wait(self);
    if (blocks::ended(self, slot)) break;
    plc::store_slot<blocks, 1, 64>(self, slot, previous, first, map_out(self));
  }
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
}

PL_COMPONENT(plc::tma_store_chunks) {
PL_ROLE(store, pl::warps<1>, pl::registers<24, 40>, pl::one_thread);
PL_IN(blocks, plc::placed_blocks<pl::bf16, 8, 16>, pl::ring<2, 2>, pl::by_tma);
PL_CALL(work, pl::tile_coord(int));
PL_PARAM(map_out, pl::tensor_map<blocks, 0, pl::box<16, 64>>);
PL_PARAM(slots, int);
PL_TENSOR(out, pl::bf16, "M, N", pl::write);
PL_BIND(map_out, "out");
PL_PROTOCOL(store, "repeat work { repeat slots { blocks.wait; blocks.release keep 1; } }");

PL_ENTRY(store) {
  const int count = slots(self);
  if (count <= 0) return;  // said once: compilers differ in whether they find it out of the loop
  pl::slot previous{};
  bool first = true;
  for (int i = 0; work(self, i); ++i)
    for (int s = 0; s < count; ++s) {
      plc::store_slot<blocks, 8, 16>(self, blocks::wait(self), previous, first, map_out(self));
      first = false;
    }
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
}
