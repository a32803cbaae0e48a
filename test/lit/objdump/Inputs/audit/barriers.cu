#include <pipelink/component.cuh>
// Barriers that the linker did not give, each in a component of its own.
PL_COMPONENT(lit::fixed) {
PL_ROLE(run, pl::warps<4>);
PL_ENTRY(run) { asm volatile("bar.sync 5, 128;" ::: "memory"); }
}
PL_COMPONENT(lit::next) {  // takes the id after its own, silently
PL_ROLE(run, pl::warps<4>);
PL_BARRIER(met, pl::threads<128>);
PL_ENTRY(run) {
  met::sync(self);
  asm volatile("bar.sync %0, 128;" ::"r"(met::pl_id(self.id, self.frame) + 1) : "memory");
}
}
PL_COMPONENT(lit::by_group) {  // an id of its own making
PL_ROLE(run, pl::warps<8>);
PL_ENTRY(run) { asm volatile("bar.sync %0, 128;" ::"r"(run::warpgroup(self) + 8) : "memory"); }
}
PL_COMPONENT(lit::passed) {
PL_ROLE(run, pl::warps<4>);
PL_PARAM(which, int);
PL_ENTRY(run) { asm volatile("bar.sync %0, 128;" ::"r"(which(self)) : "memory"); }
}
PL_COMPONENT(lit::all) {
PL_ROLE(run, pl::warps<4>);
PL_ENTRY(run) { __syncthreads(); }
}
PL_COMPONENT(lit::all_clusters) {
PL_ROLE(run, pl::warps<4>);
PL_ENTRY(run) { asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory"); }
}
PL_COMPONENT(lit::half) {
PL_ROLE(run, pl::warps<4>);
PL_BARRIER(met, pl::threads<128>);
PL_ENTRY(run) { asm volatile("bar.sync %0, 64;" ::"r"(met::pl_id(self.id, self.frame)) : "memory"); }
}
PL_COMPONENT(lit::honest) {  // two of its own, one of which it chooses as it runs
PL_ROLE(run, pl::warps<8>);
PL_BARRIER(low, pl::threads<128>);
PL_BARRIER(high, pl::threads<128>);
PL_ENTRY(run) {
  const bool upper = run::warpgroup(self) == 1;
  const unsigned id = upper ? high::pl_id(self.id, self.frame) : low::pl_id(self.id, self.frame);
  asm volatile("barrier.sync.aligned %0, 128;" ::"r"(id) : "memory");
  low::pl_threads(self.id, self.frame), high::pl_threads(self.id, self.frame);
  __syncwarp();
}
}
