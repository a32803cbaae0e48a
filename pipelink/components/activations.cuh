// Activations in f32, by ex2.approx and rcp.approx: relative error under 2^-20, far below the rounding of what is stored.
#pragma once
#include "fragment.cuh"

namespace plc {

// x / (1 + 2^t).  Where 2^t overflows the quotient is 0, as it must be.
__device__ __forceinline__ float over_one_plus_exp2(float x, float t) {
  float power, inverse;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(t));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(1.0f + power));
  return x * inverse;
}

// The tanh form, x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))), as x / (1 + 2^t) with t = -2 log2(e) times
// tanh's argument, which keeps its relative accuracy where the result is near zero (tanh.approx does not).
__device__ __forceinline__ float gelu_of(float x) {
  constexpr float scale = -2.3022082f;  // -2 * log2(e) * sqrt(2 / pi)
  return over_one_plus_exp2(x, x * __fmaf_rn(scale * 0.044715f, x * x, scale));
}

// x / (1 + exp(-x))
__device__ __forceinline__ float silu_of(float x) {
  return over_one_plus_exp2(x, x * -1.4426950f);  // log2(e)
}

// activate(gate) * up: of a chunk's 64 columns the first 32 are gates, the others what they gate (docs/components.md).
template <class Activate>
__device__ __forceinline__ pl::fragment<float, 16> gated(const chunk& values, Activate activate) {
  pl::fragment<float, 16> result;
#pragma unroll
  for (int j = 0; j < 16; ++j) result[j] = activate(values[j]) * values[16 + j];
  return result;
}

}  // namespace plc
