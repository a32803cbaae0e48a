// Doubles pages of 32 x 32 floats that arrive in one ring and leave in another.
#include <pipelink/component.cuh>

using page = pl::stream<pl::row_major<pl::tile<float, 32, 32>>>;

PL_COMPONENT(acme::doubler) {
PL_ROLE(run, pl::warps<1>);
PL_IN(x, page, pl::ring<2, 4>, pl::by_threads);
PL_OUT(y, page, pl::ring<2, 4>, pl::by_threads);
PL_PARAM(pages, int);
PL_PROTOCOL(run, "repeat pages { x.wait; y.acquire; x.release; y.commit; }");
PL_ENTRY(run) {
  for (int i = 0; i < pages(self); ++i) {
    const pl::slot from = x::wait(self), to = y::acquire(self);
    const float* in = x::pointer<const float>(self, from);
    float* out = y::pointer<float>(self, to);
    for (int at = run::thread(self); at < 1024; at += 32) out[at] = 2 * in[at];
    x::release(self, from);
    y::commit(self, to);
  }
}
}
