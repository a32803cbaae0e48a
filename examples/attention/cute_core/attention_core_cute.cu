// The core of attention written with CuTe: 128 queries, blocks of 128 keys, heads of 128, two consumer warpgroups.
//
// CuTe gives the layouts of operands in shared memory, the tiled MMAs, their fragments and the descriptors.  The contract
// is that of the library's core, so its loaders, walkers, masks, scores, sinks and outputs go with this one: rings hold
// what the loader brings, and CuTe's accumulators lie as the library's fragments do.
#include <cute/tensor.hpp>
#include <cute/atom/mma_traits_sm90_gmma.hpp>

#include "attention.cuh"

namespace example {
// Layouts and products of a tile of `Rows` queries and a block of N keys.
template <class Element, int Rows, int N, int D>
struct tiles;
template <int Rows, int N, int D>
struct tiles<pl::bf16, Rows, N, D> {
  using element = cute::bfloat16_t;
  // Rows of a head in panels of 64 columns, under the 128-byte swizzle.
  template <int Count>
  using rows = decltype(cute::tile_to_shape(cute::GMMA::Layout_K_SW128_Atom<element>{},
                                            cute::Shape<cute::Int<Count>, cute::Int<D>>{}));
  // The same memory with columns first, as the product takes values.
  using columns = decltype(cute::tile_to_shape(cute::GMMA::Layout_MN_SW128_Atom<element>{},
                                               cute::Shape<cute::Int<D>, cute::Int<N>>{},
                                               cute::Step<cute::_2, cute::_1>{}));
  using warpgroups = cute::Layout<cute::Shape<cute::Int<Rows / 64>, cute::_1, cute::_1>>;
  using keys_mma = decltype(cute::make_tiled_mma(
      cute::GMMA::ss_op_selector<element, element, float, cute::Shape<cute::_64, cute::Int<N>, cute::_16>>(),
      warpgroups{}));
  using values_mma = decltype(cute::make_tiled_mma(
      cute::GMMA::rs_op_selector<element, element, float, cute::Shape<cute::_64, cute::Int<D>, cute::_16>,
                                 cute::GMMA::Major::K, cute::GMMA::Major::MN>(),
      warpgroups{}));
  // Weights as the second product's left operand: accumulators of 16 columns are the values of one step.
  using weights = cute::Layout<cute::Shape<cute::Shape<cute::_2, cute::_2, cute::_2>, cute::_1, cute::Int<N / 16>>>;
};

// A fragment of the library as CuTe's accumulator.
template <class Mma, int M, int N, class Fragment>
__device__ __forceinline__ auto accumulator(Mma const& mma, Fragment& values) {
  using namespace cute;
  return make_tensor(make_rmem_ptr(&values.v[0]), partition_shape_C(mma, Shape<Int<M>, Int<N>>{}));
}

// Issues a product of all steps along K as one group; `first`: what the accumulator does in the first of them.
template <class Mma, class A, class B, class C>
__device__ __forceinline__ void multiply(Mma& mma, A const& a, B const& b, C& c, cute::GMMA::ScaleOut first) {
  using namespace cute;
  warpgroup_arrive();
  mma.accumulate_ = first;
  CUTE_UNROLL
  for (int k = 0; k < size<2>(a); ++k) {
    gemm(mma, a(_, _, k), b(_, _, k), c);
    mma.accumulate_ = GMMA::ScaleOut::One;
  }
  warpgroup_commit_batch();
}

// All tiles of a CTA.  The keys' product of a block and the values' product of the one before are in flight together.
template <class Element, int Rows, int N, int D, class Q, class K, class V, class Work, class Blocks, class Score,
          class Mask, class Sink, class Store>
__device__ __forceinline__ void attend(pl::self self, unsigned thread, float scale, Work work, Blocks blocks, Score score,
                                       Mask mask, Sink sink, Store store) {
  using namespace cute;
  using T = tiles<Element, Rows, N, D>;
  using E = typename T::element;
  typename T::keys_mma keys_mma;
  typename T::values_mma values_mma;
  // Descriptors are made of the warpgroup alone, which a shuffle shows to be the same for all threads of a warp.
  const int warpgroup = plc::uniform(int(thread / 128)), first = thread / 32 * 16;
  auto mine = keys_mma.get_slice(warpgroup * 128);
  auto mine_v = values_mma.get_slice(warpgroup * 128);
  const float base2 = scale * 1.4426950408889634f;
  const auto keys_of = [&](pl::slot slot) {
    Tensor k = make_tensor(make_smem_ptr(K::template pointer<E, 0>(self, slot)), typename T::template rows<N>{});
    return mine.make_fragment_B(mine.partition_B(k));
  };
  const auto values_of = [&](pl::slot slot) {
    Tensor v = make_tensor(make_smem_ptr(V::template pointer<E, 0>(self, slot)), typename T::columns{});
    return mine_v.make_fragment_B(mine_v.partition_B(v));
  };
  for (int i = 0;; ++i) {
    const plc::attention_tile tile = work(i);
    if (!plc::uniform(bool(tile))) break;
    pl::fragment<float, D / 2> output{};
    Tensor o = accumulator<typename T::values_mma, Rows, D>(values_mma, output);
    plc::online_softmax softmax{{plc::minus_infinity(), plc::minus_infinity()}, {0.f, 0.f}};
    float factor[2];
    const int row = tile.m * Rows + first;
    pl::slot q_slot = Q::wait(self);
    Tensor q = make_tensor(make_smem_ptr(Q::template pointer<E, 0>(self, q_slot)), typename T::template rows<Rows>{});
    Tensor queries = mine.make_fragment_A(mine.partition_A(q));
    plc::attention_block block = blocks(tile, 0, row);
    if (plc::uniform(bool(block))) {
      plc::scores_of<N> values;
      Tensor s = accumulator<typename T::keys_mma, Rows, N>(keys_mma, values);
      Tensor weights = make_tensor<E>(typename T::weights{});
      const auto raise = [&](plc::attention_block block) {
        warpgroup_fence_operand(s);
        score(values, tile, row, block.index * N);
        if (plc::uniform(block.kind == plc::full_block)) {
          softmax.raise(values.v, base2, factor);
          asm volatile("// all count");  // maxima in both branches: behind them, the other product is awaited first
        } else {
          mask(values, tile, row, block.index * N, block.kind);
          softmax.raise(values.v, base2, factor);
          asm volatile("// masked");
        }
      };
      const auto lower = [&] {
        softmax.exponentiate(values.v, base2, factor);
        Tensor pairs = recast<uint32_t>(weights);
        CUTE_UNROLL
        for (int n = 0; n < size(pairs); ++n) pairs(n) = plc::words<Element>::pack(values[2 * n], values[2 * n + 1]);
      };
      const auto rescale = [&] {
        CUTE_UNROLL
        for (int n = 0; n < D / 2; ++n) output[n] *= factor[n / 2 % 2];
      };
      const auto counts = [&](plc::attention_block block) {
        return !tile.skips || !plc::uniform(block.kind == plc::skipped_block);
      };
      bool held = counts(block);  // whether the block before left weights
      pl::slot k_slot = K::wait(self);
      plc::attention_block next;
      if (held) {
        multiply(keys_mma, queries, keys_of(k_slot), s, GMMA::ScaleOut::Zero);
        next = blocks(tile, 1, row);  // asked for while products run: a walker may read lists
        warpgroup_wait<0>();
        K::release(self, k_slot);
        raise(block);
        lower();
      } else {
        K::release(self, k_slot);
        next = blocks(tile, 1, row);
      }
      for (int j = 2; plc::uniform(bool(next)); ++j) {
        const bool now = counts(next);
        block = next;
        k_slot = K::wait(self);
        if (now && held) {
          multiply(keys_mma, queries, keys_of(k_slot), s, GMMA::ScaleOut::Zero);
          pl::slot v_slot = V::wait(self);
          multiply(values_mma, weights, values_of(v_slot), o, GMMA::ScaleOut::One);
          next = blocks(tile, j, row);
          warpgroup_wait<1>();
          K::release(self, k_slot);
          raise(block);
          warpgroup_wait<0>();
          V::release(self, v_slot);
          warpgroup_fence_operand(o);
          lower();
          rescale();
        } else {  // a product is missing: no two at a time, since accumulators of a conditional one would be awaited
          pl::slot v_slot = V::wait(self);
          if (held) {
            multiply(values_mma, weights, values_of(v_slot), o, GMMA::ScaleOut::One);
            warpgroup_wait<0>();
            warpgroup_fence_operand(o);
          }
          if (now) {
            multiply(keys_mma, queries, keys_of(k_slot), s, GMMA::ScaleOut::Zero);
            next = blocks(tile, j, row);
            warpgroup_wait<0>();
            K::release(self, k_slot);
            raise(block);
            V::release(self, v_slot);
            lower();
            rescale();
          } else {
            K::release(self, k_slot);
            V::release(self, v_slot);
            next = blocks(tile, j, row);
          }
        }
        held = now;
      }
      Q::release(self, q_slot);
      pl::slot v_slot = V::wait(self);
      if (held) {
        multiply(values_mma, weights, values_of(v_slot), o, GMMA::ScaleOut::One);
        warpgroup_wait<0>();
        warpgroup_fence_operand(o);
      }
      V::release(self, v_slot);
    } else {
      Q::release(self, q_slot);
    }
    plc::row_pair log_sum, other{{plc::minus_infinity(), plc::minus_infinity()}};
    sink(other, tile, row);
    softmax.finish(base2, other, factor, log_sum);
    CUTE_UNROLL
    for (int n = 0; n < D / 2; ++n) output[n] *= factor[n / 2 % 2];
    store(output, log_sum, tile, row);
  }
}
}  // namespace example

PL_COMPONENT(example::attention_core_cute_128) {
PL_ROLE(attend, pl::warps<8>, pl::registers<216, 240>);
PL_IN(q, plc::attention_rows<pl::bf16, 128, 128>, pl::ring<1, 2>, pl::by_wgmma, pl::per_warp);
PL_IN(k, plc::attention_rows<pl::bf16, 128, 128>, pl::ring<2, 4>, pl::by_wgmma, pl::per_warp);
PL_IN(v, plc::attention_rows<pl::bf16, 128, 128>, pl::ring<2, 4>, pl::by_wgmma, pl::per_warp);
PL_CALL(work, plc::attention_tile(int));
PL_CALL(blocks, plc::attention_block(plc::attention_tile, int, int));
PL_CALL(score, void(plc::scores&, plc::attention_tile, int, int));
PL_CALL(mask, void(plc::scores&, plc::attention_tile, int, int, int));
PL_CALL(sink, void(plc::row_pair&, plc::attention_tile, int));
PL_CALL(store, void(pl::fragment<float, 64>&, plc::row_pair&, plc::attention_tile, int));
PL_PROMISE(plc_tile_queries, 128);
PL_PROMISE(plc_block_keys, 128);
PL_PARAM(scale, float);
PL_PROTOCOL(attend,
            "repeat work { q.wait; choose plc.some { k.wait; k.release; choose { score; choose { mask; } or { } } or { } "
            "repeat blocks { k.wait; v.wait; k.release; choose { score; choose { mask; } or { } } or { } v.release; } "
            "q.release; v.wait; v.release; } or { q.release; } sink; store; }");
PL_ENTRY(attend) {
  example::attend<pl::bf16, 128, 128, 128, q, k, v>(
      self, attend::thread(self), scale(self), [=](int i) { return work(self, i); },
      [=](plc::attention_tile tile, int j, int row) { return blocks(self, tile, j, row); },
      [=](plc::scores& s, plc::attention_tile tile, int row, int column) { score(self, s, tile, row, column); },
      [=](plc::scores& s, plc::attention_tile tile, int row, int column, int kind) {
        mask(self, s, tile, row, column, kind);
      },
      [=](plc::row_pair& logits, plc::attention_tile tile, int row) { sink(self, logits, tile, row); },
      [=](pl::fragment<float, 64>& o, plc::row_pair& log_sum, plc::attention_tile tile, int row) {
        store(self, o, log_sum, tile, row);
      });
}
}
