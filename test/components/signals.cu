// CTAs that signal each other through counters in global memory.
#include <pipelink/component.cuh>

#include "token.cuh"

TOKEN(test::round_trip, false)

// Pages of 32 x 32 words go from each CTA to the next through global memory, two on their way at most: threads write
// them, TMA fetches them.  Counters: how many pages a CTA has been written, then how many it has read.
namespace handing {
using page = pl::stream<pl::row_major<pl::tile<int, 32, 32>>>;
__device__ __forceinline__ int word(int seed, int round, int cta, int i) {
  return seed + round * 1103515245 + cta * 40503 + i;
}

// Writes the two pages of CTA `to` in turn, once counter ctas + `to` says that they were read.  `rank`: of the GPU that
// they are on, where there are several.
template <class read, class written, class... Rank>
__device__ __forceinline__ void write(pl::self self, int lane, int rounds, int ctas, int to, int* pages, int seed,
                                      Rank... rank) {
#pragma unroll 1
  for (int r = 0; r < rounds; ++r) {
    read::await(self, ctas + to, r < 2 ? 0 : r - 1);
    int* page = pages + (2 * to + r % 2) * 1024;
#pragma unroll 1
    for (int i = lane; i < 1024; i += 32) page[i] = word(seed, r, to, i);
    __syncwarp();
    if (lane == 0) written::add(self, rank..., to);
  }
}

template <class written, class x, class Map>
__device__ __forceinline__ void load(pl::self self, int rounds, const Map& map) {
#pragma unroll 1
  for (int r = 0; r < rounds; ++r) {
    written::await(self, blockIdx.x, r + 1);
    x::tma_load(self, map, 0, r % 2 * 32, blockIdx.x);
  }
}

// How many words are what they should be.
template <class x, class met, class read, class... Rank>
__device__ __forceinline__ int count(pl::self self, int thread, int rounds, int ctas, int seed, Rank... rank) {
  int found = 0;
#pragma unroll 1
  for (int r = 0; r < rounds; ++r) {
    pl::slot slot = x::wait(self);
    const int* page = x::template pointer<int>(self, slot);
#pragma unroll 1
    for (int i = thread; i < 1024; i += 128) found += page[i] == word(seed, r, blockIdx.x, i);
    x::release(self, slot);
    met::sync(self);
    if (thread == 0) read::add(self, rank..., ctas + blockIdx.x);
  }
  return found;
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
  const int next = blockIdx.x + 1 == gridDim.x ? 0 : blockIdx.x + 1;
  handing::write<read, written>(self, fill::thread(self), rounds(self), ctas(self), next, to(self), seed(self));
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
  handing::load<written, x>(self, rounds(self), map(self));
}
}

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
  right(self)[blockIdx.x * 128 + t] = handing::count<x, met, read>(self, t, rounds(self), ctas(self), seed(self));
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
  const int other = 1 - rank(self), lane = fill::thread(self);
  handing::write<read, written>(self, lane, rounds(self), ctas(self), blockIdx.x, to(self)[other],
                                seed(self) + rank(self), other);
}
}

// As page_writer, and tells the other GPU, which fetches the pages from here.
PL_COMPONENT(test::own_writer) {
PL_ROLE(fill, pl::warps<1>);
PL_PEER_COUNTERS(pages, "2 * ctas", 2);
PL_PEER_SIGNAL_OUT(written, pages);
PL_PEER_SIGNAL_IN(read, pages);
PL_PARAM(to, int*);
PL_PARAM(ctas, int);
PL_PARAM(rounds, int);
PL_PARAM(seed, int);
PL_PARAM(rank, int);
PL_TENSOR(data, int, "ctas, 64, 32", pl::readwrite, pl::align<16>);
PL_BIND(to, "data");
PL_GRID("ctas");
PL_RESIDENT;
PL_PROTOCOL(fill, "repeat rounds { read.await; written.signal; }");
PL_ENTRY(fill) {
  const int other = 1 - rank(self), lane = fill::thread(self);
  handing::write<read, written>(self, lane, rounds(self), ctas(self), blockIdx.x, to(self), seed(self) + rank(self),
                                other);
}
}

// TMA straight from the other GPU's memory.
PL_COMPONENT(test::far_loader) {
PL_ROLE(load, pl::warps<1>, pl::one_thread);
PL_PEER_COUNTERS(pages, "2 * ctas", 2);
PL_PEER_SIGNAL_IN(written, pages);
PL_PEERS(all_data, data, 2);
PL_OUT(x, handing::page, pl::ring<2, 2>, pl::by_tma);
PL_PARAM(maps, pl::peer_maps<x, 2>);
PL_PARAM(rounds, int);
PL_PARAM(rank, int);
PL_TENSOR(data, int, "ctas, 64, 32", pl::readwrite, pl::align<16>);
PL_BIND(maps, "all_data");
PL_RESIDENT;
PL_PROTOCOL(load, "repeat rounds { written.await; x.acquire; x.copy; }");
PL_ENTRY(load) { handing::load<written, x>(self, rounds(self), maps(self)[1 - rank(self)]); }
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
  handing::load<written, x>(self, rounds(self), map(self));
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
  right(self)[blockIdx.x * 128 + t] =
      handing::count<x, met, read>(self, t, rounds(self), ctas(self), seed(self) + other, other);
}
}
