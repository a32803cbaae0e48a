#include <pipelink/component.cuh>
// Mbarriers of a component's own, declared otherwise than they are used.
PL_COMPONENT(lit::unused) {
PL_ROLE(run, pl::warps<1>);
PL_MBARRIER(full, pl::arrivals<1>);
PL_ENTRY(run) {}
}
PL_COMPONENT(lit::not_mine) {
PL_ROLE(first, pl::warps<1>);
PL_ROLE(second, pl::warps<1>);
PL_MBARRIER(full, pl::arrivals<32>, pl::in_role<first>);
PL_ENTRY(first) { full::wait(self, 0, 0); }
PL_ENTRY(second) { full::arrive(self); }
}
PL_COMPONENT(lit::says_otherwise) {
PL_ROLE(run, pl::warps<1>);
PL_MBARRIER(full, pl::arrivals<32>, pl::count<2>);
PL_MBARRIER(empty, pl::arrivals<32>);
PL_PROTOCOL(run, "full.wait; empty.arrive;");
PL_ENTRY(run) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(full::address(self, 1)) : "memory");
  empty::arrive(self);
}
}
PL_COMPONENT(lit::set_up_again) {
PL_ROLE(run, pl::warps<1>, pl::one_thread);
PL_MBARRIER(full, pl::arrivals<1>);
PL_ENTRY(run) { asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(full::address(self)) : "memory"); }
}
PL_COMPONENT(lit::honest) {
PL_ROLE(give, pl::warps<1>, pl::one_thread);
PL_ROLE(take, pl::warps<1>);
PL_MBARRIER(full, pl::arrivals<1>, pl::count<2>);
PL_PROTOCOL(give, "full.arrive; full.arrive;");
PL_PROTOCOL(take, "full.wait; full.wait;");
PL_ENTRY(give) {
  full::expect(self, 0, 0);
  full::arrive(self, 1);
}
PL_ENTRY(take) {
#pragma unroll 1
  for (int i = 0; i < 2; ++i) full::wait(self, i, 0);
}
}
