// Matrix multiplication of sm_100a and sm_103a: operands in shared memory, accumulators in tensor memory.
// PTX ISA, "TensorCore 5th generation instructions": instruction descriptor of kind::f16, shared-memory descriptor.
//
// The descriptors are plain C++ (a host compiler takes this header too), so that a test compares them with CuTe's.
// Accumulator (row, column) of a tile with 128 rows is lane `row`, column `column` of tensor memory.
#pragma once

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define PLC_PLAIN_ __host__ __device__ __forceinline__ constexpr
#else
#define PLC_PLAIN_ inline constexpr
#endif

namespace plc {

enum : unsigned { umma_f16 = 0, umma_bf16 = 1 };  // operands of kind::f16

// D[M,N] (f32) = A[M,K] * B[N,K]^T (`format`), both K-major.
PLC_PLAIN_ unsigned umma_instruction(unsigned format, int m, int n) {
  return 1u << 4 | format << 7 | format << 10 | unsigned(n / 8) << 17 | unsigned(m / 16) << 24;
}

// A K-major tile under the 128-byte swizzle that starts on a 1024-byte boundary: rows of 128 bytes, groups of 8 rows
// 1024 bytes apart.  Adding 2 moves 16 elements of two bytes along K (32 bytes, in units of 16).
PLC_PLAIN_ unsigned long long umma_descriptor(unsigned address) {
  using word = unsigned long long;
  return word((address & 0x3FFFF) >> 4) | word(1) << 16 | word(1024 >> 4) << 32 | word(1) << 46 | word(2) << 61;
}

}  // namespace plc
#undef PLC_PLAIN_

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#include "fragment.cuh"

namespace plc {

// One step of 16 elements of K: accumulators = a * b^T, or += where `accumulate` is not 0; a and b are the low words of
// descriptors, whose high words are all the same.  Issued by one thread; where Ctas is 2, for both CTAs of the pair,
// each of which has half of the rows of A and of B, at the same addresses.
template <int Ctas>
__device__ __forceinline__ void umma(unsigned accumulators, unsigned a, unsigned b, unsigned instruction,
                                     int accumulate) {
  static_assert(Ctas == 1 || Ctas == 2, "cta_group");
#define PLC_UMMA_(GROUP)                                                                                \
  asm volatile(                                                                                         \
      "{\n.reg .pred p;\n.reg .b64 a, b;\nsetp.ne.b32 p, %4, 0;\nmov.b64 a, {%1, %5};\nmov.b64 b, {%2, %5};\n" \
      "tcgen05.mma.cta_group::" GROUP ".kind::f16 [%0], a, b, %3, p;\n}\n" ::"r"(accumulators),         \
      "r"(a), "r"(b), "r"(instruction), "r"(accumulate), "r"(unsigned(umma_descriptor(0) >> 32))        \
      : "memory")
  if constexpr (Ctas == 1)
    PLC_UMMA_("1");
  else
    PLC_UMMA_("2");
#undef PLC_UMMA_
}
__device__ __forceinline__ unsigned cta_rank() {  // in the pair; 0 issues for both
  unsigned rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

#define PLC_F4_(v, i, c) c(v[i]), c(v[i + 1]), c(v[i + 2]), c(v[i + 3])
#define PLC_F32_(v, c)                                                                                     \
  PLC_F4_(v, 0, c), PLC_F4_(v, 4, c), PLC_F4_(v, 8, c), PLC_F4_(v, 12, c), PLC_F4_(v, 16, c), PLC_F4_(v, 20, c), \
      PLC_F4_(v, 24, c), PLC_F4_(v, 28, c)
// Begins to load 16 lanes x 64 columns; the fragment is that of eight m16n8 accumulators.  Called by whole warps, on
// the lanes that the warp can reach: 32 from 32 * (its number % 4).
__device__ __forceinline__ void load_tmem(chunk& values, unsigned address) {
  asm volatile(
      "tcgen05.ld.sync.aligned.16x256b.x8.b32 {"
      "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
      "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, [%32];"
      : PLC_F32_(values, "=f")
      : "r"(address)
      : "memory");
}
// Waits for the warp's loads; the values pass through it, so that none is read before.
__device__ __forceinline__ void wait_tmem(chunk& a, chunk& b) {
  asm volatile("tcgen05.wait::ld.sync.aligned;" : PLC_F32_(a, "+f"), PLC_F32_(b, "+f")::"memory");
}
#undef PLC_F32_
#undef PLC_F4_

}  // namespace plc
#endif
