// Where the threads of a role meet those of the same role in the other CTAs of the cluster: an mbarrier in each CTA, at
// one address.  Every warp arrives at the mbarriers of all CTAs, its own included, and then waits at its own, whose
// phase is complete when all warps of all CTAs have arrived.  So none can be a phase ahead of another that still waits.
// What a warp did comes before the arrivals of its lanes (__syncwarp), and these before what the others do after their
// waits: release and acquire at cluster scope (PTX ISA 9.7.13.15, mbarrier.arrive and mbarrier.try_wait; 9.7.9.24, mapa).
#include "device.cuh"

PL_TRANSFER_INLINE void pl_cluster_barrier_arrive(unsigned address, unsigned rank) {
  unsigned there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(there) : "memory");
}
PL_TRANSFER_INLINE bool pl_cluster_barrier_try(unsigned address, unsigned parity) {
  unsigned done;
  asm volatile(
      "{\n.reg .pred P1;\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 P1, [%1], %2;\nselp.u32 %0, 1, 0, "
      "P1;\n}"
      : "=r"(done)
      : "r"(address), "r"(parity)
      : "memory");
  return done;
}

// One lane of the warp for each CTA (a cluster has at most 16), or each thread for all of them.
PL_TRANSFER void pl_cluster_barrier_sync(char* where, unsigned address, unsigned ctas, unsigned unit PL_WATCH) {
  pl_cursor& cursor = *reinterpret_cast<pl_cursor*>(where);
  if (unit == pl_unit_warp) {
    __syncwarp();
    const unsigned lane = threadIdx.x & 31;
    if (lane < ctas) pl_cluster_barrier_arrive(address, lane);
  } else {
    for (unsigned rank = 0; rank < ctas; ++rank) pl_cluster_barrier_arrive(address, rank);
  }
  pl_wait([&] { return pl_cluster_barrier_try(address, cursor.parity); }, cursor.parity PL_WATCHED(0));
  cursor.parity ^= 1;
}
