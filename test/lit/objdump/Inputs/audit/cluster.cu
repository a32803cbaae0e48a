#include <pipelink/cluster.cuh>
#include <pipelink/component.cuh>
// Components that reach into the shared memory of other CTAs of their cluster.
#define IN_A_CLUSTER(NAME, WARPS, PROTOCOL)                   \
  PL_COMPONENT(NAME) {                                        \
    PL_ROLE(run, pl::warps<WARPS>);                           \
    PL_CLUSTER(2, 1, 1);                                      \
    PL_SMEM(part, float[64], pl::align<16>);                  \
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
IN_A_CLUSTER(lit::copied, 1, "part.write; met.sync;") {
PL_MBARRIER(full, pl::arrivals<1>);
PL_ENTRY(run) {
  part(self)[run::thread(self)] = 1;
  met::sync(self);
  asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];" ::"r"(there(self)),
               "r"(part_smem::address(self)), "r"(full::address(self))
               : "memory");
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
IN_A_CLUSTER(lit::honest_apart, 2, "rank 0 { part.write; met.sync; } rank 1 { met.sync; part.peer_read; }") {
PL_ENTRY(run) {
  if (pl::cluster_rank() == 0) {
    part(self)[run::thread(self)] = 1;
    met::sync(self);
  } else {
    met::sync(self);
    out(self)[run::thread(self)] = pl::load_peer<float>(there(self) + 4 * run::thread(self));
  }
}
}
IN_A_CLUSTER(lit::the_other_way, 2, "rank 0 { part.write; met.sync; } rank 1 { met.sync; part.peer_read; }") {
PL_ENTRY(run) {
  if (pl::cluster_rank() == 1) {
    part(self)[run::thread(self)] = 1;
    met::sync(self);
  } else {
    met::sync(self);
    out(self)[run::thread(self)] = pl::load_peer<float>(there(self) + 4 * run::thread(self));
  }
}
}
IN_A_CLUSTER(lit::one_for_both, 2, "rank 0 { part.write; met.sync; } rank 1 { met.sync; part.peer_read; }") {
PL_ENTRY(run) {
  part(self)[run::thread(self)] = 1;
  met::sync(self);
  met::sync(self);
  out(self)[run::thread(self)] = pl::load_peer<float>(there(self) + 4 * run::thread(self));
}
}
IN_A_CLUSTER(lit::one_alone, 1, "met.sync;") {
PL_ENTRY(run) {
  if (pl::cluster_rank() == 0) met::sync(self);
}
}
