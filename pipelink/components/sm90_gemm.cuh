// The loader and the mainloop of a Hopper GEMM, C[M,N] = A[M,K] * B[N,K]^T, for a choice of tile shapes.
//
// Bodies are templates over the ports; PLC_TMA_LOADER, PLC_TMA_LOADER_GATED and PLC_WGMMA_MAINLOOP declare one component each.  A loader and
// a mainloop of the same shape fit together.  Tails need no code here: TMA fills what lies outside a tensor with zeros,
// and the epilogue does not store it.
#pragma once
#include <pipelink/component.cuh>
#include <pipelink/wgmma.cuh>

#include "fragment.cuh"

namespace plc {

constexpr int sm90_k_tile = 64;  // 128 bytes of bf16: one row of the 128-byte swizzle

// One slot: a tile of A and a tile of B.
template <int M, int N>
using ab_tiles = pl::stream<pl::swizzle128<pl::tile<pl::bf16, M, sm90_k_tile>>,
                            pl::swizzle128<pl::tile<pl::bf16, N, sm90_k_tile>>>;

// `weight(slot, k, col)` copies the tile of B whose first accumulator column is `col`.
template <class AB, int M, int N, class Work, class Map, class Weight>
__device__ __forceinline__ void load_tiles(pl::self self, Work work, const Map& map_a, int k_tiles, Weight weight) {
  if (k_tiles <= 0) return;  // said once: compilers differ in whether they find it out of the loop
  for (int i = 0; auto w = work(i); ++i)
    for (int k = 0; k < k_tiles; ++k) {
      pl::slot slot = AB::acquire(self);
      AB::template copy<0>(self, slot, map_a, k * sm90_k_tile, w.m * M);
      weight(slot, k * sm90_k_tile, w.n * N);
    }
}

// The rows of B for N accumulator columns from `col` on, as a gated epilogue wants them: of every 64 columns the first
// 32 are gates and the others what they gate, which stands `up` rows below.
template <class AB, int N, class Map>
__device__ __forceinline__ void copy_gated(pl::self self, pl::slot slot, const Map& map_b, int k, int col, int up) {
  constexpr int row_bytes = sm90_k_tile * 2;
#pragma unroll
  for (int g = 0; g < N; g += 64) {
    const int row = (col + g) / 2;
    AB::template copy_at<1>(self, slot, g * row_bytes, map_b, k, row);
    AB::template copy_at<1>(self, slot, (g + 32) * row_bytes, map_b, k, up + row);
  }
}

// Two warpgroups share a tile of M x N.  Each has half of its rows, in blocks of 64, or half of its columns where it has
// only 64 rows.  One group of wgmma stays in flight while the next slot is awaited, so a slot is released one step after
// its group was issued.  The next tile is asked for while the last groups still run: a scheduler's divisions would
// otherwise stand between two tiles.
template <class AB, int M, int N, class Work, class Out>
__device__ __forceinline__ void multiply_tiles(pl::self self, unsigned thread, int k_tiles, Work work, Out out) {
  static_assert(M == 64 || M == 128 || M == 256, "rows of a tile: 64, 128 or 256");
  constexpr int blocks = M == 256 ? 2 : 1, columns = M == 64 ? N / 2 : N, row_bytes = sm90_k_tile * 2;
  const int warpgroup = thread / 128;
  const int first_row = M == 64 ? 0 : warpgroup * (M / 2), first_column = M == 64 ? warpgroup * columns : 0;
  pl::tile_coord w = work(0);
  for (int i = 1; w; ++i) {
    float acc[blocks][columns / 2];
    pl::slot previous{};
    for (int k = 0; k < k_tiles; ++k) {
      pl::slot slot = AB::wait(self);
      pl::wgmma::fence();
      const auto a = pl::wgmma::k_major(AB::template address<0>(self, slot) + first_row * row_bytes);
      const auto b = pl::wgmma::k_major(AB::template address<1>(self, slot) + first_column * row_bytes);
#pragma unroll
      for (int step = 0; step < sm90_k_tile / 16; ++step)
#pragma unroll
        for (int block = 0; block < blocks; ++block)
          pl::wgmma::multiply<pl::bf16>(acc[block], a + block * (64 * row_bytes / 16) + step * 2, b + step * 2,
                                        (k | step) != 0);
      pl::wgmma::commit();
      pl::wgmma::wait<1>();
      if (k > 0) AB::release(self, previous);
      previous = slot;
    }
    const pl::tile_coord next = work(i);
    pl::wgmma::wait<0>();
    AB::release(self, previous);
    const int row = w.m * M + first_row + thread % 128 / 32 * 16, column = w.n * N + first_column;
#pragma unroll
    for (int block = 0; block < blocks; ++block)
#pragma unroll
      for (int part = 0; part < columns / 64; ++part) {
        chunk values;
#pragma unroll
        for (int j = 0; j < 32; ++j) values[j] = acc[block][part * 32 + j];
        out(values, row + block * 64, column + part * 64);
      }
    w = next;
  }
}

}  // namespace plc

// What every loader declares; it promises that accumulator columns are columns of the output, or that they are gated.
#define PLC_LOADER_(M)                                                 \
  PL_ROLE(load, pl::warps<1>, pl::registers<24, 40>, pl::one_thread);  \
  PL_CALL(work, pl::tile_coord(int));                                  \
  PL_PARAM(map_a, pl::tensor_map<ab, 0>);                              \
  PL_PARAM(k_tiles, int);                                              \
  PL_TENSOR(a, pl::bf16, "M, K", pl::read);                            \
  PL_BIND(map_a, "a");                                                 \
  PL_BIND(map_b, "b");                                                 \
  PL_DERIVE(m_tiles, "ceildiv(M, " #M ")");                            \
  PL_DERIVE(k_tiles, "ceildiv(K, 64)");                                \
  PL_PROTOCOL(load, "repeat work { repeat k_tiles+ { ab.acquire; ab.copy; } }")
#define PLC_TMA_LOADER(NAME, M, N)                                                                                     \
  PL_COMPONENT(NAME) {                                                                                                 \
    PL_OUT(ab, plc::ab_tiles<M, N>, pl::ring<2, 8>, pl::by_tma);                                                       \
    PL_PARAM(map_b, pl::tensor_map<ab, 1>);                                                                            \
    PL_TENSOR(b, pl::bf16, "N, K", pl::read);                                                                          \
    PL_DERIVE(n_tiles, "ceildiv(N, " #N ")");                                                                          \
    PL_PROMISE(plc_columns, "plain");                                                                                  \
    PLC_LOADER_(M);                                                                                                    \
    PL_ENTRY(load) {                                                                                                   \
      plc::load_tiles<ab, M, N>(                                                                                       \
          self, [=](int i) { return work(self, i); }, map_a(self), k_tiles(self),                                      \
          [=](pl::slot slot, int k, int col) { ab::copy<1>(self, slot, map_b(self), k, col); });                       \
    }                                                                                                                  \
  }
#define PLC_TMA_LOADER_GATED(NAME, M, N)                                                                               \
  PL_COMPONENT(NAME) {                                                                                                 \
    PL_OUT(ab, plc::ab_tiles<M, N>, pl::ring<2, 8>, pl::by_tma);                                                       \
    PL_PARAM(map_b, pl::tensor_map<ab, 1, pl::box<32, plc::sm90_k_tile>>);                                             \
    PL_PARAM(up, int);                                                                                                 \
    PL_TENSOR(b, pl::bf16, "2 * N, K", pl::read);                                                                      \
    PL_BIND(up, "N");                                                                                                  \
    PL_DERIVE(n_tiles, "ceildiv(2 * N, " #N ")");                                                                      \
    PL_PROMISE(plc_columns, "gated32");                                                                                \
    PLC_LOADER_(M);                                                                                                    \
    PL_ENTRY(load) {                                                                                                   \
      plc::load_tiles<ab, M, N>(                                                                                       \
          self, [=](int i) { return work(self, i); }, map_a(self), k_tiles(self),                                      \
          [=](pl::slot slot, int k, int col) { plc::copy_gated<ab, N>(self, slot, map_b(self), k, col, up(self)); });  \
    }                                                                                                                  \
  }

// Registers a thread of the mainloop; a name of its own, because the comma in pl::registers<> would split an argument.
#define PLC_REGISTERS(MIN, MAX) pl::registers<MIN, MAX>
#define PLC_WGMMA_MAINLOOP(NAME, M, N, REGISTERS)                                                                      \
  PL_COMPONENT(NAME) {                                                                                                 \
    PL_ROLE(mma, pl::warps<8>, REGISTERS);                                                                             \
    PL_IN(ab, plc::ab_tiles<M, N>, pl::ring<2, 8>, pl::by_wgmma);                                                      \
    PL_CALL(work, pl::tile_coord(int));                                                                                \
    PL_CALL(store, void(plc::chunk&, int, int));                                                                       \
    PL_PARAM(k_tiles, int);                                                                                            \
    PL_PROTOCOL(mma,                                                                                                   \
                "repeat work { repeat k_tiles+ { ab.wait; ab.release keep 1; } ab.release; "                           \
                "repeat " #M " * " #N " / 8192 { store; } }");                                                         \
    PL_ENTRY(mma) {                                                                                                    \
      plc::multiply_tiles<ab, M, N>(                                                                                   \
          self, mma::thread(self), k_tiles(self), [=](int i) { return work(self, i); },                                \
          [=](plc::chunk& values, int row, int col) { store(self, values, row, col); });                               \
    }                                                                                                                  \
  }
