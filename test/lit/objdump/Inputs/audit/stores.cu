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
// Copies of bytes, for which nothing in the contract lets the kernel wait at its end.
#define LIT_BYTES(NAME, AFTER)                                                                           \
  PL_COMPONENT(NAME) {                                                                                   \
  PL_ROLE(run, pl::warps<1>, pl::one_thread);                                                            \
  PL_IN(x, pl::stream<pl::row_major<pl::tile<float, 256>>>, pl::ring<2, 4>, pl::by_threads);             \
  PL_PARAM(to, float*);                                                                                  \
  PL_PARAM(n, int);                                                                                      \
  PL_PROTOCOL(run, "repeat n { x.wait; x.release; }");                                                   \
  PL_ENTRY(run) {                                                                                        \
    for (int i = 0; i < n(self); ++i) {                                                                  \
      const pl::slot slot = x::wait(self);                                                               \
      pl::publish();                                                                                     \
      pl::store_bytes(to(self) + i * 256, x::address(self, slot), 1024);                                 \
      AFTER;                                                                                             \
      x::release(self, slot);                                                                            \
    }                                                                                                    \
  }                                                                                                      \
  }
LIT_BYTES(lit::bytes_waited_for, pl::commit_stores(); pl::wait_stores<0>())
LIT_BYTES(lit::bytes_of_a_slot, pl::commit_stores(); pl::wait_stores<1>())
LIT_BYTES(lit::bytes_in_no_group, pl::wait_stores<0>())
#define LIT_BUFFER(NAME, SAYS, LAST)                                                                     \
  PL_COMPONENT(NAME) {                                                                                   \
  PL_ROLE(run, pl::warps<1>);                                                                            \
  PL_SMEM(tile, unsigned char[1024], pl::align<128>);                                                    \
  PL_PARAM(to, unsigned char*);                                                                          \
  PL_PARAM(n, int);                                                                                      \
  SAYS                                                                                                   \
  PL_ENTRY(run) {                                                                                        \
    const int t = run::thread(self);                                                                     \
    for (int i = 0; i < n(self); ++i) {                                                                  \
      if (t == 0) pl::wait_stores<0>();                                                                  \
      __syncwarp();                                                                                      \
      reinterpret_cast<int*>(tile(self))[t] = i;                                                         \
      pl::publish();                                                                                     \
      __syncwarp();                                                                                      \
      if (t == 0) pl::store_bytes(to(self) + i * 1024, tile_smem::address(self), 1024), pl::commit_stores(); \
    }                                                                                                    \
    LAST;                                                                                                \
  }                                                                                                      \
  }
#define LIT_STEPS PL_PROTOCOL(run, "repeat n { tile.stored; tile.write; fence async; tile.store; }");
#define LIT_READS PL_PROTOCOL(run, "repeat n { tile.write; fence async; tile.read; }");
LIT_BUFFER(lit::kernel_waits, LIT_STEPS, )
LIT_BUFFER(lit::role_waits, LIT_STEPS, if (t == 0) pl::wait_stores<0>())
LIT_BUFFER(lit::nobody_waits, LIT_READS, )
LIT_BUFFER(lit::nothing_said, , )
LIT_BUFFER(lit::waits_at_times, LIT_READS, if (t == 0 && n(self) > 3) pl::wait_stores<0>())
LIT_BUFFER(lit::another_waits, LIT_READS, if (t == 1) pl::wait_stores<0>())
LIT_BUFFER(lit::waits_in_time, LIT_READS, if (t == 0) pl::wait_stores<0>())
PL_COMPONENT(lit::reduced) {
PL_ROLE(run, pl::warps<1>, pl::one_thread);
PL_IN(x, pl::stream<pl::row_major<pl::tile<float, 32, 32>>>, pl::ring<2, 4>, pl::by_tma);
PL_PARAM(to, pl::tile_map<pl::row_major<pl::tile<float, 32, 32>>>);
PL_PARAM(n, int);
PL_PROTOCOL(run, "repeat n { x.wait; x.release; }");
PL_ENTRY(run) {
  for (int i = 0; i < n(self); ++i) {
    const pl::slot slot = x::wait(self);
    pl::reduce_tile<pl::reduction::add>(to(self), x::address(self, slot), 0, 0);
    pl::commit_stores();
    x::release(self, slot);
  }
}
}
PL_COMPONENT(lit::answered) {
PL_ANSWER(put, void(int));
PL_SMEM(tile, unsigned char[1024], pl::align<128>);
PL_PARAM(to, unsigned char*);
PL_DEFINE(put)(pl::self self, int i) -> void {
  if (threadIdx.x % 32 == 0) pl::store_bytes(to(self) + i * 1024, tile_smem::address(self), 1024), pl::commit_stores();
}
}
