// Loads tiles of A and B with cp.async and multiplies them with mma.sync in the same four warps: C[M,N] =
// A[M,K] * B[N,K]^T.  Compiled for sm_80; runs on every later architecture.
//
// The tile is 128 x 128, each warp's part 64 x 64.  The ring is one flat sequence of K tiles: copies run one slot
// less than the ring is deep ahead, across the ends of output tiles, so that it never drains before the last one.
// Tails: what lies outside a tensor is filled with zeros.
#include "fragment.cuh"
#include "sm80_mma.cuh"

PL_COMPONENT(plc::cp_async_mainloop) {
constexpr int tile_m = 128, tile_n = 128, tile_k = 32;

PL_ROLE(mma, pl::warps<4>);
PL_LOCAL(ab,
         pl::stream<pl::swizzle64<pl::tile<pl::bf16, tile_m, tile_k>>,
                    pl::swizzle64<pl::tile<pl::bf16, tile_n, tile_k>>>,
         pl::ring<2, 4>, pl::by_cp_async);
PL_CALL(work, pl::tile_coord(int));
PL_CALL(store, void(plc::chunk&, int, int));
PL_PARAM(a, const pl::bf16*);
PL_PARAM(b, const pl::bf16*);
PL_PARAM(m, int);
PL_PARAM(n, int);
PL_PARAM(k, int);
PL_PARAM(k_tiles, int);
PL_PARAM(a_stride, int);
PL_PARAM(b_stride, int);
PL_TENSOR(a, pl::bf16, "M, K", pl::read, pl::align<16>);
PL_TENSOR(b, pl::bf16, "N, K", pl::read, pl::align<16>);
PL_BIND(m, "M");
PL_BIND(n, "N");
PL_BIND(k, "K");
PL_BIND(a_stride, "stride(a, 0)");
PL_BIND(b_stride, "stride(b, 0)");
PL_DERIVE(m_tiles, "ceildiv(M, 128)");
PL_DERIVE(n_tiles, "ceildiv(N, 128)");
PL_DERIVE(k_tiles, "ceildiv(K, 32)");

// Byte offset of 16-byte word `word` of a row of 64 bytes under the 64-byte swizzle.
static __device__ __forceinline__ unsigned swizzled(int row, int word) {
  return row * 64 + ((word ^ (row >> 1 & 3)) << 4);
}

// Copies one 128 x 32 tile whose first element is (row, col); each thread takes four 16-byte words, 32 rows apart.
template <int Part>
static __device__ __forceinline__ void copy_tile(pl::self self, pl::slot slot, const plc::matrix& from, int row,
                                                 int col, int thread) {
  const int word = thread % 4, x = col + word * 8, y = row + thread / 4;
  const char* source = from.at(y, x);
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const bool inside = y + 32 * j < from.rows && x < from.cols;
    const char* word_at = source + static_cast<long long>(from.stride) * (64 * j);
    ab::copy_async<Part>(self, slot, swizzled(thread / 4, word) + 32 * 64 * j, inside ? word_at : source, inside);
  }
}

// One K tile: acc[i][g] is the 16 x 8 part i * 16 rows and g * 8 columns into the warp's 64 x 64.
static __device__ __forceinline__ void multiply(float (&acc)[4][8][4], unsigned a, unsigned b, int row, int col,
                                                int lane) {
#pragma unroll
  for (int step = 0; step < tile_k / 16; ++step) {
    unsigned left[4][4], right[4][4];
#pragma unroll
    for (int i = 0; i < 4; ++i)  // rows 0-7 and 8-15 of K columns 0-7, then of K columns 8-15
      plc::load_matrices(left[i], a + swizzled(row + lane % 16, step * 2 + lane / 16) + i * 16 * 64);
#pragma unroll
    for (int g = 0; g < 4; ++g)  // K columns 0-7 and 8-15 of eight columns of C, then of the next eight
      plc::load_matrices(right[g], b + swizzled(col + lane / 16 * 8 + lane % 8, step * 2 + lane / 8 % 2) + g * 16 * 64);
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int g = 0; g < 8; ++g) plc::mma(acc[i][g], left[i], right[g / 2][g % 2 * 2], right[g / 2][g % 2 * 2 + 1]);
  }
}

PL_ENTRY(mma) {
  const int thread = mma::thread(self), lane = thread % 32, steps = k_tiles(self);
  const int row = thread / 32 % 2 * 64, col = thread / 64 * 64;  // the warp's place in the tile
  const plc::matrix left = {a(self), m(self), k(self), a_stride(self)};
  const plc::matrix right = {b(self), n(self), k(self), b_stride(self)};

  int next_tile = 0, next_step = 0;
  pl::tile_coord next = work(self, 0);
  auto fill = [&] {
    const pl::slot slot = ab::acquire(self);
    if (next) {
      copy_tile<0>(self, slot, left, next.m * tile_m, next_step * tile_k, thread);
      copy_tile<1>(self, slot, right, next.n * tile_n, next_step * tile_k, thread);
      if (++next_step == steps) {
        next_step = 0;
        next = work(self, ++next_tile);
      }
    }
    ab::commit(self, slot);
  };
#pragma unroll 1
  for (int s = 1; s < ab::stages(self); ++s) fill();

  for (int i = 0; auto w = work(self, i); ++i) {
    float acc[4][8][4] = {};
    for (int step = 0; step < steps; ++step) {
      const pl::slot slot = ab::wait(self);
      fill();
      multiply(acc, ab::address<0>(self, slot), ab::address<1>(self, slot), row, col, lane);
      ab::release(self, slot);
    }
#pragma unroll
    for (int part = 0; part < 4; ++part) {
      plc::chunk values;
#pragma unroll
      for (int j = 0; j < 32; ++j) values[j] = acc[part][j / 4][j % 4];
      // The branch also keeps the chunks apart: overlapped, they need more registers than there are.  The vote tells
      // the compiler that the warp stays together.
      const int y = w.m * tile_m + row + part * 16;
      if (__any_sync(~0u, y < m(self))) store(self, values, y, w.n * tile_n + col);
    }
  }
}
}
