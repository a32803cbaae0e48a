// Fourier transforms of rows of eight complex numbers, one a thread; the transform itself is cuFFTDx's.
#include <pipelink/component.cuh>

extern "C" __device__ void fft8(float2* values);

PL_COMPONENT(example::fft) {
PL_ROLE(run, pl::warps<4>);
PL_PARAM(in, const float2*);
PL_PARAM(out, float2*);
PL_PARAM(rows, int);
PL_TENSOR(in, float, "N, 16", pl::read);
PL_TENSOR(out, float, "N, 16", pl::write);
PL_BIND(rows, "N");
PL_GRID("ceildiv(N, 128)");
PL_ENTRY(run) {
  const int row = blockIdx.x * 128 + run::thread(self);
  if (row >= rows(self)) return;
  float2 values[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) values[i] = in(self)[row * 8 + i];
  fft8(values);
#pragma unroll
  for (int i = 0; i < 8; ++i) out(self)[row * 8 + i] = values[i];
}
}
