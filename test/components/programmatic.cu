// Components for tests of programmatic launches: kernels that begin before the one in front of them has ended.
#include <pipelink/component.cuh>
#include <pipelink/programmatic.cuh>

// y = x + w; x is what the kernel in front writes, w is not, and is read before that has ended.
PL_COMPONENT(test::add_early) {
PL_ROLE(run, pl::warps<4>, pl::early);
PL_PROGRAMMATIC;
PL_PARAM(x, const float*);
PL_PARAM(w, const float*);
PL_PARAM(y, float*);
PL_PARAM(n, int);
PL_TENSOR(x, float, "N", pl::read);
PL_TENSOR(w, float, "N", pl::read);
PL_TENSOR(y, float, "N", pl::write);
PL_BIND(n, "N");
PL_GRID("ceildiv(N, 128)");
PL_ENTRY(run) {
  const int i = blockIdx.x * 128 + run::thread(self);
  const float added = i < n(self) ? w(self)[i] : 0.f;
  pl::wait_for_previous();
  if (i < n(self)) y(self)[i] = x(self)[i] + added;
}
}

// When a CTA begins, and when the kernel in front has ended, in nanoseconds of the device's clock.
PL_COMPONENT(test::stamp) {
PL_ROLE(note, pl::warps<1>, pl::registers<24, 40>, pl::one_thread, pl::early);
PL_PARAM(stamps, long long*);
PL_TENSOR(stamps, long long, "CTAS, 2", pl::write);
PL_ENTRY(note) {
  long long begin, end;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin)::"memory");
  pl::wait_for_previous();
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(end)::"memory");
  stamps(self)[2 * blockIdx.x] = begin;
  stamps(self)[2 * blockIdx.x + 1] = end;
}
}
