// A producer whose declarations the tests change with -D.
#include <pipelink/component.cuh>
#ifndef NAME
#define NAME test::maker
#endif
#ifndef TILE
#define TILE pl::row_major<pl::tile<float, 32, 32>>
#endif
#ifndef RING
#define RING pl::ring<2, 4>
#endif
#ifndef WARPS
#define WARPS 4
#endif
#ifndef REGISTERS
#define REGISTERS 24, 64
#endif
#ifndef EXTRA
#define EXTRA
#endif
#ifdef HELPER
__device__ __noinline__ float helper(int x) { return x HELPER; }
#else
#define helper float
#endif
PL_COMPONENT(NAME) {
PL_ROLE(fill, pl::warps<WARPS>, pl::registers<REGISTERS>);
PL_OUT(x, pl::stream<TILE>, RING, pl::by_threads);
PL_PARAM(n, int);
EXTRA
PL_ENTRY(fill) {
  for (int i = 0; i < n(self); ++i) {
    auto slot = x::acquire(self);
    x::pointer<float>(self, slot)[fill::thread(self)] = helper(i);
    x::commit(self, slot);
  }
}
}
