// Loaders and mainloops of a Hopper GEMM on e4m3 operands, C[M,N] = (A * a_scale)[M,K] * (B * b_scale)[N,K]^T.
//
// A slot holds 128 bytes of K, one row of the 128-byte swizzle.  Two kinds of scales:
// * per tensor: one f32 in device memory for each operand; the product is scaled once, before the consumer's call;
// * per block: one f32 for each row of A and 128 of K, one for each 128 x 128 block of B.  The sum over 128 of K stays
//   in the tensor cores; it is scaled and added in f32 (DeepSeek-V3 report, section 3.3.2), which also makes good the
//   tensor cores' short sums.  A's scales travel in the ring, beside the tile that they belong to.
// Tails need no code: TMA fills what lies outside a tensor with zeros, and the consumer does not store it.
//
// A *gated* loader reads a weight of [gate; up] rows and interleaves groups of 32: columns 64g .. 64g + 31 of the tile
// are gate rows, the next 32 the matching up rows.  Every chunk of 64 columns then holds both.
#pragma once
#include <pipelink/component.cuh>

#include "fragment.cuh"
#include "sm90_fp8.cuh"

namespace plc {

constexpr int fp8_k_tile = 128;  // elements and bytes

template <int M, int N>
using fp8_tiles = pl::stream<pl::swizzle128<pl::tile<pl::e4m3, M, fp8_k_tile>>,
                             pl::swizzle128<pl::tile<pl::e4m3, N, fp8_k_tile>>>;
// The same with one scale for each row of A.
template <int M, int N>
using fp8_block_tiles = pl::stream<pl::swizzle128<pl::tile<pl::e4m3, M, fp8_k_tile>>,
                                   pl::swizzle128<pl::tile<pl::e4m3, N, fp8_k_tile>>, pl::row_major<pl::tile<float, M>>>;

// Fills a slot's tile of B, N rows from `col` on.  Not gated: one box.
template <class AB, int N, class Map>
__device__ __forceinline__ void copy_weight(pl::self self, pl::slot slot, const Map& map, int k, int col) {
  AB::template copy<1>(self, slot, map, k, col);
}
// Gated: boxes of 32 rows, from the gate half and from the up half, which begins at row `up`.
template <class AB, int N, class Map>
__device__ __forceinline__ void copy_weight(pl::self self, pl::slot slot, const Map& map, int k, int col, int up) {
#pragma unroll
  for (int g = 0; g < N / 64; ++g) {
    AB::template copy_at<1>(self, slot, g * 64 * fp8_k_tile, map, k, col / 2 + g * 32);
    AB::template copy_at<1>(self, slot, (g * 64 + 32) * fp8_k_tile, map, k, up + col / 2 + g * 32);
  }
}

// `weight` fills tile 1 of a slot, `scales` what comes after it.
template <class AB, int M, int N, class Work, class MapA, class Weight, class Scales>
__device__ __forceinline__ void load_fp8(pl::self self, Work work, const MapA& map_a, int k_tiles, Weight weight,
                                         Scales scales) {
  for (int i = 0; auto w = work(i); ++i)
    for (int k = 0; k < k_tiles; ++k) {
      pl::slot slot = AB::acquire(self);
      AB::template copy<0>(self, slot, map_a, k * fp8_k_tile, w.m * M);
      weight(slot, k * fp8_k_tile, w.n * N);
      scales(slot, k, w.m * M);
    }
}

// Issues and commits the products of one slot: 64 rows of A and all of B, 128 of K.
template <class AB, class Accumulators>
__device__ __forceinline__ void multiply_slot(pl::self self, pl::slot slot, int warpgroup, Accumulators& acc, int k) {
  pl::wgmma::fence();
  const auto a = pl::wgmma::k_major(AB::template address<0>(self, slot) + warpgroup * (64 * fp8_k_tile));
  const auto b = pl::wgmma::k_major(AB::template address<1>(self, slot));
#pragma unroll
  for (int step = 0; step < fp8_k_tile / 32; ++step) wgmma_e4m3(acc, a + step * 2, b + step * 2, (k | step) != 0);
  pl::wgmma::commit();
}

// Hands the warpgroup's 64 x N values to the consumer, chunk by chunk.
template <int N, class Accumulators, class Out>
__device__ __forceinline__ void hand_over(const Accumulators& acc, float factor, int row, int col, Out out) {
#pragma unroll
  for (int part = 0; part < N / 64; ++part) {
    chunk values;
#pragma unroll
    for (int j = 0; j < 32; ++j) values[j] = acc[part * 32 + j] * factor;
    out(values, row, col + part * 64);
  }
}

// One scale for the whole product.  Two warpgroups, each with 64 rows of the tile; one group of wgmma stays in flight
// while the next slot is awaited, and the next tile is asked for while the last one runs.
template <class AB, int N, class Work, class Out>
__device__ __forceinline__ void multiply_fp8(pl::self self, unsigned thread, int k_tiles, float factor, Work work,
                                             Out out) {
  const int warpgroup = thread / 128;
  pl::tile_coord w = work(0);
  for (int i = 1; w; ++i) {
    float acc[N / 2];
    pl::slot previous{};
    for (int k = 0; k < k_tiles; ++k) {
      pl::slot slot = AB::wait(self);
      multiply_slot<AB>(self, slot, warpgroup, acc, k);
      pl::wgmma::wait<1>();
      if (k > 0) AB::release(self, previous);
      previous = slot;
    }
    const pl::tile_coord next = work(i);
    pl::wgmma::wait<0>();
    AB::release(self, previous);
    hand_over<N>(acc, factor, w.m * 128 + warpgroup * 64 + thread % 128 / 32 * 16, w.n * N, out);
    w = next;
  }
}

// B's scales of one row of blocks, for 32 blocks of K: lane l holds that of block first + l.
struct block_scales {
  const float* data;
  int rows, cols, stride;
  __device__ __forceinline__ float load(int row, int first) const {
    const int col = first + static_cast<int>(threadIdx.x & 31);
    float value = 0;
    if (row < rows && col < cols) value = __ldg(data + static_cast<long long>(row) * stride + col);
    return value;
  }
};
__device__ __forceinline__ float load_shared(unsigned address) {
  float value;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(address) : "memory");
  return value;
}

// Scales per block; the tile is 128 x 128.  `blocks(n)` gives the rows of B's scales that the tile's first and second
// 32 columns of every 64 take: the same row, unless the loader is gated.  They are loaded 32 blocks of K ahead.
// While one warpgroup scales and adds, the other one's products keep the tensor cores busy.
template <class AB, class Work, class Blocks, class Out>
__device__ __forceinline__ void multiply_blocks(pl::self self, unsigned thread, int k_tiles, const block_scales& scales,
                                                Work work, Blocks blocks, Out out) {
  const int warpgroup = thread / 128, warp_row = warpgroup * 64 + thread % 128 / 32 * 16, lane = thread % 32;
  pl::tile_coord w = work(0);
  if (!w) return;
  pl::fragment<int, 2> row = blocks(w.n);
  float ahead[2] = {scales.load(row[0], 0), scales.load(row[1], 0)};
  for (int i = 1; w; ++i) {
    float acc[64], sum[64], now[2];
#pragma unroll
    for (int j = 0; j < 64; ++j) sum[j] = 0;
    pl::tile_coord next{};
    for (int k = 0; k < k_tiles; ++k) {
      pl::slot slot = AB::wait(self);
      multiply_slot<AB>(self, slot, warpgroup, acc, 0);
      if (k % 32 == 0) {
        now[0] = ahead[0], now[1] = ahead[1];
        int from = k + 32;
        if (from >= k_tiles) {
          next = work(i);
          row = blocks(next.n), from = 0;
        }
        ahead[0] = scales.load(row[0], from), ahead[1] = scales.load(row[1], from);
      }
      const unsigned rows = AB::template address<2>(self, slot) + (warp_row + lane / 4) * 4;
      const float a[2] = {load_shared(rows), load_shared(rows + 32)};
      float factor[2][2];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float b = __shfl_sync(~0u, now[half], k % 32);
        factor[half][0] = a[0] * b, factor[half][1] = a[1] * b;
      }
      pl::wgmma::wait<0>();
      AB::release(self, slot);
#pragma unroll
      for (int j = 0; j < 64; ++j) sum[j] += acc[j] * factor[j / 16 % 2][j / 2 % 2];
    }
    hand_over<128>(sum, 1, w.m * 128 + warp_row, w.n * 128, out);
    w = next;
  }
}

}  // namespace plc

// What every loader declares.
#define PLC_FP8_A(TILES, M)                                           \
  PL_ROLE(load, pl::warps<1>, pl::registers<24, 40>, pl::one_thread); \
  PL_OUT(ab, TILES, pl::ring<2, 8>, pl::by_tma);                      \
  PL_CALL(work, pl::tile_coord(int));                                 \
  PL_PARAM(map_a, pl::tensor_map<ab, 0>);                             \
  PL_PARAM(k_tiles, int);                                             \
  PL_TENSOR(a, pl::e4m3, "M, K", pl::read);                           \
  PL_BIND(map_a, "a");                                                \
  PL_DERIVE(m_tiles, "ceildiv(M, " #M ")");                           \
  PL_DERIVE(k_tiles, "ceildiv(K, 128)");                              \
  PL_PROTOCOL(load, "repeat work { repeat k_tiles+ { ab.acquire; ab.copy; } }")
// B as it is, or as the weight of a gated consumer; `weight(slot, k, col)` in PL_ENTRY(load) copies its tile.
#define PLC_FP8_B(N)                          \
  PL_PROMISE(plc_columns, "plain");           \
  PL_PARAM(map_b, pl::tensor_map<ab, 1>);     \
  PL_TENSOR(b, pl::e4m3, "N, K", pl::read);   \
  PL_BIND(map_b, "b");                        \
  PL_DERIVE(n_tiles, "ceildiv(N, " #N ")");   \
  static __device__ __forceinline__ void weight(pl::self self, pl::slot slot, int k, int col) { \
    plc::copy_weight<ab, N>(self, slot, map_b(self), k, col);                                   \
  }                                           \
  static_assert(true, "")
#define PLC_FP8_B_GATED(N)                                    \
  PL_PROMISE(plc_columns, "gated32");                         \
  PL_PARAM(map_b, pl::tensor_map<ab, 1, pl::box<32, 128>>);   \
  PL_PARAM(up, int);                                          \
  PL_TENSOR(b, pl::e4m3, "2 * N, K", pl::read);               \
  PL_BIND(map_b, "b");                                        \
  PL_BIND(up, "N");                                         \
  PL_DERIVE(n_tiles, "ceildiv(2 * N, " #N ")");               \
  static __device__ __forceinline__ void weight(pl::self self, pl::slot slot, int k, int col) { \
    plc::copy_weight<ab, N>(self, slot, map_b(self), k, col, up(self));                         \
  }                                                           \
  static_assert(true, "")

// B is PLC_FP8_B or PLC_FP8_B_GATED.
#define PLC_FP8_LOADER(NAME, M, N, B)                                                              \
  PL_COMPONENT(NAME) {                                                                             \
    using tiles = plc::fp8_tiles<M, N>;                                                            \
    PLC_FP8_A(tiles, M);                                                                           \
    B(N);                                                                                          \
    PL_ENTRY(load) {                                                                               \
      plc::load_fp8<ab, M, N>(                                                                     \
          self, [=](int i) { return work(self, i); }, map_a(self), k_tiles(self),                  \
          [=](pl::slot slot, int k, int col) { weight(self, slot, k, col); },                      \
          [](pl::slot, int, int) {});                                                              \
    }                                                                                              \
  }
#define PLC_FP8_BLOCK_LOADER(NAME, M, N, B)                                                        \
  PL_COMPONENT(NAME) {                                                                             \
    using tiles = plc::fp8_block_tiles<M, N>;                                                      \
    PLC_FP8_A(tiles, M);                                                                           \
    B(N);                                                                                          \
    PL_PARAM(map_a_scale, pl::tensor_map<ab, 2>);                                                  \
    PL_TENSOR(a_scale, float, "ceildiv(K, 128), M", pl::read);                                                  \
    PL_BIND(map_a_scale, "a_scale");                                                               \
    PL_ENTRY(load) {                                                                               \
      plc::load_fp8<ab, M, N>(                                                                     \
          self, [=](int i) { return work(self, i); }, map_a(self), k_tiles(self),                  \
          [=](pl::slot slot, int k, int col) { weight(self, slot, k, col); },                      \
          [=](pl::slot slot, int k, int row) { ab::copy<2>(self, slot, map_a_scale(self), row, k); }); \
    }                                                                                              \
  }

#define PLC_FP8_MAINLOOP(NAME, N, REGISTERS)                                                       \
  PL_COMPONENT(NAME) {                                                                             \
    using tiles = plc::fp8_tiles<128, N>;                                                          \
    PL_ROLE(mma, pl::warps<8>, REGISTERS);                                                         \
    PL_IN(ab, tiles, pl::ring<2, 8>, pl::by_wgmma);                                                \
    PL_CALL(work, pl::tile_coord(int));                                                            \
    PL_CALL(store, void(plc::chunk&, int, int));                                                   \
    PL_PARAM(k_tiles, int);                                                                        \
    PL_PARAM(a_scale, const float*);                                                               \
    PL_PARAM(b_scale, const float*);                                                               \
    PL_TENSOR(a_scale, float, "1", pl::read);                                                      \
    PL_TENSOR(b_scale, float, "1", pl::read);                                                      \
    PL_PROTOCOL(mma,                                                                               \
                "repeat work { repeat k_tiles+ { ab.wait; ab.release keep 1; } ab.release; "       \
                "repeat " #N " / 64 { store; } }");                                                \
    PL_ENTRY(mma) {                                                                                \
      plc::multiply_fp8<ab, N>(                                                                    \
          self, mma::thread(self), k_tiles(self), __ldg(a_scale(self)) * __ldg(b_scale(self)),     \
          [=](int i) { return work(self, i); },                                                    \
          [=](plc::chunk& values, int row, int col) { store(self, values, row, col); });           \
    }                                                                                              \
  }
// b_scale has ROWS rows (an expression at launch, `rows` on the device); FIRST and SECOND are those that the first and
// the second half of a chunk of tile column `n` take.
#define PLC_FP8_BLOCK_MAINLOOP(NAME, ROWS, FIRST, SECOND, REGISTERS)                                     \
  PL_COMPONENT(NAME) {                                                                             \
    using tiles = plc::fp8_block_tiles<128, 128>;                                                  \
    PL_ROLE(mma, pl::warps<8>, REGISTERS);                                                         \
    PL_IN(ab, tiles, pl::ring<2, 8>, pl::by_threads);                                              \
    PL_CALL(work, pl::tile_coord(int));                                                            \
    PL_CALL(store, void(plc::chunk&, int, int));                                                   \
    PL_PARAM(k_tiles, int);                                                                        \
    PL_PARAM(b_scale, const float*);                                                               \
    PL_PARAM(b_scale_rows, int);                                                                   \
    PL_PARAM(b_scale_stride, int);                                                                 \
    PL_TENSOR(b_scale, float, ROWS ", ceildiv(K, 128)", pl::read);                                                 \
    PL_BIND(b_scale_rows, ROWS);                                                                   \
    PL_BIND(b_scale_stride, "stride(b_scale, 0)");                                                 \
    PL_PROTOCOL(mma, "repeat work { repeat k_tiles+ { ab.wait; ab.release; } repeat 2 { store; } }"); \
    PL_ENTRY(mma) {                                                                                \
      const int steps = k_tiles(self), rows = b_scale_rows(self);                                  \
      plc::multiply_blocks<ab>(                                                                    \
          self, mma::thread(self), steps, {b_scale(self), rows, steps, b_scale_stride(self)},      \
          [=](int i) { return work(self, i); },                                                    \
          [=](int n) { return pl::fragment<int, 2>{{FIRST, SECOND}}; },                            \
          [=](plc::chunk& values, int row, int col) { store(self, values, row, col); });           \
    }                                                                                              \
  }
