#include <pipelink/component.cuh>
// Loops that do not go round as often as the protocol says, and loops that do.
using rows = pl::stream<pl::row_major<pl::tile<float, 8, 32>>>;
#define LIT_READER(NAME, PROTOCOL, ...)                                                        \
  PL_COMPONENT(NAME) {                                                                         \
  PL_ROLE(run, pl::warps<1>);                                                                  \
  PL_IN(x, rows, pl::ring<2, 4>, pl::by_threads);                                              \
  PL_PARAM(n, int);                                                                            \
  PL_PARAM(m, int);                                                                            \
  PL_PARAM(flags, const int*);                                                                 \
  PL_PARAM(out, float*);                                                                       \
  PL_PROTOCOL(run, PROTOCOL);                                                                  \
  PL_ENTRY(run) {                                                                              \
    const int t = run::thread(self);                                                           \
    auto read = [&] {                                                                          \
      pl::slot slot = x::wait(self);                                                           \
      out(self)[t] += x::pointer<float>(self, slot)[t];                                        \
      x::release(self, slot);                                                                  \
    };                                                                                         \
    __VA_ARGS__                                                                                \
  }                                                                                            \
  }
#define LIT_EACH "repeat n { x.wait; x.release; }"
LIT_READER(lit::one_too_many, LIT_EACH, for (int i = 0; i <= n(self); ++i) read();)
LIT_READER(lit::not_the_first, LIT_EACH, for (int i = 1; i < n(self); ++i) read();)
LIT_READER(lit::every_second, LIT_EACH, for (int i = 0; i < n(self); i += 2) read();)
LIT_READER(lit::at_least_one, LIT_EACH, int i = 0; do read(); while (++i < n(self));)
LIT_READER(lit::part_of_the_warp, LIT_EACH, if (t >= 30) return; for (int i = 0; i < n(self); ++i) read();)
LIT_READER(lit::leaves_early, LIT_EACH, for (int i = 0; i < n(self); ++i) { if (flags(self)[i]) break; read(); })
LIT_READER(lit::by_another, LIT_EACH, for (int i = 0; i < m(self); ++i) read();)
LIT_READER(lit::by_what_it_reads, LIT_EACH, for (int i = 0; i < flags(self)[0]; ++i) read();)
LIT_READER(lit::one_inside, "repeat n { repeat m { x.wait; x.release; } }",
           for (int i = 0; i < n(self); ++i) for (int j = 0; j < n(self); ++j) read();)
LIT_READER(lit::right, LIT_EACH, for (int i = n(self); i > 0; --i) read();)
LIT_READER(lit::right_at_least_one, "repeat n+ { x.wait; x.release; }", int i = 0; do read(); while (++i < n(self));)
LIT_READER(lit::right_product, "repeat n { repeat m { x.wait; x.release; } }", for (int i = 0; i < n(self) * m(self); ++i) read();)
LIT_READER(lit::right_without_the_last, "repeat n - 1 { x.wait; x.release; } repeat min(n, 1) { x.wait; x.release; }",
           for (int i = 0; i < n(self); ++i) read();)
LIT_READER(lit::right_among_ctas, LIT_EACH, for (int i = blockIdx.x; i < n(self); i += gridDim.x) read();)
LIT_READER(lit::right_tiles, "repeat ceildiv(n, 64) { x.wait; x.release; }", for (int i = 0; i < (n(self) + 63) / 64; ++i) read();)
LIT_READER(lit::tiles_and_one, "repeat ceildiv(n, 64) { x.wait; x.release; }", for (int i = 0; i < n(self) / 64 + 1; ++i) read();)
