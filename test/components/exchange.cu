// CTAs of a cluster that exchange values through each other's shared memory, round after round.
#include <pipelink/cluster.cuh>
#include <pipelink/component.cuh>

namespace exchange {
// What a thread of a CTA makes of the values that the others had in the round before.
__device__ __forceinline__ unsigned mixed(unsigned value, unsigned rank, unsigned round) {
  return (value ^ value >> 15) * 2654435761u + rank * 40503u + round;
}
}  // namespace exchange

// Each round, a thread writes a value of its own, and adds up those that the other CTAs have for its number.
#define EXCHANGE_READ(NAME, CTAS)                                                                         \
  PL_COMPONENT(NAME) {                                                                                    \
    PL_ROLE(run, pl::warps<4>);                                                                           \
    PL_SMEM(values, unsigned[128]);                                                                       \
    PL_CLUSTER_BARRIER(met);                                                                              \
    PL_CLUSTER(CTAS, 1, 1);                                                                               \
    PL_PARAM(out, unsigned*);                                                                             \
    PL_PARAM(rounds, int);                                                                                \
    PL_TENSOR(out, unsigned, "G, R, 128", pl::write);                                                     \
    PL_BIND(rounds, "R");                                                                                 \
    PL_GRID("G");                                                                                         \
    PL_PROTOCOL(run, "repeat rounds { values.write; met.sync; values.peer_read; met.sync; }");           \
    PL_ENTRY(run) {                                                                                       \
      const unsigned t = run::thread(self), rank = pl::cluster_rank();                                    \
      unsigned value = t;                                                                                 \
      _Pragma("unroll 1") for (int round = 0; round < rounds(self); ++round) {                            \
        value = exchange::mixed(value, rank, round);                                                      \
        values(self)[t] = value;                                                                          \
        met::sync(self);                                                                                  \
        _Pragma("unroll") for (unsigned other = 1; other < CTAS; ++other)                                 \
          value += pl::load_peer<unsigned>(values_smem::peer(self, (rank + other) % CTAS) + 4 * t);       \
        met::sync(self);                                                                                  \
        out(self)[(size_t(blockIdx.x) * rounds(self) + round) * 128 + t] = value;                         \
      }                                                                                                   \
    }                                                                                                     \
  }
EXCHANGE_READ(test::read_by_two, 2)
EXCHANGE_READ(test::read_by_four, 4)

// The other way: a thread writes its value into the memory of the next CTA, which reads it as its own.
#define EXCHANGE_WRITE(NAME, CTAS)                                                                        \
  PL_COMPONENT(NAME) {                                                                                    \
    PL_ROLE(run, pl::warps<1>, pl::one_thread);                                                           \
    PL_SMEM(value, unsigned);                                                                             \
    PL_CLUSTER_BARRIER(met);                                                                              \
    PL_CLUSTER(CTAS, 1, 1);                                                                               \
    PL_PARAM(out, unsigned*);                                                                             \
    PL_PARAM(rounds, int);                                                                                \
    PL_TENSOR(out, unsigned, "G, R", pl::write);                                                          \
    PL_BIND(rounds, "R");                                                                                 \
    PL_GRID("G");                                                                                         \
    PL_PROTOCOL(run, "repeat rounds { value.peer_write; met.sync; value.read; met.sync; }");             \
    PL_ENTRY(run) {                                                                                       \
      const unsigned rank = pl::cluster_rank();                                                           \
      unsigned mine = 0;                                                                                  \
      _Pragma("unroll 1") for (int round = 0; round < rounds(self); ++round) {                            \
        mine = exchange::mixed(mine, rank, round);                                                        \
        pl::store_peer(value_smem::peer(self, (rank + 1) % CTAS), mine);                                  \
        met::sync(self);                                                                                  \
        mine += *value(self);                                                                             \
        met::sync(self);                                                                                  \
        out(self)[size_t(blockIdx.x) * rounds(self) + round] = mine;                                      \
      }                                                                                                   \
    }                                                                                                     \
  }
EXCHANGE_WRITE(test::written_by_two, 2)
EXCHANGE_WRITE(test::written_by_four, 4)
EXCHANGE_WRITE(test::written_by_one, 1)
