// Signals: counters in global memory, which CTAs of the grid, or of several GPUs, add to and wait for.
//
// The memory, of each GPU its own, is a line of 128 bytes for itself and one for each counter.  A counter has a word
// for each of four epochs, 32 bytes apart on its line.  A launch is one epoch: it counts in the words of its own, and
// clears those of the launch after next, so that a launch begins with zeros whatever happened before, also when this one
// ends early, and with any number of counters: the own line notes how many each of the last four launches had.
//
//   own line, words:  0 epoch of the launch    1 warps that have read it    4 to 7 counters of a launch, by epoch
//
// Every warp that will use the memory reads the epoch and says so; the last of the grid begins the next epoch, which
// the next launch reads.  The memory belongs to launches that follow each other: to one stream, or one capture.
// Launches of several GPUs that signal each other are one epoch, each by its own count: nobody may be two launches ahead
// of somebody whose counters it adds to, since those clear them in between.
// Release and acquire: PTX ISA 8.8 (release and acquire patterns), 9.7.13.7 (red), 9.7.9.8 (ld); fence.proxy.async:
// what other CTAs wrote by ordinary stores is fetched by TMA only behind it.
#include "device.cuh"

enum : unsigned { pl_signal_epochs = 4, pl_signal_line = 32 };  // words of a line

// The multiplication is an instruction of its own, which no compiler takes apart: what arithmetic the index was made by
// would else depend on whether the component and this were compiled in one unit.
PL_TRANSFER_INLINE unsigned* pl_signal_counter(const char* where, unsigned index) {
  const unsigned* words = reinterpret_cast<const unsigned*>(where);
  unsigned long long first, counter;
  asm("mov.b64 %0, {%1, %2};" : "=l"(first) : "r"(words[0]), "r"(words[1]));
  asm("mad.wide.u32 %0, %1, 128, %2;" : "=l"(counter) : "r"(index), "l"(first));
  return reinterpret_cast<unsigned*>(counter);
}

// The same counter of another GPU's memory, whose address is in a table by rank.  All of the table is read: parameters
// that are indexed at run time would be copied to the stack.
PL_TRANSFER_INLINE unsigned* pl_signal_peer(const char* where, const char* memory, const char* table, unsigned gpus,
                                            unsigned rank, unsigned index) {
  const char* own = *reinterpret_cast<const char* const*>(memory);
  char* const* others = reinterpret_cast<char* const*>(table);
  char* other = others[0];
#pragma unroll
  for (unsigned i = 1; i < 64; ++i)
    if (i < gpus) other = rank == i ? others[i] : other;
  return reinterpret_cast<unsigned*>(other + (reinterpret_cast<const char*>(pl_signal_counter(where, index)) - own));
}

// The frame's cursor becomes the address of the launch's word of counter 0.
PL_TRANSFER void pl_signal_enter(char* where, const char* memory, const char* count, unsigned warps, unsigned alone) {
  unsigned* own = *reinterpret_cast<unsigned* const*>(memory);
  const unsigned counters = *reinterpret_cast<const unsigned*>(count);
  unsigned epoch;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(epoch) : "l"(own) : "memory");
  const unsigned now = epoch % pl_signal_epochs, later = (epoch + 2) % pl_signal_epochs;
  if (!alone) __syncwarp();
  const unsigned lane = alone ? 0 : threadIdx.x & 31, lanes = alone ? 1 : 32;
  const unsigned ctas = gridDim.x * gridDim.y * gridDim.z;
  const unsigned cta = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  if (lane == 0) {
    unsigned before;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], 1;" : "=r"(before) : "l"(own + 1) : "memory");
    if (before + 1 == warps * ctas) {
      own[pl_signal_epochs + now] = counters;
      own[1] = 0;
      own[0] = epoch + 1;
    }
  }
  const unsigned old = own[pl_signal_epochs + later];
  for (unsigned i = cta * lanes + lane; i < old; i += ctas * lanes)
    own[pl_signal_line * (1 + i) + pl_signal_line / pl_signal_epochs * later] = 0;
  const unsigned long long first =
      reinterpret_cast<unsigned long long>(own + pl_signal_line + pl_signal_line / pl_signal_epochs * now);
  unsigned* words = reinterpret_cast<unsigned*>(where);
  asm("mov.b64 {%0, %1}, %2;" : "=r"(words[0]), "=r"(words[1]) : "l"(first));
}

#define PL_SIGNAL_(SCOPE, NAME)                                                                                   \
  struct pl_signal_reached_##NAME {                                                                               \
    const unsigned* counter;                                                                                      \
    unsigned least;                                                                                               \
    __device__ __forceinline__ bool operator()() const {                                                          \
      unsigned count;                                                                                             \
      asm volatile("ld.acquire." #SCOPE ".global.u32 %0, [%1];" : "=r"(count) : "l"(counter) : "memory");         \
      return count >= least;                                                                                      \
    }                                                                                                             \
  };                                                                                                              \
  PL_TRANSFER_INLINE void pl_signal_release_##NAME(unsigned* counter, unsigned count) {                           \
    asm volatile("red.release." #SCOPE ".global.add.u32 [%0], %1;" ::"l"(counter), "r"(count) : "memory");        \
  }                                                                                                               \
  PL_TRANSFER void pl_signal_add_##NAME(char* where, unsigned index, unsigned count) {                            \
    pl_signal_release_##NAME(pl_signal_counter(where, index), count);                                             \
  }                                                                                                               \
  PL_TRANSFER void pl_signal_await_##NAME(char* where, unsigned index, unsigned least, unsigned fence PL_WATCH) { \
    pl_wait(pl_signal_reached_##NAME{pl_signal_counter(where, index), least}, least PL_WATCHED(index));           \
    if (fence) asm volatile("fence.proxy.async.global;" ::: "memory");                                            \
  }
PL_SIGNAL_(gpu, gpu)
PL_SIGNAL_(sys, system)
PL_TRANSFER void pl_signal_add_peer(char* where, const char* memory, const char* table, unsigned gpus, unsigned rank,
                                    unsigned index, unsigned count) {
  pl_signal_release_system(pl_signal_peer(where, memory, table, gpus, rank, index), count);
}
