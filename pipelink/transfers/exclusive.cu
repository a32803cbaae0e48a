// Between two roles of an exclusive group, which run one after the other on the same warps: all of them meet, since what
// the next one has in shared memory may lie where the last one's was.
//
// A role may be run by some of the threads only, so each warp comes together before it arrives: the barrier is one
// instruction of the whole warp (PTX ISA, barrier.sync.aligned).
#include "device.cuh"

PL_TRANSFER void pl_meet_warp() { __syncwarp(); }
PL_TRANSFER void pl_meet_warps(unsigned id, unsigned threads) {
  __syncwarp();
  pl_barrier_sync(id, threads);
}
