// Components for the transfers that the GEMMs do not use: rings filled by threads, several readers, a conversion, the
// end of a stream, and tokens.
#include <pipelink/component.cuh>

namespace rings {
constexpr int rows = 64, cols = 64;  // one slot: 64 rows of 128 bytes
using plain = pl::stream<pl::row_major<pl::tile<pl::bf16, rows, cols>>>;
using swizzled = pl::stream<pl::swizzle128<pl::tile<pl::bf16, rows, cols>>>;

__device__ __forceinline__ unsigned word_address(unsigned base, int row, int word, bool swizzle) {
  return base + row * 128 + ((swizzle ? word ^ (row & 7) : word) << 4);
}
__device__ __forceinline__ void store16(unsigned at, uint4 v) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}
__device__ __forceinline__ uint4 load16(unsigned at) {
  uint4 v;
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "r"(at) : "memory");
  return v;
}
}  // namespace rings

// Tiles of x, 64 rows each, dealt out to the CTAs; rows beyond the last are not stored by the readers.
#define RINGS_WRITER(NAME, STREAM, SWIZZLE, WARPS)                                                         \
  PL_COMPONENT(NAME) {                                                                                     \
    PL_ROLE(fill, pl::warps<WARPS>);                                                                       \
    PL_OUT(tiles, STREAM, pl::ring<2, 4>, pl::by_threads, pl::ends);                                       \
    PL_PARAM(x, const pl::bf16*);                                                                          \
    PL_PARAM(steps, int);                                                                                  \
    PL_TENSOR(x, pl::bf16, "S, 64, 64", pl::read, pl::align<16>);                                          \
    PL_BIND(steps, "S");                                                                                   \
    PL_GRID("min(S, 3)");                                                                                  \
    PL_ENTRY(fill) {                                                                                       \
      for (int s = blockIdx.x; s < steps(self); s += gridDim.x) {                                          \
        pl::slot slot = tiles::acquire(self);                                                              \
        const unsigned base = tiles::address<0>(self, slot);                                               \
        const uint4* from = reinterpret_cast<const uint4*>(x(self)) + s * rings::rows * 8;                 \
        for (int i = fill::thread(self); i < rings::rows * 8; i += WARPS * 32)                             \
          rings::store16(rings::word_address(base, i / 8, i % 8, SWIZZLE), from[i]);                       \
        tiles::commit(self, slot);                                                                         \
      }                                                                                                    \
      tiles::end(self);                                                                                    \
    }                                                                                                      \
  }
RINGS_WRITER(test::plain_writer, rings::plain, false, 2)
RINGS_WRITER(test::swizzled_writer, rings::swizzled, true, 4)

#define RINGS_READER(NAME, STREAM, SWIZZLE, WARPS)                                                         \
  PL_COMPONENT(NAME) {                                                                                     \
    PL_ROLE(drain, pl::warps<WARPS>);                                                                      \
    PL_IN(tiles, STREAM, pl::ring<2, 4>, pl::by_threads, pl::ends);                                        \
    PL_PARAM(y, pl::bf16*);                                                                                \
    PL_TENSOR(y, pl::bf16, "S, 64, 64", pl::write, pl::align<16>);                                         \
    PL_ENTRY(drain) {                                                                                      \
      for (int s = blockIdx.x;; s += gridDim.x) {                                                          \
        pl::slot slot = tiles::wait(self);                                                                 \
        if (tiles::ended(self, slot)) break;                                                               \
        const unsigned base = tiles::address<0>(self, slot);                                               \
        uint4* to = reinterpret_cast<uint4*>(y(self)) + s * rings::rows * 8;                               \
        for (int i = drain::thread(self); i < rings::rows * 8; i += WARPS * 32)                            \
          to[i] = rings::load16(rings::word_address(base, i / 8, i % 8, SWIZZLE));                         \
        tiles::release(self, slot);                                                                        \
      }                                                                                                    \
    }                                                                                                      \
  }
RINGS_READER(test::plain_reader, rings::plain, false, 2)
RINGS_READER(test::swizzled_reader, rings::swizzled, true, 4)

// Shared memory of an odd size, in front of whatever is placed after it.
PL_COMPONENT(test::odd) {
PL_ROLE(run, pl::warps<1>);
PL_SMEM(odd, char[1000 + 13], pl::align<1>);
PL_PARAM(seen, int*);
PL_TENSOR(seen, int, "1", pl::write);
PL_PROTOCOL(run, "odd.write; odd.read;");
PL_ENTRY(run) {
  char* bytes = odd(self);
  for (int i = run::thread(self); i < 1013; i += 32) bytes[i] = char(i);
  __syncwarp();
  int wrong = 0;
  for (int round = 0; round < 200; ++round)
    for (int i = run::thread(self); i < 1013; i += 32) wrong += reinterpret_cast<volatile char*>(bytes)[i] != char(i);
  if (wrong) atomicAdd(seen(self), wrong);
}
}

// Two roles take turns: each notes who it is at the next place of a list that only the turn protects.
#define TURN(NAME)                                                                                         \
  PL_COMPONENT(NAME) {                                                                                     \
    PL_ROLE(run, pl::warps<1>, pl::one_thread);                                                            \
    PL_TOKEN_IN(mine);                                                                                     \
    PL_TOKEN_OUT(other);                                                                                   \
    PL_PARAM(order, int*);                                                                                 \
    PL_PARAM(place, int*);                                                                                 \
    PL_PARAM(turns, int);                                                                                  \
    PL_PARAM(who, int);                                                                                    \
    PL_TENSOR(order, int, "L", pl::write);                                                                 \
    PL_WORKSPACE(place, "4", pl::zeroed);                                                                  \
    PL_BIND(turns, "L / 2");                                                                               \
    PL_GRID("1");                                                                                          \
    PL_PROTOCOL(run, "repeat turns { mine.take; other.pass; }");                                           \
    PL_ENTRY(run) {                                                                                        \
      volatile int* at = place(self);                                                                      \
      for (int i = 0; i < turns(self); ++i) {                                                              \
        mine::take(self);                                                                                  \
        int p = *at;                                                                                       \
        reinterpret_cast<volatile int*>(order(self))[p] = who(self);                                       \
        *at = p + 1;                                                                                       \
        __threadfence_block();                                                                             \
        other::pass(self);                                                                                 \
      }                                                                                                    \
    }                                                                                                      \
  }
TURN(test::turn)
