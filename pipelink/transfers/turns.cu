// An order among the warpgroups of a role: a named barrier for each of them, of 256 threads, its own and those of the
// one before.  It waits for its turn at its own (barrier.sync); whoever has a turn passes it on at that of the next
// (barrier.arrive).  The last warpgroup arrives for the first one before the role begins, and the first takes what the
// last has passed on when the role ends, so that no barrier is left half arrived (PTX ISA 9.7.13.1, barrier).
//
// `ids` has four bits for each warpgroup, in their order; threads count from `first`, the role's first.
#include "device.cuh"

PL_TRANSFER_INLINE unsigned pl_turns_barrier(unsigned ids, unsigned first) {
  return ids >> ((threadIdx.x - first) / 128 * 4) & 15;
}
PL_TRANSFER_INLINE void pl_turns_arrive(unsigned id) {
  asm volatile("barrier.arrive.aligned %0, 256;" ::"r"(id) : "memory");
}

PL_TRANSFER void pl_turns_take(unsigned ids, unsigned first) { pl_barrier_sync(pl_turns_barrier(ids, first), 256); }
PL_TRANSFER void pl_turns_pass(unsigned nexts, unsigned first) { pl_turns_arrive(pl_turns_barrier(nexts, first)); }
// `id`: the first warpgroup's barrier; `last`: the first thread of the last one, `first`: of the first.
PL_TRANSFER void pl_turns_begin(unsigned id, unsigned last) {
  if (threadIdx.x - last < 128) pl_turns_arrive(id);
}
PL_TRANSFER void pl_turns_end(unsigned id, unsigned first) {
  if (threadIdx.x - first < 128) pl_barrier_sync(id, 256);
}
