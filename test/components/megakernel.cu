// Operations of a megakernel that streams weights: y = W x, K known at link time, rows of bf16 in pages of 16 KiB.
#include <cuda_bf16.h>

#include "interpreter.cuh"

namespace streaming {
constexpr int page_bytes = 16384;
using page = pl::stream<pl::row_major<pl::tile<pl::bf16, 1, page_bytes / 2>>>;
__device__ __forceinline__ void widen(float (&to)[8], uint4 from) {
  const __nv_bfloat162* pairs = reinterpret_cast<const __nv_bfloat162*>(&from);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 pair = __bfloat1622float2(pairs[i]);
    to[2 * i] = pair.x, to[2 * i + 1] = pair.y;
  }
}
}  // namespace streaming

// An instruction: pages `first`, `first + step`, ... of the weights, `count` of them, times the activations at `from`,
// once `awaited` CTAs have done stage `stage` - 1.
PL_COMPONENT(test::stream) {
PL_ROLE(load, pl::warps<1>, pl::registers<24, 64>, pl::one_thread);
PL_ROLE(compute, pl::warps<16>, pl::registers<96, 128>);
PL_OUT(w, streaming::page, pl::ring<2, 12>, pl::by_bulk, pl::in_flight<2>, pl::in_role<load>);
PL_IN(tiles, streaming::page, pl::ring<2, 12>, pl::by_threads, pl::in_role<compute>);
PL_OPERAND(first, int);
PL_OPERAND(step, int);
PL_OPERAND(count, int);
PL_OPERAND(stage, int);
PL_OPERAND(awaited, int);
PL_OPERAND(row, int);
PL_PARAM(k, int);
PL_PARAM(weights, const char*);
PL_PARAM(activations, float*);
PL_PARAM(width, int);
PL_TENSOR(weights, pl::bf16, "PAGES, 8192", pl::read, pl::align<128>);
PL_TENSOR(activations, float, "2, WIDTH", pl::readwrite, pl::align<16>);
PL_BIND(width, "WIDTH");
PL_COUNTERS(stages, "LONGEST");
PL_SIGNAL_OUT(done, stages, gpu);
PL_SIGNAL_IN(ready, stages, gpu);
PL_AWAITS(ready, "stage - 1", "min(stage, 1) * awaited");
PL_ADDS(done, "stage", "1");
PL_SMEM(x, __nv_bfloat16[8192], pl::align<16>, pl::in_role<compute>);
PL_SMEM(parts, float[256 * 16], pl::in_role<compute>);
PL_BARRIER(met, pl::threads<512>, pl::in_role<compute>);
PL_RESIDENT;
PL_PROTOCOL(load, "repeat count+ { w.acquire; w.copy; }");
PL_PROTOCOL(compute, "choose { ready.await by 1 thread; } or { } met.sync; x.write; met.sync; x.read; "
                     "repeat count+ { tiles.wait; tiles.release; parts.write; } met.sync; parts.read; met.sync; "
                     "done.signal by 1 thread;");
PL_ENTRY(load) {
  const char* from = weights(self) + static_cast<long long>(first(self)) * streaming::page_bytes;
  const long long next = static_cast<long long>(step(self)) * streaming::page_bytes;
  const int n = count(self);
#pragma unroll 1
  for (int i = 0; i < n; ++i, from += next) {
    const pl::slot at = w::acquire(self);
    w::copy(self, at, from, streaming::page_bytes);
  }
}
PL_ENTRY(compute) {
  const int thread = compute::thread(self), warp = thread / 32, lane = thread % 32;
  const int n = count(self), now = stage(self), columns = k(self), rows = streaming::page_bytes / 2 / columns;
  if (thread == 0 && now > 0) ready::await(self, now - 1, awaited(self));
  met::sync(self);
  const float* in = activations(self) + (now & 1) * width(self);
#pragma unroll 1
  for (int i = thread * 4; i < columns; i += 2048) {
    const float4 v = __ldcg(reinterpret_cast<const float4*>(in + i));
    __nv_bfloat162* to = reinterpret_cast<__nv_bfloat162*>(x(self) + i);
    to[0] = __floats2bfloat162_rn(v.x, v.y), to[1] = __floats2bfloat162_rn(v.z, v.w);
  }
  met::sync(self);
  const int share = warp % (16 / rows) * 512 + lane * 8;
  float a[8], b[8];
  streaming::widen(a, *reinterpret_cast<const uint4*>(x(self) + share));
  streaming::widen(b, *reinterpret_cast<const uint4*>(x(self) + share + 256));
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    const pl::slot at = tiles::wait(self);
    const uint4* page = tiles::pointer<uint4>(self, at) + warp * 64 + lane;
    const uint4 v0 = page[0], v1 = page[32];
    tiles::release(self, at);
    float c[8], d[8], sum = 0;
    streaming::widen(c, v0), streaming::widen(d, v1);
#pragma unroll
    for (int j = 0; j < 8; ++j) sum = fmaf(c[j], a[j], fmaf(d[j], b[j], sum));
#pragma unroll
    for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
    if (lane == 0) parts(self)[i * 16 + warp] = sum;
  }
  met::sync(self);
  float* out = activations(self) + (1 - (now & 1)) * width(self);
  const int step_rows = step(self) * rows, begin = row(self);
#pragma unroll 1
  for (int t = thread; t < n * rows; t += 512) {
    const int i = t / rows, r = t % rows, split = 16 / rows;
    float y = 0;
    for (int q = 0; q < split; ++q) y += parts(self)[i * 16 + r * split + q];
    out[begin + i * step_rows + r] = y * 1e-3f;
  }
  met::sync(self);
  if (thread == 0) done::add(self, now);
}
}
