#include <pipelink/component.cuh>
#include <pipelink/wgmma.cuh>
// Slots that are touched while none is held, and others given back than the protocol says.
using rows = pl::stream<pl::row_major<pl::tile<float, 8, 32>>>;
using tile = pl::stream<pl::swizzle128<pl::tile<pl::bf16, 64, 64>>>;
#define LIT_PORT(NAME, PORT, PROTOCOL, ...)                \
  PL_COMPONENT(NAME) {                                     \
  PL_ROLE(run, pl::warps<1>);                              \
  PORT(x, rows, pl::ring<2, 4>, pl::by_threads);           \
  PL_PARAM(n, int);                                        \
  PL_PARAM(out, float*);                                   \
  PL_PROTOCOL(run, PROTOCOL);                              \
  PL_ENTRY(run) {                                          \
    const int t = run::thread(self);                       \
    pl::slot previous{};                                   \
    for (int i = 0; i < n(self); ++i) { __VA_ARGS__ }      \
    if (false) x::address(self, previous);                 \
  }                                                        \
  }
#define LIT_IN(NAME, ...) LIT_PORT(NAME, PL_IN, "repeat n { x.wait; x.release; }", __VA_ARGS__)
#define LIT_OUT(NAME, ...) LIT_PORT(NAME, PL_OUT, "repeat n { x.acquire; x.commit; }", __VA_ARGS__)
LIT_IN(lit::read_after, auto s = x::wait(self); x::release(self, s); out(self)[t] = x::pointer<float>(self, s)[t];)
LIT_OUT(lit::write_after, auto s = x::acquire(self); x::commit(self, s); x::pointer<float>(self, s)[t] = i;)
LIT_OUT(lit::write_before, x::pointer<float>(self, previous)[t] = i; previous = x::acquire(self); x::commit(self, previous);)
LIT_IN(lit::of_a_number, auto s = x::wait(self); out(self)[t] = x::pointer<float>(self, s)[t]; x::release(self, pl::slot{0});)
LIT_IN(lit::right_reader, auto s = x::wait(self); out(self)[t] = x::pointer<float>(self, s)[t]; x::release(self, s);)
LIT_OUT(lit::right_writer, auto s = x::acquire(self); if (t < i) x::pointer<float>(self, s)[t] = i; x::commit(self, s);)
PL_COMPONENT(lit::right_elected) {  // a warp waits for all
PL_ROLE(run, pl::warps<4>);
PL_IN(x, rows, pl::ring<2, 4>, pl::by_threads);
PL_BARRIER(met, pl::threads<128>);
PL_PARAM(n, int);
PL_PARAM(out, float*);
PL_PROTOCOL(run, "repeat n { x.wait by 1 warp; met.sync; met.sync; x.release by 1 warp; }");
PL_ENTRY(run) {
  const int t = run::thread(self);
  for (int i = 0; i < n(self); ++i) {
    pl::slot s{};
    if (run::warp(self) == 0) s = x::wait(self);
    met::sync(self);
    out(self)[t] += x::pointer<float>(self, pl::slot{0})[t];
    met::sync(self);
    if (run::warp(self) == 0) x::release(self, s);
  }
}
}
#define LIT_TWO(NAME, ...)                                                               \
  PL_COMPONENT(NAME) {                                                                   \
  PL_ROLE(mma, pl::warps<4>);                                                            \
  PL_IN(ab, tile, pl::ring<2, 4>, pl::by_wgmma);                                         \
  PL_PARAM(n, int);                                                                      \
  PL_PARAM(out, float*);                                                                 \
  PL_PROTOCOL(mma, "repeat n+ { ab.wait; ab.release keep 1; } ab.release;");             \
  PL_ENTRY(mma) {                                                                        \
    float d[32] = {};                                                                    \
    pl::slot previous{};                                                                 \
    auto multiply = [&](pl::slot slot) {                                                 \
      const unsigned long long at = pl::wgmma::k_major(ab::address(self, slot));         \
      pl::wgmma::fence();                                                                \
      pl::wgmma::multiply<pl::bf16>(d, at, at, true);                                    \
      pl::wgmma::commit();                                                               \
    };                                                                                   \
    for (int i = 0; i < n(self); ++i) {                                                  \
      pl::slot slot = ab::wait(self);                                                    \
      __VA_ARGS__                                                                        \
      previous = slot;                                                                   \
    }                                                                                    \
    pl::wgmma::wait<0>();                                                                \
    ab::release(self, previous);                                                         \
    for (int i = 0; i < 32; ++i) out(self)[mma::thread(self) * 32 + i] = d[i];           \
  }                                                                                      \
  }
LIT_TWO(lit::right_two_stages, multiply(slot); pl::wgmma::wait<1>(); if (i > 0) ab::release(self, previous);)
LIT_TWO(lit::the_newest, multiply(slot); pl::wgmma::wait<1>(); if (i > 0) ab::release(self, slot);)
LIT_TWO(lit::before_the_wait, multiply(slot); if (i > 0) ab::release(self, previous); pl::wgmma::wait<1>();)
PL_COMPONENT(lit::multiplied_after) {
PL_ROLE(mma, pl::warps<4>);
PL_IN(ab, tile, pl::ring<2, 4>, pl::by_wgmma, pl::per_warp);
PL_PARAM(n, int);
PL_PARAM(out, float*);
PL_PROTOCOL(mma, "repeat n { ab.wait; ab.release; }");
PL_ENTRY(mma) {
  float d[32] = {};
  for (int i = 0; i < n(self); ++i) {
    pl::slot slot = ab::wait(self);
    const unsigned long long at = pl::wgmma::k_major(ab::address(self, slot));
    ab::release(self, slot);
    pl::wgmma::fence();
    pl::wgmma::multiply<pl::bf16>(d, at, at, true);
    pl::wgmma::commit();
    pl::wgmma::wait<0>();
  }
  for (int i = 0; i < 32; ++i) out(self)[mma::thread(self) * 32 + i] = d[i];
}
}
// Slots without a product, by which the warps of a warpgroup would meet: one thread must not give them back for all.
#define LIT_PASSED_OVER(NAME, STEPS, BEFORE, ...)                                \
  PL_COMPONENT(NAME) {                                                           \
    PL_ROLE(mma, pl::warps<8>);                                                  \
    PL_TURNS(turn);                                                              \
    PL_IN(ab, tile, pl::ring<2, 4>, __VA_ARGS__);                                \
    PL_PARAM(n, int);                                                            \
    PL_PARAM(every, int);                                                        \
    PL_PARAM(out, float*);                                                       \
    PL_PROTOCOL(mma, "repeat n { " STEPS "ab.release; }");                       \
    PL_ENTRY(mma) {                                                              \
      float d[32] = {};                                                          \
      for (int i = 0; i < n(self); ++i) {                                        \
        if (BEFORE) turn::take(self), turn::pass(self);                          \
        const pl::slot slot = ab::wait(self);                                    \
        if (!BEFORE) turn::take(self), turn::pass(self);                         \
        if (every(self) != 7) {                                                  \
          const auto at = pl::wgmma::k_major(ab::address(self, slot));           \
          pl::wgmma::fence();                                                    \
          pl::wgmma::multiply<pl::bf16>(d, at, at, true);                        \
          pl::wgmma::commit();                                                   \
          pl::wgmma::wait<0>();                                                  \
        }                                                                        \
        ab::release(self, slot);                                                 \
      }                                                                          \
      for (int i = 0; i < 32; ++i) out(self)[mma::thread(self) * 32 + i] = d[i]; \
    }                                                                            \
  }
LIT_PASSED_OVER(lit::passed_over, "turn.take; turn.pass; ab.wait; ", true, pl::by_wgmma)
LIT_PASSED_OVER(lit::right_passed_over_per_warp, "turn.take; turn.pass; ab.wait; ", true, pl::by_wgmma, pl::per_warp)
LIT_PASSED_OVER(lit::right_passed_over_in_turn, "ab.wait; turn.take; turn.pass; ", false, pl::by_wgmma)
// Products of two rings: those of one are done, those of the other not yet.
#define LIT_TWO_RINGS(NAME, FIRST, SECOND)                                                    \
  PL_COMPONENT(NAME) {                                                                       \
  PL_ROLE(mma, pl::warps<4>);                                                                \
  PL_IN(a, tile, pl::ring<2, 4>, pl::by_wgmma);                                              \
  PL_IN(b, tile, pl::ring<2, 4>, pl::by_wgmma);                                              \
  PL_PARAM(n, int);                                                                          \
  PL_PARAM(out, float*);                                                                     \
  PL_PROTOCOL(mma, "repeat n { a.wait; b.wait; " #FIRST ".release; " #SECOND ".release; }"); \
  PL_ENTRY(mma) {                                                                            \
    float d[32] = {}, e[32] = {};                                                            \
    for (int i = 0; i < n(self); ++i) {                                                      \
      const pl::slot of_a = a::wait(self), of_b = b::wait(self);                             \
      const auto from_a = pl::wgmma::k_major(a::address(self, of_a));                        \
      const auto from_b = pl::wgmma::k_major(b::address(self, of_b));                        \
      pl::wgmma::fence();                                                                    \
      pl::wgmma::multiply<pl::bf16>(d, from_a, from_a, true);                                \
      pl::wgmma::commit();                                                                   \
      pl::wgmma::multiply<pl::bf16>(e, from_b, from_b, true);                                \
      pl::wgmma::commit();                                                                   \
      pl::wgmma::wait<1>();                                                                  \
      FIRST::release(self, of_##FIRST);                                                      \
      pl::wgmma::wait<0>();                                                                  \
      SECOND::release(self, of_##SECOND);                                                    \
    }                                                                                        \
    for (int i = 0; i < 32; ++i) out(self)[mma::thread(self) * 32 + i] = d[i] + e[i];        \
  }                                                                                          \
  }
LIT_TWO_RINGS(lit::right_of_two_rings, a, b)
LIT_TWO_RINGS(lit::the_other_ring, b, a)
#define LIT_BYTES(NAME, SECOND)                                                    \
  PL_COMPONENT(NAME) {                                                              \
  PL_ROLE(load, pl::warps<1>, pl::one_thread);                                      \
  PL_OUT(x, rows, pl::ring<2, 4>, pl::by_bulk);                                     \
  PL_PARAM(from, const float*);                                                     \
  PL_PARAM(n, int);                                                                 \
  PL_PROTOCOL(load, "repeat n { x.acquire; x.copy; }");                             \
  PL_ENTRY(load) {                                                                  \
    for (int i = 0; i < n(self); ++i) {                                             \
      const pl::slot slot = x::acquire(self);                                       \
      x::copy<0>(self, slot, from(self) + i * 256, 512, 0);                         \
      x::copy<0>(self, slot, from(self) + i * 256 + 128, 512, SECOND);              \
    }                                                                               \
  }                                                                                 \
  }
LIT_BYTES(lit::right_halves, 512)
LIT_BYTES(lit::one_half_twice, 0)
#define LIT_PHASES(NAME, PARITY)                                  \
  PL_COMPONENT(NAME) {                                            \
  PL_ROLE(give, pl::warps<1>);                                    \
  PL_ROLE(take, pl::warps<1>);                                    \
  PL_MBARRIER(full, pl::arrivals<32>, pl::count<2>);              \
  PL_PARAM(n, int);                                               \
  PL_PROTOCOL(give, "repeat n { full.arrive; }");                 \
  PL_PROTOCOL(take, "repeat n { full.wait; }");                   \
  PL_ENTRY(give) {                                                \
    for (int i = 0; i < n(self); ++i) full::arrive(self, i % 2);  \
  }                                                               \
  PL_ENTRY(take) {                                                \
    for (int i = 0; i < n(self); ++i) full::wait(self, i % 2, PARITY); \
  }                                                               \
  }
LIT_PHASES(lit::right_phases, i / 2 & 1)
LIT_PHASES(lit::one_phase, 0)
