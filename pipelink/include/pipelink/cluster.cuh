// pipelink/cluster.cuh: the shared memory of the other CTAs of the cluster.  sm_90 and later.
//
//   PL_CLUSTER(2, 1, 1);
//   PL_SMEM(part, float[128]);
//   PL_CLUSTER_BARRIER(met);
//   PL_PROTOCOL(run, "part.write; met.sync; part.peer_read; met.sync;");
//   ...
//   part(self)[thread] = mine;
//   met::sync(self);                                              // all of them have written
//   const float other = pl::load_peer<float>(part_smem::peer(self, pl::cluster_rank() ^ 1) + 4 * thread);
//   met::sync(self);                                              // all of them have read
#pragma once
#include <pipelink/resources.cuh>

namespace pl {

// The CTA's number in its cluster, and how many there are.
__device__ __forceinline__ unsigned cluster_rank() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ __forceinline__ unsigned cluster_ctas() {
  unsigned ctas;
  asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(ctas));
  return ctas;
}

// What lies at an address of PL_SMEM's `peer`, 4 bytes large: for more, see the PTX ISA (ld, st .shared::cluster).
template <class T>
__device__ __forceinline__ T load_peer(unsigned address) {
  static_assert(sizeof(T) == 4, "pl::load_peer<T>(address): a type of 4 bytes");
  union {
    unsigned word;
    T value;
  } found;
  asm volatile("ld.shared::cluster.b32 %0, [%1];" : "=r"(found.word) : "r"(address) : "memory");
  return found.value;
}
template <class T>
__device__ __forceinline__ void store_peer(unsigned address, T value) {
  static_assert(sizeof(T) == 4, "pl::store_peer(address, value): a value of 4 bytes");
  union {
    T value;
    unsigned word;
  } given{value};
  asm volatile("st.shared::cluster.b32 [%0], %1;" ::"r"(address), "r"(given.word) : "memory");
}

}  // namespace pl
