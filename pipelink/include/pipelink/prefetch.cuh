// pipelink/prefetch.cuh: what is fetched ahead of its use: tensor maps, and global memory into the L2 cache.  sm_90 and
// later.  Hints alone: nothing depends on them.
#pragma once
#include <pipelink/resources.cuh>

namespace pl {

// A tensor map, at the beginning of a role: the first copy that uses it does not wait for its 128 bytes.  One thread.
template <class Port, int Part, class Box>
__device__ __forceinline__ void prefetch(const tensor_map<Port, Part, Box>& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}
template <class Tile>
__device__ __forceinline__ void prefetch(const tile_map<Tile>& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}
// `bytes` of global memory into the L2 cache; both are multiples of 16.  One thread.
__device__ __forceinline__ void prefetch_l2(const void* from, unsigned bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(__cvta_generic_to_global(from)), "r"(bytes)
               : "memory");
}

}  // namespace pl
