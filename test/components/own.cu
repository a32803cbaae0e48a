// A component with mbarriers of its own: bulk copies into two buffers in turn, without a port.
#include <pipelink/component.cuh>
#include <pipelink/stores.cuh>

namespace own {
constexpr int chunk = 1024;  // floats

// PTX ISA, cp.async.bulk: completes on the mbarrier.
__device__ __forceinline__ void copy(unsigned to, const float* from, unsigned mbarrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(from), "r"(chunk * 4), "r"(mbarrier)
               : "memory");
}
}  // namespace own

// y = 2 x, a row a CTA.  C is a multiple of 2048.
PL_COMPONENT(test::doubled) {
PL_ROLE(load, pl::warps<1>, pl::one_thread);
PL_ROLE(run, pl::warps<4>);
PL_SMEM(first, float[own::chunk], pl::align<128>);
PL_SMEM(second, float[own::chunk], pl::align<128>);
PL_MBARRIER(full, pl::arrivals<1>, pl::count<2>);
PL_MBARRIER(empty, pl::arrivals<128>, pl::count<2>);
PL_PARAM(x, const float*);
PL_PARAM(y, float*);
PL_PARAM(more, int);
PL_TENSOR(x, float, "R, C", pl::read, pl::align<16>);
PL_TENSOR(y, float, "R, C", pl::write);
PL_BIND(more, "C / 2048 - 1");
PL_GRID("R");
PL_PROTOCOL(load, "first.write; full.arrive; second.write; full.arrive;"
                  "repeat more { empty.wait; fence async; first.write; full.arrive;"
                  "              empty.wait; fence async; second.write; full.arrive; }"
                  "empty.wait; empty.wait;");
PL_PROTOCOL(run, "full.wait; first.read; empty.arrive; full.wait; second.read; empty.arrive;"
                 "repeat more { full.wait; first.read; empty.arrive; full.wait; second.read; empty.arrive; }");

PL_ENTRY(load) {
  const int pairs = more(self) + 1;
  const float* from = x(self) + size_t(blockIdx.x) * pairs * 2 * own::chunk;
  const unsigned buffers[2] = {first_smem::address(self), second_smem::address(self)};
#pragma unroll 1
  for (int i = 0; i < pairs; ++i)
#pragma unroll
    for (int which = 0; which < 2; ++which) {
      if (i > 0) {
        empty::wait(self, which, (i - 1) & 1);
        pl::publish();
      }
      full::expect(self, which, own::chunk * 4);
      own::copy(buffers[which], from + (2 * i + which) * own::chunk, full::address(self, which));
    }
#pragma unroll
  for (int which = 0; which < 2; ++which) empty::wait(self, which, (pairs - 1) & 1);
}

PL_ENTRY(run) {
  const int t = run::thread(self), pairs = more(self) + 1;
  float* to = y(self) + size_t(blockIdx.x) * pairs * 2 * own::chunk;
  const float* buffers[2] = {first(self), second(self)};
#pragma unroll 1
  for (int i = 0; i < pairs; ++i)
#pragma unroll
    for (int which = 0; which < 2; ++which) {
      full::wait(self, which, i & 1);
#pragma unroll
      for (int j = 0; j < own::chunk; j += 128) to[(2 * i + which) * own::chunk + j + t] = 2 * buffers[which][j + t];
      empty::arrive(self, which);
    }
}
}
