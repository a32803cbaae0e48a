// pipelink/stores.cuh: tensor copies from shared memory to a tensor.  sm_90 and later.
//
//   PL_PARAM(map_out, pl::tile_map<pl::swizzle128<pl::tile<pl::bf16, 16, 64>>>);   PL_BIND(map_out, "out");
//   ...the warp writes the tile...
//   pl::publish();                      // every thread that wrote
//   __syncwarp();
//   if (lane == 0) pl::store_tile(map_out(self), address, col, row), pl::commit_stores();
//
// A thread's committed stores form a sequence of groups.  wait_stores<n>() returns when all but its last n groups have
// read shared memory, which may then be written again.  The linker waits for all of them before the kernel ends.
#pragma once
#include <pipelink/resources.cuh>

namespace pl {

// Makes this thread's writes to shared memory visible to tensor copies (PTX ISA, async proxy).
__device__ __forceinline__ void publish() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// Copies the tile at shared-memory `address`; (x, y) is its first element, innermost coordinate first.  What lies
// outside the tensor is not written.
template <class Tile>
__device__ __forceinline__ void store_tile(const tile_map<Tile>& map, unsigned address, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(x), "r"(y),
               "r"(address)
               : "memory");
}
__device__ __forceinline__ void commit_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void wait_stores() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}

}  // namespace pl
