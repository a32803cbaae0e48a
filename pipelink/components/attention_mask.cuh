// What masks have in common.
#pragma once
#include "attention.cuh"

namespace plc {
// Keeps the scores of those keys, by their place behind `column`, that are below `limit` of the query's half h.
template <int Keys, class Limit>
__device__ __forceinline__ void keep_below(scores_of<Keys>& s, Limit limit) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int end = limit(lane / 4 + 8 * h) - lane % 4 * 2;
#pragma unroll
    for (int g = 0; g < Keys / 8; ++g)
#pragma unroll
      for (int e = 0; e < 2; ++e)
        if (8 * g + e >= end) s[4 * g + 2 * h + e] = minus_infinity();
  }
}
}  // namespace plc
