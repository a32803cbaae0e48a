#include <pipelink/component.cuh>
PL_COMPONENT(lit::own_columns) {
PL_ROLE(run, pl::warps<1>);
PL_SMEM(word, unsigned);
PL_ENTRY(run) {
  asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 128;" ::"r"(word_smem::address(self)) : "memory");
  asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 128;" ::"r"(*word(self)));
}
}
