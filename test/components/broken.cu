// Components with the faults that make kernels hang, and what they are connected to.  They are linked without the
// check of their protocols, as debug links, to see that a hang is explained.  What they state is what they do.
#include <pipelink/component.cuh>

#include "token.cuh"

namespace broken {
using numbers = pl::stream<pl::row_major<pl::tile<float, 8, 32>>>;
}  // namespace broken

// Sends as many tiles as x has rows, all of a row's value.
PL_COMPONENT(broken::writer) {
PL_ROLE(send, pl::warps<1>);
PL_OUT(x, broken::numbers, pl::ring<2, 3>, pl::by_threads);
PL_PARAM(values, const float*);
PL_PARAM(steps, int);
PL_TENSOR(value, float, "steps, 32", pl::read);
PL_BIND(values, "value");
PL_GRID("4");
PL_PROTOCOL(send, "repeat steps { x.acquire; x.commit; }");
PL_ENTRY(send) {
  for (int i = 0; i < steps(self); ++i) {
    auto slot = x::acquire(self);
    x::pointer<float>(self, slot)[send::thread(self)] = values(self)[i * 32 + send::thread(self)];
    x::commit(self, slot);
  }
}
}

// The same, but it takes one slot more than the ring has before it hands any on.
PL_COMPONENT(broken::greedy_writer) {
PL_ROLE(send, pl::warps<1>);
PL_OUT(x, broken::numbers, pl::ring<2, 3>, pl::by_threads);
PL_PARAM(values, const float*);
PL_PARAM(steps, int);
PL_TENSOR(value, float, "steps, 32", pl::read);
PL_BIND(values, "value");
PL_GRID("4");
PL_PROTOCOL(send, "repeat steps { repeat x.stages + 1 { x.acquire; } x.commit; }");
PL_ENTRY(send) {
  for (int i = 0; i < steps(self); ++i) {
    pl::slot taken[4];
    for (int j = 0; j <= x::stages(self); ++j) taken[j & 3] = x::acquire(self);
    for (int j = 0; j <= x::stages(self); ++j) {
      x::pointer<float>(self, taken[j & 3])[send::thread(self)] = values(self)[i * 32 + send::thread(self)];
      x::commit(self, taken[j & 3]);
    }
  }
}
}

// Sums what it is sent.  The second gives slots back too late: it never has that many.
#define BROKEN_READER(NAME, PROTOCOL, RELEASE)                                           \
  PL_COMPONENT(NAME) {                                                                   \
    PL_ROLE(sum, pl::warps<4>);                                                          \
    PL_IN(x, broken::numbers, pl::ring<2, 3>, pl::by_threads);                           \
    PL_PARAM(totals, float*);                                                            \
    PL_PARAM(steps, int);                                                                \
    PL_TENSOR(total, float, "4, 128", pl::write);                                        \
    PL_TENSOR(value, float, "steps, 32", pl::read);                                      \
    PL_BIND(totals, "total");                                                            \
    PL_PROTOCOL(sum, PROTOCOL);                                                          \
    PL_ENTRY(sum) {                                                                      \
      float all = 0;                                                                     \
      for (int i = 0; i < steps(self); ++i) {                                            \
        auto slot = x::wait(self);                                                       \
        all += x::pointer<float>(self, slot)[sum::thread(self) % 32];                    \
        RELEASE;                                                                         \
      }                                                                                  \
      totals(self)[blockIdx.x * 128 + sum::thread(self)] = all;                          \
    }                                                                                    \
  }
BROKEN_READER(broken::reader, "repeat steps { x.wait; x.release; }", x::release(self, slot))
BROKEN_READER(broken::forgetful_reader, "repeat steps { x.wait; x.release keep 1048576; }", if (i == 1 << 20) x::release(self, slot))

// One warp waits for tiles while the others wait for it at a named barrier, which has no time limit.
// No protocol says that.
PL_COMPONENT(broken::split_reader) {
PL_ROLE(sum, pl::warps<4>);
PL_IN(x, broken::numbers, pl::ring<2, 3>, pl::by_threads);
PL_BARRIER(met, pl::threads<128>);
PL_PARAM(totals, float*);
PL_TENSOR(total, float, "4, 128", pl::write);
PL_BIND(totals, "total");
PL_ENTRY(sum) {
  if (sum::warp(self) == 0) {
    for (;;) x::release(self, x::wait(self));
  }
  met::sync(self);
  totals(self)[blockIdx.x * 128 + sum::thread(self)] = 0;
}
}

// As test::round_trip, but the second CTA keeps the token in the third round.
TOKEN(test::lost_turn, me == 1 && r == 2)

// A page is handed over by mbarriers of the component's own; whoever reads it forgets to say so.
PL_COMPONENT(broken::lost_phase) {
PL_ROLE(fill, pl::warps<1>);
PL_ROLE(drain, pl::warps<1>);
PL_SMEM(page, float[32]);
PL_MBARRIER(full, pl::arrivals<32>);
PL_MBARRIER(empty, pl::arrivals<32>);
PL_PARAM(totals, float*);
PL_PARAM(steps, int);
PL_TENSOR(total, float, "4, 128", pl::write);
PL_TENSOR(value, float, "steps, 32", pl::read);
PL_BIND(totals, "total");
PL_GRID("4");
PL_PROTOCOL(fill, "page.write; full.arrive; repeat steps { empty.wait; page.write; full.arrive; }");
PL_PROTOCOL(drain, "full.wait; page.read; repeat steps { full.wait; page.read; }");
PL_ENTRY(fill) {
  for (int i = 0; i <= steps(self); ++i) {
    if (i > 0) empty::wait(self, 0, (i - 1) & 1);
    page(self)[fill::thread(self)] = i;
    full::arrive(self);
  }
}
PL_ENTRY(drain) {
  float sum = 0;
  for (int i = 0; i <= steps(self); ++i) {
    full::wait(self, 0, i & 1);
    sum += page(self)[drain::thread(self)];
  }
  totals(self)[blockIdx.x * 128 + drain::thread(self)] = sum;
}
}
// The CTAs of a cluster meet, and one of them does not come.
PL_COMPONENT(broken::lost_meeting) {
PL_ROLE(run, pl::warps<4>);
PL_CLUSTER_BARRIER(met);
PL_CLUSTER(2, 1, 1);
PL_PARAM(totals, float*);
PL_PARAM(steps, int);
PL_TENSOR(total, float, "4, 128", pl::write);
PL_TENSOR(value, float, "steps, 32", pl::read);
PL_BIND(totals, "total");
PL_GRID("4");
PL_PROTOCOL(run, "repeat steps { met.sync; } choose { met.sync; } or { }");
PL_ENTRY(run) {
  for (int i = 0; i < steps(self); ++i) met::sync(self);
  if (blockIdx.x != 2) met::sync(self);
  totals(self)[blockIdx.x * 128 + run::thread(self)] = 1;
}
}
