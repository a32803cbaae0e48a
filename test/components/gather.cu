// A producer that gathers rows with cp.async and goes on while they are on their way, as for routed tokens or paged
// keys; its slots are those of placed_tiles, so that threads, or a TMA store, can read them.
#include <pipelink/component.cuh>

namespace gathering {
struct place {
  int row[1], col[1];
};
}  // namespace gathering
PL_TYPE(gathering::place, "plc::places<1>");

// An ordinary store beside the copies: their arrival releases nothing else, so the thread fences.
template <class Port>
__device__ __forceinline__ void write_place(pl::self self, pl::slot slot, int thread, int row) {
  if constexpr (Port::pl_tiles::parts == 2)
    if (thread == 0) {
      *Port::template pointer<gathering::place, 1>(self, slot) = {{row}, {0}};
      __threadfence_block();
    }
}

// Rows of 64 numbers, 64 of them a slot: row i of the output is row index[i] of x, zeros where there is none.
#define GATHER(NAME, LAYOUT, SWIZZLE, WARPS, ITEM)                                                            \
  PL_COMPONENT(NAME) {                                                                                        \
    PL_ROLE(fill, pl::warps<WARPS>);                                                                          \
    PL_OUT(blocks, pl::stream<LAYOUT<pl::tile<pl::bf16, 64, 64>> ITEM>, pl::ring<2, 6>, pl::by_cp_async,      \
           pl::ends);                                                                                         \
    PL_PARAM(x, const pl::bf16*);                                                                             \
    PL_PARAM(index, const int*);                                                                              \
    PL_PARAM(rows, int);                                                                                      \
    PL_TENSOR(x, pl::bf16, "R, 64", pl::read, pl::align<16>);                                                 \
    PL_TENSOR(index, int, "M", pl::read);                                                                     \
    PL_BIND(rows, "M");                                                                                       \
    PL_GRID("min(ceildiv(M, 64), 5)");                                                                        \
    PL_ENTRY(fill) {                                                                                          \
      for (int row = blockIdx.x * 64; row < rows(self); row += gridDim.x * 64) {                              \
        pl::slot slot = blocks::acquire(self);                                                                \
        for (int i = fill::thread(self); i < 64 * 8; i += WARPS * 32) {                                       \
          const int r = i / 8, c = i % 8, from = row + r < rows(self) ? index(self)[row + r] : -1;            \
          const unsigned at = r * 128 + ((SWIZZLE ? c ^ (r & 7) : c) << 4);                                   \
          const uint4* row_of_x = reinterpret_cast<const uint4*>(x(self)) + (from < 0 ? 0 : from) * 8;        \
          blocks::copy_async<0>(self, slot, at, row_of_x + c, from >= 0);                                     \
        }                                                                                                     \
        write_place<blocks>(self, slot, fill::thread(self), row);                                             \
        blocks::commit(self, slot);                                                                           \
      }                                                                                                       \
      blocks::end(self);                                                                                      \
    }                                                                                                         \
  }

#define GATHER_PLACE , pl::item<gathering::place>
GATHER(test::gathered_blocks, pl::swizzle128, true, 4, GATHER_PLACE)
GATHER(test::gathered_rows, pl::row_major, false, 2, )

// Writes the rows of its slots one below the other, those that exist.
PL_COMPONENT(test::row_writer) {
PL_ROLE(drain, pl::warps<3>);
PL_IN(tiles, pl::stream<pl::row_major<pl::tile<pl::bf16, 64, 64>>>, pl::ring<2, 6>, pl::by_threads, pl::ends);
PL_PARAM(y, pl::bf16*);
PL_PARAM(rows, int);
PL_TENSOR(y, pl::bf16, "M, 64", pl::write, pl::align<16>);
PL_BIND(rows, "M");
PL_ENTRY(drain) {
  for (int row = blockIdx.x * 64;; row += gridDim.x * 64) {
    pl::slot slot = tiles::wait(self);
    if (tiles::ended(self, slot)) break;
    const uint4* from = tiles::pointer<const uint4, 0>(self, slot);
    for (int i = drain::thread(self); i < 64 * 8; i += 96)
      if (row + i / 8 < rows(self)) reinterpret_cast<uint4*>(y(self))[row * 8 + i] = from[i];
    tiles::release(self, slot);
  }
}
}
