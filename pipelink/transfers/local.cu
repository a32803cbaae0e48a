// The async ring inside one role: the same warps issue cp.async copies into a slot and read it later.
//
// No mbarrier: a thread waits for its own copies by group count, then meets the role's other threads at a named
// barrier.  With n stages, `wait` leaves n - 2 groups in flight; that number is an immediate of cp.async.wait_group
// (PTX ISA 9.7.9.25.3.3), so the linker generates the instruction and this file holds the rest.  After `wait` has
// returned slot k, all threads have finished with slot k - 1, which is the slot that `acquire` hands out next.
#include "device.cuh"

PL_TRANSFER unsigned pl_local_take(char* where, unsigned stages) {
  pl_cursor& cursor = *reinterpret_cast<pl_cursor*>(where);
  unsigned stage = cursor.stage;
  if (++cursor.stage == stages) cursor.stage = 0;
  return stage;
}
PL_TRANSFER void pl_local_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
PL_TRANSFER void pl_local_meet(unsigned barrier, unsigned threads) { pl_barrier_sync(barrier, threads); }
