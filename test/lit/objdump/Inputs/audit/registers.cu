#include <pipelink/component.cuh>
// Roles with 96 values of each thread at once in registers, and ranges that do not allow it.
namespace lit {
__device__ __forceinline__ void mix(float* all, unsigned thread, int turns) {
  float* out = all + 96 * thread;
  float values[96];
#pragma unroll
  for (int i = 0; i < 96; ++i) values[i] = out[i];
  for (int turn = 0; turn < turns; ++turn)
#pragma unroll
    for (int i = 0; i < 96; ++i) values[i] = values[i] * values[(i * 7 + 5) % 96] + 1;
#pragma unroll
  for (int i = 0; i < 96; ++i) out[i] = values[i];
}
}  // namespace lit
#define LIT_MIXER(NAME, MIN, MAX)                    \
  PL_COMPONENT(NAME) {                               \
    PL_ROLE(run, pl::warps<4>, LIT_RANGE(MIN, MAX)); \
    PL_PARAM(out, float*);                           \
    PL_PARAM(turns, int);                            \
    PL_ENTRY(run) {                                  \
      lit::mix(out(self), run::thread(self), turns(self)); \
    }                                                \
  }
#define LIT_RANGE(MIN, MAX) pl::registers<MIN, MAX>
LIT_MIXER(lit::too_few, 24, 64)
LIT_MIXER(lit::too_low, 40, 168)
LIT_MIXER(lit::honest, 128, 168)
