// CTAs that signal each other through counters in global memory.
#include <pipelink/component.cuh>

// A token goes round the CTAs, `rounds` times: who has it adds its number to a sum that only the token protects.
PL_COMPONENT(test::round_trip) {
PL_ROLE(run, pl::warps<1>, pl::one_thread);
PL_COUNTERS(turns, "ctas");
PL_SIGNAL_OUT(pass, turns, gpu);
PL_SIGNAL_IN(take, turns, gpu);
PL_PARAM(sum, int*);
PL_PARAM(ctas, int);
PL_PARAM(rounds, int);
PL_TENSOR(sum, int, "2", pl::readwrite);
PL_GRID("ctas");
PL_RESIDENT;
PL_PROTOCOL(run, "repeat rounds { take.await; pass.signal; }");
PL_ENTRY(run) {
  const int me = blockIdx.x, next = me + 1 == ctas(self) ? 0 : me + 1;
  if (me == 0) pass::add(self, 0);
  for (int r = 0; r < rounds(self); ++r) {
    take::await(self, me, r + 1);
    sum(self)[0] = sum(self)[0] * 3 + me + r;  // depends on the order
    pass::add(self, next);
  }
}
}

// Pages of 32 x 32 words go from each CTA to the next through global memory, two on their way at most: threads write
// them, TMA fetches them.  Counters: how many pages a CTA has been written, then how many it has read.
namespace handing {
using page = pl::stream<pl::row_major<pl::tile<int, 32, 32>>>;
__device__ __forceinline__ int word(int seed, int round, int cta, int i) {
  return seed + round * 1103515245 + cta * 40503 + i;
}
}  // namespace handing

PL_COMPONENT(test::page_writer) {
PL_ROLE(fill, pl::warps<1>);
PL_COUNTERS(pages, "2 * ctas");
PL_SIGNAL_OUT(written, pages, gpu);
PL_SIGNAL_IN(read, pages, gpu);
PL_PARAM(to, int*);
PL_PARAM(ctas, int);
PL_PARAM(rounds, int);
PL_PARAM(seed, int);
PL_TENSOR(data, int, "ctas, 64, 32", pl::readwrite, pl::align<16>);
PL_BIND(to, "data");
PL_GRID("ctas");
PL_RESIDENT;
PL_PROTOCOL(fill, "repeat rounds { read.await; written.signal; }");
PL_ENTRY(fill) {
  const int next = blockIdx.x + 1 == gridDim.x ? 0 : blockIdx.x + 1, lane = fill::thread(self);
#pragma unroll 1
  for (int r = 0; r < rounds(self); ++r) {
    read::await(self, ctas(self) + next, r < 2 ? 0 : r - 1);
    int* page = to(self) + (2 * next + r % 2) * 1024;
#pragma unroll 1
    for (int i = lane; i < 1024; i += 32) page[i] = handing::word(seed(self), r, next, i);
    __syncwarp();
    if (lane == 0) written::add(self, next);
  }
}
}

PL_COMPONENT(test::page_loader) {
PL_ROLE(load, pl::warps<1>, pl::one_thread);
PL_COUNTERS(pages, "2 * ctas");
PL_SIGNAL_IN(written, pages, gpu);
PL_OUT(x, handing::page, pl::ring<2, 2>, pl::by_tma);
PL_PARAM(map, pl::tensor_map<x>);
PL_PARAM(ctas, int);
PL_PARAM(rounds, int);
PL_TENSOR(data, int, "ctas, 64, 32", pl::readwrite, pl::align<16>);
PL_BIND(map, "data");
PL_RESIDENT;
PL_PROTOCOL(load, "repeat rounds { written.await; x.acquire; x.copy; }");
PL_ENTRY(load) {
#pragma unroll 1
  for (int r = 0; r < rounds(self); ++r) {
    written::await(self, blockIdx.x, r + 1);
    x::tma_load(self, map(self), 0, r % 2 * 32, blockIdx.x);
  }
}
}

// Counts the words that are what they should be.
PL_COMPONENT(test::page_reader) {
PL_ROLE(run, pl::warps<4>);
PL_COUNTERS(pages, "2 * ctas");
PL_SIGNAL_OUT(read, pages, gpu);
PL_IN(x, handing::page, pl::ring<2, 2>, pl::by_threads);
PL_BARRIER(met, pl::threads<128>);
PL_PARAM(right, int*);
PL_PARAM(ctas, int);
PL_PARAM(rounds, int);
PL_PARAM(seed, int);
PL_TENSOR(right, int, "ctas, 128", pl::write);
PL_RESIDENT;
PL_PROTOCOL(run, "repeat rounds { x.wait; x.release; met.sync; read.signal by 1 warp; }");
PL_ENTRY(run) {
  const int t = run::thread(self);
  int found = 0;
#pragma unroll 1
  for (int r = 0; r < rounds(self); ++r) {
    pl::slot slot = x::wait(self);
    const int* page = x::pointer<int>(self, slot);
#pragma unroll 1
    for (int i = t; i < 1024; i += 128) found += page[i] == handing::word(seed(self), r, blockIdx.x, i);
    x::release(self, slot);
    met::sync(self);
    if (t == 0) read::add(self, ctas(self) + blockIdx.x);
  }
  right(self)[blockIdx.x * 128 + t] = found;
}
}

// The same from GPU to GPU: each of two writes into the other's pages, and each fetches its own.
PL_COMPONENT(test::peer_writer) {
PL_ROLE(fill, pl::warps<1>);
PL_PEER_COUNTERS(pages, "2 * ctas", 2);
PL_PEER_SIGNAL_OUT(written, pages);
PL_PEER_SIGNAL_IN(read, pages);
PL_PEERS(all_data, data, 2);
PL_PARAM(to, pl::peers<int, 2>);
PL_PARAM(ctas, int);
PL_PARAM(rounds, int);
PL_PARAM(seed, int);
PL_PARAM(rank, int);
PL_TENSOR(data, int, "ctas, 64, 32", pl::readwrite, pl::align<16>);
PL_BIND(to, "all_data");
PL_GRID("ctas");
PL_RESIDENT;
PL_PROTOCOL(fill, "repeat rounds { read.await; written.signal; }");
PL_ENTRY(fill) {
  const int lane = fill::thread(self), other = 1 - rank(self), me = blockIdx.x;
#pragma unroll 1
  for (int r = 0; r < rounds(self); ++r) {
    read::await(self, ctas(self) + me, r < 2 ? 0 : r - 1);
    int* page = to(self)[other] + (2 * me + r % 2) * 1024;
#pragma unroll 1
    for (int i = lane; i < 1024; i += 32) page[i] = handing::word(seed(self) + rank(self), r, me, i);
    __syncwarp();
    if (lane == 0) written::add(self, other, me);
  }
}
}

PL_COMPONENT(test::peer_loader) {
PL_ROLE(load, pl::warps<1>, pl::one_thread);
PL_PEER_COUNTERS(pages, "2 * ctas", 2);
PL_PEER_SIGNAL_IN(written, pages);
PL_OUT(x, handing::page, pl::ring<2, 2>, pl::by_tma);
PL_PARAM(map, pl::tensor_map<x>);
PL_PARAM(rounds, int);
PL_TENSOR(data, int, "ctas, 64, 32", pl::readwrite, pl::align<16>);
PL_BIND(map, "data");
PL_RESIDENT;
PL_PROTOCOL(load, "repeat rounds { written.await; x.acquire; x.copy; }");
PL_ENTRY(load) {
#pragma unroll 1
  for (int r = 0; r < rounds(self); ++r) {
    written::await(self, blockIdx.x, r + 1);
    x::tma_load(self, map(self), 0, r % 2 * 32, blockIdx.x);
  }
}
}

PL_COMPONENT(test::peer_reader) {
PL_ROLE(run, pl::warps<4>);
PL_PEER_COUNTERS(pages, "2 * ctas", 2);
PL_PEER_SIGNAL_OUT(read, pages);
PL_IN(x, handing::page, pl::ring<2, 2>, pl::by_threads);
PL_BARRIER(met, pl::threads<128>);
PL_PARAM(right, int*);
PL_PARAM(ctas, int);
PL_PARAM(rounds, int);
PL_PARAM(seed, int);
PL_PARAM(rank, int);
PL_TENSOR(right, int, "ctas, 128", pl::write);
PL_RESIDENT;
PL_PROTOCOL(run, "repeat rounds { x.wait; x.release; met.sync; read.signal by 1 warp; }");
PL_ENTRY(run) {
  const int t = run::thread(self), other = 1 - rank(self);
  int found = 0;
#pragma unroll 1
  for (int r = 0; r < rounds(self); ++r) {
    pl::slot slot = x::wait(self);
    const int* page = x::pointer<int>(self, slot);
#pragma unroll 1
    for (int i = t; i < 1024; i += 128) found += page[i] == handing::word(seed(self) + other, r, blockIdx.x, i);
    x::release(self, slot);
    met::sync(self);
    if (t == 0) read::add(self, other, ctas(self) + blockIdx.x);
  }
  right(self)[blockIdx.x * 128 + t] = found;
}
}
