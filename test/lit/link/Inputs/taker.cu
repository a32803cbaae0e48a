#include <pipelink/component.cuh>
PL_COMPONENT(test::taker) {
PL_ROLE(run, pl::warps<4>, pl::registers<24, 64>);
PL_IN(x, pl::stream<pl::row_major<pl::tile<float, 32, 32>>>, pl::ring<1, 8>, pl::by_threads);
PL_PARAM(sums, float*);
PL_PARAM(n, int);
PL_TENSOR(sum, float, "N", pl::write);
PL_BIND(sums, "sum");
PL_BIND(n, "N");
PL_GRID("sms");
PL_ENTRY(run) {
  float total = 0;
  for (int i = 0; i < n(self); ++i) {
    auto slot = x::wait(self);
    total += x::pointer<float>(self, slot)[run::thread(self)];
    x::release(self, slot);
  }
  sums(self)[run::thread(self)] = total;
}
}
