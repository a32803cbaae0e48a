// Prints CuTe's descriptors of tcgen05.mma and PipeLink's, for bf16 and f16 and each tile shape M x N of SHAPES, where
// the accumulators lie, and what a load of them brings: a line is what, CuTe's value, PipeLink's.  A host compiler builds it.  To CuTe every host address is 0, so addresses of shared
// memory are put into its descriptors afterwards.
#include <cstdio>

#include <cute/tensor.hpp>
#include <cute/arch/mma_sm100_desc.hpp>
#include <cute/atom/copy_traits_sm100.hpp>
#include <cute/atom/mma_traits_sm100.hpp>

#include "sm100_umma.cuh"

using namespace cute;
constexpr auto K = UMMA::Major::K;

static void line(const char* what, unsigned long long theirs, unsigned long long ours) {
  std::printf("%s %llx %llx\n", what, theirs, ours);
}

// A tile of a slot as the mainloop walks it: four steps of 16 elements along K.
template <class Fragment>
static void steps(const char* what, const Fragment& fragment) {
  static_assert(size<2>(Fragment{}.layout()) == 4, "64 elements of K are four steps");
  for (unsigned address : {0u, 0x800u, 0x10800u, 0x37C00u})
    for (int step = 0; step < 4; ++step) {
      UMMA::SmemDescriptor theirs = *fragment(_, _, step).data();
      theirs.start_address_ = theirs.start_address_ + (address >> 4);
      line(what, theirs, plc::umma_descriptor(address) + step * 2);
    }
}

// Where the accumulators lie: row r of a CTA is lane r of tensor memory, in the upper half of an address.
template <class Fragment>
static void accumulators(int n, const Fragment& fragment) {
  for (int row = 0; row < 128; ++row)
    for (int col = 0; col < n; col += 16)
      line("accumulator", fragment.layout()(make_coord(row, col), 0, 0), row << 16 | col);
}

// What a warp's load of 16 lanes x 64 columns brings: CuTe counts bits, 64 * 32 of them a row.
static void chunk() {
  using Load = Copy_Traits<SM100_TMEM_LOAD_16dp256b8x>;
  for (int lane = 0; lane < 32; ++lane)
    for (int value = 0; value < 32; ++value) {
      const int g = value / 4, h = value / 2 % 2, e = value % 2;
      const int row = lane / 4 + 8 * h, col = 8 * g + 2 * (lane % 4) + e;
      line("chunk", Load::DstLayout{}(lane, 32 * value), row * 2048 + col * 32);
    }
}

template <class T, int M, int N>
static void shape(unsigned format) {
  line("instruction", uint32_t(UMMA::make_instr_desc<T, T, float, M, N, K, K>()), plc::umma_instruction(format, M, N));
  // 256 rows are those of two CTAs, each of which has half of A and of B.
  using One = SM100_MMA_F16BF16_SS<T, T, float, min(M, 128), N, K, K>;
  using Two = SM100_MMA_F16BF16_2x1SM_SS<T, T, float, M, N, K, K>;
  auto mma = make_tiled_mma(conditional_t<M == 256, Two, One>{});
  line("atom", uint32_t(mma.idesc_), plc::umma_instruction(format, M, N));
  alignas(1024) static T data[256 * 64];
  auto cta = mma.get_slice(0);
  const auto layout = [](auto tile) { return UMMA::tile_to_mma_shape(UMMA::Layout_K_SW128_Atom<T>{}, tile); };
  const auto a = layout(partition_shape_A(mma, Shape<Int<M>, _64>{}));
  const auto b = layout(partition_shape_B(mma, Shape<Int<N>, _64>{}));
  steps("a", cta.make_fragment_A(make_tensor(make_smem_ptr(data), a)));
  steps("b", cta.make_fragment_B(make_tensor(make_smem_ptr(data), b)));
  accumulators(N, cta.make_fragment_C(partition_shape_C(mma, Shape<Int<M>, Int<N>>{})));
}

int main() {
#define SHAPE(M, N) shape<bfloat16_t, M, N>(plc::umma_bf16), shape<half_t, M, N>(plc::umma_f16);
  SHAPES
  chunk();
}
