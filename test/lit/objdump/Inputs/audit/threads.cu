#include <pipelink/component.cuh>
// Code that counts on where its threads are, and what the linker owns.
PL_COMPONENT(lit::first_of_all) {
PL_ROLE(run, pl::warps<4>);
PL_PARAM(out, unsigned*);
PL_ENTRY(run) {
  if (threadIdx.x == 0) *out(self) = 1;
}
}
PL_COMPONENT(lit::kernel_size) {
PL_ROLE(run, pl::warps<4>);
PL_PARAM(out, unsigned*);
PL_ENTRY(run) {
  for (unsigned i = run::thread(self); i < 1000; i += blockDim.x) out(self)[i] = i;
}
}
PL_COMPONENT(lit::too_wide) {  // 128 threads need not begin at a multiple of 256
PL_ROLE(run, pl::warps<4>);
PL_PARAM(out, unsigned*);
PL_ENTRY(run) { out(self)[threadIdx.x % 256] = 1; }
}
PL_COMPONENT(lit::answer_first) {
PL_ANSWER(apply, void(unsigned));
PL_PARAM(out, unsigned*);
PL_DEFINE(apply)(pl::self self, unsigned value) -> void {
  if (threadIdx.x < 128) out(self)[threadIdx.x % 128] = value;
}
}
PL_COMPONENT(lit::registers_moved) {
PL_ROLE(run, pl::warps<4>);
PL_ENTRY(run) { asm volatile("setmaxnreg.dec.sync.aligned.u32 40;"); }
}
PL_COMPONENT(lit::leaves) {
PL_ROLE(run, pl::warps<1>);
PL_PARAM(count, int);
PL_ENTRY(run) {
  if (run::thread(self) >= count(self)) asm volatile("exit;");
  __syncwarp();
}
}
extern "C" __device__ void helper(int);
PL_COMPONENT(lit::peer) {
PL_ROLE(run, pl::warps<1>);
PL_SMEM(word, unsigned);
PL_ENTRY(run) {
  helper(3);
  asm volatile(
      "{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, 1; st.shared::cluster.u32 [there], %1; }" ::"r"(
          word_smem::address(self)), "r"(1) : "memory");
}
}
PL_COMPONENT(lit::rank) {
PL_ROLE(run, pl::warps<1>);
PL_PARAM(out, unsigned*);
PL_ENTRY(run) {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  *out(self) = rank;
}
}
PL_COMPONENT(lit::honest) {  // lanes, warps of a warpgroup, a thread's number: right wherever the role is
PL_ROLE(run, pl::warps<8>);
PL_PARAM(out, unsigned*);
PL_CLUSTER(2);
PL_ENTRY(run) {
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (run::thread(self) < 200) out(self)[run::thread(self) * 4 + lane] = warp + rank + threadIdx.x % 256;
  if (lane == 0 && __shfl_sync(~0u, threadIdx.x / 32, 0) % 4 == 1) out(self)[blockIdx.x] = gridDim.x;
}
}
