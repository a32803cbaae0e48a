#include <pipelink/cluster.cuh>
#include <pipelink/component.cuh>
// Components that reach into the shared memory of other CTAs of their cluster.
#define IN_A_CLUSTER(NAME, WARPS, PROTOCOL)                   \
  PL_COMPONENT(NAME) {                                        \
    PL_ROLE(run, pl::warps<WARPS>);                           \
    PL_CLUSTER(2, 1, 1);                                      \
    PL_SMEM(part, float[64]);                                 \
    PL_CLUSTER_BARRIER(met);                                  \
    PL_PARAM(out, float*);                                    \
    PL_PROTOCOL(run, PROTOCOL);                               \
    __device__ __forceinline__ unsigned there(pl::self s) {   \
      return part_smem::peer(s, pl::cluster_rank() ^ 1);      \
    }                                                         \
  }                                                           \
  namespace NAME
IN_A_CLUSTER(lit::honest, 2, "part.write; met.sync; part.peer_read; met.sync;") {
PL_ENTRY(run) {
  part(self)[run::thread(self)] = 1;
  met::sync(self);
  out(self)[run::thread(self)] = pl::load_peer<float>(there(self) + 4 * run::thread(self));
  met::sync(self);
}
}
IN_A_CLUSTER(lit::honest_by_pointers, 2, "part.peer_write; met.sync; part.read;") {
PL_ENTRY(run) {
  float* other;
  asm("mapa.u64 %0, %1, %2;" : "=l"(other) : "l"(part(self)), "r"(pl::cluster_rank() ^ 1));
  other[run::thread(self)] = 1;
  met::sync(self);
  out(self)[run::thread(self)] = part(self)[run::thread(self)];
}
}
IN_A_CLUSTER(lit::unsaid, 1, "part.write; met.sync; part.read; met.sync;") {
PL_ENTRY(run) {
  part(self)[run::thread(self)] = 1;
  met::sync(self);
  out(self)[run::thread(self)] = pl::load_peer<float>(there(self) + 4 * run::thread(self));
  met::sync(self);
}
}
IN_A_CLUSTER(lit::early, 1, "part.write; met.sync; part.peer_read; met.sync;") {
PL_ENTRY(run) {
  part(self)[run::thread(self)] = 1;
  out(self)[run::thread(self)] = pl::load_peer<float>(there(self) + 4 * run::thread(self));
  met::sync(self);
  met::sync(self);
}
}
IN_A_CLUSTER(lit::by_pointers, 1, "part.write; met.sync;") {
PL_ENTRY(run) {
  const float* other;
  asm("mapa.u64 %0, %1, %2;" : "=l"(other) : "l"(part(self)), "r"(pl::cluster_rank() ^ 1));
  part(self)[run::thread(self)] = 1;
  met::sync(self);
  out(self)[run::thread(self)] = other[run::thread(self)];
}
}
IN_A_CLUSTER(lit::once, 1, "part.write; met.sync; part.peer_read; met.sync;") {
PL_ENTRY(run) {
  part(self)[run::thread(self)] = 1;
  met::sync(self);
  out(self)[run::thread(self)] = pl::load_peer<float>(there(self) + 4 * run::thread(self));
}
}
IN_A_CLUSTER(lit::some_threads, 2, "part.write; met.sync; part.peer_read; met.sync;") {
PL_ENTRY(run) {
  part(self)[run::thread(self)] = 1;
  if (run::thread(self) < 32) met::sync(self);
  out(self)[run::thread(self)] = pl::load_peer<float>(there(self) + 4 * run::thread(self));
  met::sync(self);
}
}
IN_A_CLUSTER(lit::asynchronous, 1, "part.write; met.sync;") {
PL_MBARRIER(full, pl::arrivals<1>);
PL_ENTRY(run) {
  part(self)[run::thread(self)] = 1;
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(there(self)), "r"(1),
               "r"(full::address(self))
               : "memory");
  met::sync(self);
}
}
IN_A_CLUSTER(lit::nowhere, 1, "part.write; met.sync;") {
PL_PARAM(at, unsigned);
PL_ENTRY(run) {
  part(self)[run::thread(self)] = 1;
  met::sync(self);
  out(self)[run::thread(self)] = pl::load_peer<float>(at(self));
}
}
PL_COMPONENT(lit::unused) {
PL_ROLE(run, pl::warps<1>);
PL_CLUSTER_BARRIER(met);
PL_ENTRY(run) {}
}
PL_COMPONENT(lit::not_mine) {
PL_ROLE(first, pl::warps<1>);
PL_ROLE(second, pl::warps<1>);
PL_CLUSTER_BARRIER(met, pl::in_role<first>);
PL_ENTRY(first) { met::sync(self); }
PL_ENTRY(second) { met::sync(self); }
}
