// What a GEMM mainloop hands to an epilogue: one warp's chunk of 16 rows x 64 columns of f32 accumulators.
//
// Value 4g + 2h + e of a lane is row lane / 4 + 8h, column 8g + 2 * (lane % 4) + e: the accumulators of eight
// mma.sync m16n8 or of 64 columns of one wgmma, so that one epilogue serves every mainloop and tile shape.
// Fast path: a row's words are transposed within each quad of lanes, after which every lane holds 8 neighbouring columns
// and moves them as 16 bytes.  It needs N and the row stride to be multiples of 8 and the base on 16 bytes; other outputs
// take the element-wise path.  Rows and columns outside M x N are neither read nor written.
#pragma once
#include <pipelink/component.cuh>

namespace plc {

using chunk = pl::fragment<float, 32>;

// A row-major bf16 matrix in global memory; stride in elements.
struct matrix {
  unsigned short* data;
  int rows, cols, stride;
  __device__ __forceinline__ bool in_words_of_16_bytes() const {
    return ((cols | stride) & 7) == 0 && (reinterpret_cast<unsigned long long>(data) & 15) == 0;
  }
  __device__ __forceinline__ unsigned short* at(int row, int col) const {
    return data + static_cast<long long>(row) * stride + col;
  }
};
__device__ __forceinline__ matrix matrix_of(const pl::bf16* data, int rows, int cols, int stride) {
  return {reinterpret_cast<unsigned short*>(const_cast<pl::bf16*>(data)), rows, cols, stride};
}

// Two bf16 in a word, the first in the low half.  Rounds to nearest even.
__device__ __forceinline__ unsigned pack(float low, float high) {
  unsigned word;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  return word;
}
__device__ __forceinline__ float low_half(unsigned word) { return __uint_as_float(word << 16); }
__device__ __forceinline__ float high_half(unsigned word) { return __uint_as_float(word & 0xFFFF0000u); }

// Word j of lane q of each quad becomes word q of lane j.  Its own inverse.
__device__ __forceinline__ void transpose_quad(unsigned (&w)[4]) {
  const bool odd = threadIdx.x & 1, upper = threadIdx.x & 2;
  const unsigned r0 = __shfl_xor_sync(~0u, odd ? w[0] : w[1], 1), r1 = __shfl_xor_sync(~0u, odd ? w[2] : w[3], 1);
  const unsigned v0 = odd ? r0 : w[0], v1 = odd ? w[1] : r0, v2 = odd ? r1 : w[2], v3 = odd ? w[3] : r1;
  const unsigned r2 = __shfl_xor_sync(~0u, upper ? v0 : v2, 2), r3 = __shfl_xor_sync(~0u, upper ? v1 : v3, 2);
  w[0] = upper ? r2 : v0, w[1] = upper ? r3 : v1, w[2] = upper ? v2 : r2, w[3] = upper ? v3 : r3;
}

// Rounds the chunk at (row, col) to bf16 and stores the part of it that lies in the matrix.  Called by whole warps.
__device__ __forceinline__ void store_chunk(const matrix& out, const chunk& values, int row, int col) {
  const int lane = threadIdx.x & 31, r = row + lane / 4;
  if (out.in_words_of_16_bytes()) {
    const int q = col + lane % 4 * 8;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      unsigned short* to = out.at(r + 8 * h, q);
#pragma unroll
      for (int g = 0; g < 8; g += 4) {
        unsigned w[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) w[j] = pack(values[4 * (g + j) + 2 * h], values[4 * (g + j) + 2 * h + 1]);
        transpose_quad(w);
        if (r + 8 * h < out.rows && q + 8 * g < out.cols)
          asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to + 8 * g), "r"(w[0]), "r"(w[1]), "r"(w[2]),
                       "r"(w[3])
                       : "memory");
      }
    }
  } else {
#pragma unroll
    for (int j = 0; j < 32; j += 2) {
      const int y = r + j % 4 / 2 * 8, x = col + j / 4 * 8 + lane % 4 * 2;
      const unsigned word = pack(values[j], values[j + 1]);
      if (y < out.rows && x < out.cols) *out.at(y, x) = static_cast<unsigned short>(word);
      if (y < out.rows && x + 1 < out.cols) *out.at(y, x + 1) = static_cast<unsigned short>(word >> 16);
    }
  }
}

// Adds the part of the chunk at (row, col) that lies in the matrix.  Called by whole warps.
__device__ __forceinline__ void add_chunk(const matrix& in, chunk& values, int row, int col) {
  const int lane = threadIdx.x & 31, r = row + lane / 4;
  if (in.in_words_of_16_bytes()) {
    const int q = col + lane % 4 * 8;
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const unsigned short* from = in.at(r + 8 * h, q);
#pragma unroll
      for (int g = 0; g < 8; g += 4) {
        unsigned w[4] = {};
        if (r + 8 * h < in.rows && q + 8 * g < in.cols)
          asm volatile("ld.global.v4.b32 {%0, %1, %2, %3}, [%4];"
                       : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
                       : "l"(from + 8 * g)
                       : "memory");
        transpose_quad(w);
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          values[4 * (g + j) + 2 * h] += low_half(w[j]);
          values[4 * (g + j) + 2 * h + 1] += high_half(w[j]);
        }
      }
    }
  } else {
#pragma unroll
    for (int j = 0; j < 32; ++j) {
      const int y = r + j % 4 / 2 * 8, x = col + j / 4 * 8 + lane % 4 * 2 + j % 2;
      if (y < in.rows && x < in.cols) values[j] += low_half(*in.at(y, x));
    }
  }
}

// Adds a row of bf16, one value a column.
__device__ __forceinline__ void add_row(const pl::bf16* bias, int cols, chunk& values, int col) {
  const unsigned short* data = reinterpret_cast<const unsigned short*>(bias);
  const int q = col + threadIdx.x % 4 * 2;
  const bool in_words = (cols & 1) == 0 && (reinterpret_cast<unsigned long long>(data) & 3) == 0;
#pragma unroll
  for (int g = 0; g < 8; ++g) {
    const int x = q + 8 * g;
    float low = 0, high = 0;
    if (in_words) {
      const unsigned word = x < cols ? *reinterpret_cast<const unsigned*>(data + x) : 0;
      low = low_half(word), high = high_half(word);
    } else {
      if (x < cols) low = low_half(data[x]);
      if (x + 1 < cols) high = low_half(data[x + 1]);
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      values[4 * g + 2 * h] += low;
      values[4 * g + 2 * h + 1] += high;
    }
  }
}

}  // namespace plc
