// Attention of at most 16 rows, queries times heads that share keys and values, over a stream of blocks of 128 keys, by
// 16 warps with mma.sync m16n8k16 through CuTe.
//
// Memory is the limit, so the work on a block has to be short, not large tiles fed: each warp multiplies all queries by 8
// of the block's keys, and the weights of all keys by 8 of the columns of V.  Between them the warps exchange maxima and
// weights through shared memory, and meet: scores of a block are taken, and values of the one before added, between the
// same two meetings.  A thread keeps four scores and four sums of the output, and the end of a stream costs one exchange
// more, however short the stream was.
//
// `attend_item` is one item: rows, a stream, and what comes out of it.  A role calls it for each tile that a walker names
// (attention_core_cute_few.cuh); so may whatever else hands out items.
#pragma once
#include <cute/tensor.hpp>
#include <cute/atom/copy_atom.hpp>
#include <cute/atom/mma_traits_sm80.hpp>

#include "attention.cuh"

namespace example {
template <class Element>
struct warp_product;
template <>
struct warp_product<pl::bf16> {
  using element = cute::bfloat16_t;
  using atom = cute::MMA_Atom<cute::SM80_16x8x16_F32BF16BF16F32_TN>;
};

// Layouts and products of 16 rows and 128 keys.
template <class Element, int D>
struct few {
  static constexpr int Rows = 16, Keys = 128, Warps = 16;
  static constexpr int Groups = D / 8;             // warps that have all columns between them
  static constexpr int Shares = Warps / Groups;    // in which they divide a block's keys
  static_assert(D == 64 || D == 128, "heads of 64 or 128");
  using element = typename warp_product<Element>::element;
  using atom = typename warp_product<Element>::atom;
  // Rows in panels of 64 columns, under the 128-byte swizzle, as the loader brings them.  The swizzle is one of offsets:
  // what becomes of a thread's own is found out once, since slots begin where the swizzle does.
  using swizzle = cute::Swizzle<3, 3, 3>;
  template <int Count, int Columns>
  using rows = decltype(cute::tile_to_shape(
      cute::composition(swizzle{}, cute::Layout<cute::Shape<cute::_8, cute::_64>, cute::Stride<cute::_64, cute::_1>>{}),
      cute::Shape<cute::Int<Count>, cute::Int<Columns>>{}));
  // The same memory with columns first.
  using columns = decltype(cute::tile_to_shape(
      cute::composition(swizzle{}, cute::Layout<cute::Shape<cute::_64, cute::_8>, cute::Stride<cute::_1, cute::_64>>{}),
      cute::Shape<cute::Int<D>, cute::Int<Keys>>{}, cute::Step<cute::_2, cute::_1>{}));
  // 32 along K, so that one ldmatrix brings what two steps need of a right operand.
  using keys_mma = decltype(cute::make_tiled_mma(atom{}, cute::Layout<cute::Shape<cute::_1, cute::_16, cute::_1>>{},
                                                 cute::Tile<cute::_16, cute::_128, cute::_32>{}));
  using values_mma =
      decltype(cute::make_tiled_mma(atom{}, cute::Layout<cute::Shape<cute::_1, cute::Int<Groups>, cute::Int<Shares>>>{},
                                    cute::Tile<cute::_16, cute::Int<D>, cute::Int<32 * Shares>>{}));
  using read = cute::Copy_Atom<cute::SM75_U32x4_LDSM_N, element>;
  using read_transposed = cute::Copy_Atom<cute::SM75_U16x8_LDSM_T, element>;

  // What warps tell each other, of a block and at the end.
  using maxima = float[Rows][Warps];                // of a warp's keys
  using weights = unsigned short[Rows * Keys];      // of all keys, under the swizzle
  struct ends {
    float sums[Rows][Warps];
    float4 parts[Warps][32];                        // of each warp its fragment of the output
  };
};

template <class Layout, class E>
__device__ __forceinline__ auto shared_tile(E* at) {
  return cute::make_tensor(cute::make_smem_ptr(at), Layout{});
}

// Zeros.  Of a volatile: those of constants would be made before it is known whether a stream is empty, and be kept in
// registers beside the queries.
template <int N>
__device__ __forceinline__ pl::fragment<float, N> blank() {
  float zero;
  asm volatile("mov.f32 %0, 0f00000000;" : "=f"(zero));
  pl::fragment<float, N> all;
  CUTE_UNROLL
  for (int n = 0; n < N; ++n) all[n] = zero;
  return all;
}

// One item.  `blocks(j)`: the j-th block of the stream; `score` and `mask` see a warp's 8 keys, from `column` on, as the
// first values of a whole block's fragment, of which the others are for nobody.  Afterwards `softmax` has the maxima and,
// in four lanes together, the sums of the rows, and `output` of warp 0 the sums of the values; that of others is 0.
template <class Element, int D, class Q, class K, class V, class Met, class Blocks, class Score, class Mask>
__device__ __forceinline__ void attend_item(pl::self self, unsigned thread, float (*maxima)[few<Element, D>::Warps],
                                            unsigned short* shared_weights, typename few<Element, D>::ends* ends,
                                            float base2, bool skips, Blocks blocks, Score score, Mask mask,
                                            plc::online_softmax& softmax, pl::fragment<float, D / 2>& output) {
  using namespace cute;
  using F = few<Element, D>;
  using E = typename F::element;
  const int lane = thread % 32, warp = plc::uniform(int(thread / 32)), row = lane / 4, quarter = lane % 4;
  typename F::keys_mma keys_mma;
  typename F::values_mma values_mma;
  auto mine = keys_mma.get_slice(thread);
  auto mine_v = values_mma.get_slice(thread);
  auto read_q = make_tiled_copy_A(typename F::read{}, keys_mma);
  auto read_k = make_tiled_copy_B(typename F::read{}, keys_mma);
  auto read_p = make_tiled_copy_A(typename F::read{}, values_mma);
  auto read_v = make_tiled_copy_B(typename F::read_transposed{}, values_mma);
  auto my_q = read_q.get_slice(thread);
  auto my_k = read_k.get_slice(thread);
  auto my_p = read_p.get_slice(thread);
  auto my_v = read_v.get_slice(thread);

  softmax = {{plc::minus_infinity(), plc::minus_infinity()}, {0.f, 0.f}};
  pl::slot q_slot = Q::wait(self);
  Tensor q = shared_tile<typename F::template rows<F::Rows, D>>(Q::template pointer<E, 0>(self, q_slot));
  Tensor queries = mine.partition_fragment_A(q);
  copy(read_q, my_q.partition_S(q), my_q.retile_D(queries));
  Q::release(self, q_slot);

  float s[4], factor[2];
  Tensor o = partition_fragment_C(values_mma, Shape<Int<F::Rows>, Int<D>>{});
  clear(o);
  // The scores of this warp's keys of a block, and their maxima for all.
  const auto take = [&](plc::attention_block block) {
    pl::slot slot = K::wait(self);
    Tensor k = shared_tile<typename F::template rows<F::Keys, D>>(K::template pointer<E, 0>(self, slot));
    Tensor keys = mine.partition_fragment_B(k);
    Tensor from = my_k.partition_S(k);
    Tensor to = my_k.retile_D(keys);
    Tensor even = partition_fragment_C(keys_mma, Shape<Int<F::Rows>, Int<F::Keys>>{});
    Tensor odd = make_fragment_like(even);
    clear(even);
    clear(odd);
    CUTE_UNROLL
    for (int step = 0; step < D / 32; ++step) {
      copy(read_k, from(_, _, step), to(_, _, step));
      gemm(keys_mma, queries(_, _, 2 * step), keys(_, _, 2 * step), even);
      gemm(keys_mma, queries(_, _, 2 * step + 1), keys(_, _, 2 * step + 1), odd);
    }
    K::release(self, slot);
    plc::scores_of<F::Keys> values{};
    CUTE_UNROLL
    for (int n = 0; n < 4; ++n) values[n] = even(n) + odd(n);
    if (skips && plc::uniform(block.kind == plc::skipped_block)) {
      CUTE_UNROLL
      for (int n = 0; n < 4; ++n) values[n] = plc::minus_infinity();
    } else {
      const int column = block.index * F::Keys + warp * 8;
      score(values, column);
      if (plc::uniform(block.kind != plc::full_block)) mask(values, column, block.kind);
    }
    CUTE_UNROLL
    for (int n = 0; n < 4; ++n) s[n] = values[n];
    CUTE_UNROLL
    for (int h = 0; h < 2; ++h) {
      float most = fmaxf(s[2 * h], s[2 * h + 1]);
      most = fmaxf(most, __shfl_xor_sync(~0u, most, 1));
      most = fmaxf(most, __shfl_xor_sync(~0u, most, 2));
      if (quarter == 0) maxima[row + 8 * h][warp] = most;
    }
  };
  // The weights of this warp's keys, for all, now that the maxima of all are known.
  const auto weigh = [&] {
    CUTE_UNROLL
    for (int h = 0; h < 2; ++h) {
      const float4 tops = *reinterpret_cast<const float4*>(&maxima[row + 8 * h][4 * quarter]);
      float most = fmaxf(fmaxf(tops.x, tops.y), fmaxf(tops.z, tops.w));
      most = fmaxf(most, __shfl_xor_sync(~0u, most, 1));
      most = fmaxf(fmaxf(most, __shfl_xor_sync(~0u, most, 2)), softmax.top[h]);
      factor[h] = plc::exp2_approximate(softmax.top[h] * base2 - plc::online_softmax::shift(most, base2));
      softmax.top[h] = most;
    }
    softmax.exponentiate(s, base2, factor);
    Tensor p = shared_tile<typename F::template rows<F::Rows, F::Keys>>(reinterpret_cast<E*>(shared_weights));
    Tensor pairs = recast<uint32_t>(mine.partition_C(p));
    pairs(0) = plc::words<Element>::pack(s[0], s[1]);
    pairs(1) = plc::words<Element>::pack(s[2], s[3]);
  };
  // Adds a block's values to this warp's columns.
  const auto add = [&] {
    Tensor p = shared_tile<typename F::template rows<F::Rows, F::Keys>>(reinterpret_cast<E*>(shared_weights));
    Tensor weights = mine_v.partition_fragment_A(p);
    Tensor weights_from = my_p.partition_S(p);
    Tensor weights_to = my_p.retile_D(weights);
    pl::slot slot = V::wait(self);
    Tensor v = shared_tile<typename F::columns>(V::template pointer<E, 0>(self, slot));
    Tensor values = mine_v.partition_fragment_B(v);
    Tensor from = my_v.partition_S(v);
    Tensor to = my_v.retile_D(values);
    Tensor odd = make_fragment_like(o);
    clear(odd);
    CUTE_UNROLL
    for (int n = 0; n < 4; ++n) o(n) *= factor[n / 2];
    CUTE_UNROLL
    for (int step = 0; step < F::Keys / (32 * F::Shares); ++step) {
      copy(read_v, from(_, _, step), to(_, _, step));
      copy(read_p, weights_from(_, _, step), weights_to(_, _, step));
      gemm(values_mma, weights(_, _, 2 * step), values(_, _, 2 * step), o);
      gemm(values_mma, weights(_, _, 2 * step + 1), values(_, _, 2 * step + 1), odd);
    }
    V::release(self, slot);
    CUTE_UNROLL
    for (int n = 0; n < 4; ++n) o(n) += odd(n);
  };

  plc::attention_block next = blocks(0);
  if (!plc::uniform(bool(next))) {
    output = blank<D / 2>();
    return;
  }
  take(next);
  next = blocks(1);
  Met::sync(self);
#pragma unroll 1
  for (int j = 2; plc::uniform(bool(next)); ++j) {
    weigh();
    Met::sync(self);
    take(next);
    next = blocks(j);
    add();
    Met::sync(self);
  }
  weigh();
  Met::sync(self);
  add();

  ends->parts[warp][lane] = {o(0), o(1), o(2), o(3)};
  CUTE_UNROLL
  for (int h = 0; h < 2; ++h) {
    float sum = softmax.sum[h];
    sum += __shfl_xor_sync(~0u, sum, 1);
    sum += __shfl_xor_sync(~0u, sum, 2);
    if (quarter == 0) ends->sums[row + 8 * h][warp] = sum;
  }
  Met::sync(self);
  CUTE_UNROLL
  for (int h = 0; h < 2; ++h) {
    const float4 sums = *reinterpret_cast<const float4*>(&ends->sums[row + 8 * h][4 * quarter]);
    softmax.sum[h] = (sums.x + sums.y) + (sums.z + sums.w);
  }
  output = blank<D / 2>();
  if (warp) return;
  CUTE_UNROLL
  for (int g = 0; g < F::Groups; ++g) {
    float4 sum = ends->parts[g][lane];
    CUTE_UNROLL
    for (int n = g + F::Groups; n < F::Warps; n += F::Groups) {
      const float4 part = ends->parts[n][lane];
      sum = {sum.x + part.x, sum.y + part.y, sum.z + part.z, sum.w + part.w};
    }
    output[4 * g] = sum.x, output[4 * g + 1] = sum.y, output[4 * g + 2] = sum.z, output[4 * g + 3] = sum.w;
  }
}
}  // namespace example
