#include <pipelink/component.cuh>
// Ports and resources that are declared otherwise than they are used.
using rows = pl::stream<pl::row_major<pl::tile<float, 8, 32>>>;
PL_COMPONENT(lit::unused) {
PL_ROLE(run, pl::warps<1>);
PL_IN(x, rows, pl::ring<1, 4>, pl::by_threads);
PL_SMEM(scratch, float[64]);
PL_BARRIER(met, pl::threads<32>);
PL_CALL(work, int(int));
PL_ENTRY(run) {}
}
PL_COMPONENT(lit::never_committed) {
PL_ROLE(run, pl::warps<1>);
PL_OUT(x, rows, pl::ring<1, 4>, pl::by_threads);
PL_ENTRY(run) { *x::pointer<float>(self, x::acquire(self)) = 1; }
}
PL_COMPONENT(lit::never_released) {
PL_ROLE(run, pl::warps<1>);
PL_PARAM(out, float*);
PL_IN(x, rows, pl::ring<1, 4>, pl::by_threads, pl::ends);
PL_ENTRY(run) { *out(self) = *x::pointer<float>(self, x::wait(self)); }
}
PL_COMPONENT(lit::not_mine) {
PL_ROLE(first, pl::warps<1>);
PL_ROLE(second, pl::warps<1>);
PL_IN(x, rows, pl::ring<1, 4>, pl::by_threads, pl::in_role<first>);
PL_TOKEN_OUT(done, pl::in_role<first>);
PL_ENTRY(first) { done::pass(self); }
PL_ENTRY(second) { x::release(self, x::wait(self)); }
}
PL_COMPONENT(lit::untouched) {
PL_ROLE(run, pl::warps<4>);
PL_PARAM(out, float*);
PL_IN(x, pl::stream<pl::swizzle128<pl::tile<pl::bf16, 64, 64>>>, pl::ring<1, 4>, pl::by_wgmma);
PL_ENTRY(run) {
  pl::slot slot = x::wait(self);
  out(self)[run::thread(self)] = *x::pointer<float>(self, slot);
  x::release(self, slot);
}
}
PL_COMPONENT(lit::says_otherwise) {
PL_ROLE(run, pl::warps<1>);
PL_IN(x, rows, pl::ring<1, 4>, pl::by_threads);
PL_TOKEN_OUT(done);
PL_BARRIER(met, pl::threads<32>);
PL_CALL(work, void(int));
PL_PROTOCOL(run, "x.wait; x.release; met.sync; work;");
PL_ENTRY(run) {
  x::release(self, x::wait(self));
  done::pass(self);
  met::arrive(self);
}
}
PL_COMPONENT(lit::honest) {
PL_ROLE(run, pl::warps<1>);
PL_PARAM(out, float*);
PL_IN(x, rows, pl::ring<1, 4>, pl::by_threads, pl::ends);
PL_CALL(work, int(int));
PL_PROTOCOL(run, "repeat work { } until x { x.wait; x.release; }");
PL_ENTRY(run) {
  while (work(self, 0)) {
  }
  for (;;) {
    pl::slot slot = x::wait(self);
    if (x::ended(self, slot)) break;
    *out(self) = *x::pointer<float>(self, slot);
    x::release(self, slot);
  }
}
}
