#include <pipelink/component.cuh>
#include <pipelink/stores.cuh>
// Shared memory that lies where an instruction cannot take it, and another CTA's.
PL_COMPONENT(lit::under_a_swizzle) {
PL_ROLE(run, pl::warps<1>, pl::one_thread);
PL_SMEM(staging, unsigned char[2048], pl::align<128>);
PL_PARAM(to, pl::tile_map<pl::swizzle128<pl::tile<pl::bf16, 16, 64>>>);
PL_PROTOCOL(run, "staging.write; fence async; staging.read;");
PL_ENTRY(run) {
  *reinterpret_cast<float*>(staging(self)) = 1;
  pl::publish();
  pl::store_tile(to(self), staging_smem::address(self), 0, 0);
  pl::commit_stores();
  pl::wait_stores<0>();
}
}
PL_COMPONENT(lit::packed) {
struct __attribute__((packed)) state {
  unsigned flag;
  unsigned long long barrier;
};
PL_ROLE(run, pl::warps<1>, pl::one_thread);
PL_SMEM(mine, state, pl::align<16>);
PL_PROTOCOL(run, "mine.write;");
PL_ENTRY(run) {
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(mine_smem::address(self) + 4) : "memory");
}
}
PL_COMPONENT(lit::peers_buffer) {
PL_ROLE(run, pl::warps<1>);
PL_CLUSTER(2, 1, 1);
PL_SMEM(mine, float[32]);
PL_PARAM(out, float*);
PL_PROTOCOL(run, "mine.write;");
PL_ENTRY(run) {
  const int t = run::thread(self);
  mine(self)[t] = t;
  unsigned from;
  float found;
  asm volatile("mapa.shared::cluster.u32 %0, %1, 1;" : "=r"(from) : "r"(mine_smem::address(self) + 4 * t));
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(found) : "r"(from) : "memory");
  out(self)[t] = found;
}
}
PL_COMPONENT(lit::aligned) {
struct state {
  unsigned flag;
  unsigned long long barrier[2];
};
PL_ROLE(run, pl::warps<1>, pl::one_thread);
PL_SMEM(staging, unsigned char[2048], pl::align<1024>);
PL_SMEM(mine, state);
PL_PARAM(to, pl::tile_map<pl::swizzle128<pl::tile<pl::bf16, 16, 64>>>);
PL_PARAM(which, int);
PL_PROTOCOL(run, "mine.write; staging.read;");
PL_ENTRY(run) {
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(mine_smem::address(self) + 8 + 8 * which(self)) : "memory");
  pl::store_tile(to(self), staging_smem::address(self), 0, 0);
  pl::commit_stores();
  pl::wait_stores<0>();
}
}
