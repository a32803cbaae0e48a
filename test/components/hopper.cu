// Components for tests of what sm_90 has beyond ports: reductions by TMA, bulk stores, prefetches, products with A in
// registers and B along its rows.
#include <pipelink/component.cuh>
#include <pipelink/prefetch.cuh>
#include <pipelink/stores.cuh>
#include <pipelink/wgmma.cuh>

// Adds blocks of 32 x 32 to one block of out: CTA i those of x with numbers i, i + grid, ...
PL_COMPONENT(test::block_adder) {
PL_ROLE(add, pl::warps<1>, pl::one_thread);
PL_IN(x, pl::stream<pl::row_major<pl::tile<float, 32, 32>>>, pl::ring<2, 4>, pl::by_tma, pl::ends);
PL_PARAM(map_out, pl::tile_map<pl::row_major<pl::tile<float, 32, 32>>>);
PL_TENSOR(out, float, "32, 32", pl::readwrite);
PL_BIND(map_out, "out");
PL_ENTRY(add) {
  pl::prefetch(map_out(self));
  for (;;) {
    const pl::slot slot = x::wait(self);
    if (x::ended(self, slot)) break;
    pl::reduce_tile<pl::reduction::add>(map_out(self), x::address(self, slot), 0, 0);
    pl::commit_stores();
    pl::wait_stores<0>();
    x::release(self, slot);
  }
}
}
PL_COMPONENT(test::block_loader) {
PL_ROLE(load, pl::warps<1>, pl::one_thread);
PL_OUT(x, pl::stream<pl::row_major<pl::tile<float, 32, 32>>>, pl::ring<2, 4>, pl::by_tma, pl::ends,
       pl::l2<pl::evict_first>);
PL_PARAM(map, pl::tensor_map<x>);
PL_PARAM(from, const float*);
PL_PARAM(blocks, int);
PL_TENSOR(source, float, "B, 32, 32", pl::read);
PL_BIND(map, "source");
PL_BIND(from, "source");
PL_BIND(blocks, "B");
PL_GRID("min(B, 64)");
PL_PROTOCOL(load, "repeat blocks { x.acquire; x.copy; } x.end;");
PL_ENTRY(load) {
  pl::prefetch(map(self));
  for (int i = blockIdx.x; i < blocks(self); i += gridDim.x) {
    if (i + int(gridDim.x) < blocks(self)) pl::prefetch_l2(from(self) + (i + gridDim.x) * 1024, 4096);
    x::tma_load(self, map(self), 0, 0, i);
  }
  x::end(self);
}
}
// Copies such blocks on, as they lie in the slot.
PL_COMPONENT(test::block_copier) {
PL_ROLE(copy, pl::warps<1>, pl::one_thread);
PL_IN(x, pl::stream<pl::row_major<pl::tile<float, 32, 32>>>, pl::ring<2, 4>, pl::by_tma, pl::ends);
PL_PARAM(out, float*);
PL_TENSOR(out, float, "B, 32, 32", pl::write, pl::align<16>);
PL_ENTRY(copy) {
  for (int i = blockIdx.x;; i += gridDim.x) {
    const pl::slot slot = x::wait(self);
    if (x::ended(self, slot)) break;
    pl::store_bytes(out(self) + i * 1024, x::address(self, slot), 4096);
    pl::commit_stores();
    pl::wait_stores<0>();
    x::release(self, slot);
  }
}
}

// c = a * b for tiles of b, 64 x 128: its rows are along K, in two blocks of 64 columns; a, 64 x 64, is in registers.
PL_COMPONENT(test::row_product) {
PL_ROLE(multiply, pl::warps<4>);
PL_IN(b, pl::stream<pl::swizzle128<pl::tile<pl::bf16, 64, 64>>, pl::swizzle128<pl::tile<pl::bf16, 64, 64>>>,
      pl::ring<1, 4>, pl::by_wgmma);
PL_PARAM(a, const unsigned*);
PL_PARAM(c, float*);
PL_PARAM(tiles, int);
PL_TENSOR(a, pl::bf16, "64, 64", pl::read, pl::align<16>);
PL_TENSOR(c, float, "T, 64, 128", pl::write, pl::align<16>);
PL_BIND(tiles, "T");
PL_PROTOCOL(multiply, "repeat tiles { b.wait; b.release; }");
PL_ENTRY(multiply) {
  const int t = multiply::thread(self), row = t / 32 * 16 + t % 32 / 4, pair = t % 4;
  for (int tile = 0; tile < tiles(self); ++tile) {
    unsigned words[4][4];
#pragma unroll
    for (int k = 0; k < 4; ++k)
#pragma unroll
      for (int i = 0; i < 4; ++i) words[k][i] = a(self)[(row + 8 * (i % 2)) * 32 + k * 8 + 4 * (i / 2) + pair];
    float d[64];
    const pl::slot slot = b::wait(self);
    const unsigned first = b::address<0>(self, slot), second = b::address<1>(self, slot);
    const auto operand = pl::wgmma::mn_major(first, second - first);
    pl::wgmma::fence();
#pragma unroll
    for (int k = 0; k < 4; ++k) pl::wgmma::multiply<pl::bf16, true>(d, words[k], operand + 128 * k, k != 0);
    pl::wgmma::commit();
    pl::wgmma::wait<0>();
    b::release(self, slot);
#pragma unroll
    for (int i = 0; i < 64; i += 2)
      *reinterpret_cast<float2*>(c(self) + (tile * 64 + row + 8 * (i / 2 % 2)) * 128 + i / 4 * 8 + pair * 2) = {d[i], d[i + 1]};
  }
}
}
PL_COMPONENT(test::row_loader) {
PL_ROLE(load, pl::warps<1>, pl::one_thread);
PL_OUT(b, pl::stream<pl::swizzle128<pl::tile<pl::bf16, 64, 64>>, pl::swizzle128<pl::tile<pl::bf16, 64, 64>>>,
       pl::ring<1, 4>, pl::by_tma, pl::l2<pl::evict_last, pl::evict_normal>);
PL_PARAM(left, pl::tensor_map<b>);
PL_PARAM(right, pl::tensor_map<b, 1>);
PL_PARAM(tiles, int);
PL_TENSOR(b, pl::bf16, "T, 64, 128", pl::read);
PL_BIND(left, "b");
PL_BIND(right, "b");
PL_BIND(tiles, "T");
PL_GRID("1");
PL_PROTOCOL(load, "repeat tiles { b.acquire; b.copy; }");
PL_ENTRY(load) {
  for (int tile = 0; tile < tiles(self); ++tile) {
    const pl::slot slot = b::acquire(self);
    b::copy<0>(self, slot, left(self), 0, 0, tile);
    b::copy<1>(self, slot, right(self), 64, 0, tile);
  }
}
}
