// Parts of rows of O, in f32, and how they are put together.
#pragma once
#include "attention.cuh"

namespace plc {
// Some neighbouring columns of a row.
template <int N>
struct split_columns {
  float of[N];
};
__device__ __forceinline__ split_columns<4> load_columns(const float* from, split_columns<4>) {
  const float4 x = __ldcg(reinterpret_cast<const float4*>(from));
  return {x.x, x.y, x.z, x.w};
}
__device__ __forceinline__ split_columns<2> load_columns(const float* from, split_columns<2>) {
  const float2 x = __ldcg(reinterpret_cast<const float2*>(from));
  return {x.x, x.y};
}

// Adds up the parts of a row, by one warp: of lane l columns l * N up to (l + 1) * N, and the logarithm of the sum.
template <int N, class Parts>
__device__ __forceinline__ float add_parts(split_columns<N>& sum, const Parts& parts, int count, int row) {
  constexpr int At = 8;  // parts that are under way together
  const int lane = threadIdx.x % 32;
  float top = minus_infinity(), weight = 0.f;
  sum = {};
#pragma unroll 1
  for (int first = 0; first < count; first += 32) {
    const int own = first + lane;
    float log_sum = minus_infinity(), most;
    if (own < count) log_sum = __ldcg(parts.log_sums + parts.row(own, row));
#pragma unroll 1
    for (int part = first; part < min(first + 32, count); part += At) {
      split_columns<N> values[At];
#pragma unroll
      for (int k = 0; k < At; ++k)  // what lies behind the last has weight 0, and is the last again
        values[k] = load_columns(parts.value(min(part + k, count - 1), row) + lane * N, split_columns<N>{});
      if (part == first) {
        most = log_sum;
#pragma unroll
        for (int by = 16; by; by /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, by));
        most = fmaxf(most, top);
        const float by = top == minus_infinity() ? 0.f : __expf(top - most);
        weight *= by, top = most;
#pragma unroll
        for (int n = 0; n < N; ++n) sum.of[n] *= by;
        log_sum = log_sum == minus_infinity() ? 0.f : __expf(log_sum - most);  // from here on its part's weight
        weight += log_sum;
      }
#pragma unroll
      for (int k = 0; k < At; ++k) {
        const float by = __shfl_sync(~0u, log_sum, (part + k) % 32);
#pragma unroll
        for (int n = 0; n < N; ++n) sum.of[n] += by * values[k].of[n];
      }
    }
  }
#pragma unroll
  for (int by = 16; by; by /= 2) weight += __shfl_xor_sync(~0u, weight, by);
  const float by = weight > 0.f ? 1.f / weight : 0.f;
#pragma unroll
  for (int n = 0; n < N; ++n) sum.of[n] *= by;
  return weight > 0.f ? top + __logf(weight) : minus_infinity();
}

// Rounded to a type of 16 bits, or as they are.
template <class Element>
__device__ __forceinline__ void store_columns(Element* to, const split_columns<4>& x) {
  if constexpr (bytes_of<Element> == 4)
    *reinterpret_cast<float4*>(to) = {x.of[0], x.of[1], x.of[2], x.of[3]};
  else
    *reinterpret_cast<uint2*>(to) = {words<Element>::pack(x.of[0], x.of[1]), words<Element>::pack(x.of[2], x.of[3])};
}
template <class Element>
__device__ __forceinline__ void store_columns(Element* to, const split_columns<2>& x) {
  if constexpr (bytes_of<Element> == 4)
    *reinterpret_cast<float2*>(to) = {x.of[0], x.of[1]};
  else
    *reinterpret_cast<unsigned*>(to) = words<Element>::pack(x.of[0], x.of[1]);
}
}  // namespace plc
