// pipelink/stores.cuh: copies from shared memory to a tensor, or to global memory.  sm_90 and later.
//
//   PL_PARAM(map_out, pl::tile_map<pl::swizzle128<pl::tile<pl::bf16, 16, 64>>>);   PL_BIND(map_out, "out");
//   ...the warp writes the tile...
//   pl::publish();                      // every thread that wrote
//   __syncwarp();
//   if (lane == 0) pl::store_tile(map_out(self), address, col, row), pl::commit_stores();
//
// A thread's committed stores form a sequence of groups.  wait_stores<n>() returns when all but its last n groups have
// read shared memory, which may then be written again.  Where a component has a pl::tile_map, or says `store` in a
// protocol, the linker waits for all of them before the kernel ends; any other (store_bytes out of a slot, for example)
// calls wait_stores<0>() before its role returns.
#pragma once
#include <pipelink/resources.cuh>

namespace pl {

// What a reduction does with an element of the tensor and one of the tile.  Elements: add i32, u32, u64, f16, bf16, f32;
// min and max i32, u32, i64, u64, f16, bf16; the others integers (PTX ISA, cp.reduce.async.bulk.tensor).
enum class reduction { add, min, max, bit_and, bit_or, bit_xor };

// Makes this thread's writes to shared memory visible to tensor copies (PTX ISA, async proxy).
__device__ __forceinline__ void publish() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

namespace detail {
#define PL_L2_POLICY_(POLICY)                                                   \
  __device__ __forceinline__ unsigned long long l2_policy(POLICY) {             \
    unsigned long long policy;                                                  \
    asm("createpolicy.fractional.L2::" #POLICY ".b64 %0, 1.0;" : "=l"(policy)); \
    return policy;                                                              \
  }
PL_L2_POLICY_(evict_normal)
PL_L2_POLICY_(evict_first)
PL_L2_POLICY_(evict_last)
#undef PL_L2_POLICY_
}  // namespace detail

#define PL_STORE_(TEXT, OP, RANK, X, POLICY, ...)                                                           \
  asm volatile(TEXT ".async.bulk.tensor." RANK "d.global.shared::cta" OP ".bulk_group [%0, {" X "}], [%1];" \
               ::"l"(&map), "r"(address), __VA_ARGS__                                                       \
               : "memory")
#define PL_STORE_HINTED_(TEXT, OP, RANK, X, POLICY, ...)                                              \
  asm volatile(TEXT ".async.bulk.tensor." RANK "d.global.shared::cta" OP ".bulk_group.L2::cache_hint" \
               " [%0, {" X "}], [%1], " POLICY ";" ::"l"(&map), "r"(address), __VA_ARGS__,            \
               "l"(detail::l2_policy(Policy{}))                                                       \
               : "memory")
#define PL_STORE_RANKS_(STORE, TEXT, OP)                                                           \
  static_assert(sizeof...(X) >= 1 && sizeof...(X) <= 5, "a tensor copy takes 1 to 5 coordinates"); \
  const int c[5] = {x...};                                                                         \
  if constexpr (sizeof...(X) == 1) STORE(TEXT, OP, "1", "%2", "%3", "r"(c[0]));                    \
  if constexpr (sizeof...(X) == 2) STORE(TEXT, OP, "2", "%2, %3", "%4", "r"(c[0]), "r"(c[1]));     \
  if constexpr (sizeof...(X) == 3)                                                                 \
    STORE(TEXT, OP, "3", "%2, %3, %4", "%5", "r"(c[0]), "r"(c[1]), "r"(c[2]));                     \
  if constexpr (sizeof...(X) == 4)                                                                 \
    STORE(TEXT, OP, "4", "%2, %3, %4, %5", "%6", "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));      \
  if constexpr (sizeof...(X) == 5)                                                                 \
    STORE(TEXT, OP, "5", "%2, %3, %4, %5, %6", "%7", "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]), "r"(c[4]))
#define PL_REDUCE_RANKS_(STORE)                                                                 \
  if constexpr (Op == reduction::add) { PL_STORE_RANKS_(STORE, "cp.reduce", ".add.tile"); }     \
  if constexpr (Op == reduction::min) { PL_STORE_RANKS_(STORE, "cp.reduce", ".min.tile"); }     \
  if constexpr (Op == reduction::max) { PL_STORE_RANKS_(STORE, "cp.reduce", ".max.tile"); }     \
  if constexpr (Op == reduction::bit_and) { PL_STORE_RANKS_(STORE, "cp.reduce", ".and.tile"); } \
  if constexpr (Op == reduction::bit_or) { PL_STORE_RANKS_(STORE, "cp.reduce", ".or.tile"); }   \
  if constexpr (Op == reduction::bit_xor) { PL_STORE_RANKS_(STORE, "cp.reduce", ".xor.tile"); }

// Copies the tile at shared-memory `address` to the tensor; x are the coordinates of its first element, innermost first.
// What lies outside the tensor is not written.  With a policy, store_tile<pl::evict_first>(...), the L2 cache keeps what is
// written so.
template <class Tile, class... X>
__device__ __forceinline__ void store_tile(const tile_map<Tile>& map, unsigned address, X... x) {
  PL_STORE_RANKS_(PL_STORE_, "cp", "");
}
template <class Policy, class Tile, class... X>
__device__ __forceinline__ void store_tile(const tile_map<Tile>& map, unsigned address, X... x) {
  PL_STORE_RANKS_(PL_STORE_HINTED_, "cp", "");
}
// The same, but each element of the tensor is replaced by what Op makes of it and the tile's: one atomic operation each,
// in no order.  The tensor is pl::readwrite.
template <reduction Op, class Tile, class... X>
__device__ __forceinline__ void reduce_tile(const tile_map<Tile>& map, unsigned address, X... x) {
  PL_REDUCE_RANKS_(PL_STORE_)
}
template <reduction Op, class Policy, class Tile, class... X>
__device__ __forceinline__ void reduce_tile(const tile_map<Tile>& map, unsigned address, X... x) {
  PL_REDUCE_RANKS_(PL_STORE_HINTED_)
}
#undef PL_REDUCE_RANKS_
#undef PL_STORE_RANKS_
#undef PL_STORE_HINTED_
#undef PL_STORE_

// Copies `bytes` of shared memory from `address` on to global memory, as they lie there; all three are multiples of 16.
__device__ __forceinline__ void store_bytes(void* to, unsigned address, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(__cvta_generic_to_global(to)),
               "r"(address), "r"(bytes)
               : "memory");
}
template <class Policy>
__device__ __forceinline__ void store_bytes(void* to, unsigned address, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, %3;" ::"l"(
                   __cvta_generic_to_global(to)),
               "r"(address), "r"(bytes), "l"(detail::l2_policy(Policy{}))
               : "memory");
}
__device__ __forceinline__ void commit_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void wait_stores() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory");
}

}  // namespace pl
