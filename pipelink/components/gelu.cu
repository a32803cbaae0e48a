// Epilogue: out = gelu(accumulators), the tanh form: x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))).
// It is computed as x / (1 + 2^t) with t = -2 log2(e) times tanh's argument, which keeps its relative accuracy where
// the result is near zero (tanh.approx does not).  Where 2^t overflows the quotient is 0, as it must be.
#include "epilogue.cuh"

PL_COMPONENT(plc::gelu) {
PLC_OUTPUT();

static __device__ __forceinline__ float activate(float x) {
  constexpr float scale = -2.3022082f;  // -2 * log2(e) * sqrt(2 / pi)
  const float t = x * __fmaf_rn(scale * 0.044715f, x * x, scale);
  float power, inverse;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(t));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(1.0f + power));
  return x * inverse;
}

PL_DEFINE(store)(pl::self self, plc::chunk& values, int row, int col) -> void {
#pragma unroll
  for (int j = 0; j < 32; ++j) values[j] = activate(values[j]);
  plc::store_chunk(output(self), values, row, col);
}
}
