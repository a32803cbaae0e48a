// Components for tests that run one after the other on the same warps, with scratch memory that then shares its place.
#include <pipelink/component.cuh>
#include <pipelink/stores.cuh>

namespace rotating {
constexpr int row = 512;  // floats

// PTX ISA, cp.async.bulk: completes on the mbarrier.
__device__ __forceinline__ void copy_row(unsigned to, const float* from, unsigned mbarrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(from), "r"(row * 4), "r"(mbarrier)
               : "memory");
}
}  // namespace rotating

// y[i] = x[(i + shift) mod 512] of the CTA's row.  Between the write and the read of the scratch memory all four warps
// meet; after the read none waits for the others.
PL_COMPONENT(test::rotated) {
PL_ROLE(run, pl::warps<4>);
PL_SMEM(scratch, float[rotating::row], pl::align<128>);
PL_BARRIER(met, pl::threads<128>);
PL_PARAM(x, const float*);
PL_PARAM(y, float*);
PL_PARAM(shift, int);
PL_TENSOR(x, float, "R, 512", pl::read, pl::align<16>);
PL_TENSOR(y, float, "R, 512", pl::write);
PL_GRID("R");
PL_PROTOCOL(run, "scratch.write; met.sync; scratch.read;");
PL_ENTRY(run) {
  const int t = run::thread(self), at = blockIdx.x * rotating::row;
#pragma unroll
  for (int i = t; i < rotating::row; i += 128) scratch(self)[i] = x(self)[at + i];
  met::sync(self);
#pragma unroll
  for (int i = t; i < rotating::row; i += 128) y(self)[at + i] = scratch(self)[(i + shift(self)) % rotating::row];
}
}

// The same by one warp.
PL_COMPONENT(test::rotated_by_a_warp) {
PL_ROLE(run, pl::warps<1>);
PL_SMEM(scratch, float[rotating::row], pl::align<128>);
PL_PARAM(x, const float*);
PL_PARAM(y, float*);
PL_PARAM(shift, int);
PL_TENSOR(x, float, "R, 512", pl::read, pl::align<16>);
PL_TENSOR(y, float, "R, 512", pl::write);
PL_GRID("R");
PL_PROTOCOL(run, "scratch.write; scratch.read;");
PL_ENTRY(run) {
  const int t = run::thread(self), at = blockIdx.x * rotating::row;
#pragma unroll
  for (int i = t; i < rotating::row; i += 32) scratch(self)[i] = x(self)[at + i];
  __syncwarp();
#pragma unroll
  for (int i = t; i < rotating::row; i += 32) y(self)[at + i] = scratch(self)[(i + shift(self)) % rotating::row];
}
}

// The row's last element, which one thread fetches by a bulk copy of the whole row.
PL_COMPONENT(test::last_of_row) {
PL_ROLE(run, pl::warps<1>, pl::one_thread);
PL_SMEM(scratch, float[rotating::row], pl::align<128>);
PL_MBARRIER(full, pl::arrivals<1>);
PL_PARAM(x, const float*);
PL_PARAM(last, float*);
PL_TENSOR(x, float, "R, 512", pl::read, pl::align<16>);
PL_TENSOR(last, float, "R", pl::write);
PL_GRID("R");
PL_PROTOCOL(run, "scratch.write; full.arrive; full.wait; scratch.read;");
PL_ENTRY(run) {
  full::expect(self, 0, rotating::row * 4);
  rotating::copy_row(scratch_smem::address(self), x(self) + blockIdx.x * rotating::row, full::address(self));
  full::wait(self, 0, 0);
  last(self)[blockIdx.x] = scratch(self)[rotating::row - 1];
}
}
