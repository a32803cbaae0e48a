// The mainloop of a Blackwell GEMM (sm_100a, …), C[M,N] = A[M,K] * B[N,K]^T, and what reads its accumulators.
//
// Three roles on warps of their own: a TMA loader (that of sm_90a: PLC_TMA_LOADER), one thread that issues tcgen05.mma,
// and four warps that bring the accumulators from tensor memory to an epilogue.  The accumulators are a ring of two
// tiles: the epilogue of one overlaps the multiplication of the next.  Two CTAs of a cluster may multiply together
// (PLC_TWO_CTAS): each loads its own 128 rows of A and half of the columns' rows of B, and has its rows of the result.
#pragma once
#include <pipelink/component.cuh>

#include "sm100_umma.cuh"
#include "sm90_gemm.cuh"

namespace plc {

template <int N>
using accumulators = pl::stream<pl::tmem_tile<float, 128, N>>;

template <class AB, class Acc, int N, int Ctas, class Work>
__device__ __forceinline__ void issue_tiles(pl::self self, int k_tiles, Work work) {
  constexpr unsigned instruction = umma_instruction(umma_bf16, 128 * Ctas, N);
  if (Ctas > 1 && cta_rank() != 0) return;
  for (int i = 0; work(i); ++i) {
    const pl::slot tile = Acc::acquire(self);
    const unsigned d = Acc::address(self, tile);
    for (int k = 0; k < k_tiles; ++k) {
      const pl::slot slot = AB::wait(self);
      const auto a = static_cast<unsigned>(umma_descriptor(AB::template address<0>(self, slot)));
      const auto b = static_cast<unsigned>(umma_descriptor(AB::template address<1>(self, slot)));
#pragma unroll
      for (int step = 0; step < sm90_k_tile / 16; ++step) umma<Ctas>(d, a + step * 2, b + step * 2, instruction, k | step);
      AB::release(self, slot);
    }
    Acc::commit(self, tile);
  }
}

// Each warp reads its 32 lanes, two chunks of 16 rows by 64 columns at a time.  A tile's slot is released before the
// epilogue of its last chunks, so that the multiplication goes on meanwhile.
template <class Acc, int N, class Work, class Out>
__device__ __forceinline__ void read_tiles(pl::self self, unsigned thread, Work work, Out out) {
  const int first = thread / 32 * 32;
  pl::tile_coord w = work(0);
  for (int i = 1; w; ++i) {
    const pl::tile_coord next = work(i);
    const pl::slot tile = Acc::wait(self);
    const unsigned from = Acc::address(self, tile) + (first << 16);
#pragma unroll 1
    for (int col = 0; col < N; col += 64) {
      chunk upper, lower;
      load_tmem(upper, from + col);
      load_tmem(lower, from + col + (16 << 16));
      wait_tmem(upper, lower);
      if (col + 64 == N) Acc::release(self, tile);
      out(upper, w.m * 128 + first, w.n * N + col);
      out(lower, w.m * 128 + first + 16, w.n * N + col);
    }
    w = next;
  }
}

}  // namespace plc

// How the tensor cores' ports are touched: for one CTA, or for a pair that multiplies together 256 rows.
#define PLC_ONE_CTA pl::by_tcgen05
#define PLC_TWO_CTAS pl::by_tcgen05, pl::cta_pair
// What the multiplying thread does, which in a pair is that of CTA 0 alone.
#define PLC_UMMA_STEPS                                                                             \
  "repeat work { acc.acquire; repeat k_tiles+ { ab.wait; ab.release; } acc.commit; }"
#define PLC_UMMA_STEPS_1 PLC_UMMA_STEPS
#define PLC_UMMA_STEPS_2 "rank 0 { " PLC_UMMA_STEPS " }"
#define PLC_UMMA_MAINLOOP(NAME, N, CTAS, TOUCH)                                                    \
  PL_COMPONENT(NAME) {                                                                             \
    PL_ROLE(mma, pl::warps<1>, pl::one_thread);                                                    \
    PL_IN(ab, plc::ab_tiles<128, N / CTAS>, pl::ring<2, 8>, TOUCH);                                \
    PL_OUT(acc, plc::accumulators<N>, pl::ring<1, 2>, TOUCH);                                      \
    PL_CALL(work, pl::tile_coord(int));                                                            \
    PL_PARAM(k_tiles, int);                                                                        \
    PL_PROTOCOL(mma, PLC_UMMA_STEPS_##CTAS);                                                       \
    PL_ENTRY(mma) {                                                                                \
      plc::issue_tiles<ab, acc, N, CTAS>(self, k_tiles(self), [=](int i) { return work(self, i); }); \
    }                                                                                              \
  }

#define PLC_TMEM_READER(NAME, N, TOUCH)                                                            \
  PL_COMPONENT(NAME) {                                                                             \
    PL_ROLE(read, pl::warps<4>);                                                                   \
    PL_IN(acc, plc::accumulators<N>, pl::ring<1, 2>, TOUCH);                                       \
    PL_CALL(work, pl::tile_coord(int));                                                            \
    PL_CALL(store, void(plc::chunk&, int, int));                                                   \
    PL_PROTOCOL(read,                                                                              \
                "repeat work { acc.wait; repeat (" #N " - 64) / 32 { store; } acc.release; "       \
                "repeat 2 { store; } }");                                                          \
    PL_ENTRY(read) {                                                                               \
      plc::read_tiles<acc, N>(                                                                     \
          self, read::thread(self), [=](int i) { return work(self, i); },                          \
          [=](plc::chunk& values, int row, int col) { store(self, values, row, col); });           \
    }                                                                                              \
  }

// The loaders of a pair: 128 rows of A for each CTA, and half of the N rows of B that both multiply with.
#define PLC_PAIR_LOADER(NAME, N)                                                                   \
  PL_COMPONENT(NAME) {                                                                             \
    PL_OUT(ab, plc::ab_tiles<128, N / 2>, pl::ring<2, 8>, pl::by_tma, pl::cta_pair);               \
    PL_PARAM(map_b, pl::tensor_map<ab, 1>);                                                        \
    PL_TENSOR(b, pl::bf16, "N, K", pl::read);                                                      \
    PL_DERIVE(n_tiles, "ceildiv(N, " #N ")");                                                      \
    PL_PROMISE(plc_columns, "plain");                                                              \
    PLC_LOADER_(128);                                                                              \
    PL_ENTRY(load) {                                                                               \
      const int half = plc::cta_rank() * (N / 2);                                                  \
      plc::load_tiles<ab, 128, N>(                                                                 \
          self, [=](int i) { return work(self, i); }, map_a(self), k_tiles(self),                  \
          [=](pl::slot slot, int k, int col) { ab::copy<1>(self, slot, map_b(self), k, col + half); }); \
    }                                                                                              \
  }
#define PLC_PAIR_LOADER_GATED(NAME, N)                                                             \
  PL_COMPONENT(NAME) {                                                                             \
    PL_OUT(ab, plc::ab_tiles<128, N / 2>, pl::ring<2, 8>, pl::by_tma, pl::cta_pair);               \
    PL_PARAM(map_b, pl::tensor_map<ab, 1, pl::box<32, plc::sm90_k_tile>>);                         \
    PL_PARAM(up, int);                                                                             \
    PL_TENSOR(b, pl::bf16, "2 * N, K", pl::read);                                                  \
    PL_BIND(up, "N");                                                                              \
    PL_DERIVE(n_tiles, "ceildiv(2 * N, " #N ")");                                                  \
    PL_PROMISE(plc_columns, "gated32");                                                            \
    PLC_LOADER_(128);                                                                              \
    PL_ENTRY(load) {                                                                               \
      const int half = plc::cta_rank() * (N / 2);                                                  \
      plc::load_tiles<ab, 128, N>(                                                                 \
          self, [=](int i) { return work(self, i); }, map_a(self), k_tiles(self),                  \
          [=](pl::slot slot, int k, int col) {                                                     \
            plc::copy_gated<ab, N / 2>(self, slot, map_b(self), k, col + half, up(self));          \
          });                                                                                      \
    }                                                                                              \
  }
