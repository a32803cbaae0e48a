// A GEMM mainloop written with CuTe, as a PipeLink component: 128x256x64 bf16, two consumer warpgroups.
//
// CuTe gives the shared-memory layouts, the tiled MMA and the descriptors.  The contract states the tiles by their CuTe
// layouts; these lie as swizzle128 does, so PipeLink's own loader can fill the ring, and any of its epilogues, which take
// chunks of 16 rows x 64 columns a warp, can follow.
#include <cute/tensor.hpp>
#include <cute/atom/mma_traits_sm90_gmma.hpp>
#include <pipelink/cute.cuh>

template <int Rows>
using operand = decltype(cute::tile_to_shape(cute::GMMA::Layout_K_SW128_Atom<cute::bfloat16_t>{},
                                             cute::Shape<cute::Int<Rows>, cute::_64>{}));

PL_COMPONENT(example::cute_mainloop) {
PL_ROLE(multiply, pl::warps<8>, pl::registers<168, 240>);
PL_IN(ab, pl::stream<pl::cute_tile<pl::bf16, operand<128>>, pl::cute_tile<pl::bf16, operand<256>>>, pl::ring<2, 8>,
      pl::by_wgmma);
PL_CALL(work, pl::tile_coord(int));
PL_CALL(store, void(pl::fragment<float, 32>&, int, int));
PL_PARAM(k_tiles, int);
PL_PROTOCOL(multiply, "repeat work { repeat k_tiles+ { ab.wait; ab.release keep 1; } ab.release; repeat 4 { store; } }");

PL_ENTRY(multiply) {
  using namespace cute;
  auto tiled = make_tiled_mma(SM90_64x256x16_F32BF16BF16_SS<GMMA::Major::K, GMMA::Major::K>{},
                              Layout<Shape<_2, _1, _1>>{});
  auto mine = tiled.get_slice(multiply::thread(self));
  int warp = multiply::warp(self), steps = k_tiles(self);
  for (int i = 0; auto w = work(self, i); ++i) {
    Tensor acc = partition_fragment_C(tiled, Shape<_128, _256>{});
    tiled.accumulate_ = GMMA::ScaleOut::Zero;
    pl::slot previous{};
    for (int k = 0; k < steps; ++k) {
      pl::slot slot = ab::wait(self);
      Tensor a = make_tensor(make_smem_ptr(ab::pointer<bfloat16_t, 0>(self, slot)), operand<128>{});
      Tensor b = make_tensor(make_smem_ptr(ab::pointer<bfloat16_t, 1>(self, slot)), operand<256>{});
      Tensor fragment_a = mine.make_fragment_A(mine.partition_A(a));
      Tensor fragment_b = mine.make_fragment_B(mine.partition_B(b));
      warpgroup_fence_operand(acc);
      warpgroup_arrive();
      CUTE_UNROLL
      for (int kk = 0; kk < size<2>(fragment_a); ++kk) {
        gemm(tiled, fragment_a(_, _, kk), fragment_b(_, _, kk), acc);
        tiled.accumulate_ = GMMA::ScaleOut::One;
      }
      warpgroup_commit_batch();
      warpgroup_wait<1>();
      if (k > 0) ab::release(self, previous);
      previous = slot;
    }
    warpgroup_wait<0>();
    warpgroup_fence_operand(acc);
    ab::release(self, previous);
    CUTE_UNROLL
    for (int part = 0; part < 4; ++part) {
      pl::fragment<float, 32> values;
      CUTE_UNROLL
      for (int j = 0; j < 32; ++j) values[j] = acc(part * 32 + j);
      store(self, values, w.m * 128 + warp * 16, w.n * 256 + part * 64);
    }
  }
}
}
