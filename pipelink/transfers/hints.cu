// Copies into rings that say how the L2 cache shall keep what they bring: what ring.cu and cluster.cu have, with a cache
// hint (PTX ISA 9.7.9.25.5.2, .level::cache_hint).  `hint` is a constant of the placement: 0 evict_normal, 1 evict_first,
// 2 evict_last; the policy becomes one in a register (PTX ISA, createpolicy).
#include "device.cuh"

PL_TRANSFER_INLINE unsigned long long pl_policy(unsigned hint) {
  unsigned long long policy;
  if (hint == 1) {
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  } else if (hint == 2) {
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  } else {
    asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
  }
  return policy;
}

#define PL_HINTED(RANK, COORDINATES, ...)                                                                        \
  asm volatile("cp.async.bulk.tensor." RANK "d.shared::cta.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint " \
               "[%0], [%1, {" COORDINATES "}], [%2], %3;" ::"r"(to + offset),                                    \
               "l"(map), "r"(full + 8 * stage), "l"(pl_policy(hint)), "r"(c0) __VA_ARGS__                        \
               : "memory")
PL_TRANSFER void pl_hinted_ring_tma1(unsigned to, unsigned offset, const char* map, unsigned full, unsigned stage,
                                     unsigned hint, int c0) {
  PL_HINTED("1", "%4");
}
PL_TRANSFER void pl_hinted_ring_tma2(unsigned to, unsigned offset, const char* map, unsigned full, unsigned stage,
                                     unsigned hint, int c0, int c1) {
  PL_HINTED("2", "%4,%5", , "r"(c1));
}
PL_TRANSFER void pl_hinted_ring_tma3(unsigned to, unsigned offset, const char* map, unsigned full, unsigned stage,
                                     unsigned hint, int c0, int c1, int c2) {
  PL_HINTED("3", "%4,%5,%6", , "r"(c1), "r"(c2));
}
PL_TRANSFER void pl_hinted_ring_tma4(unsigned to, unsigned offset, const char* map, unsigned full, unsigned stage,
                                     unsigned hint, int c0, int c1, int c2, int c3) {
  PL_HINTED("4", "%4,%5,%6,%7", , "r"(c1), "r"(c2), "r"(c3));
}
PL_TRANSFER void pl_hinted_ring_tma5(unsigned to, unsigned offset, const char* map, unsigned full, unsigned stage,
                                     unsigned hint, int c0, int c1, int c2, int c3, int c4) {
  PL_HINTED("5", "%4,%5,%6,%7,%8", , "r"(c1), "r"(c2), "r"(c3), "r"(c4));
}

PL_TRANSFER void pl_hinted_ring_bulk1(unsigned to, unsigned offset, const char* from, unsigned full, unsigned stage,
                                      unsigned hint, int bytes) {
  asm volatile(
      "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;" ::"r"(
          to + offset),
      "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(full + 8 * stage), "l"(pl_policy(hint))
      : "memory");
}

// As in cluster.cu.
#define PL_HINTED_CLUSTER(RANK, COORDINATES, ...)                                                                    \
  const unsigned rank = pl_cluster_rank();                                                                           \
  if (rows == 0 && (offset >= bytes) != rank) return;                                                                \
  const unsigned at = to + offset + (rows ? rank * bytes : 0);                                                       \
  asm volatile("cp.async.bulk.tensor." RANK "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"             \
               ".multicast::cluster.L2::cache_hint [%0], [%1, {" COORDINATES "}], [%2], %3, %4;" ::"r"(at),          \
               "l"(map), "r"(full + 8 * stage), "h"(static_cast<unsigned short>(3)), "l"(pl_policy(hint)), "r"(c0),  \
               "r"(c1 + int(rank * rows)) __VA_ARGS__                                                                \
               : "memory")
PL_TRANSFER void pl_hinted_cluster_tma2(unsigned to, unsigned offset, const char* map, unsigned full, unsigned stage,
                                        unsigned rows, unsigned bytes, unsigned hint, int c0, int c1) {
  PL_HINTED_CLUSTER("2", "%5,%6");
}
PL_TRANSFER void pl_hinted_cluster_tma3(unsigned to, unsigned offset, const char* map, unsigned full, unsigned stage,
                                        unsigned rows, unsigned bytes, unsigned hint, int c0, int c1, int c2) {
  PL_HINTED_CLUSTER("3", "%5,%6,%7", , "r"(c2));
}
PL_TRANSFER void pl_hinted_cluster_tma4(unsigned to, unsigned offset, const char* map, unsigned full, unsigned stage,
                                        unsigned rows, unsigned bytes, unsigned hint, int c0, int c1, int c2, int c3) {
  PL_HINTED_CLUSTER("4", "%5,%6,%7,%8", , "r"(c2), "r"(c3));
}
PL_TRANSFER void pl_hinted_cluster_tma5(unsigned to, unsigned offset, const char* map, unsigned full, unsigned stage,
                                        unsigned rows, unsigned bytes, unsigned hint, int c0, int c1, int c2, int c3,
                                        int c4) {
  PL_HINTED_CLUSTER("5", "%5,%6,%7,%8,%9", , "r"(c2), "r"(c3), "r"(c4));
}
