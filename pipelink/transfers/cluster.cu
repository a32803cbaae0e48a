// A ring that both CTAs of a cluster of two fill together: what ring.cu has, but each CTA brings half of the tiles that
// both need and TMA writes it to both (multicast), and a slot is free when the readers of both CTAs are done with it.
//
// Barriers and buffers lie at the same addresses in both CTAs, so the address of one names its twin: a multicast copy
// writes at the same offsets, and completes bytes on the same barrier, of every CTA in its mask.  Each full barrier
// expects a whole slot, of which a part comes from the peer; each empty barrier counts the readers of both CTAs, because
// what its producer copies overwrites the peer's slot too.  Both CTAs go through the same number of slots.
// PTX ISA 9.7.9.25.5.2 (cp.async.bulk.tensor, .multicast::cluster: a 16-bit mask of ranks), 9.7.9.24 (mapa).
#include "device.cuh"

// Where a CTA's shared memory begins among that of its cluster.  An address that lacks it is one of CTA 0.
PL_TRANSFER unsigned pl_cluster_window() {
  unsigned window;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(window) : "r"(0), "r"(pl_cluster_rank()));
  return window;
}

// All threads of both CTAs: the barriers of both are set up before either is used, and neither CTA ends while the other
// may still copy into it or arrive at its barriers.  The second is also called by threads that took different ways.
PL_TRANSFER void pl_cluster_meet() {
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
PL_TRANSFER void pl_cluster_leave() { asm volatile("barrier.cluster.arrive;\nbarrier.cluster.wait;" ::: "memory"); }

// Reads through wgmma are complete when the group was waited for, and nothing was written: an arrival without cluster
// scope is enough.  Loads are ordered before the peer's copy by a release.
PL_TRANSFER_INLINE void pl_cluster_arrive(unsigned address, unsigned rank, bool loads) {
  unsigned there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  if (loads) {
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(there) : "memory");
  } else {
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(there) : "memory");
  }
}

// The slot is read: arrive in both CTAs.  A warpgroup's first warp arrives in CTA 0, its second in CTA 1.
PL_TRANSFER void pl_cluster_release(unsigned empty, unsigned stage, unsigned unit) {
  const unsigned address = empty + 8 * stage;
  if (unit == pl_unit_warpgroup) {
    if ((threadIdx.x & 95) == 0) pl_cluster_arrive(address, (threadIdx.x >> 5) & 1, false);
    return;
  }
  if (unit == pl_unit_warp) {
    __syncwarp();
    if (threadIdx.x & 31) return;
  }
  pl_cluster_arrive(address, 0, true);
  pl_cluster_arrive(address, 1, true);
}

// Copies of a tile that both CTAs need.  rows > 0: one copy brings the tile, its box is the half of it, and the CTA of
// rank 1 takes the rows and bytes behind it.  rows == 0: the tile takes several copies; each CTA makes those into its
// half, which has `bytes` bytes.  c1 counts rows.
#define PL_CLUSTER_COPY(COPY, COORDINATES, ...)                                                                      \
  const unsigned rank = pl_cluster_rank();                                                                           \
  if (rows == 0 && (offset >= bytes) != rank) return;                                                                \
  const unsigned at = to + offset + (rows ? rank * bytes : 0);                                                       \
  asm volatile("cp.async.bulk.tensor." COPY                                                                          \
               ".shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {" COORDINATES \
               "}], [%2], %3;" ::"r"(at),                                                                            \
               "l"(map), "r"(full + 8 * stage), "h"(static_cast<unsigned short>(3)), "r"(c0), "r"(c1 + int(rank * rows)) \
               __VA_ARGS__                                                                                           \
               : "memory")

PL_TRANSFER void pl_cluster_tma2(unsigned to, unsigned offset, const char* map, unsigned full, unsigned stage,
                                 unsigned rows, unsigned bytes, int c0, int c1) {
  PL_CLUSTER_COPY("2d", "%4,%5");
}
PL_TRANSFER void pl_cluster_tma3(unsigned to, unsigned offset, const char* map, unsigned full, unsigned stage,
                                 unsigned rows, unsigned bytes, int c0, int c1, int c2) {
  PL_CLUSTER_COPY("3d", "%4,%5,%6", , "r"(c2));
}
PL_TRANSFER void pl_cluster_tma4(unsigned to, unsigned offset, const char* map, unsigned full, unsigned stage,
                                 unsigned rows, unsigned bytes, int c0, int c1, int c2, int c3) {
  PL_CLUSTER_COPY("4d", "%4,%5,%6,%7", , "r"(c2), "r"(c3));
}
PL_TRANSFER void pl_cluster_tma5(unsigned to, unsigned offset, const char* map, unsigned full, unsigned stage,
                                 unsigned rows, unsigned bytes, int c0, int c1, int c2, int c3, int c4) {
  PL_CLUSTER_COPY("5d", "%4,%5,%6,%7,%8", , "r"(c2), "r"(c3), "r"(c4));
}
