// What a GEMM mainloop hands to an epilogue: one warp's chunk of 16 rows x 64 columns of f32 accumulators.
//
// Value 4g + 2h + e of a lane is row lane / 4 + 8h, column 8g + 2 * (lane % 4) + e: the accumulators of eight
// mma.sync m16n8 or of 64 columns of one wgmma, so that one epilogue serves every mainloop and tile shape.
// A row's 16-bit elements are transposed within each quad of lanes, after which every lane holds 8 neighbouring columns and
// moves them as 16 bytes: matrices need rows aligned to 16 bytes (PL_TENSOR's pl::align<16>).  The code of a chunk has
// no branch, so that the instruction scheduler can overlap the chunks of a tile.
// Rows and columns outside the matrix are neither read nor written.
#pragma once
#include <pipelink/component.cuh>

namespace plc {

using chunk = pl::fragment<float, 32>;

// A row-major matrix of 16-bit elements in global memory; stride in elements.
template <class Element>
struct matrix_of {
  const Element* data;
  int rows, cols, stride;
  __device__ __forceinline__ const char* at(int row, int col) const {
    return reinterpret_cast<const char*>(data) + 2 * (static_cast<long long>(row) * stride + col);
  }
};

using matrix = matrix_of<pl::bf16>;

// Two elements in a word, the first in the low half.  Rounds to nearest even.
template <class Element>
struct words;
template <>
struct words<pl::bf16> {
  static __device__ __forceinline__ unsigned pack(float low, float high) {
    unsigned word;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
    return word;
  }
  static __device__ __forceinline__ float low(unsigned word) { return __uint_as_float(word << 16); }
  static __device__ __forceinline__ float high(unsigned word) { return __uint_as_float(word & 0xFFFF0000u); }
};
template <>
struct words<pl::f16> {
  static __device__ __forceinline__ unsigned pack(float low, float high) {
    unsigned word;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
    return word;
  }
  static __device__ __forceinline__ float low(unsigned word) {
    float value;
    asm("{\n.reg .b16 l, h;\nmov.b32 {l, h}, %1;\ncvt.f32.f16 %0, l;\n}" : "=f"(value) : "r"(word));
    return value;
  }
  static __device__ __forceinline__ float high(unsigned word) { return low(word >> 16); }
};

// Word j of lane q of each quad becomes word q of lane j.  Its own inverse.
__device__ __forceinline__ void transpose_quad(unsigned (&w)[4]) {
  const bool odd = threadIdx.x & 1, upper = threadIdx.x & 2;
  const unsigned r0 = __shfl_xor_sync(~0u, odd ? w[0] : w[1], 1), r1 = __shfl_xor_sync(~0u, odd ? w[2] : w[3], 1);
  const unsigned v0 = odd ? r0 : w[0], v1 = odd ? w[1] : r0, v2 = odd ? r1 : w[2], v3 = odd ? w[3] : r1;
  const unsigned r2 = __shfl_xor_sync(~0u, upper ? v0 : v2, 2), r3 = __shfl_xor_sync(~0u, upper ? v1 : v3, 2);
  w[0] = upper ? r2 : v0, w[1] = upper ? r3 : v1, w[2] = upper ? v2 : r2, w[3] = upper ? v3 : r3;
}

// Rounds 16 rows x 2N columns at (row, col) and stores the part of them that lies in the matrix.  N is 32 for a chunk,
// 16 for half of one.  Called by whole warps.
template <class Element, int N>
__device__ __forceinline__ void store_chunk(const matrix_of<Element>& out, const pl::fragment<float, N>& values, int row,
                                            int col) {
  const int lane = threadIdx.x & 31, r = row + lane / 4, q = col + lane % 4 * 8;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const char* to = out.at(r + 8 * h, q);
#pragma unroll
    for (int g = 0; g < N / 4; g += 4) {
      unsigned w[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) w[j] = words<Element>::pack(values[4 * (g + j) + 2 * h], values[4 * (g + j) + 2 * h + 1]);
      transpose_quad(w);
      if (r + 8 * h < out.rows && q + 8 * g < out.cols)
        asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to + 16 * g), "r"(w[0]), "r"(w[1]), "r"(w[2]),
                     "r"(w[3])
                     : "memory");
    }
  }
}

// Adds the part of the chunk at (row, col) that lies in the matrix.  Called by whole warps.
template <class Element>
__device__ __forceinline__ void add_chunk(const matrix_of<Element>& in, chunk& values, int row, int col) {
  const int lane = threadIdx.x & 31, r = row + lane / 4, q = col + lane % 4 * 8;
  unsigned w[4][4];  // all loads first: their latencies overlap
#pragma unroll
  for (int part = 0; part < 4; ++part) {
    const int h = part / 2, g = part % 2 * 4;
    const bool inside = r + 8 * h < in.rows && q + 8 * g < in.cols;
    asm volatile(
        "{\n.reg .pred inside;\nsetp.ne.b32 inside, %5, 0;\nmov.b32 %0, 0;\nmov.b32 %1, 0;\nmov.b32 %2, 0;\n"
        "mov.b32 %3, 0;\n@inside ld.global.v4.b32 {%0, %1, %2, %3}, [%4];\n}"
        : "=&r"(w[part][0]), "=&r"(w[part][1]), "=&r"(w[part][2]), "=&r"(w[part][3])
        : "l"(in.at(r + 8 * h, q + 8 * g)), "r"(static_cast<int>(inside))
        : "memory");
  }
#pragma unroll
  for (int part = 0; part < 4; ++part) {
    const int h = part / 2, g = part % 2 * 4;
    transpose_quad(w[part]);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      values[4 * (g + j) + 2 * h] += words<Element>::low(w[part][j]);
      values[4 * (g + j) + 2 * h + 1] += words<Element>::high(w[part][j]);
    }
  }
}

// Adds a row of elements, one a column; nothing writes it while the kernel runs.  Its base is aligned to 4 bytes.
template <class Element>
__device__ __forceinline__ void add_row(const Element* bias, int cols, chunk& values, int col) {
  const int q = col + threadIdx.x % 4 * 2;
#pragma unroll
  for (int g = 0; g < 8; ++g) {
    unsigned word;
    asm("{\n.reg .pred inside;\nsetp.lt.s32 inside, %2, %3;\nmov.b32 %0, 0;\n@inside ld.global.nc.b32 %0, [%1];\n}"
        : "=&r"(word)
        : "l"(reinterpret_cast<const char*>(bias) + 2 * (q + 8 * g)), "r"(q + 8 * g), "r"(cols));
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      values[4 * g + 2 * h] += words<Element>::low(word);
      values[4 * g + 2 * h + 1] += words<Element>::high(word);
    }
  }
}

}  // namespace plc
