// Keys and values of a sequence that several GPUs share: `attention_bring` copies the blocks that peers have into memory
// of this GPU, each once, and `attention_context_loader` loads its own and, as they come, those.  sm_90.
//
// A peer's memory is read when its launch has begun, since that comes behind what wrote K and V there, and a launch ends
// when its peers have read: the next may write them again.  Between the GPUs that takes two signals each a launch.
#include "attention.cuh"

namespace plc {
constexpr int bring_warps = 3;

// A number in one register, of which the compiler does not know how it was made: otherwise it would keep the parts, and
// compute what follows from them ahead of loops.  The role has 40 registers, or 32.
template <class T>
__device__ __forceinline__ void keep_whole(T*& address) {
  asm volatile("" : "+l"(address));
}
template <class T>
__device__ __forceinline__ void keep_whole(T& number) {
  asm volatile("" : "+r"(number));
}

// 128 rows of a head, `pitch` bytes from one to the next in both memories, of which each warp copies a third, from the
// last to the first.  `Flying` loads of each lane are under way together: for more there are no registers.
template <int D, int Flying>
__device__ __forceinline__ void bring_head(const char* from, char* to, int pitch, int warp, int lane) {
  constexpr int Words = D / 8, Rows = 32 / Words;
  int at = (128 - Rows * (1 + warp) + lane / Words) * pitch + lane % Words * 16;
  keep_whole(from), keep_whole(to);
  pitch *= bring_warps * Rows;
#pragma unroll 1
  while (at >= 0) {
    uint4 words[Flying]{};  // a load that is left out would leave what was there, for which registers would be kept
    int next = at;
#pragma unroll
    for (int n = 0; n < Flying; ++n, next -= pitch) {
      keep_whole(next);
      if (next >= 0) words[n] = __ldcg(reinterpret_cast<const uint4*>(from + unsigned(next)));
    }
#pragma unroll
    for (int n = 0; n < Flying; ++n, at -= pitch) {
      keep_whole(at);
      if (at >= 0)
        asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to + unsigned(at)), "r"(words[n].x),
                     "r"(words[n].y), "r"(words[n].z), "r"(words[n].w)
                     : "memory");
    }
  }
}
}  // namespace plc

// CTAs take units in turn: a block's keys, or values, of a head.  A block comes of all heads before the next one, since
// CTAs work on several heads at a time, from the first block on.
//
// Counters `far`: for each batch and block that comes, how many warps have brought a head of its keys or values.
// Counters `met`: by rank, whether a peer's launch has begun; and behind them how many heads it has read here, times warps.
#define PLC_ATTENTION_BRING(NAME, ELEMENT, D, GPUS)                                                                    \
  PL_COMPONENT(NAME) {                                                                                                 \
    PL_ROLE(bring, pl::warps<plc::bring_warps>, pl::registers<24, 40>);                                                \
    PL_COUNTERS(far, "B * far_blocks");                                                                                \
    PL_SIGNAL_OUT(brought, far, gpu);                                                                                  \
    PL_PEER_COUNTERS(met, "2 * gpus", GPUS);                                                                           \
    PL_PEER_SIGNAL_OUT(began, met);                                                                                    \
    PL_PEER_SIGNAL_IN(begun, met);                                                                                     \
    PL_PEER_SIGNAL_OUT(read, met);                                                                                     \
    PL_PEER_SIGNAL_IN(done, met);                                                                                      \
    PL_PEERS(k_peers, k, GPUS);                                                                                        \
    PL_PEERS(v_peers, v, GPUS);                                                                                        \
    PL_PARAM(k_from, pl::peers<const char, GPUS>);                                                                    \
    PL_PARAM(v_from, pl::peers<const char, GPUS>);                                                                    \
    PL_PARAM(k_to, char*);                                                                                             \
    PL_PARAM(v_to, char*);                                                                                             \
    PL_PARAM(rank, int);                                                                                               \
    PL_PARAM(batches, int);                                                                                            \
    PL_PARAM(heads, int);                                                                                              \
    PL_PARAM(own_blocks, int);                                                                                         \
    PL_PARAM(far_blocks, int);                                                                                         \
    PL_PARAM(whole, int);                                                                                              \
    PL_PARAM(halves, int);                                                                                             \
    PL_PARAM(whole_units, int);                                                                                        \
    PL_PARAM(half_units, int);                                                                                         \
    PL_PARAM(served, int);                                                                                             \
    PL_TENSOR(k, ELEMENT, "B, SQ / 256 * 256, HK, " #D, pl::read);                                                     \
    PL_TENSOR(v, ELEMENT, "B, SQ / 256 * 256, HK, " #D, pl::read);                                                     \
    PL_TENSOR(far_k, ELEMENT, "B, (gpus - 1) * SQ, HK, " #D, pl::readwrite);                                           \
    PL_TENSOR(far_v, ELEMENT, "B, (gpus - 1) * SQ, HK, " #D, pl::readwrite);                                           \
    PL_DERIVE(gpus, #GPUS);                                                                                            \
    PL_BIND(k_from, "k_peers");                                                                                        \
    PL_BIND(v_from, "v_peers");                                                                                        \
    PL_BIND(k_to, "far_k");                                                                                            \
    PL_BIND(v_to, "far_v");                                                                                            \
    PL_BIND(batches, "B");                                                                                             \
    PL_BIND(heads, "HK");                                                                                              \
    PL_BIND(own_blocks, "SQ / 128");                                                                                   \
    PL_BIND(whole, "far_whole");                                                                                       \
    PL_BIND(halves, "gpus - 1 - far_whole");                                                                           \
    PL_BIND(whole_units, "SQ / 128 * B * HK * 2");                                                                     \
    PL_BIND(half_units, "SQ / 256 * B * HK * 2");                                                                      \
    PL_BIND(served, "far_served");                                                                                     \
    PL_RESIDENT;                                                                                                       \
    PL_PROTOCOL(bring,                                                                                                 \
                "choose { repeat " #GPUS " - 1 { began.signal by 1 thread; } } or { } "                                \
                "repeat whole { begun.await; repeat whole_units { brought.signal; } read.signal; } "                   \
                "repeat halves { begun.await; repeat half_units { brought.signal; } read.signal; } "                   \
                "choose { repeat " #GPUS " - 1 { done.await; } } or { }");                                             \
    PL_ENTRY(bring) {                                                                                                  \
      if (blockIdx.x == 0 && bring::thread(self) == 0)                                                                 \
        _Pragma("unroll 1") for (int s = 1; s < GPUS; ++s) began::add(self, (rank(self) + s) % GPUS, rank(self));      \
      const auto bring_from = [=](int& s, int before, int blocks, int units) {                                         \
        const auto peer = [=, &s] {                                                                                    \
          int which = s;                                                                                               \
          plc::keep_whole(which);                                                                                      \
          return (rank(self) + 1 + before + which) % GPUS;                                                             \
        };                                                                                                             \
        begun::await(self, peer(), 1);                                                                                 \
        int unit = blockIdx.x;                                                                                         \
        _Pragma("unroll 1") for (; unit < units; unit += gridDim.x) {                                                  \
          unsigned of = heads(self);                                                                                   \
          plc::keep_whole(of);                                                                                         \
          const unsigned u = unsigned(unit) / 2, row = u / of, head = u - row * of;                                    \
          const unsigned block = row / batches(self), batch = row - block * batches(self);                             \
          const int from_peer = peer();                                                                                \
          const unsigned to_block = (before * 2 + s) * blocks + block, own = own_blocks(self);                         \
          const char *k_source = k_from(self)[from_peer], *v_source = v_from(self)[from_peer];                         \
          char *k_target = k_to(self), *v_target = v_to(self);                                                         \
          const unsigned long long size = 128 * D * 2 * of;                                                            \
          const char* from = (unit % 2 ? v_source : k_source) + (batch * own + block) * size + head * (D * 2);         \
          char* to = (unit % 2 ? v_target : k_target) + (batch * (GPUS - 1) * own + to_block) * size + head * (D * 2); \
          unsigned counter = batch * far_blocks(self) + to_block;                                                      \
          int lane = threadIdx.x % 32;                                                                                 \
          plc::keep_whole(counter), plc::keep_whole(lane);                                                             \
          plc::bring_head<D, (D == 128 ? 4 : 2)>(from, to, of * (D * 2), bring::warp(self), lane);                     \
          __syncwarp();                                                                                                \
          if (threadIdx.x % 32 == 0) brought::add(self, counter);                                                                  \
        }                                                                                                              \
        const unsigned count = (unit - blockIdx.x) / gridDim.x;                                                        \
        int us = rank(self);                                                                                           \
        plc::keep_whole(us);                                                                                           \
        if (threadIdx.x % 32 == 0) read::add(self, peer(), GPUS + us, count);                                          \
        plc::keep_whole(s);                                                                                            \
      };                                                                                                               \
      _Pragma("unroll 1") for (int s = 0; s < whole(self); ++s) bring_from(s, 0, own_blocks(self), whole_units(self)); \
      _Pragma("unroll 1") for (int s = 0; s < halves(self); ++s)                                                       \
        bring_from(s, whole(self), own_blocks(self) / 2, half_units(self));                                            \
      if (blockIdx.x == 0)                                                                                             \
        _Pragma("unroll 1") for (int s = 1; s < GPUS; ++s) {                                                           \
          const int peer = (rank(self) + s) % GPUS, units = half_units(self) * (peer < served(self) ? 2 : 1);          \
          done::await(self, GPUS + peer, plc::bring_warps * units);                                                    \
        }                                                                                                              \
    }                                                                                                                  \
  }
#define PLC_ATTENTION_BRINGS(GPUS)                                                                                     \
  PLC_ATTENTION_BRING(plc::attention_bring_##GPUS##_128, pl::bf16, 128, GPUS)                                          \
  PLC_ATTENTION_BRING(plc::attention_bring_##GPUS##_64, pl::bf16, 64, GPUS)                                            \
  PLC_ATTENTION_BRING(plc::attention_bring_##GPUS##_128_f16, pl::f16, 128, GPUS)                                       \
  PLC_ATTENTION_BRING(plc::attention_bring_##GPUS##_64_f16, pl::f16, 64, GPUS)
PLC_ATTENTION_BRINGS(2)
PLC_ATTENTION_BRINGS(4)
PLC_ATTENTION_BRINGS(8)

// A block that comes is waited for once, before its keys: its values come with them.
#define PLC_ATTENTION_CONTEXT_LOADER(NAME, ELEMENT, ROWS, D)                                                           \
  PL_COMPONENT(NAME) {                                                                                                 \
    PLC_ATTENTION_LOADER_ENDS_(ELEMENT, ROWS, 128, D, 1);                                                              \
    PL_COUNTERS(far, "B * far_blocks");                                                                                \
    PL_SIGNAL_IN(brought, far, gpu);                                                                                   \
    PL_PARAM(map_k, pl::tensor_map<k, 0, pl::box<1, 128, 1, 64>>);                                                     \
    PL_PARAM(map_v, pl::tensor_map<v, 0, pl::box<1, 128, 1, 64>>);                                                     \
    PL_PARAM(map_far_k, pl::tensor_map<k, 0, pl::box<1, 128, 1, 64>>);                                                 \
    PL_PARAM(map_far_v, pl::tensor_map<v, 0, pl::box<1, 128, 1, 64>>);                                                 \
    PL_PARAM(own_blocks, int);                                                                                         \
    PL_PARAM(far_blocks, int);                                                                                         \
    PL_PARAM(parts, int);                                                                                              \
    PL_TENSOR(k, ELEMENT, "B, SQ / 256 * 256, HK, " #D, pl::read);                                                     \
    PL_TENSOR(v, ELEMENT, "B, SQ / 256 * 256, HK, " #D, pl::read);                                                     \
    PL_TENSOR(far_k, ELEMENT, "B, (gpus - 1) * SQ, HK, " #D, pl::readwrite);                                           \
    PL_TENSOR(far_v, ELEMENT, "B, (gpus - 1) * SQ, HK, " #D, pl::readwrite);                                           \
    PL_BIND(map_k, "k");                                                                                               \
    PL_BIND(map_v, "v");                                                                                               \
    PL_BIND(map_far_k, "far_k");                                                                                       \
    PL_BIND(map_far_v, "far_v");                                                                                       \
    PL_BIND(own_blocks, "SQ / 128");                                                                                   \
    PL_BIND(parts, "6 * HK");                                                                                          \
    PL_PROMISE(plc_keys, "sharded");                                                                                   \
    PL_REQUIRE(plc_rows, "sharded");                                                                                   \
    PL_RESIDENT;                                                                                                       \
    PL_PROTOCOL(load,                                                                                                  \
                "repeat work { q.acquire; q.copy; choose some { choose { brought.await; } or { } k.acquire; k.copy; "  \
                "repeat blocks { choose { brought.await; } or { } k.acquire; k.copy; v.acquire; v.copy; } "            \
                "v.acquire; v.copy; } or { } }");                                                                      \
    PL_ENTRY(load) {                                                                                                   \
      plc::load_attention(                                                                                             \
          [=](int i) { return work(self, i); },                                                                        \
          [=](plc::attention_tile tile, int j) { return blocks(self, tile, j, tile.m * ROWS); },                       \
          [=](plc::attention_tile t) {                                                                                 \
            plc::load_head<q, ROWS, D>(self, map_q(self), t.head, t.m * ROWS, t.batch);                                \
          },                                                                                                           \
          [=](plc::attention_tile t, int index) {                                                                      \
            const int far = index - own_blocks(self);                                                                  \
            if (far < 0) {                                                                                             \
              plc::load_head<k, 128, D>(self, map_k(self), t.kv_head, index * 128, t.kv_batch);                        \
            } else {                                                                                                   \
              brought::await(self, t.kv_batch * far_blocks(self) + far, parts(self));                                  \
              plc::load_head<k, 128, D>(self, map_far_k(self), t.kv_head, far * 128, t.kv_batch);                      \
            }                                                                                                          \
          },                                                                                                           \
          [=](plc::attention_tile t, int index) {                                                                      \
            const int far = index - own_blocks(self);                                                                  \
            if (far < 0)                                                                                               \
              plc::load_head<v, 128, D>(self, map_v(self), t.kv_head, index * 128, t.kv_batch);                        \
            else                                                                                                       \
              plc::load_head<v, 128, D>(self, map_far_v(self), t.kv_head, far * 128, t.kv_batch);                      \
          });                                                                                                          \
    }                                                                                                                  \
  }
PLC_ATTENTION_CONTEXT_LOADER(plc::attention_context_loader_128, pl::bf16, 128, 128)
PLC_ATTENTION_CONTEXT_LOADER(plc::attention_context_loader_64, pl::bf16, 192, 64)
PLC_ATTENTION_CONTEXT_LOADER(plc::attention_context_loader_128_f16, pl::f16, 128, 128)
PLC_ATTENTION_CONTEXT_LOADER(plc::attention_context_loader_64_f16, pl::f16, 192, 64)
