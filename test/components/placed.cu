// A producer of placed tiles, for a TMA store to follow: copies x to wherever it belongs in a tensor of its shape.
#include <pipelink/component.cuh>

namespace placing {
struct place {
  int row[1], col[1];
};
}  // namespace placing
PL_TYPE(placing::place, "plc::places<1>");

PL_COMPONENT(test::placed_tiles) {
PL_ROLE(fill, pl::warps<4>);
PL_OUT(blocks, pl::stream<pl::swizzle128<pl::tile<pl::bf16, 64, 64>>, pl::item<placing::place>>, pl::ring<2, 4>, pl::by_threads,
       pl::ends);
PL_PARAM(x, const pl::bf16*);
PL_PARAM(rows, int);
PL_PARAM(cols, int);
PL_TENSOR(x, pl::bf16, "M, N", pl::read, pl::align<16>);
PL_BIND(rows, "M");
PL_BIND(cols, "N");
PL_GRID("min(ceildiv(M, 64) * ceildiv(N, 64), 5)");

// Rows of x are a multiple of 8 elements.  What lies outside is filled with a value that must not arrive.
PL_ENTRY(fill) {
  const int wide = (cols(self) + 63) / 64, count = (rows(self) + 63) / 64 * wide;
  for (int t = blockIdx.x; t < count; t += gridDim.x) {
    const int row = t / wide * 64, col = t % wide * 64;
    pl::slot slot = blocks::acquire(self);
    const unsigned base = blocks::address<0>(self, slot);
    for (int i = fill::thread(self); i < 64 * 8; i += 128) {
      const int r = i / 8, c = i % 8;
      uint4 v = {0x7FFF7FFF, 0x7FFF7FFF, 0x7FFF7FFF, 0x7FFF7FFF};
      if (row + r < rows(self) && col + c * 8 < cols(self))
        v = reinterpret_cast<const uint4*>(x(self))[((row + r) * cols(self) + col) / 8 + c];
      asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(base + r * 128 + ((c ^ (r & 7)) << 4)), "r"(v.x),
                   "r"(v.y), "r"(v.z), "r"(v.w)
                   : "memory");
    }
    if (fill::thread(self) == 0) *blocks::pointer<placing::place, 1>(self, slot) = {{row}, {col}};
    blocks::commit(self, slot);
  }
  blocks::end(self);
}
}
