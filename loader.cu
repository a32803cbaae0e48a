#include <pipelink/component.cuh>

PL_COMPONENT(acme::page_loader) {
PL_ROLE(load, pl::warps<1>, pl::one_thread);
PL_COUNTERS(pages, "N");
PL_SIGNAL_IN(written, pages, gpu);
PL_OUT(x, pl::stream<pl::row_major<pl::tile<int, 32, 32>>>, pl::ring<2, 4>, pl::by_tma, pl::ends);
PL_PARAM(map, pl::tensor_map<x>);
PL_PARAM(n, int);
PL_TENSOR(data, int, "N, 32, 32", pl::readwrite, pl::align<16>);
PL_BIND(map, "data");
PL_BIND(n, "N");
PL_RESIDENT;
PL_PROTOCOL(load, "repeat n { written.await; x.acquire; x.copy; } x.end;");
PL_ENTRY(load) {
  const int half = gridDim.x / 2, others = gridDim.x - half;
  for (int page = blockIdx.x - half; 0 <= page && page < n(self); page += others) {
    written::await(self, page, 1);
    x::tma_load(self, map(self), 0, 0, page);
  }
  x::end(self);
}
}
