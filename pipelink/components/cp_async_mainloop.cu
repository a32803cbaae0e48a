// Loads tiles of A and B with cp.async and multiplies them with mma.sync in the same four warps: C[M,N] =
// A[M,K] * B[N,K]^T.  Compiled for sm_80; runs on every later architecture.
//
// The tile is 128 x 128, each warp's part 64 x 64.  The ring is one flat sequence of K tiles: copies run one slot
// less than the ring is deep ahead, across the ends of output tiles, so that it never drains before the last one.
// Tails: what lies outside a tensor is filled with zeros.  The gated variant reads a weight of [gate; up] rows: of every
// 64 columns of C the first 32 are gates, the others what they gate.
#include "fragment.cuh"
#include "sm80_mma.cuh"

namespace plc {
namespace cp_async {
constexpr int tile_m = 128, tile_n = 128, tile_k = 32;

// Byte offset of 16-byte word `word` of a row of 64 bytes under the 64-byte swizzle.
__device__ __forceinline__ unsigned swizzled(int row, int word) { return row * 64 + ((word ^ (row >> 1 & 3)) << 4); }

// Copies one 128 x 32 tile; each thread takes four 16-byte words, 32 rows apart.  Block j of 32 rows begins at row
// `first` + `block`(j) of the matrix.
template <class AB, int Part, class Block>
__device__ __forceinline__ void copy_tile(pl::self self, pl::slot slot, const matrix& from, int first, int col,
                                          int thread, Block block) {
  const int word = thread % 4, x = col + word * 8, y = first + thread / 4;
  const char* source = from.at(y, x);
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const bool inside = y + block(j) < from.rows && x < from.cols;
    const char* word_at = source + static_cast<long long>(from.stride) * (2 * block(j));
    AB::template copy_async<Part>(self, slot, swizzled(thread / 4, word) + 32 * 64 * j, inside ? word_at : source,
                                  inside);
  }
}

// One K tile: acc[i][g] is the 16 x 8 part i * 16 rows and g * 8 columns into the warp's 64 x 64.
__device__ __forceinline__ void multiply(float (&acc)[4][8][4], unsigned a, unsigned b, int row, int col,
                                                int lane) {
#pragma unroll
  for (int step = 0; step < tile_k / 16; ++step) {
    unsigned left[4][4], right[4][4];
#pragma unroll
    for (int i = 0; i < 4; ++i)  // rows 0-7 and 8-15 of K columns 0-7, then of K columns 8-15
      load_matrices(left[i], a + swizzled(row + lane % 16, step * 2 + lane / 16) + i * 16 * 64);
#pragma unroll
    for (int g = 0; g < 4; ++g)  // K columns 0-7 and 8-15 of eight columns of C, then of the next eight
      load_matrices(right[g], b + swizzled(col + lane / 16 * 8 + lane % 8, step * 2 + lane / 8 % 2) + g * 16 * 64);
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int g = 0; g < 8; ++g) mma(acc[i][g], left[i], right[g / 2][g % 2 * 2], right[g / 2][g % 2 * 2 + 1]);
  }
}

// All of the role: `column`(n, j) is the row of B where block j of 32 columns of tile column n begins.
template <class AB, class Work, class Column, class Out>
__device__ __forceinline__ void run(pl::self self, int thread, const matrix& left, const matrix& right, int steps,
                                    Work work, Column column, Out out) {
  const int lane = thread % 32;
  const int row = thread / 32 % 2 * 64, col = thread / 64 * 64;  // the warp's place in the tile
  int next_tile = 0, next_step = 0;
  pl::tile_coord next = work(0);
  auto fill = [&] {
    const pl::slot slot = AB::acquire(self);
    if (next) {
      copy_tile<AB, 0>(self, slot, left, next.m * tile_m, next_step * tile_k, thread, [](int j) { return 32 * j; });
      copy_tile<AB, 1>(self, slot, right, column(next.n, 0), next_step * tile_k, thread,
                       [&](int j) { return column(0, j); });
      if (++next_step == steps) {
        next_step = 0;
        next = work(++next_tile);
      }
    }
    AB::commit(self, slot);
  };
#pragma unroll 1
  for (int s = 1; s < AB::stages(self); ++s) fill();

  for (int i = 0; auto w = work(i); ++i) {
    float acc[4][8][4] = {};
    for (int step = 0; step < steps; ++step) {
      const pl::slot slot = AB::wait(self);
      fill();
      multiply(acc, AB::template address<0>(self, slot), AB::template address<1>(self, slot), row, col, lane);
      AB::release(self, slot);
    }
#pragma unroll
    for (int part = 0; part < 4; ++part) {
      chunk values;
#pragma unroll
      for (int j = 0; j < 32; ++j) values[j] = acc[part][j / 4][j % 4];
      // The branch also keeps the chunks apart: overlapped, they need more registers than there are.  The vote tells
      // the compiler that the warp stays together.
      const int y = w.m * tile_m + row + part * 16;
      if (__any_sync(~0u, y < left.rows)) out(values, y, w.n * tile_n + col);
    }
  }
}
}  // namespace cp_async
}  // namespace plc

// COLUMNS is plain or gated32; ROWS the extent of B's rows; COLUMN the row of B for block `j` of tile column `tile`.
#define PLC_CP_ASYNC_MAINLOOP(NAME, COLUMNS, ROWS, COLUMN)                                              \
  PL_COMPONENT(NAME) {                                                                                  \
    PL_ROLE(mma, pl::warps<4>);                                                                         \
    PL_LOCAL(ab,                                                                                        \
             pl::stream<pl::swizzle64<pl::tile<pl::bf16, plc::cp_async::tile_m, plc::cp_async::tile_k>>,   \
                        pl::swizzle64<pl::tile<pl::bf16, plc::cp_async::tile_n, plc::cp_async::tile_k>>>,  \
             pl::ring<2, 4>, pl::by_cp_async);                                                          \
    PL_PROMISE(plc_columns, COLUMNS);                                                                   \
    PL_CALL(work, pl::tile_coord(int));                                                                 \
    PL_CALL(store, void(plc::chunk&, int, int));                                                        \
    PL_PARAM(a, const pl::bf16*);                                                                       \
    PL_PARAM(b, const pl::bf16*);                                                                       \
    PL_PARAM(m, int);                                                                                   \
    PL_PARAM(n, int);                                                                                   \
    PL_PARAM(b_rows, int);                                                                              \
    PL_PARAM(k, int);                                                                                   \
    PL_PARAM(k_tiles, int);                                                                             \
    PL_PARAM(a_stride, int);                                                                            \
    PL_PARAM(b_stride, int);                                                                            \
    PL_TENSOR(a, pl::bf16, "M, K", pl::read, pl::align<16>);                                            \
    PL_TENSOR(b, pl::bf16, ROWS ", K", pl::read, pl::align<16>);                                        \
    PL_BIND(m, "M");                                                                                    \
    PL_BIND(n, "N");                                                                                    \
    PL_BIND(b_rows, ROWS);                                                                              \
    PL_BIND(k, "K");                                                                                    \
    PL_BIND(a_stride, "stride(a, 0)");                                                                  \
    PL_BIND(b_stride, "stride(b, 0)");                                                                  \
    PL_DERIVE(m_tiles, "ceildiv(M, 128)");                                                              \
    PL_DERIVE(n_tiles, "ceildiv(" ROWS ", 128)");                                                       \
    PL_DERIVE(k_tiles, "ceildiv(K, 32)");                                                               \
    PL_PROTOCOL(mma,                                                                                    \
                "repeat ab.stages - 1 { ab.acquire; ab.commit; } "                                      \
                "repeat work { repeat k_tiles { ab.wait; ab.acquire; ab.commit; ab.release; } "         \
                "repeat 4 { choose { store; } or { } } }");                                             \
    PL_ENTRY(mma) {                                                                                     \
      const plc::matrix left = {a(self), m(self), k(self), a_stride(self)};                             \
      const plc::matrix right = {b(self), b_rows(self), k(self), b_stride(self)};                       \
      plc::cp_async::run<ab>(                                                                           \
          self, mma::thread(self), left, right, k_tiles(self), [=](int i) { return work(self, i); },    \
          [=](int tile, int j) { return COLUMN; },                                                      \
          [=](plc::chunk& values, int row, int col) { store(self, values, row, col); });                \
    }                                                                                                   \
  }

PLC_CP_ASYNC_MAINLOOP(plc::cp_async_mainloop, "plain", "N", tile * 128 + 32 * j)
PLC_CP_ASYNC_MAINLOOP(plc::cp_async_mainloop_gated, "gated32", "2 * N", tile * 64 + j / 2 * 32 + j % 2 * n(self))
