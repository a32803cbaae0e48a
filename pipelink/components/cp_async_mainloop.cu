// Loads tiles of A and B with cp.async and multiplies them with mma.sync in the same eight warps: C[M,N] =
// A[M,K] * B[N,K]^T.  Compiled for sm_80; runs on every later architecture.
//
// The tile is 128 x 128, four warps high and two wide, each 32 x 64.  The ring is one flat sequence of K tiles: copies
// run three slots ahead, across the ends of output tiles, so that the ring never drains before the last one.
// Tails: what lies outside a tensor is filled with zeros.  A or B whose rows are not 16-byte aligned is copied element
// by element through registers instead.
#include "fragment.cuh"
#include "sm80_mma.cuh"

PL_COMPONENT(plc::cp_async_mainloop) {
constexpr int tile_m = 128, tile_n = 128, tile_k = 32, depth = 4;

PL_ROLE(mma, pl::warps<8>);
PL_LOCAL(ab, pl::stream<pl::swizzle64<pl::tile<pl::bf16, tile_m, tile_k>>, pl::swizzle64<pl::tile<pl::bf16, tile_n, tile_k>>>,
         pl::ring<depth, depth>, pl::by_cp_async);
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
PL_TENSOR(a, pl::bf16, "M, K", pl::read);
PL_TENSOR(b, pl::bf16, "N, K", pl::read);
PL_BIND(m, "M");
PL_BIND(n, "N");
PL_BIND(k, "K");
PL_BIND(a_stride, "stride(a, 0)");
PL_BIND(b_stride, "stride(b, 0)");
PL_DERIVE(m_tiles, "ceildiv(M, 128)");
PL_DERIVE(n_tiles, "ceildiv(N, 128)");
PL_DERIVE(k_tiles, "ceildiv(K, 32)");

// Byte offset of 16-byte word `word` of a row of 64 bytes under the 64-byte swizzle.
static __device__ __forceinline__ unsigned swizzled(int row, int word) { return row * 64 + ((word ^ (row >> 1 & 3)) << 4); }

// Copies one 128 x 32 tile whose first element is (row, col); each thread takes two 16-byte words.
template <int Part>
static __device__ __forceinline__ void copy_tile(pl::self self, pl::slot slot, const plc::matrix& from, int row, int col,
                                                 int thread) {
  const int word = thread % 4, x = col + word * 8;
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    const int r = thread / 4 + j * 64, y = row + r;
    const unsigned to = swizzled(r, word);
    const bool inside = y < from.rows && x < from.cols;
    if (from.in_words_of_16_bytes()) {
      ab::copy_async<Part>(self, slot, to, inside ? from.at(y, x) : from.data, inside);
    } else {
      unsigned words[4] = {};
#pragma unroll
      for (int e = 0; e < 8; ++e)
        if (inside && x + e < from.cols) words[e / 2] |= static_cast<unsigned>(*from.at(y, x + e)) << (e % 2 * 16);
      asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(ab::address<Part>(self, slot) + to), "r"(words[0]),
                   "r"(words[1]), "r"(words[2]), "r"(words[3])
                   : "memory");
    }
  }
}

// One K tile: acc[i][g] is the 16 x 8 part i rows and g columns into the warp's 32 x 64.
static __device__ __forceinline__ void multiply(float (&acc)[2][8][4], unsigned a, unsigned b, int row, int col, int lane) {
#pragma unroll
  for (int step = 0; step < tile_k / 16; ++step) {
    unsigned left[2][4], right[4][4];
#pragma unroll
    for (int i = 0; i < 2; ++i)  // rows 0-7 and 8-15 of K columns 0-7, then of K columns 8-15
      plc::load_matrices(left[i], a + swizzled(row + i * 16 + lane % 16, step * 2 + lane / 16));
#pragma unroll
    for (int g = 0; g < 4; ++g)  // K columns 0-7 and 8-15 of eight columns of C, then of the next eight
      plc::load_matrices(right[g], b + swizzled(col + g * 16 + lane / 16 * 8 + lane % 8, step * 2 + lane / 8 % 2));
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int g = 0; g < 8; ++g) plc::mma(acc[i][g], left[i], right[g / 2][g % 2 * 2], right[g / 2][g % 2 * 2 + 1]);
  }
}

PL_ENTRY(mma) {
  const int thread = mma::thread(self), lane = thread % 32, steps = k_tiles(self);
  const int row = thread / 32 % 4 * 32, col = thread / 128 * 64;  // the warp's place in the tile
  const plc::matrix left = plc::matrix_of(a(self), m(self), k(self), a_stride(self));
  const plc::matrix right = plc::matrix_of(b(self), n(self), k(self), b_stride(self));

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
  for (int s = 0; s < depth - 1; ++s) fill();

  for (int i = 0; auto w = work(self, i); ++i) {
    float acc[2][8][4] = {};
    for (int step = 0; step < steps; ++step) {
      const pl::slot slot = ab::wait(self);
      fill();
      multiply(acc, ab::address<0>(self, slot), ab::address<1>(self, slot), row, col, lane);
      ab::release(self, slot);
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      plc::chunk values;
#pragma unroll
      for (int j = 0; j < 32; ++j) values[j] = acc[half][j / 4][j % 4];
      store(self, values, w.m * tile_m + row + half * 16, w.n * tile_n + col);
    }
  }
}
}
