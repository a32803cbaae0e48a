// Multiplies tiles of A and B, which TMA brought, with mma.sync: C[M,N] = A[M,K] * B[N,K]^T.  Compiled for sm_90, whose
// image links for sm_120a too; runs on both.
//
// The tile is 128 x 128, each of four warps' part 64 x 64: the fewest bytes read from shared memory for each product.
// Fragments are read one step of 16 ahead, across slots, so that the tensor cores need not wait for ldmatrix; a slot is
// released when its last fragments are in registers.
// Tails need no code: TMA fills what lies outside a tensor with zeros, and the consumer does not store it.
#include "fragment.cuh"
#include "sm80_mma.cuh"

PL_COMPONENT(plc::sm120_mainloop_128x128x64) {
constexpr int tile_m = 128, tile_n = 128, tile_k = 64, steps = tile_k / 16;
using tiles = pl::stream<pl::swizzle128<pl::tile<pl::bf16, tile_m, tile_k>>,
                         pl::swizzle128<pl::tile<pl::bf16, tile_n, tile_k>>>;

PL_ROLE(mma, pl::warps<4>);
PL_IN(ab, tiles, pl::ring<2, 8>, pl::by_threads);
PL_CALL(work, pl::tile_coord(int));
PL_CALL(store, void(plc::chunk&, int, int));
PL_PARAM(k_tiles, int);
PL_PROTOCOL(mma, "repeat work { repeat k_tiles+ { ab.wait; ab.release; } repeat 4 { store; } }");

// The operands of one step: 64 rows of A and of B, 16 of K.
struct operands {
  unsigned left[4][4], right[4][4];
};

// Byte offset of 16-byte word `word` of a row of 128 bytes under the 128-byte swizzle.
static __device__ __forceinline__ unsigned swizzled(int row, int word) { return row * 128 + ((word ^ (row & 7)) << 4); }

static __device__ __forceinline__ void read(pl::self self, pl::slot slot, operands& to, int step, int row, int col,
                                            int lane) {
  const unsigned a = ab::address<0>(self, slot), b = ab::address<1>(self, slot);
#pragma unroll
  for (int i = 0; i < 4; ++i)  // rows 0-7 and 8-15 of K columns 0-7, then of K columns 8-15
    plc::load_matrices(to.left[i], a + swizzled(row + lane % 16, step * 2 + lane / 16) + i * 16 * 128);
#pragma unroll
  for (int g = 0; g < 4; ++g)  // K columns 0-7 and 8-15 of eight columns of C, then of the next eight
    plc::load_matrices(to.right[g],
                       b + swizzled(col + lane / 16 * 8 + lane % 8, step * 2 + lane / 8 % 2) + g * 16 * 128);
}

// acc[i][g] is the 16 x 8 part i * 16 rows and g * 8 columns into the warp's 64 x 64.
static __device__ __forceinline__ void multiply(float (&acc)[4][8][4], const operands& from) {
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int g = 0; g < 8; ++g)
      plc::mma(acc[i][g], from.left[i], from.right[g / 2][g % 2 * 2], from.right[g / 2][g % 2 * 2 + 1]);
}

PL_ENTRY(mma) {
  const int thread = mma::thread(self), lane = thread % 32, count = k_tiles(self);
  const int row = thread / 32 % 2 * 64, col = thread / 64 * 64;  // the warp's place in the tile
  for (int i = 0; auto w = work(self, i); ++i) {
    float acc[4][8][4] = {};
    operands fragments[2];
    pl::slot slot = ab::wait(self);
    read(self, slot, fragments[0], 0, row, col, lane);
#pragma unroll 1
    for (int k = 1; k <= count; ++k) {
#pragma unroll
      for (int step = 0; step < steps; ++step) {
        if (step + 1 < steps) {
          read(self, slot, fragments[(step + 1) % 2], step + 1, row, col, lane);
        } else {
          ab::release(self, slot);
          if (k < count) {
            slot = ab::wait(self);
            read(self, slot, fragments[0], 0, row, col, lane);
          }
        }
        multiply(acc, fragments[step % 2]);
      }
    }
#pragma unroll
    for (int part = 0; part < 4; ++part) {
      plc::chunk values;
#pragma unroll
      for (int j = 0; j < 32; ++j) values[j] = acc[part][j / 4][j % 4];
      store(self, values, w.m * tile_m + row + part * 16, w.n * tile_n + col);
    }
  }
}
}
