// A pair of CTAs whose tensor cores multiply together (tcgen05, cta_group::2; sm_100a, sm_103a): a cluster of two, in
// which the CTA of rank 0 issues for both.
//
// Operands: each CTA's TMA fills its own slot with its part, but every byte completes on the full barrier of rank 0,
// which expects both slots.  Accumulators: each CTA has its half of the rows in its own tensor memory.  What tensor cores
// finish arrives in both CTAs; the warps of both release accumulators on the empty barrier of rank 0.  Barriers and
// slots lie at the same addresses in both CTAs: clearing the bit of an address that holds the rank names those of rank 0.
// A kernel uses one cta_group throughout, so what ring.cu and tmem.cu do for one CTA stands here again where it differs.
#include "device.cuh"

enum : unsigned { pl_pair_rank_bit = 1u << 24 };  // of an address in shared::cluster

// The next free slot of operands; rank 0 announces the bytes of both.
PL_TRANSFER unsigned pl_pair_acquire(char* where, unsigned empty, unsigned full, unsigned stages, unsigned bytes PL_WATCH) {
  pl_cursor& cursor = *reinterpret_cast<pl_cursor*>(where);
  unsigned stage = cursor.stage;
  pl_mbarrier_wait(empty + 8 * stage, cursor.parity ^ 1 PL_WATCHED(stage));
  if (pl_cluster_rank() == 0) pl_mbarrier_expect(full + 8 * stage, 2 * bytes);
  pl_advance(cursor, stages);
  return stage;
}

// Arrives at the slot's mbarriers of both CTAs when every tcgen05 instruction issued so far is complete.
PL_TRANSFER void pl_pair_commit(unsigned mbarriers, unsigned stage) {
  asm volatile(
      "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::"r"(
          mbarriers + 8 * stage),
      "h"(static_cast<unsigned short>(3))
      : "memory");
}

// One arrival a warp, or a thread, on the barrier of rank 0; the loads are complete and ordered (pl_tmem_loaded).
PL_TRANSFER void pl_pair_release(unsigned empty, unsigned stage, unsigned unit) {
  if (unit == pl_unit_warp) {
    __syncwarp();
    if (threadIdx.x & 31) return;
  }
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"((empty + 8 * stage) &
                                                                                    ~pl_pair_rank_bit)
               : "memory");
}

// As for one CTA; a warp of each CTA takes part.
PL_TRANSFER void pl_pair_allocate(unsigned word, unsigned columns) {
  asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(word), "r"(columns) : "memory");
  asm volatile("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;" ::: "memory");
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}
PL_TRANSFER void pl_pair_free(unsigned base, unsigned columns) {
  __syncwarp();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, %1;" ::"r"(base), "r"(columns) : "memory");
}

#define PL_PAIR_COPY(COPY, COORDINATES, ...)                                                                          \
  asm volatile("cp.async.bulk.tensor." COPY                                                                           \
               ".cta_group::2.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {" COORDINATES      \
               "}], [%2];" ::"r"(to + offset),                                                                        \
               "l"(map), "r"((full + 8 * stage) & ~pl_pair_rank_bit), __VA_ARGS__                                     \
               : "memory")

PL_TRANSFER void pl_pair_tma1(unsigned to, unsigned offset, const char* map, unsigned full, unsigned stage, int c0) {
  PL_PAIR_COPY("1d", "%3", "r"(c0));
}
PL_TRANSFER void pl_pair_tma2(unsigned to, unsigned offset, const char* map, unsigned full, unsigned stage, int c0,
                              int c1) {
  PL_PAIR_COPY("2d", "%3,%4", "r"(c0), "r"(c1));
}
PL_TRANSFER void pl_pair_tma3(unsigned to, unsigned offset, const char* map, unsigned full, unsigned stage, int c0,
                              int c1, int c2) {
  PL_PAIR_COPY("3d", "%3,%4,%5", "r"(c0), "r"(c1), "r"(c2));
}
PL_TRANSFER void pl_pair_tma4(unsigned to, unsigned offset, const char* map, unsigned full, unsigned stage, int c0,
                              int c1, int c2, int c3) {
  PL_PAIR_COPY("4d", "%3,%4,%5,%6", "r"(c0), "r"(c1), "r"(c2), "r"(c3));
}
PL_TRANSFER void pl_pair_tma5(unsigned to, unsigned offset, const char* map, unsigned full, unsigned stage, int c0,
                              int c1, int c2, int c3, int c4) {
  PL_PAIR_COPY("5d", "%3,%4,%5,%6,%7", "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4));
}
#undef PL_PAIR_COPY
