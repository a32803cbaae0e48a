#include <pipelink/component.cuh>

// A component: a token goes round the CTAs, `rounds` times; who has it adds its number to a sum that only the token
// protects, and that depends on the order.  A CTA keeps it where KEEPS holds, of `me` and round `r`.
#define TOKEN(NAME, KEEPS)                                               \
  PL_COMPONENT(NAME) {                                                   \
  PL_ROLE(run, pl::warps<1>, pl::one_thread);                            \
  PL_COUNTERS(turns, "ctas");                                            \
  PL_SIGNAL_OUT(pass, turns, gpu);                                       \
  PL_SIGNAL_IN(take, turns, gpu);                                        \
  PL_PARAM(sum, int*);                                                   \
  PL_PARAM(ctas, int);                                                   \
  PL_PARAM(rounds, int);                                                 \
  PL_TENSOR(sum, int, "2", pl::readwrite);                               \
  PL_GRID("ctas");                                                       \
  PL_RESIDENT;                                                           \
  PL_PROTOCOL(run, "repeat rounds { take.await; pass.signal; }");        \
  PL_ENTRY(run) {                                                        \
    const int me = blockIdx.x, next = me + 1 == ctas(self) ? 0 : me + 1; \
    if (me == 0) pass::add(self, 0);                                     \
    for (int r = 0; r < rounds(self); ++r) {                             \
      take::await(self, me, r + 1);                                      \
      sum(self)[0] = sum(self)[0] * 3 + me + r;                          \
      if (!(KEEPS)) pass::add(self, next);                               \
    }                                                                    \
  }                                                                      \
  }
