// Dispatchers: one that does what it says, and others.
#include <pipelink/component.cuh>

namespace {
using item = pl::stream<pl::item<int4>>;
}

#define DISPATCHER(NAME, STEPS, ...)                                              \
  PL_COMPONENT(NAME) {                                                            \
    PL_ROLE(run, pl::warps<4>);                                                   \
    PL_IN(in, item, pl::ring<2, 4>, pl::by_threads, pl::ends, pl::may_be_empty);  \
    PL_DISPATCH(operations, 12);                                                  \
    PL_PROTOCOL(run, STEPS);                                                      \
    PL_ENTRY(run) {                                                               \
      for (;;) {                                                                  \
        const pl::slot at = in::wait(self);                                       \
        if (in::ended(self, at)) break;                                           \
        const int* now = in::pointer<int>(self, at);                              \
        __VA_ARGS__                                                               \
      }                                                                           \
    }                                                                             \
  }
DISPATCHER(lit::honest, "until in { in.wait; operations.run; in.release; }",
           operations::run(self, now[0], now + 1); in::release(self, at);)
DISPATCHER(lit::never_run, "until in { in.wait; operations.run; in.release; }", if (now[0] < 0) __trap();
           in::release(self, at);)
DISPATCHER(lit::given_back_before, "until in { in.wait; operations.run; in.release; }",
           in::release(self, at); operations::run(self, now[0], now + 1);)

PL_COMPONENT(lit::not_mine) {
PL_ROLE(first, pl::warps<4>);
PL_ROLE(second, pl::warps<4>);
PL_DISPATCH(operations, 12, pl::in_role<first>);
PL_LEASE(pages, 1024, pl::pages<2, 4>);
PL_PARAM(words, const int*);
PL_OPERAND(which, int);
PL_ENTRY(first) { operations::run(self, 0, words(self)); }
PL_ENTRY(second) { operations::run(self, which(self), words(self)); }
}
