#include <pipelink/component.cuh>
// Shared memory, and mbarriers in it, that the linker does not know.
extern __shared__ unsigned whole[];
PL_COMPONENT(lit::static_memory) {
PL_ROLE(run, pl::warps<4>);
PL_PARAM(out, unsigned*);
PL_ENTRY(run) {
  __shared__ unsigned counts[128];
  counts[run::thread(self)] = *out(self);
  __syncwarp();
  out(self)[run::thread(self)] = counts[run::thread(self) ^ 1];
}
}
PL_COMPONENT(lit::dynamic_memory) {
PL_ROLE(run, pl::warps<1>);
PL_PARAM(out, unsigned*);
PL_ENTRY(run) { out(self)[run::thread(self)] = whole[run::thread(self)]; }
}
PL_COMPONENT(lit::fixed_address) {
PL_ROLE(run, pl::warps<1>);
PL_PARAM(out, unsigned*);
PL_ENTRY(run) {
  unsigned value;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(1024 + 4 * (threadIdx.x % 32)));
  out(self)[run::thread(self)] = value;
}
}
PL_COMPONENT(lit::own_barrier) {
PL_ROLE(run, pl::warps<1>, pl::one_thread);
PL_SMEM(word, unsigned long long);
PL_ENTRY(run) { asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(word_smem::address(self)) : "memory"); }
}
PL_COMPONENT(lit::overlaid_barrier) {
PL_ROLE(run, pl::warps<1>, pl::one_thread);
PL_SMEM(word, unsigned long long, pl::live<0, 1>);
PL_ENTRY(run) { asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(word_smem::address(self)) : "memory"); }
}
PL_COMPONENT(lit::honest) {
PL_ROLE(run, pl::warps<1>);
PL_PARAM(out, unsigned*);
PL_SMEM(table, unsigned[32]);
PL_ENTRY(run) {
  table(self)[run::thread(self)] = *out(self);
  __syncwarp();
  out(self)[run::thread(self)] = table(self)[run::thread(self) ^ 1];
}
}
