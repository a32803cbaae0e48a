#include <pipelink/component.cuh>

PL_COMPONENT(acme::page_writer) {
PL_ROLE(fill, pl::warps<4>);
PL_BARRIER(met, pl::threads<128>);
PL_COUNTERS(pages, "N");
PL_SIGNAL_OUT(written, pages, gpu);
PL_PARAM(data, int*);
PL_PARAM(n, int);
PL_TENSOR(data, int, "N, 32, 32", pl::readwrite, pl::align<16>);
PL_BIND(n, "N");
PL_GRID("sms");
PL_RESIDENT;
PL_PROTOCOL(fill, "repeat n { met.sync; written.signal by 1 warp; }");
PL_ENTRY(fill) {
  const int half = gridDim.x / 2;
  if (blockIdx.x >= half) return;
  for (int page = blockIdx.x; page < n(self); page += half) {
    for (int i = fill::thread(self); i < 1024; i += 128) data(self)[page * 1024 + i] = page + i;
    met::sync(self);
    if (fill::thread(self) == 0) written::add(self, page);
  }
}
}
