// Tensor memory (sm_100a, sm_103a): rings of accumulators between the thread that issues tcgen05.mma and the warps that
// read them with tcgen05.ld, and the CTA's allocation.
//
// The rings' mbarriers and cursors are those of ring.cu.  What differs: tensor cores arrive for the thread that issued
// to them (tcgen05.commit), on `full` of accumulators and on `empty` of the operands that they read; and tcgen05
// instructions are ordered across threads only by a fence before the arrival and one after the wait (PTX ISA, tcgen05
// memory consistency model).  tcgen05.commit is that fence itself.  All instructions are of one CTA (cta_group::1).
#include "device.cuh"

// After a wait: the thread's later tcgen05 instructions come after what it waited for.
PL_TRANSFER void pl_tmem_after() { asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory"); }

// Arrives at the slot's mbarrier when every tcgen05 instruction that this thread has issued so far is complete.
PL_TRANSFER void pl_tmem_commit(unsigned mbarriers, unsigned stage) {
  asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(mbarriers + 8 * stage)
               : "memory");
}

// The warp's loads are complete and come before its arrival.
PL_TRANSFER void pl_tmem_loaded() {
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}

// One whole warp allocates `columns` (a power of two from 32) and leaves their address in shared memory.  Giving the
// permit up lets the next CTA of the SM allocate.
PL_TRANSFER void pl_tmem_allocate(unsigned word, unsigned columns) {
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(word), "r"(columns) : "memory");
  asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::: "memory");
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}
PL_TRANSFER unsigned pl_tmem_base(unsigned word) {
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  return pl_load_shared(word);
}
// All threads, whatever way they took.
PL_TRANSFER void pl_tmem_leave() { asm volatile("barrier.sync 0;" ::: "memory"); }
PL_TRANSFER void pl_tmem_free(unsigned base, unsigned columns) {
  __syncwarp();
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(base), "r"(columns) : "memory");
}
