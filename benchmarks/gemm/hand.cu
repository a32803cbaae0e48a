// GEMM written by hand, without PipeLink: C[M,N] = A[M,K] * B[N,K]^T, bf16 in and out, f32 accumulation, sm_90a.
// One loader warp feeds a ring of TMA stages; two consumer warpgroups share a TILE_M x TILE_N tile; persistent grid.
// The macros below select the variants that NOTES.md compares; the defaults are the tuned kernel.
// Builds with nvcc and with NVRTC.  K, N: multiples of 8; M, N, K otherwise free.
#if defined(__CUDACC_RTC__)
using uint32_t = unsigned;
using uint64_t = unsigned long long;
#else
#include <cstdint>
#endif

#ifndef TILE_M
#define TILE_M 128
#endif
#ifndef TILE_N
#define TILE_N 256
#endif
#ifndef STAGES
#define STAGES 4
#endif
#ifndef GROUP  // tile rows of one raster group
#define GROUP 16
#endif
#ifndef LEAD  // k-tiles by which warpgroup 0 runs ahead of warpgroup 1, so that epilogues overlap multiplications
#define LEAD 0
#endif
#ifndef LEAD_EACH  // 1: establish the lead on every tile, 0: on the first
#define LEAD_EACH 1
#endif
#ifndef EPILOGUE  // 0: 4-byte stores, 1: 16-byte stores after a transposition within quads, 2: stmatrix and TMA store
#define EPILOGUE 1
#endif
#ifndef GELU  // 1: apply gelu (tanh form) before the store
#define GELU 0
#endif
#ifndef NEXT_EARLY  // 1: find the next tile before this one's stores, as the component does, 0: at its own turn
#define NEXT_EARLY 1
#endif
#ifndef STORE_HINT
#define STORE_HINT ""
#endif

constexpr int K_TILE = 64;
constexpr uint32_t SMEM = 1024;  // first shared-memory byte of a CTA that declares no static memory
constexpr uint32_t A_BYTES = TILE_M * K_TILE * 2, B_BYTES = TILE_N * K_TILE * 2;
constexpr uint32_t A = SMEM, B = A + STAGES * A_BYTES, STAGING = B + STAGES * B_BYTES;
constexpr uint32_t STAGING_BYTES = EPILOGUE == 2 ? 32768 : 0;
constexpr uint32_t FULL = STAGING + STAGING_BYTES, EMPTY = FULL + 8 * STAGES;
constexpr int SUBTILES = TILE_M / 128;           // wgmma tiles of 64 rows in one warpgroup's part
constexpr int ACC = TILE_N / 2;                  // accumulators of one 64-row wgmma tile per thread

struct alignas(128) Map {
  unsigned char opaque[128];
};

#define D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define D16(i) D4(i), D4(i + 4), D4(i + 8), D4(i + 12)
__device__ __forceinline__ void wgmma_n256(float (&d)[128], uint64_t a, uint64_t b, int add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
      "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
      "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
      "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
      "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63,"
      "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,"
      "%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,"
      "%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,"
      "%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
      "}, %128, %129, p, 1, 1, 0, 0;\n}\n"
      : D16(0), D16(16), D16(32), D16(48), D16(64), D16(80), D16(96), D16(112)
      : "l"(a), "l"(b), "r"(add));
}

__device__ __forceinline__ void wgmma_n128(float (&d)[64], uint64_t a, uint64_t b, int add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
      "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
      "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
      "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
      "}, %64, %65, p, 1, 1, 0, 0;\n}\n"
      : D16(0), D16(16), D16(32), D16(48)
      : "l"(a), "l"(b), "r"(add));
}

__device__ __forceinline__ void wgmma(float (&d)[128], uint64_t a, uint64_t b, int add) { wgmma_n256(d, a, b, add); }
__device__ __forceinline__ void wgmma(float (&d)[64], uint64_t a, uint64_t b, int add) { wgmma_n128(d, a, b, add); }

__device__ __forceinline__ uint64_t descriptor(uint32_t address) {  // K-major, 128-byte swizzle
  return uint64_t((address & 0x3FFFF) >> 4) | uint64_t(1) << 16 | uint64_t(1024 >> 4) << 32 | uint64_t(1) << 62;
}

__device__ __forceinline__ void init(uint32_t barrier, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}
__device__ __forceinline__ void wait(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra over;\nbra again;\nover:\n}" ::"r"(barrier), "r"(parity)
      : "memory");
}
__device__ __forceinline__ void arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ __forceinline__ void expect(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ __forceinline__ void load(uint32_t to, const Map& map, uint32_t barrier, int x, int y) {
#ifdef LOAD_HINT
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.L2::cache_hint"
      " [%0], [%1, {%3, %4}], [%2], %5;"
      ::"r"(to), "l"(&map), "r"(barrier), "r"(x), "r"(y), "l"(LOAD_HINT) : "memory");
#else
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];"
      ::"r"(to), "l"(&map), "r"(barrier), "r"(x), "r"(y) : "memory");
#endif
}
struct Tile {
  int m, n;
  bool valid;
};
__device__ __forceinline__ Tile tile(int i, int tiles_m, int tiles_n) {
  int t = blockIdx.x + i * gridDim.x, per_group = GROUP * tiles_n;
  int first = t / per_group * GROUP, rows = min(tiles_m - first, GROUP), in_group = t % per_group;
  return {first + in_group % rows, in_group / rows, t < tiles_m * tiles_n};
}

__device__ __forceinline__ uint32_t pack(float low, float high) {
  uint32_t word;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  return word;
}
__device__ __forceinline__ float gelu(float x) {  // x / (1 + 2^t), t = -2 log2(e) sqrt(2 / pi) (x + 0.044715 x^3)
  const float t = x * __fmaf_rn(-2.3022082f * 0.044715f, x * x, -2.3022082f);
  float power, inverse;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(t));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(1.0f + power));
  return x * inverse;
}
// Word j of lane q of each quad goes to word q of lane j.
__device__ __forceinline__ void transpose_quad(uint32_t& w0, uint32_t& w1, uint32_t& w2, uint32_t& w3) {
  const bool odd = threadIdx.x & 1, upper = threadIdx.x & 2;
  uint32_t r0 = __shfl_xor_sync(~0u, odd ? w0 : w1, 1), r1 = __shfl_xor_sync(~0u, odd ? w2 : w3, 1);
  uint32_t v0 = odd ? r0 : w0, v1 = odd ? w1 : r0, v2 = odd ? r1 : w2, v3 = odd ? w3 : r1;
  r0 = __shfl_xor_sync(~0u, upper ? v0 : v2, 2), r1 = __shfl_xor_sync(~0u, upper ? v1 : v3, 2);
  w0 = upper ? r0 : v0, w1 = upper ? r1 : v1, w2 = upper ? v2 : r0, w3 = upper ? v3 : r1;
}
__device__ __forceinline__ void store16(void* to, uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  asm volatile("st.global" STORE_HINT ".v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(a), "r"(b), "r"(c), "r"(d)
               : "memory");
}

// One warp's 16 rows x 64 columns: v[8h...] are columns 8h + 2 * (lane % 4) + {0, 1} of rows lane / 4 + {0, 8}.
__device__ __forceinline__ void store(const float (&acc)[32], int row, int col, int part, unsigned short* c,
                                      const Map& map, int m, int n) {
  const int lane = threadIdx.x & 31;
#if EPILOGUE == 0
  const int r = row + lane / 4, q = col + lane % 4 * 2;
#pragma unroll
  for (int g = 0; g < 8; ++g)
#pragma unroll
    for (int h = 0; h < 2; ++h)
      if (r + 8 * h < m && q + 8 * g < n)
        *reinterpret_cast<uint32_t*>(c + size_t(r + 8 * h) * n + q + 8 * g) =
            pack(acc[4 * g + 2 * h], acc[4 * g + 2 * h + 1]);
#elif EPILOGUE == 1
  const int r = row + lane / 4, q = col + lane % 4 * 8;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    unsigned short* to = c + size_t(r + 8 * h) * n + q;
#pragma unroll
    for (int g = 0; g < 8; g += 4) {
      uint32_t w[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) w[j] = pack(acc[4 * (g + j) + 2 * h], acc[4 * (g + j) + 2 * h + 1]);
      transpose_quad(w[0], w[1], w[2], w[3]);
      if (r + 8 * h < m && q + 8 * g < n) store16(to + 8 * g, w[0], w[1], w[2], w[3]);
    }
  }
#else
  const uint32_t staging = STAGING + ((threadIdx.x >> 5) & 7) * 4096 + part % 2 * 2048;
  if (lane == 0) asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
  __syncwarp();
#pragma unroll
  for (int g = 0; g < 8; g += 2) {  // four 8x8 matrices: rows 0-7 and 8-15 of column groups g and g + 1
    int matrix = lane / 8, r = lane % 8 + matrix % 2 * 8, group = g + matrix / 2;
    uint32_t to = staging + r * 128 + ((group ^ (r & 7)) << 4);
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(to),
                 "r"(pack(acc[4 * g], acc[4 * g + 1])), "r"(pack(acc[4 * g + 2], acc[4 * g + 3])),
                 "r"(pack(acc[4 * g + 4], acc[4 * g + 5])), "r"(pack(acc[4 * g + 6], acc[4 * g + 7])) : "memory");
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncwarp();
  if (lane == 0) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];"
                 ::"l"(&map), "r"(staging), "r"(col), "r"(row) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  }
#endif
}

extern "C" __global__ void __launch_bounds__(384, 1)
    gemm(const __grid_constant__ Map map_a, const __grid_constant__ Map map_b, const __grid_constant__ Map map_c,
         unsigned short* c, int m, int n, int k) {
  const int tiles_m = (m + TILE_M - 1) / TILE_M, tiles_n = (n + TILE_N - 1) / TILE_N;
  const int tiles_k = (k + K_TILE - 1) / K_TILE;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) {
      init(FULL + 8 * s, 1);
      init(EMPTY + 8 * s, 2);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  uint32_t stage = 0, parity = 0;
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0)
      for (int i = 0;; ++i) {
        Tile t = tile(i, tiles_m, tiles_n);
        if (!t.valid) break;
        for (int kt = 0; kt < tiles_k; ++kt) {
          wait(EMPTY + 8 * stage, parity ^ 1);
          expect(FULL + 8 * stage, A_BYTES + B_BYTES);
          load(A + stage * A_BYTES, map_a, FULL + 8 * stage, kt * K_TILE, t.m * TILE_M);
          load(B + stage * B_BYTES, map_b, FULL + 8 * stage, kt * K_TILE, t.n * TILE_N);
          if (++stage == STAGES) stage = 0, parity ^= 1;
        }
      }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const int warpgroup = (threadIdx.x - 128) / 128;
    const bool elected = (threadIdx.x & 127) == 0;
    Tile next = tile(0, tiles_m, tiles_n);
    for (int i = 0;; ++i) {
      const Tile t = NEXT_EARLY ? next : tile(i, tiles_m, tiles_n);
      if (!t.valid) break;
      float acc[SUBTILES][ACC];
      uint32_t previous = 0;
      const bool ordered = LEAD > 0 && (LEAD_EACH || i == 0);
      if (ordered && warpgroup == 1) asm volatile("barrier.sync.aligned 1, 256;" ::: "memory");
      for (int kt = 0; kt < tiles_k; ++kt) {
        wait(FULL + 8 * stage, parity);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        const uint64_t a = descriptor(A + stage * A_BYTES + warpgroup * (A_BYTES / 2));
        const uint64_t b = descriptor(B + stage * B_BYTES);
#pragma unroll
        for (int kk = 0; kk < K_TILE / 16; ++kk)
#pragma unroll
          for (int s = 0; s < SUBTILES; ++s) wgmma(acc[s], a + kk * 2 + s * 512, b + kk * 2, (kt | kk) != 0);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        if (ordered && warpgroup == 0 && kt == min(LEAD, tiles_k) - 1)
          asm volatile("barrier.arrive.aligned 1, 256;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
        if (kt > 0 && elected) arrive(EMPTY + 8 * previous);
        previous = stage;
        if (++stage == STAGES) stage = 0, parity ^= 1;
      }
      if (NEXT_EARLY) next = tile(i + 1, tiles_m, tiles_n);
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
      if (elected) arrive(EMPTY + 8 * previous);
      const int row = t.m * TILE_M + warpgroup * (TILE_M / 2) + (threadIdx.x & 127) / 32 * 16;
#pragma unroll
      for (int s = 0; s < SUBTILES; ++s)
#pragma unroll
        for (int part = 0; part < TILE_N / 64; ++part) {
          float chunk[32];
#pragma unroll
          for (int j = 0; j < 32; ++j) chunk[j] = GELU ? gelu(acc[s][part * 32 + j]) : acc[s][part * 32 + j];
          store(chunk, row + s * 64, t.n * TILE_N + part * 64, part, c, map_c, m, n);
        }
    }
#if EPILOGUE == 2
    if ((threadIdx.x & 31) == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
#endif
  }
}
