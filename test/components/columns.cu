// A component with tensor memory of its own (sm_100a): values that threads keep there.
#include <pipelink/component.cuh>

namespace columns {
// A value for each thread of a warpgroup, in its lane of one column (PTX ISA, tcgen05.ld and tcgen05.st).
__device__ __forceinline__ unsigned lanes(unsigned address, unsigned thread) {
  return address + ((thread / 32 % 4 * 32) << 16);
}
__device__ __forceinline__ void store(unsigned address, float value) {
  asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};\ntcgen05.wait::st.sync.aligned;" ::"r"(address),
               "r"(__float_as_uint(value))
               : "memory");
}
__device__ __forceinline__ float load(unsigned address) {
  unsigned value;
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];\ntcgen05.wait::ld.sync.aligned;"
               : "=r"(value)
               : "r"(address)
               : "memory");
  return __uint_as_float(value);
}
}  // namespace columns

// y = 3 x, by way of two columns.
PL_COMPONENT(test::kept_in_columns) {
PL_ROLE(run, pl::warps<4>);
PL_TMEM(once, 32);
PL_TMEM(twice, 64);
PL_PARAM(x, const float*);
PL_PARAM(y, float*);
PL_TENSOR(x, float, "R, 128", pl::read);
PL_TENSOR(y, float, "R, 128", pl::write);
PL_GRID("R");
PL_PROTOCOL(run, "once.write; twice.write; once.read; twice.read;");
PL_ENTRY(run) {
  const unsigned t = run::thread(self), at = blockIdx.x * 128 + t;
  const unsigned first = columns::lanes(once::address(self), t), second = columns::lanes(twice::address(self) + 63, t);
  columns::store(first, x(self)[at]);
  columns::store(second, 2 * x(self)[at]);
  y(self)[at] = columns::load(first) + columns::load(second);
}
}
