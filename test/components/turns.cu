// Warpgroups of one role that take turns, round after round.
#include <pipelink/component.cuh>

namespace turns {
// What the warpgroup of this number makes of the value that it finds: no two of them commute.
__device__ __forceinline__ unsigned mixed(unsigned value, unsigned warpgroup, unsigned round) {
  return (value ^ value >> 15) * 2654435761u + warpgroup * 40503u + round;
}
}  // namespace turns

// Each round, a warpgroup changes a value in global memory that all of them share, a thread of each for every number; and
// it leaves its own number in shared memory, where the last one's is found by all a turn later.
#define TAKING_TURNS(NAME, WARPGROUPS)                                                                             \
  PL_COMPONENT(NAME) {                                                                                             \
    PL_ROLE(run, pl::warps<4 * WARPGROUPS>);                                                                       \
    PL_TURNS(turn);                                                                                                \
    PL_SMEM(last, unsigned[128]);                                                                                  \
    PL_PARAM(values, unsigned*);                                                                                   \
    PL_PARAM(seen, unsigned*);                                                                                     \
    PL_PARAM(rounds, int);                                                                                         \
    PL_TENSOR(values, unsigned, "G, 128", pl::readwrite);                                                          \
    PL_TENSOR(seen, unsigned, "G, R, 128 * " #WARPGROUPS, pl::write);                                              \
    PL_BIND(rounds, "R");                                                                                          \
    PL_GRID("G");                                                                                                  \
    PL_PROTOCOL(run, "repeat rounds { turn.take; last.write; turn.pass; turn.take; last.read; turn.pass; }");      \
    PL_ENTRY(run) {                                                                                                \
      const unsigned group = run::warpgroup(self), t = run::thread(self) % 128;                                    \
      unsigned& value = values(self)[blockIdx.x * 128 + t];                                                        \
      _Pragma("unroll 1") for (int round = 0; round < rounds(self); ++round) {                                     \
        turn::take(self);                                                                                          \
        value = turns::mixed(value, group, round);                                                                 \
        last(self)[t] = value;                                                                                     \
        turn::pass(self);                                                                                          \
        turn::take(self);                                                                                          \
        seen(self)[(size_t(blockIdx.x) * rounds(self) + round) * 128 * WARPGROUPS + run::thread(self)] =           \
            last(self)[t ^ 96];                                                                                    \
        turn::pass(self);                                                                                          \
      }                                                                                                            \
    }                                                                                                              \
  }
TAKING_TURNS(test::two_in_turn, 2)
TAKING_TURNS(test::three_in_turn, 3)
TAKING_TURNS(test::four_in_turn, 4)
