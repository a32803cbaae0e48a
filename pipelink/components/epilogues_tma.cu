// Epilogues that write `out` by TMA: each warp stages 16 x 32 elements in shared memory, and one of its lanes copies them
// to the tensor.  sm_90 and later.  They are called by one role of at most 8 warps.
#include <pipelink/stores.cuh>

#include "activations.cuh"

namespace plc {

constexpr int staged_bytes = 16 * 32 * 2;
template <class Element>
using staged_tile = pl::swizzle64<pl::tile<Element, 16, 32>>;

// Rounds values 16 * Half .. 16 * Half + 15 of the fragment, 16 rows x 32 columns, and sends them to (row, col) of the
// tensor, from `buffer`, which has been read by all but the warp's last `Pending` stores.  Called by whole warps.
template <class Element, int Half, int Pending, int N>
__device__ __forceinline__ void store_staged(const pl::tile_map<staged_tile<Element>>& map, unsigned buffer,
                                             const pl::fragment<float, N>& values, int row, int col) {
  const int lane = threadIdx.x & 31;
  if (lane == 0) pl::wait_stores<Pending>();
  __syncwarp();
#pragma unroll
  for (int g = 0; g < 4; g += 2) {  // two 8 x 8 matrices of rows 0-7 and 8-15 each, side by side
    unsigned w[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int at = 16 * Half + 4 * (g + j / 2) + 2 * (j % 2);
      w[j] = words<Element>::pack(values[at], values[at + 1]);
    }
    const int r = lane % 16, word = g + lane / 16;
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                     buffer + r * 64 + ((word ^ (r >> 1 & 3)) << 4)),
                 "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3])
                 : "memory");
  }
  pl::publish();
  __syncwarp();
  if (lane == 0) {
    pl::store_tile(map, buffer, col, row);
    pl::commit_stores();
  }
}

}  // namespace plc

#define PLC_STAGED_OUTPUT(ELEMENT, COLUMNS, BUFFERS)                                      \
  PL_REQUIRE(plc_columns, COLUMNS);                                                       \
  PL_ANSWER(store, void(plc::chunk&, int, int));                                          \
  PL_PARAM(map_out, pl::tile_map<plc::staged_tile<ELEMENT>>);                             \
  PL_TENSOR(out, ELEMENT, "M, N", pl::write, pl::align<16>);                              \
  PL_BIND(map_out, "out");                                                                \
  PL_SMEM(staging, unsigned char[8 * BUFFERS * plc::staged_bytes], pl::align<1024>);      \
  static __device__ __forceinline__ unsigned buffer(pl::self self) {                      \
    return staging_smem::address(self) + threadIdx.x / 32 % 8 * (BUFFERS * plc::staged_bytes); \
  }                                                                                       \
  static_assert(true, "")
#define PLC_STORE_TMA(NAME, ELEMENT)                                                      \
  PL_COMPONENT(NAME) {                                                                    \
    PLC_STAGED_OUTPUT(ELEMENT, "plain", 2);                                               \
    PL_PROTOCOL(store, "repeat 2 { staging.stored keep 1; staging.write; fence async; staging.store; }"); \
    PL_DEFINE(store)(pl::self self, plc::chunk& values, int row, int col) -> void {       \
      const unsigned to = buffer(self);                                                   \
      plc::store_staged<ELEMENT, 0, 1>(map_out(self), to, values, row, col);              \
      plc::store_staged<ELEMENT, 1, 1>(map_out(self), to + plc::staged_bytes, values, row, col + 32); \
    }                                                                                     \
  }
#define PLC_SWIGLU_TMA(NAME, ELEMENT)                                                     \
  PL_COMPONENT(NAME) {                                                                    \
    PLC_STAGED_OUTPUT(ELEMENT, "gated32", 1);                                             \
    PL_PROTOCOL(store, "staging.stored; staging.write; fence async; staging.store;");   \
    PL_DEFINE(store)(pl::self self, plc::chunk& values, int row, int col) -> void {       \
      const auto result = plc::gated(values, plc::silu_of);                               \
      plc::store_staged<ELEMENT, 0, 0>(map_out(self), buffer(self), result, row, col / 2); \
    }                                                                                     \
  }

PLC_STORE_TMA(plc::store_tma, pl::bf16)
PLC_STORE_TMA(plc::store_tma_f16, pl::f16)
PLC_SWIGLU_TMA(plc::swiglu_tma, pl::bf16)
PLC_SWIGLU_TMA(plc::swiglu_tma_f16, pl::f16)
