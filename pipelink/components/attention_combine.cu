// What becomes of tiles whose keys several CTAs share: each writes its part of O in f32 and the logarithms of its sums to
// a workspace, and the last one to arrive puts all of them together, in their order, and writes O.
//
// It is done by warps, for 16 queries each: nobody waits for anybody.  A counter a warp of a tile says how many parts are
// there; whoever completes it sets it back for the next launch.
#include "attention_output.cuh"

namespace plc {

// The parts of tiles of `Rows` queries in memory: of each of 16 queries D / 8 times 32 lanes' 16 bytes, the order of
// registers, and in front of all parts the counters, and the logarithms.
template <int Rows, int D>
struct attention_parts {
  static constexpr int warps = Rows / 16;
  char* memory;
  int count;  // of parts that there may be

  __device__ __forceinline__ unsigned* arrived(int share, int warp) const {
    return reinterpret_cast<unsigned*>(memory) + share * warps + warp;
  }
  __device__ __forceinline__ float2* log_sums(int part, int warp) const {
    return reinterpret_cast<float2*>(memory + count * warps * 4) + (part * warps + warp) * 32 + threadIdx.x % 32;
  }
  __device__ __forceinline__ float4* values(int part, int warp) const {
    return reinterpret_cast<float4*>(memory + count * warps * (4 + 256)) +
           static_cast<long long>(part * warps + warp) * (D / 8) * 32 + threadIdx.x % 32;
  }

  // By what a part's values are multiplied: 0 where nothing counts, of a part or of all.
  static __device__ __forceinline__ float weight(float log_sum, float top) {
    return top == minus_infinity() ? 0.f : __expf(log_sum - top);
  }

  // Adds a part.  Where it was the last of its 16 queries, all are put together in its place, and true is returned.
  __device__ __forceinline__ bool add(pl::fragment<float, D / 2>& o, row_pair& log_sum, const attention_tile& tile,
                                      int warp) const {
    float4* to = values(tile.share + tile.part, warp);
#pragma unroll
    for (int n = 0; n < D / 8; ++n) to[n * 32] = {o[4 * n], o[4 * n + 1], o[4 * n + 2], o[4 * n + 3]};
    *log_sums(tile.share + tile.part, warp) = {log_sum[0], log_sum[1]};
    __threadfence();
    __syncwarp();
    unsigned before = 0;
    if (threadIdx.x % 32 == 0) before = atomicAdd(arrived(tile.share, warp), 1u);
    if (__shfl_sync(~0u, before, 0) + 1 != static_cast<unsigned>(tile.parts)) return false;
    __threadfence();
    if (threadIdx.x % 32 == 0) *arrived(tile.share, warp) = 0;
    float top[2] = {minus_infinity(), minus_infinity()}, sum[2] = {0.f, 0.f};
#pragma unroll 1
    for (int part = 0; part < tile.parts; ++part) {
      const float2 l = __ldcg(log_sums(tile.share + part, warp));
      top[0] = fmaxf(top[0], l.x), top[1] = fmaxf(top[1], l.y);
    }
#pragma unroll 1
    for (int part = 0; part < tile.parts; ++part) {
      const float2 l = __ldcg(log_sums(tile.share + part, warp));
      sum[0] += weight(l.x, top[0]), sum[1] += weight(l.y, top[1]);
    }
    const float scale[2] = {sum[0] > 0.f ? 1.f / sum[0] : 0.f, sum[1] > 0.f ? 1.f / sum[1] : 0.f};
#pragma unroll
    for (int panel = 0; panel < D / 64; ++panel) {
      chunk all{};
#pragma unroll 1
      for (int part = 0; part < tile.parts; ++part) {
        const float2 l = __ldcg(log_sums(tile.share + part, warp));
        const float factor[2] = {scale[0] * weight(l.x, top[0]), scale[1] * weight(l.y, top[1])};
        const float4* from = values(tile.share + part, warp) + panel * 8 * 32;
#pragma unroll
        for (int n = 0; n < 8; ++n) {
          const float4 x = __ldcg(from + n * 32);
          all[4 * n] += factor[0] * x.x, all[4 * n + 1] += factor[0] * x.y;
          all[4 * n + 2] += factor[1] * x.z, all[4 * n + 3] += factor[1] * x.w;
        }
      }
#pragma unroll
      for (int n = 0; n < 32; ++n) o[32 * panel + n] = all[n];
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) log_sum[h] = sum[h] > 0.f ? top[h] + __logf(sum[h]) : minus_infinity();
    return true;
  }
};

}  // namespace plc

// ROWS / 16 warps: a counter of 4 bytes, 256 bytes of logarithms, and 64 D bytes of values each, for every part.
#define PLC_ATTENTION_COMBINE_(ELEMENT, ROWS, D)                                                                       \
  PLC_ATTENTION_OUTPUT_(ELEMENT, D);                                                                                   \
  PL_PARAM(parts, char*);                                                                                              \
  PL_PARAM(most_parts, int);                                                                                           \
  PL_DERIVE(attention_parts, "2 * sms * occupancy");                                                                   \
  PL_BIND(most_parts, "attention_parts");                                                                              \
  PL_WORKSPACE(parts, "attention_parts * " #ROWS " / 16 * (4 + 256 + 64 * " #D ")", pl::cleared_once);                 \
  static __device__ __forceinline__ bool combine(pl::self self, pl::fragment<float, D / 2>& values,                    \
                                                 plc::row_pair& log_sum, const plc::attention_tile& tile, int row) {   \
    if (tile.parts == 1) return true;                                                                                  \
    const plc::attention_parts<ROWS, D> all{parts(self), most_parts(self)};                                            \
    return all.add(values, log_sum, tile, (row - tile.m * ROWS) / 16);                                                 \
  }                                                                                                                    \
  static_assert(true, "")

#define PLC_ATTENTION_COMBINE(NAME, ELEMENT, ROWS, D)                                                                  \
  PL_COMPONENT(NAME) {                                                                                                 \
    PLC_ATTENTION_COMBINE_(ELEMENT, ROWS, D);                                                                          \
    PL_DEFINE(store)(pl::self self, pl::fragment<float, D / 2>& values, plc::row_pair& log_sum,                        \
                     plc::attention_tile tile, int row) -> void {                                                      \
      if (combine(self, values, log_sum, tile, row)) store_head(self, values, tile, row);                              \
    }                                                                                                                  \
  }
#define PLC_ATTENTION_COMBINE_LSE(NAME, ELEMENT, ROWS, D)                                                              \
  PL_COMPONENT(NAME) {                                                                                                 \
    PLC_ATTENTION_COMBINE_(ELEMENT, ROWS, D);                                                                          \
    PLC_ATTENTION_OUTPUT_LSE_;                                                                                         \
    PL_DEFINE(store)(pl::self self, pl::fragment<float, D / 2>& values, plc::row_pair& log_sum,                        \
                     plc::attention_tile tile, int row) -> void {                                                      \
      if (!combine(self, values, log_sum, tile, row)) return;                                                          \
      store_head(self, values, tile, row);                                                                             \
      store_log_sum(self, log_sum, tile, row);                                                                         \
    }                                                                                                                  \
  }

PLC_ATTENTION_COMBINE(plc::attention_combine_64, pl::bf16, 192, 64)
PLC_ATTENTION_COMBINE(plc::attention_combine_128, pl::bf16, 128, 128)
PLC_ATTENTION_COMBINE(plc::attention_combine_256, pl::bf16, 128, 256)
PLC_ATTENTION_COMBINE_LSE(plc::attention_combine_lse_64, pl::bf16, 192, 64)
PLC_ATTENTION_COMBINE_LSE(plc::attention_combine_lse_128, pl::bf16, 128, 128)
PLC_ATTENTION_COMBINE_LSE(plc::attention_combine_lse_256, pl::bf16, 128, 256)
PLC_ATTENTION_COMBINE(plc::attention_combine_64_f16, pl::f16, 192, 64)
PLC_ATTENTION_COMBINE(plc::attention_combine_128_f16, pl::f16, 128, 128)
PLC_ATTENTION_COMBINE(plc::attention_combine_256_f16, pl::f16, 128, 256)
PLC_ATTENTION_COMBINE_LSE(plc::attention_combine_lse_64_f16, pl::f16, 192, 64)
PLC_ATTENTION_COMBINE_LSE(plc::attention_combine_lse_128_f16, pl::f16, 128, 128)
PLC_ATTENTION_COMBINE_LSE(plc::attention_combine_lse_256_f16, pl::f16, 128, 256)
PLC_ATTENTION_COMBINE_LSE(plc::attention_combine_lse_64_f32, float, 192, 64)
PLC_ATTENTION_COMBINE_LSE(plc::attention_combine_lse_128_f32, float, 128, 128)
PLC_ATTENTION_COMBINE_LSE(plc::attention_combine_lse_256_f32, float, 128, 256)
