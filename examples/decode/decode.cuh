// What the operations of a decoder layer share: products of a matrix with one vector, rows of bf16 in pages of 16 KiB.
//
// A page holds 2,048 columns of four rows, one behind the other; a row of more columns goes on in the next page.  So a
// *group* of four rows is K / 2048 pages, and a CTA takes groups first, first + step, ...  Warp w multiplies 512 columns
// of row w / 4.
#pragma once
#include <cuda_bf16.h>

#include "interpreter.cuh"

namespace decode {

constexpr int Threads = 512, Warps = 16, Page = 16384, Columns = 2048, Rows = 4;
using page = pl::stream<pl::row_major<pl::tile<pl::bf16, Rows, Columns>>>;

// What one CTA has to do of a matrix, and where it waits.
struct share {
  int first, step, count, stage, awaited;
};

__device__ __forceinline__ void widen(float (&to)[8], uint4 from) {
  const __nv_bfloat162* pairs = reinterpret_cast<const __nv_bfloat162*>(&from);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 pair = __bfloat1622float2(pairs[i]);
    to[2 * i] = pair.x, to[2 * i + 1] = pair.y;
  }
}

__device__ __forceinline__ float sum_of_warp(float x) {
#pragma unroll
  for (int o = 16; o; o >>= 1) x += __shfl_xor_sync(~0u, x, o);
  return x;
}

// The role that loads: the pages of each group, from page `base` of the weights on.
template <class W>
__device__ __forceinline__ void load_groups(pl::self self, const char* weights, int base, share s, int slices) {
#pragma unroll 1
  for (int g = 0; g < s.count; ++g) {
    const char* from = weights + (base + static_cast<long long>(s.first + g * s.step) * slices) * Page;
#pragma unroll 1
    for (int i = 0; i < slices; ++i, from += Page) {
      const pl::slot at = W::acquire(self);
      W::copy(self, at, from, Page);
    }
  }
}

// x as bf16, K of them, from f32 that other CTAs have written.
__device__ __forceinline__ void take(__nv_bfloat16* x, const float* from, int k, int thread) {
#pragma unroll 1
  for (int i = thread * 4; i < k; i += Threads * 4) {
    const float4 v = __ldcg(reinterpret_cast<const float4*>(from + i));
    __nv_bfloat162* to = reinterpret_cast<__nv_bfloat162*>(x + i);
    to[0] = __floats2bfloat162_rn(v.x, v.y), to[1] = __floats2bfloat162_rn(v.z, v.w);
  }
}

// The weights of an RMSNorm, 4 * Most / 2048 of them in each thread: read before the CTA waits for what they go with.
template <int Most>
struct norm_weights {
  uint2 four[Most / 2048];
  __device__ __forceinline__ void read(const __nv_bfloat16* from, int k, int thread) {
#pragma unroll
    for (int i = 0; i < Most / 2048; ++i)
      if (i * 2048 < k) four[i] = __ldg(reinterpret_cast<const uint2*>(from) + i * 512 + thread);
  }
};

// x / sqrt(mean(x^2) + eps) * weight (RMSNorm).  `squares`: a number of each warp; the threads meet between.
template <class Met, int Most>
__device__ __forceinline__ void take_normed(pl::self self, __nv_bfloat16* x, float* squares, const float* from,
                                            const norm_weights<Most>& weights, float eps, int k, int thread) {
  float4 v[Most / 2048];
  float sum = 0;
#pragma unroll
  for (int i = 0; i < Most / 2048; ++i)
    if (i * 2048 < k) {
      v[i] = __ldcg(reinterpret_cast<const float4*>(from) + i * 512 + thread);
      sum += v[i].x * v[i].x + v[i].y * v[i].y + v[i].z * v[i].z + v[i].w * v[i].w;
    }
  sum = sum_of_warp(sum);
  if (thread % 32 == 0) squares[thread / 32] = sum;
  Met::sync(self);
  sum = squares[thread % 16];
#pragma unroll
  for (int o = 8; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
  const float scale = rsqrtf(sum / k + eps);
#pragma unroll
  for (int i = 0; i < Most / 2048; ++i)
    if (i * 2048 < k) {
      const float2 a = __bfloat1622float2(reinterpret_cast<const __nv_bfloat162&>(weights.four[i].x));
      const float2 b = __bfloat1622float2(reinterpret_cast<const __nv_bfloat162&>(weights.four[i].y));
      __nv_bfloat162* to = reinterpret_cast<__nv_bfloat162*>(x) + (i * 512 + thread) * 2;
      to[0] = __floats2bfloat162_rn(v[i].x * scale * a.x, v[i].y * scale * a.y);
      to[1] = __floats2bfloat162_rn(v[i].z * scale * b.x, v[i].w * scale * b.y);
    }
}

// The sums of each group's rows: parts[g][w] is warp w's share of row w / 4.
template <class W>
__device__ __forceinline__ void multiply(pl::self self, const __nv_bfloat16* x, float (*parts)[Warps], int count,
                                         int slices, int thread) {
  const int warp = thread / 32, lane = thread % 32, at = warp % 4 * 512 + lane * 8;
#pragma unroll 1
  for (int g = 0; g < count; ++g) {
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < slices; ++i) {
      const pl::slot slot = W::wait(self);
      const uint4* page = W::template pointer<uint4>(self, slot) + warp * 64 + lane;
      const uint4 v0 = page[0], v1 = page[32];
      W::release(self, slot);
      float a[8], b[8], c[8], d[8];
      widen(a, *reinterpret_cast<const uint4*>(x + i * Columns + at));
      widen(b, *reinterpret_cast<const uint4*>(x + i * Columns + at + 256));
      widen(c, v0), widen(d, v1);
#pragma unroll
      for (int j = 0; j < 8; ++j) sum = fmaf(c[j], a[j], fmaf(d[j], b[j], sum));
    }
    sum = sum_of_warp(sum);
    if (lane == 0) parts[g][warp] = sum;
  }
}

__device__ __forceinline__ float row_of(const float (*parts)[Warps], int group, int row) {
  const float4 p = reinterpret_cast<const float4*>(parts[group])[row];
  return p.x + p.y + p.z + p.w;
}

}  // namespace decode

// What all products have.  MOST: groups of a CTA at most.  Before it awaits stage `stage` - 1, done by `awaited` CTAs.
#define DECODE_PRODUCT_(K_MOST, MOST)                                                                             \
  PL_ROLE(load, pl::warps<1>, pl::registers<24, 64>, pl::one_thread);                                             \
  PL_ROLE(compute, pl::warps<16>, pl::registers<40, 128>);                                                        \
  PL_OUT(w, decode::page, pl::ring<2, 12>, pl::by_bulk, pl::in_flight<3>, pl::in_role<load>);                     \
  PL_IN(rows, decode::page, pl::ring<2, 12>, pl::by_threads, pl::in_role<compute>);                               \
  PL_OPERAND(base, int);    /* the matrix's first page */                                                         \
  PL_OPERAND(first, int);   /* this CTA's groups */                                                               \
  PL_OPERAND(step, int);                                                                                          \
  PL_OPERAND(count, int);                                                                                         \
  PL_OPERAND(stage, int);                                                                                         \
  PL_OPERAND(awaited, int);                                                                                       \
  PL_PARAM(k, int);         /* columns, a multiple of 2048, known at link time */                                 \
  PL_PARAM(weights, const char*);                                                                                 \
  PL_TENSOR(weights, pl::bf16, "PAGES, 8192", pl::read, pl::align<128>);                                          \
  PL_COUNTERS(stages, "LONGEST");                                                                                 \
  PL_SIGNAL_IN(ready, stages, gpu);                                                                               \
  PL_AWAITS(ready, "max(stage - 1, 0)", "min(stage, 1) * awaited");                                               \
  PL_SMEM(x, __nv_bfloat16[K_MOST], pl::align<16>, pl::in_role<compute>);                                         \
  PL_SMEM(parts, float[MOST][16], pl::align<16>, pl::in_role<compute>);                                           \
  PL_BARRIER(met, pl::threads<512>, pl::in_role<compute>);                                                        \
  PL_RESIDENT;                                                                                                    \
  PL_PROTOCOL(load, "repeat count+ { repeat k / 2048 { w.acquire; w.copy; } }");                                   \
  PL_ENTRY(load) {                                                                                                \
    decode::load_groups<w>(self, weights(self), base(self),                                                       \
                           {first(self), step(self), count(self), stage(self), awaited(self)}, k(self) / 2048);   \
  }
// What a stage says when its CTA has done its share.
#define DECODE_ADDS_                  \
  PL_SIGNAL_OUT(done, stages, gpu);   \
  PL_ADDS(done, "stage", "1")
#define DECODE_AWAITS_ "choose { ready.await by 1 thread; } or { } met.sync; "
#define DECODE_MULTIPLIES_ \
  "met.sync; repeat count+ { repeat k / 2048 { rows.wait; rows.release; x.read; } parts.write; } met.sync; "
#define DECODE_AWAIT_ \
  if (thread == 0 && stage(self) > 0) ready::await(self, stage(self) - 1, awaited(self)); \
  met::sync(self)
