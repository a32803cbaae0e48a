// What the transfers share: mbarrier and fence instructions, and a ring's cursor.
//
// PL_TRANSFER marks a function that the linker binds.  In an LTO object it is an ordinary external function, which
// nvJitLink inlines; in a monolith it is static and inline.  The text is the same in both, so a link and its monolith
// hold the same source.  Instructions: PTX ISA 9.7.13.15 (mbarrier), 9.7.9.25 (bulk copies), 9.7.13.4 (fences).
#pragma once

#if defined(PL_MONOLITH)
#define PL_TRANSFER static __device__ __forceinline__
#else
#define PL_TRANSFER extern "C" __device__
#endif
#define PL_TRANSFER_INLINE static __device__ __forceinline__

// Position in a ring: the stage to take next and the parity of its phase.  Lives in the linker's frame.
struct pl_cursor {
  unsigned stage, parity;
};

// Who arrives for a group of threads: every thread, one of each warp after the warp has met, or one of each
// warpgroup (right only where the group has finished through a warpgroup-wide instruction, such as wgmma's wait).
enum : unsigned { pl_unit_thread = 0, pl_unit_warp = 1, pl_unit_warpgroup = 2 };

PL_TRANSFER_INLINE void pl_mbarrier_wait(unsigned address, unsigned parity) {
  asm volatile(
      "{\n.reg .pred P1;\nWAIT:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n@P1 bra DONE;\nbra WAIT;\nDONE:\n}" ::"r"(address),
      "r"(parity)
      : "memory");
}
PL_TRANSFER_INLINE void pl_mbarrier_arrive(unsigned address) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address) : "memory");
}
PL_TRANSFER_INLINE void pl_mbarrier_expect(unsigned address, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address), "r"(bytes) : "memory");
}
PL_TRANSFER_INLINE void pl_store_shared(unsigned address, unsigned value) {
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}
PL_TRANSFER_INLINE unsigned pl_load_shared(unsigned address) {
  unsigned value;
  asm volatile("ld.shared.b32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
  return value;
}
PL_TRANSFER_INLINE void pl_fence_proxy_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
PL_TRANSFER_INLINE void pl_barrier_sync(unsigned id, unsigned threads) {
  asm volatile("barrier.sync.aligned %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
PL_TRANSFER_INLINE unsigned pl_cluster_rank() {
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
PL_TRANSFER_INLINE void pl_advance(pl_cursor& cursor, unsigned stages) {
  if (++cursor.stage == stages) {
    cursor.stage = 0;
    cursor.parity ^= 1;
  }
}
PL_TRANSFER_INLINE void pl_arrive_as(unsigned address, unsigned unit) {
  if (unit == pl_unit_thread) {
    pl_mbarrier_arrive(address);
  } else if (unit == pl_unit_warp) {
    __syncwarp();
    if ((threadIdx.x & 31) == 0) pl_mbarrier_arrive(address);
  } else {
    if ((threadIdx.x & 127) == 0) pl_mbarrier_arrive(address);
  }
}

// What a debug link passes to functions that wait, and they to pl_mbarrier_wait and pl_wait: watch.cuh.  What is waited
// for by pl_wait is a function; a number says which time, where a hang is told.
#if defined(PL_DEBUG_HANGS)
#include "watch.cuh"
#define PL_WATCH , const char *watched, unsigned site
#define PL_WATCHED(STAGE) , watched, site, STAGE
#else
#define PL_WATCH
#define PL_WATCHED(STAGE)
template <class Done>
PL_TRANSFER_INLINE void pl_wait(Done done, unsigned) {
  do {
  } while (!done());
}
#endif
