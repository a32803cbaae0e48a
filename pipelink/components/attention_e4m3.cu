// Keys and values of e4m3 under queries of 16 bits.  `attention_loader_e4m3` brings them as they are, by TMA, and
// `attention_widen`, three warps between loader and core, makes 16-bit elements of them where the core looks for them.
// Both are exact: what an element counts for is left to others.  The scale of the keys is a factor of `scale`, and
// `attention_scaled`, between core and output, multiplies O by that of the values.  sm_90.
//
// Rows behind the sequence's end are zeros, as TMA has filled them.  Behind `_r16` tiles have 16 rows.
#include "attention.cuh"

namespace plc {
constexpr int widening_warps = 3;  // with the loader's warp a warpgroup, which has its registers alike

template <int Keys, int D>
using attention_bytes = pl::stream<pl::row_major<pl::tile<pl::e4m3, Keys, D>>>;

template <class Port, class Map>
__device__ __forceinline__ void load_bytes(pl::self self, const Map& map, int head, int row, int batch) {
  pl::slot slot = Port::acquire(self);
  Port::template copy_at<0>(self, slot, 0, map, 0, head, row, batch);
}

// Four elements of e4m3 as two words of 16-bit ones.  Exact, since both types hold what e4m3 does.
template <class Element>
__device__ __forceinline__ void widen(unsigned four, unsigned& low, unsigned& high) {
  asm("{\n.reg .b16 l, h;\nmov.b32 {l, h}, %2;\ncvt.rn.f16x2.e4m3x2 %0, l;\ncvt.rn.f16x2.e4m3x2 %1, h;\n}"
      : "=r"(low), "=r"(high)
      : "r"(four));
  if constexpr (!pl::detail::same<Element, pl::f16>::value) {
    low = words<Element>::pack(words<pl::f16>::low(low), words<pl::f16>::high(low));
    high = words<Element>::pack(words<pl::f16>::low(high), words<pl::f16>::high(high));
  }
}

// What a lane takes at once, a sixteenth of a row: as bytes, and as 16-bit elements in shared memory.
template <int D>
struct sixteenth;
template <>
struct sixteenth<128> {
  unsigned bytes[2];
  __device__ __forceinline__ void load(unsigned from) {
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(bytes[0]), "=r"(bytes[1]) : "r"(from) : "memory");
  }
  static __device__ __forceinline__ void store(unsigned to, const unsigned (&wide)[4]) {
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(wide[0]), "r"(wide[1]), "r"(wide[2]),
                 "r"(wide[3])
                 : "memory");
  }
};
template <>
struct sixteenth<64> {  // half as much, since beside its core there are 32 registers for a thread
  unsigned bytes[1];
  __device__ __forceinline__ void load(unsigned from) {
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(bytes[0]) : "r"(from) : "memory");
  }
  static __device__ __forceinline__ void store(unsigned to, const unsigned (&wide)[2]) {
    asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(to), "r"(wide[0]), "r"(wide[1]) : "memory");
  }
};

// One slot: of four rows at a time a warp takes two and two, so that loads and stores meet every bank once, and the next
// are on their way while these are widened.  What follows from the thread's number is found anew for every slot: to keep
// it there are no registers.
template <class From, class To, class Element, int Keys, int D>
__device__ __forceinline__ void widen_head(pl::self self, unsigned thread) {
  constexpr unsigned Step = widening_warps * 4;  // rows
  static_assert(Step % 8 == 4, "from one step to the next, a bit of the swizzle changes");
  pl::slot from = From::wait(self), to = To::acquire(self);
  unsigned found;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(found));
  thread = found + (thread - threadIdx.x);  // by a constant
  const unsigned row = thread / 32 * 4 + thread / 16 % 2, byte = thread % 16 * (D / 8);
  unsigned source = From::template address<0>(self, from), target = To::template address<0>(self, to);
  const unsigned last = source + (Keys - Step) * D;
  source += row * D + byte / 2;
  target += byte / 128 * (Keys * 128) + row * 128 + (byte % 128 ^ row % 8 << 4);
  sixteenth<D> next[2];
  next[0].load(source), next[1].load(source + 2 * D);
#pragma unroll 1
  for (bool more = true; more; source += Step * D, target = (target + Step * 128) ^ 4 << 4) {
    more = source < last;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      unsigned wide[D / 32];
#pragma unroll
      for (int w = 0; w < D / 64; ++w) widen<Element>(next[i].bytes[w], wide[2 * w], wide[2 * w + 1]);
      if (more) next[i].load(source + (Step + 2 * i) * D);
      sixteenth<D>::store((target ^ 2 * i << 4) + 2 * i * 128, wide);
    }
  }
  From::release(self, from);
  To::commit(self, to);
}
}  // namespace plc

#define PLC_ATTENTION_LOADER_E4M3(NAME, ELEMENT, ROWS, D, PACK)                                                        \
  PL_COMPONENT(NAME) {                                                                                                 \
    PLC_ATTENTION_LOADER_ENDS_OF_(ELEMENT, ROWS, D, PACK, plc::attention_bytes<128, D>);                               \
    PLC_PACKED_ROWS_##PACK;                                                                                            \
    PL_PARAM(map_k, pl::tensor_map<k, 0, pl::box<1, 128, 1, D>>);                                                      \
    PL_PARAM(map_v, pl::tensor_map<v, 0, pl::box<1, 128, 1, D>>);                                                      \
    PL_TENSOR(k, pl::e4m3, "B, SK, HK, " #D, pl::read);                                                                \
    PL_TENSOR(v, pl::e4m3, "B, SK, HK, " #D, pl::read);                                                                \
    PL_BIND(map_k, "k");                                                                                               \
    PL_BIND(map_v, "v");                                                                                               \
    PL_DERIVE(most_keys, "SK");                                                                                        \
    PL_PROTOCOL(load, PLC_ATTENTION_LOADER_STEPS_);                                                                    \
    PL_ENTRY(load) {                                                                                                   \
      plc::load_attention(                                                                                             \
          [=](int i) { return work(self, i); },                                                                        \
          [=](plc::attention_tile tile, int j) { return blocks(self, tile, j, tile.m * ROWS); },                       \
          [=](plc::attention_tile t) {                                                                                 \
            plc::load_head<q, ROWS, D>(self, map_q(self), t.head, t.q_begin + t.m * (ROWS / PACK), t.batch);           \
          },                                                                                                           \
          [=](plc::attention_tile t, int index) {                                                                      \
            plc::load_bytes<k>(self, map_k(self), t.kv_head, t.kv_begin + index * 128, t.kv_batch);                    \
          },                                                                                                           \
          [=](plc::attention_tile t, int index) {                                                                      \
            plc::load_bytes<v>(self, map_v(self), t.kv_head, t.kv_begin + index * 128, t.kv_batch);                    \
          });                                                                                                          \
    }                                                                                                                  \
  }

#define PLC_ATTENTION_WIDEN(NAME, ELEMENT, ROWS, D)                                                                    \
  PL_COMPONENT(NAME) {                                                                                                 \
    PL_ROLE(widen, pl::warps<plc::widening_warps>, pl::registers<24, 40>);                                             \
    PL_IN(k8, plc::attention_bytes<128, D>, pl::ring<2, 4>, pl::by_threads);                                           \
    PL_IN(v8, plc::attention_bytes<128, D>, pl::ring<2, 4>, pl::by_threads);                                           \
    PL_OUT(k, plc::attention_rows<ELEMENT, 128, D>, pl::ring<2, 4>, pl::by_threads);                                   \
    PL_OUT(v, plc::attention_rows<ELEMENT, 128, D>, pl::ring<2, 4>, pl::by_threads);                                   \
    PL_CALL(work, plc::attention_tile(int));                                                                           \
    PL_CALL(blocks, plc::attention_block(plc::attention_tile, int, int));                                              \
    PL_PROTOCOL(widen,                                                                                                 \
                "repeat work { choose some { k8.wait; k.acquire; k8.release; k.commit; "                               \
                "repeat blocks { k8.wait; k.acquire; k8.release; k.commit; "                                           \
                "v8.wait; v.acquire; v8.release; v.commit; } "                                                         \
                "v8.wait; v.acquire; v8.release; v.commit; } or { } }");                                               \
    PL_ENTRY(widen) {                                                                                                  \
      plc::load_attention([=](int i) { return work(self, i); },                                                        \
                          [=](plc::attention_tile tile, int j) { return blocks(self, tile, j, tile.m * ROWS); },       \
                          [](plc::attention_tile) {},                                                                  \
                          [=](plc::attention_tile, int) {                                                              \
                            plc::widen_head<k8, k, ELEMENT, 128, D>(self, widen::thread(self));                       \
                          },                                                                                           \
                          [=](plc::attention_tile, int) {                                                              \
                            plc::widen_head<v8, v, ELEMENT, 128, D>(self, widen::thread(self));                       \
                          });                                                                                          \
    }                                                                                                                  \
  }

#define PLC_ATTENTION_E4M3(ELEMENT, ROWS, D, NAME)                                             \
  PLC_ATTENTION_LOADER_E4M3(plc::attention_loader_e4m3_1_##NAME, ELEMENT, ROWS, D, 1)          \
  PLC_ATTENTION_LOADER_E4M3(plc::attention_loader_e4m3_2_##NAME, ELEMENT, ROWS, D, 2)          \
  PLC_ATTENTION_LOADER_E4M3(plc::attention_loader_e4m3_4_##NAME, ELEMENT, ROWS, D, 4)          \
  PLC_ATTENTION_LOADER_E4M3(plc::attention_loader_e4m3_8_##NAME, ELEMENT, ROWS, D, 8)          \
  PLC_ATTENTION_LOADER_E4M3(plc::attention_loader_e4m3_16_##NAME, ELEMENT, ROWS, D, 16)        \
  PLC_ATTENTION_WIDEN(plc::attention_widen_##NAME, ELEMENT, ROWS, D)
PLC_ATTENTION_E4M3(pl::bf16, 128, 128, 128)
PLC_ATTENTION_E4M3(pl::bf16, 192, 64, 64)
PLC_ATTENTION_E4M3(pl::f16, 128, 128, 128_f16)
PLC_ATTENTION_E4M3(pl::f16, 192, 64, 64_f16)
PLC_ATTENTION_E4M3(pl::bf16, 16, 128, 128_r16)
PLC_ATTENTION_E4M3(pl::bf16, 16, 64, 64_r16)

#define PLC_ATTENTION_SCALED(NAME, D)                                                                                  \
  PL_COMPONENT(NAME) {                                                                                                 \
    PL_ANSWER(store, void(pl::fragment<float, D / 2>&, plc::row_pair&, plc::attention_tile, int));                     \
    PL_CALL(scaled, void(pl::fragment<float, D / 2>&, plc::row_pair&, plc::attention_tile, int));                      \
    PL_PARAM(v_scale, float);                                                                                          \
    PL_PROTOCOL(store, "scaled;");                                                                                     \
    PL_DEFINE(store)(pl::self self, pl::fragment<float, D / 2>& values, plc::row_pair& log_sum,                        \
                     plc::attention_tile tile, int row) -> void {                                                      \
      _Pragma("unroll") for (int n = 0; n < D / 2; ++n) values[n] *= v_scale(self);                                    \
      scaled(self, values, log_sum, tile, row);                                                                        \
    }                                                                                                                  \
  }
PLC_ATTENTION_SCALED(plc::attention_scaled_128, 128)
PLC_ATTENTION_SCALED(plc::attention_scaled_64, 64)
