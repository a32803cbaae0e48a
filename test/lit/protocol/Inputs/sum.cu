// A component whose protocol the test gives with -D.
#include <pipelink/component.cuh>
PL_COMPONENT(lit::sum) {
PL_ROLE(run, pl::warps<4>);
PL_IN(x, pl::stream<pl::row_major<pl::tile<float, 128>>>, pl::ring<2, 8>, pl::by_threads);
PL_PARAM(n, int);
PL_PARAM(out, float*);
PL_PROTOCOL(run, STEPS);
PL_ENTRY(run) {
  float total = 0;
  for (int i = 0; i < n(self); ++i) {
    auto slot = x::wait(self);
    total += x::pointer<float>(self, slot)[run::thread(self)];
    x::release(self, slot);
  }
  out(self)[run::thread(self)] = total;
}
}
