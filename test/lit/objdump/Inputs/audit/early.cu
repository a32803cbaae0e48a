// Roles that begin before the kernel in front has ended, and wait for it on every way, or not.
#include <pipelink/component.cuh>
#include <pipelink/programmatic.cuh>
namespace {
__device__ __noinline__ void waits() { pl::wait_for_previous(); }
}  // namespace
#define EARLY(NAME, ...)                                \
  PL_COMPONENT(lit::NAME) {                             \
    PL_ROLE(run, pl::warps<2>, pl::early);              \
    PL_PARAM(out, float*);                              \
    PL_PARAM(n, int);                                   \
    PL_PARAM(x, const float*);                          \
    PL_ENTRY(run) {                                     \
      const int thread = run::thread(self);             \
      __VA_ARGS__;                                      \
    }                                                   \
  }
// What is right.
EARLY(first, pl::wait_for_previous(); out(self)[thread] = 1)
EARLY(both_ways, if (n(self) > 3) { pl::wait_for_previous(); out(self)[thread] = 1; } else { pl::wait_for_previous(); })
EARLY(helper, if (n(self) > 3) out(self)[thread] = 1; waits(); out(self)[thread] = 2)
EARLY(one_of_two, if (n(self) > 3) { pl::wait_for_previous(); out(self)[thread] = 1; } asm volatile(""::: "memory");
      if (n(self) <= 3) { pl::wait_for_previous(); out(self)[thread] = 2; })
EARLY(third_round, for (int i = 0; i < 40; ++i) { if (i == 2) pl::wait_for_previous(); out(self)[i] = x(self)[i]; })
EARLY(or_trap, if (n(self) < 0) __trap(); pl::wait_for_previous(); out(self)[thread] = 1)
EARLY(by_warps, if (thread < 32) pl::wait_for_previous(); else waits(); out(self)[thread] = 1)
EARLY(by_data, float a = x(self)[thread]; if (a > 0) { pl::wait_for_previous(); out(self)[thread] = a; } else waits())
// What is wrong.
EARLY(by_predicate, asm volatile("{ .reg .pred p; setp.gt.s32 p, %0, 3; @p griddepcontrol.wait; }" ::"r"(n(self)) : "memory");
      out(self)[thread] = 1)
EARLY(never, out(self)[thread] = 1)
EARLY(for_some, if (n(self) > 3) { pl::wait_for_previous(); out(self)[thread] = 1; })
EARLY(first_thread, if (thread == 0) pl::wait_for_previous(); out(self)[thread] = 1)
EARLY(first_warp, if (thread < 32) { pl::wait_for_previous(); out(self)[thread] = 1; })
EARLY(rounds, for (int i = 0; i < n(self); ++i) { if (i == 0) waits(); out(self)[i] = x(self)[i]; })
EARLY(inside, const int i = blockIdx.x * 64 + thread; if (i >= n(self)) return; pl::wait_for_previous();
      out(self)[i] = 1)
EARLY(as_loaded, float a = x(self)[thread]; if (a > 0) { pl::wait_for_previous(); out(self)[thread] = a; })
EARLY(cases, switch (n(self)) { case 0: pl::wait_for_previous(); out(self)[0] = 3; break; case 1: waits();
      case 2: out(self)[1] = 2; break; default: pl::wait_for_previous(); })
