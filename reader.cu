#include <pipelink/component.cuh>
PL_COMPONENT(acme::page_sum) {
PL_ROLE(run, pl::warps<4>);
PL_IN(x, pl::stream<pl::row_major<pl::tile<int, 32, 32>>>, pl::ring<2, 4>, pl::by_threads, pl::ends);
PL_PARAM(total, int*);
PL_TENSOR(total, int, "1", pl::readwrite);
PL_PROTOCOL(run, "until x { x.wait; x.release; }");
PL_ENTRY(run) {
  int sum = 0;
  for (;;) {
    pl::slot slot = x::wait(self);
    if (x::ended(self, slot)) break;
    const int* page = x::pointer<int>(self, slot);
    for (int i = run::thread(self); i < 1024; i += 128) sum += page[i];
    x::release(self, slot);
  }
  atomicAdd(total(self), sum);
}
}
