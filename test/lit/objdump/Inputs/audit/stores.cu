#include <pipelink/component.cuh>
#include <pipelink/stores.cuh>
// Buffers that threads write and bulk copies read.
#define LIT_STORE(NAME, PROTOCOL, LEFT)                                         \
  PL_COMPONENT(NAME) {                                                          \
  PL_ROLE(run, pl::warps<1>);                                                   \
  PL_SMEM(tile, unsigned char[1024], pl::align<128>);                           \
  PL_PARAM(to, pl::tile_map<pl::row_major<pl::tile<pl::bf16, 16, 32>>>);        \
  PL_PARAM(n, int);                                                             \
  PL_PROTOCOL(run, PROTOCOL);                                                   \
  PL_ENTRY(run) {                                                               \
    const int t = run::thread(self);                                            \
    for (int i = 0; i < n(self); ++i) {                                         \
      if (t == 0) pl::wait_stores<LEFT>();                                      \
      __syncwarp();                                                             \
      reinterpret_cast<int*>(tile(self))[t] = i;                                \
      pl::publish();                                                            \
      __syncwarp();                                                             \
      if (t == 0) pl::store_tile(to(self), tile_smem::address(self), 0, i * 16), pl::commit_stores(); \
    }                                                                           \
  }                                                                             \
  }
LIT_STORE(lit::in_time, "repeat n { tile.stored; tile.write; fence async; tile.store; }", 0)
LIT_STORE(lit::too_early, "repeat n { tile.stored; tile.write; fence async; tile.store; }", 1)
LIT_STORE(lit::only_read, "repeat n { tile.write; fence async; tile.read; }", 0)
