// Attention, O = softmax(scale * Q * K^T) * V, as components: what a walker names, and the bodies of loader and core.
//
// A walker says which tiles of queries a CTA takes, and which blocks of keys each of them needs.  Loader and core ask it
// separately and hear the same.  The core knows nothing of causality, windows or lists: a block of a kind that is not
// `full` goes through the mask, a passive component that sees the scores where they are, in registers.  Every block goes
// through `score`, which may change the scores, and every row's sum is joined by a logit from `sink`.
//
// Shapes: Q and O [B, SQ, H, D], K and V [B, SK, HK, D], H a multiple of HK.
#pragma once
#include <pipelink/component.cuh>
#include <pipelink/wgmma.cuh>

#include "fragment.cuh"

namespace plc {

// A tile of queries.  Sequences may stand one behind another in a tensor's rows, so a tile also says where its own begins.
struct attention_tile {
  int m;                   // counts tiles of the sequence
  int head, kv_head;       // of Q, and of K and V
  int batch, kv_batch;     // of the tensors
  int queries, keys;       // lengths of the sequence
  int q_begin, kv_begin;   // the rows of the tensors where it begins
  int part, parts;         // which of how many that share the sequence's keys
  int share;               // of a tile in parts: a number that is its own, as are the next, one for each part
  int block_begin, block_end;  // the walker's note of a part's blocks
  bool valid;
  bool skips = false;      // whether its blocks may be `skipped_block`; where it is a constant, what does that is no code
  bool in_turn = true;     // whether warpgroups take turns in issuing products; a constant, too
  __host__ __device__ constexpr explicit operator bool() const { return valid; }
};
// A tile of tensors in which each batch is one sequence, and of whose keys nobody else takes a part.
__host__ __device__ constexpr attention_tile batched_tile(int m, int head, int group, int batch, int queries, int keys,
                                                          bool valid) {
  return {m, head, head / group, batch, batch, queries, keys, 0, 0, 0, 1, 0, 0, 0, valid};
}
// A block of keys: `index` counts blocks of the sequence.  A kind from `edge_block` on says more to the mask.
enum block_kind : int {
  skipped_block = -1,  // none of the warpgroup's pairs counts: it lets keys and values go by
  no_block,            // none follows
  full_block,          // all pairs count
  edge_block           // the mask says which
};
struct attention_block {
  int index, kind;
  __host__ __device__ constexpr explicit operator bool() const { return kind != no_block; }
};

constexpr int attention_part_cost = 3;  // about what a part costs that another puts together, in blocks
constexpr int attention_columns = 128;  // keys of a block, for heads of up to 128; a core of larger heads takes fewer
// One warp's scores of 16 queries x `Keys` keys: value 4g + 2h + e of lane l is query l / 4 + 8h, key 8g + 2 * (l % 4) + e.
template <int Keys>
using scores_of = pl::fragment<float, Keys / 2>;
using scores = scores_of<attention_columns>;
// A number of each of a lane's two queries, l / 4 and l / 4 + 8.
using row_pair = pl::fragment<float, 2>;

// Elements of 16 bits have a name alone, so this is how one goes on in memory.
template <class Element>
constexpr int bytes_of = 2;
template <>
constexpr int bytes_of<float> = 4;
template <class Element>
__device__ __forceinline__ Element* behind(Element* first, long long elements) {
  return reinterpret_cast<Element*>(reinterpret_cast<char*>(first) + bytes_of<Element> * elements);
}

__device__ __forceinline__ float minus_infinity() { return __int_as_float(0xFF800000); }

template <class Element, int Rows, int D>
using attention_rows = pl::stream<pl::swizzle128<pl::tile<Element, Rows, D>>>;

// One slot: `Rows` rows of a head, in panels of 64 columns.  TMA fills rows behind the sequence's end with zeros.
template <class Port, int Rows, int D, class Map>
__device__ __forceinline__ void load_head(pl::self self, const Map& map, int head, int row, int batch) {
  pl::slot slot = Port::acquire(self);
#pragma unroll
  for (int column = 0; column < D; column += 64)
    Port::template copy_at<0>(self, slot, column * Rows * 2, map, column, head, row, batch);
}

// Everything a loader does, in the order in which the core takes it: a block's values come behind the next one's keys.
template <class Work, class Blocks, class LoadQ, class LoadK, class LoadV>
__device__ __forceinline__ void load_attention(Work work, Blocks blocks, LoadQ load_q, LoadK load_k, LoadV load_v) {
#pragma unroll 1
  for (int i = 0; auto tile = work(i); ++i) {
    load_q(tile);
    auto block = blocks(tile, 0);
    if (!block) continue;
    load_k(tile, block.index);
#pragma unroll 1
    for (int j = 1; auto next = blocks(tile, j); ++j) {
      load_k(tile, next.index);
      load_v(tile, block.index);
      block = next;
    }
    load_v(tile, block.index);
  }
}

__device__ __forceinline__ float exp2_approximate(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// Running maximum and sum of a lane's two queries (Milakov and Gimelshein, arXiv:1805.02867), in powers of two.
struct online_softmax {
  float top[2], sum[2];  // the sum is of this lane's columns

  // Takes the scores of a block into the maximum, and says by what all sums before have to be multiplied.
  template <int N>
  __device__ __forceinline__ void raise(const float (&s)[N], float scale, float (&factor)[2]) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float most[2] = {fmaxf(s[2 * h], s[2 * h + 1]), fmaxf(s[4 + 2 * h], s[5 + 2 * h])};
#pragma unroll
      for (int g = 2; g < N / 4; ++g) most[g % 2] = fmaxf(fmaxf(most[g % 2], s[4 * g + 2 * h]), s[4 * g + 2 * h + 1]);
      float m = fmaxf(most[0], most[1]);
      m = fmaxf(m, __shfl_xor_sync(~0u, m, 1));
      m = fmaxf(m, __shfl_xor_sync(~0u, m, 2));
      m = fmaxf(m, top[h]);
      factor[h] = exp2_approximate(top[h] * scale - shift(m, scale));
      top[h] = m;
    }
  }
  // Turns scores into exp2(scale * (score - top)), and adds them to the sums.
  template <int N>
  __device__ __forceinline__ void exponentiate(float (&s)[N], float scale, const float (&factor)[2]) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float by = shift(top[h], scale);
      float part[2] = {0.f, 0.f};
#pragma unroll
      for (int g = 0; g < N / 4; ++g)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          float& x = s[4 * g + 2 * h + e];
          x = exp2_approximate(fmaf(x, scale, -by));
          part[g % 2] += x;
        }
      sum[h] = sum[h] * factor[h] + (part[0] + part[1]);
    }
  }
  // Nothing counts so far: 0, so that the exponentials of minus infinity are 0 and not of a difference of infinities.
  static __device__ __forceinline__ float shift(float top, float scale) {
    return top == minus_infinity() ? 0.f : top * scale;
  }
  // What a row's values have to be multiplied by, and the logarithm of its sum, which exp(sink) joins; of a row in which
  // nothing counts 0 and minus infinity.
  __device__ __forceinline__ void finish(float scale, const row_pair& sink, float (&factor)[2], row_pair& log_sum) const {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float s = sum[h];
      s += __shfl_xor_sync(~0u, s, 1);
      s += __shfl_xor_sync(~0u, s, 2);
      const float other = sink[h] * 1.4426950408889634f, before = top[h] * scale, most = fmaxf(before, other);
      const float kept = exp2_approximate(before - most);
      s = s * kept + exp2_approximate(other - most);
      factor[h] = s > 0.f ? kept / s : 0.f;  // where nothing counts at all, s is NaN
      log_sum[h] = s > 0.f ? (most + log2f(s)) * 0.6931471805599453f : minus_infinity();
    }
  }
};

// s = Q * K^T of a warpgroup's 64 queries: operands in panels of 64 columns, `q_panel` and `k_panel` bytes apart.
template <class Element, int D, int N>
__device__ __forceinline__ void multiply_keys(float (&s)[N], pl::wgmma::descriptor q, int q_panel, pl::wgmma::descriptor k,
                                              int k_panel) {
#pragma unroll
  for (int panel = 0; panel < D / 64; ++panel)
#pragma unroll
    for (int step = 0; step < 4; ++step)
      pl::wgmma::multiply<Element>(s, q + panel * (q_panel / 16) + step * 2, k + panel * (k_panel / 16) + step * 2,
                                   (panel | step) != 0);
  pl::wgmma::commit();
}

// o += P * V: P in registers, rounded to V's type.
template <class Element, int N, int M>
__device__ __forceinline__ void multiply_values(float (&o)[N], const unsigned (&p)[M][4], pl::wgmma::descriptor v) {
#pragma unroll
  for (int step = 0; step < M; ++step) pl::wgmma::multiply<Element, true>(o, p[step], v + step * 128, 1);
  pl::wgmma::commit();
}

template <class Element, int N, int M>
__device__ __forceinline__ void round_pairs(unsigned (&p)[M][4], const float (&s)[N]) {
  static_assert(N == 8 * M, "eight values make the four words of a step");
#pragma unroll
  for (int i = 0; i < N / 2; ++i) p[i / 4][i % 4] = words<Element>::pack(s[2 * i], s[2 * i + 1]);
}

// What all threads of a warp have alike.  The compiler does not see that of what a walker divides, nor of thread numbers;
// where it does, slots and descriptors stay in uniform registers, and no product waits for them.
__device__ __forceinline__ int uniform(int x) { return __shfl_sync(~0u, x, 0); }
__device__ __forceinline__ bool uniform(bool x) { return __any_sync(~0u, x); }

// How many CTAs there are.  As a volatile, since what follows from a constant would be kept in registers through all tiles.
__device__ __forceinline__ int volatile_ctas() {
#ifdef __CUDACC__
  int ctas;
  asm volatile("mov.u32 %0, %%nctaid.x;" : "=r"(ctas));
  return ctas;
#else
  return gridDim.x;
#endif
}
// Which one this is, likewise.
__device__ __forceinline__ int volatile_cta() {
#ifdef __CUDACC__
  int cta;
  asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(cta));
  return cta;
#else
  return blockIdx.x;
#endif
}

// Nothing, likewise.
__device__ __forceinline__ int volatile_zero() {
#ifdef __CUDACC__
  int zero;
  asm volatile("mov.u32 %0, 0;" : "=r"(zero));
  return zero;
#else
  return 0;
#endif
}

// For tiles whose warpgroups issue their products in any order.
struct any_order {
  static __device__ __forceinline__ void take(pl::self) {}
  static __device__ __forceinline__ void pass(pl::self) {}
};

// The blocks of a tile, the first of which is there.  Q * K^T of a block and P * V of the one before are in flight together.
// With turns the next warpgroup's begins when the one's Q * K^T is done.
template <class Element, int D, int Rows, int N, class Q, class K, class V, class Order, class Blocks, class Score, class Mask>
__device__ __forceinline__ void attend_blocks(pl::self self, const attention_tile& tile, int row, pl::slot q_slot,
                                              pl::wgmma::descriptor q, attention_block block, float base2, Blocks blocks,
                                              Score score, Mask mask, pl::fragment<float, D / 2>& o,
                                              online_softmax& softmax) {
  float factor[2];
        scores_of<N> s;
        unsigned p[N / 16][4];
        // The maxima stand in both branches: behind them the compiler would have P * V awaited first.
        const auto raise = [&](attention_block block) {
          score(s, tile, row, block.index * N);
          if (uniform(block.kind == full_block)) {
            softmax.raise(s.v, base2, factor);
            asm volatile("// all count");
          } else {
            mask(s, tile, row, block.index * N, block.kind);
            softmax.raise(s.v, base2, factor);
            asm volatile("// masked");
          }
        };
        const auto lower = [&] {
          softmax.exponentiate(s.v, base2, factor);
  #pragma unroll
          for (int n = 0; n < D / 2; ++n) o[n] *= factor[n / 2 % 2];
          round_pairs<Element>(p, s.v);
        };
        const auto skipped = [&](attention_block block) { return tile.skips && uniform(block.kind == skipped_block); };
        bool held = !skipped(block);  // whether the block before has left products to be made, in p
        pl::slot k_slot = K::wait(self);
        auto k = pl::wgmma::k_major(K::template address<0>(self, k_slot));
        attention_block next;
        Order::take(self);
        if (held) {
          pl::wgmma::fence();
          multiply_keys<Element, D>(s.v, q, Rows * 128, k, N * 128);
          Order::pass(self);
          next = blocks(tile, 1, row);  // asked for while products run: a walker may read lists
          pl::wgmma::wait<0>();
          K::release(self, k_slot);
          raise(block);
          softmax.exponentiate(s.v, base2, factor);
          round_pairs<Element>(p, s.v);
        } else {
          Order::pass(self);
          K::release(self, k_slot);
          next = blocks(tile, 1, row);
        }
        for (int j = 2; uniform(bool(next)); ++j) {
          k_slot = K::wait(self);
          k = pl::wgmma::k_major(K::template address<0>(self, k_slot));
          Order::take(self);
          if (held && !skipped(next)) {
            pl::wgmma::fence();
            multiply_keys<Element, D>(s.v, q, Rows * 128, k, N * 128);
            pl::slot v_slot = V::wait(self);
            const auto v = pl::wgmma::mn_major(V::template address<0>(self, v_slot), N * 128);
            pl::wgmma::fence();
            multiply_values<Element>(o.v, p, v);
            const attention_block block = next;
            next = blocks(tile, j, row);
            pl::wgmma::wait<1>();
            Order::pass(self);
            K::release(self, k_slot);
            raise(block);
            pl::wgmma::wait<0>();
            V::release(self, v_slot);
            lower();
          } else if (held) {
            pl::slot v_slot = V::wait(self);
            const auto v = pl::wgmma::mn_major(V::template address<0>(self, v_slot), N * 128);
            pl::wgmma::fence();
            multiply_values<Element>(o.v, p, v);
            Order::pass(self);
            K::release(self, k_slot);
            next = blocks(tile, j, row);
            pl::wgmma::wait<0>();
            V::release(self, v_slot);
            held = false;
          } else if (skipped(next)) {
            pl::slot v_slot = V::wait(self);
            Order::pass(self);
            K::release(self, k_slot);
            V::release(self, v_slot);
            next = blocks(tile, j, row);
          } else {
            pl::wgmma::fence();
            multiply_keys<Element, D>(s.v, q, Rows * 128, k, N * 128);
            pl::slot v_slot = V::wait(self);
            Order::pass(self);
            const attention_block block = next;
            next = blocks(tile, j, row);
            pl::wgmma::wait<0>();
            K::release(self, k_slot);
            raise(block);
            V::release(self, v_slot);
            lower();
            held = true;
          }
        }
        Q::release(self, q_slot);
        pl::slot v_slot = V::wait(self);
        if (held) {
          const auto v = pl::wgmma::mn_major(V::template address<0>(self, v_slot), N * 128);
          pl::wgmma::fence();
          multiply_values<Element>(o.v, p, v);
          pl::wgmma::wait<0>();
        }
        V::release(self, v_slot);
}

// The core: warpgroups with 64 each of a tile's `Rows` queries take blocks of N keys, in one role, since code of their
// own for each would not stay in the instruction cache.  While one warpgroup computes exponentials, the others' products
// keep the tensor cores busy, best if they take turns.
template <class Element, int D, int Rows, int N, class Q, class K, class V, class Turn, class Work, class Blocks,
          class Score, class Mask, class Sink, class Store>
__device__ __forceinline__ void attend(pl::self self, unsigned thread, float scale, Work work, Blocks blocks, Score score,
                                       Mask mask, Sink sink, Store store) {
  const int warpgroup = uniform(int(thread / 128)), first = thread / 32 * 16;
  const float base2 = scale * 1.4426950408889634f;
  for (int i = 0;; ++i) {
    const attention_tile tile = work(i);
    if (!uniform(bool(tile))) break;
    pl::fragment<float, D / 2> o{};
    online_softmax softmax{{minus_infinity(), minus_infinity()}, {0.f, 0.f}};
    float factor[2];
    const int row = tile.m * Rows + first;
    pl::slot q_slot = Q::wait(self);
    const auto q = pl::wgmma::k_major(Q::template address<0>(self, q_slot) + warpgroup * (64 * 128));
    const attention_block block = blocks(tile, 0, row);
    if (!uniform(bool(block)))
      Q::release(self, q_slot);
    else if (tile.in_turn)
      attend_blocks<Element, D, Rows, N, Q, K, V, Turn>(self, tile, row, q_slot, q, block, base2, blocks, score, mask, o,
                                                        softmax);
    else
      attend_blocks<Element, D, Rows, N, Q, K, V, any_order>(self, tile, row, q_slot, q, block, base2, blocks, score, mask,
                                                             o, softmax);
    row_pair log_sum, other{{minus_infinity(), minus_infinity()}};
    sink(other, tile, row);
    softmax.finish(base2, other, factor, log_sum);
#pragma unroll
    for (int n = 0; n < D / 2; ++n) o[n] *= factor[n / 2 % 2];
    store(o, log_sum, tile, row);
  }
}

}  // namespace plc
PL_TYPE(plc::attention_tile, "plc::attention_tile");
PL_TYPE(plc::attention_block, "plc::attention_block");

// The ports of loader and core, by element, queries of a tile, keys of a block and head dimension.
// PACK: that many heads of Q, which share one of K and V, stand as rows of one query in a tile; a power of two.
// Behind them the type of k and v.
#define PLC_ATTENTION_LOADER_ENDS_OF_(ELEMENT, ROWS, D, PACK, ...)                                                     \
  PL_ROLE(load, pl::warps<1>, pl::registers<24, 40>, pl::one_thread);                                                  \
  PL_OUT(q, plc::attention_rows<ELEMENT, ROWS, D>, pl::ring<1, 2>, pl::by_tma);                                        \
  PL_OUT(k, __VA_ARGS__, pl::ring<2, 4>, pl::by_tma);                                                                  \
  PL_OUT(v, __VA_ARGS__, pl::ring<2, 4>, pl::by_tma);                                                                  \
  PL_CALL(work, plc::attention_tile(int));                                                                             \
  PL_CALL(blocks, plc::attention_block(plc::attention_tile, int, int));                                                \
  PL_PARAM(map_q, pl::tensor_map<q, 0, pl::box<1, ROWS / PACK, PACK, 64>>);                                            \
  PL_TENSOR(q, ELEMENT, "B, SQ, H, " #D, pl::read);                                                                    \
  PL_BIND(map_q, "q");                                                                                                 \
  PL_DERIVE(pack, #PACK);                                                                                              \
  PL_DERIVE(q_tiles, "ceildiv(SQ * " #PACK ", " #ROWS ")")
#define PLC_ATTENTION_LOADER_ENDS_(ELEMENT, ROWS, KEYS, D, PACK) \
  PLC_ATTENTION_LOADER_ENDS_OF_(ELEMENT, ROWS, D, PACK, plc::attention_rows<ELEMENT, KEYS, D>)
#define PLC_ATTENTION_LOADER_STEPS_                                        \
  "repeat work { q.acquire; q.copy; choose some { k.acquire; k.copy; "     \
  "repeat blocks { k.acquire; k.copy; v.acquire; v.copy; } v.acquire; v.copy; } or { } }"
#define PLC_ATTENTION_LOADER_PORTS_(ELEMENT, ROWS, KEYS, D, PACK)                                                      \
  PLC_ATTENTION_LOADER_ENDS_(ELEMENT, ROWS, KEYS, D, PACK);                                                            \
  PL_PROTOCOL(load, PLC_ATTENTION_LOADER_STEPS_)

// What a loader asks of the walker where rows of a query are that many heads.
#define PLC_PACKED_ROWS_1 static_assert(true, "")
#define PLC_PACKED_ROWS_2 PL_REQUIRE(plc_rows, "packed")
#define PLC_PACKED_ROWS_4 PLC_PACKED_ROWS_2
#define PLC_PACKED_ROWS_8 PLC_PACKED_ROWS_2
#define PLC_PACKED_ROWS_16 PLC_PACKED_ROWS_2

#define PLC_ATTENTION_LOADER_PACKED(NAME, ELEMENT, ROWS, KEYS, D, PACK)                                                \
  PL_COMPONENT(NAME) {                                                                                                 \
    PLC_ATTENTION_LOADER_PORTS_(ELEMENT, ROWS, KEYS, D, PACK);                                                         \
    PLC_PACKED_ROWS_##PACK;                                                                                            \
    PL_PARAM(map_k, pl::tensor_map<k, 0, pl::box<1, KEYS, 1, 64>>);                                                    \
    PL_PARAM(map_v, pl::tensor_map<v, 0, pl::box<1, KEYS, 1, 64>>);                                                    \
    PL_TENSOR(k, ELEMENT, "B, SK, HK, " #D, pl::read);                                                                 \
    PL_TENSOR(v, ELEMENT, "B, SK, HK, " #D, pl::read);                                                                 \
    PL_BIND(map_k, "k");                                                                                               \
    PL_BIND(map_v, "v");                                                                                               \
    PL_DERIVE(most_keys, "SK");                                                                                        \
    PL_ENTRY(load) {                                                                                                   \
      plc::load_attention(                                                                                             \
          [=](int i) { return work(self, i); },                                                                        \
          [=](plc::attention_tile tile, int j) { return blocks(self, tile, j, tile.m * ROWS); },                       \
          [=](plc::attention_tile t) {                                                                                 \
            plc::load_head<q, ROWS, D>(self, map_q(self), t.head, t.q_begin + t.m * (ROWS / PACK), t.batch);           \
          },                                                                                                           \
          [=](plc::attention_tile t, int index) {                                                                      \
            plc::load_head<k, KEYS, D>(self, map_k(self), t.kv_head, t.kv_begin + index * KEYS, t.kv_batch);           \
          },                                                                                                           \
          [=](plc::attention_tile t, int index) {                                                                      \
            plc::load_head<v, KEYS, D>(self, map_v(self), t.kv_head, t.kv_begin + index * KEYS, t.kv_batch);           \
          });                                                                                                          \
    }                                                                                                                  \
  }
#define PLC_ATTENTION_LOADER(NAME, ELEMENT, ROWS, KEYS, D) PLC_ATTENTION_LOADER_PACKED(NAME, ELEMENT, ROWS, KEYS, D, 1)

// The steps of a tile, with those by which warpgroups take turns.
#define PLC_ATTENTION_STEPS_(TAKE, PASS)                                                                               \
  "k.wait; " TAKE PASS "k.release; choose { score; choose { mask; } or { } } or { } repeat blocks { k.wait; " TAKE     \
  "v.wait; " PASS "k.release; choose { score; choose { mask; } or { } } or { } v.release; } "                          \
  "q.release; v.wait; v.release; "

#define PLC_ATTENTION_CORE(NAME, ELEMENT, ROWS, KEYS, D, REGISTERS)                                                    \
  PL_COMPONENT(NAME) {                                                                                                 \
    PL_ROLE(attend, pl::warps<ROWS / 16>, REGISTERS);                                                                  \
    PL_TURNS(turn);                                                                                                    \
    PL_IN(q, plc::attention_rows<ELEMENT, ROWS, D>, pl::ring<1, 2>, pl::by_wgmma, pl::per_warp);                       \
    PL_IN(k, plc::attention_rows<ELEMENT, KEYS, D>, pl::ring<2, 4>, pl::by_wgmma, pl::per_warp);                       \
    PL_IN(v, plc::attention_rows<ELEMENT, KEYS, D>, pl::ring<2, 4>, pl::by_wgmma, pl::per_warp);                       \
    PL_CALL(work, plc::attention_tile(int));                                                                           \
    PL_CALL(blocks, plc::attention_block(plc::attention_tile, int, int));                                              \
    PL_CALL(score, void(plc::scores_of<KEYS>&, plc::attention_tile, int, int));                                        \
    PL_CALL(mask, void(plc::scores_of<KEYS>&, plc::attention_tile, int, int, int));                                    \
    PL_CALL(sink, void(plc::row_pair&, plc::attention_tile, int));                                                     \
    PL_CALL(store, void(pl::fragment<float, D / 2>&, plc::row_pair&, plc::attention_tile, int));                       \
    PL_PROMISE(plc_tile_queries, ROWS);                                                                                \
    PL_PROMISE(plc_block_keys, KEYS);                                                                                  \
    PL_PARAM(scale, float);                                                                                            \
    PL_PROTOCOL(attend,                                                                                                \
                "repeat work { q.wait; choose some { choose in_turn { " PLC_ATTENTION_STEPS_("turn.take; ",            \
                                                                                            "turn.pass; ")             \
                "} or { " PLC_ATTENTION_STEPS_("", "") "} } or { q.release; } sink; store; }");                        \
    PL_ENTRY(attend) {                                                                                                 \
      plc::attend<ELEMENT, D, ROWS, KEYS, q, k, v, turn>(                                                              \
          self, attend::thread(self), scale(self), [=](int i) { return work(self, i); },                               \
          [=](plc::attention_tile tile, int j, int row) { return blocks(self, tile, j, row); },                        \
          [=](plc::scores_of<KEYS>& s, plc::attention_tile tile, int row, int column) {                                \
            score(self, s, tile, row, column);                                                                         \
          },                                                                                                           \
          [=](plc::scores_of<KEYS>& s, plc::attention_tile tile, int row, int column, int kind) {                      \
            mask(self, s, tile, row, column, kind);                                                                    \
          },                                                                                                           \
          [=](plc::row_pair& logits, plc::attention_tile tile, int row) { sink(self, logits, tile, row); },            \
          [=](pl::fragment<float, D / 2>& o, plc::row_pair& log_sum, plc::attention_tile tile, int row) {              \
            store(self, o, log_sum, tile, row);                                                                        \
          });                                                                                                          \
    }                                                                                                                  \
  }
