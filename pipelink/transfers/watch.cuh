// A debug link's view of a kernel: waits with a time limit, and a timeline of each role.  Ordinary links do not include
// this file.
//
// The runtime puts a pl_watch behind the kernel's parameters; all zero, nobody watches.  A wait that fails its first try
// looks at the clock on every further one.  Whoever first waits for longer than the limit stops the kernel: from then on
// a wait that has lasted for an eighth of the limit, and soon any wait, notes what it waits for and its thread leaves by
// `exit`.  It does so only once all warps that have a role, in its CTA and its cluster, want to leave or are done, and
// copies that were on their way have landed, so nobody's memory is gone while somebody may touch it.  Where some warp
// does not come (it waits at a named barrier, or loops by itself), the kernel traps instead, three quarters of a limit
// after the stop.  Records lie in host memory, which a trap leaves readable.
//
// Warps are counted, not threads: where one thread of a warp has the role, the hardware may hold the others back until
// that thread comes to where they meet again, or exits.
#pragma once

// Layouts are those of pipelink/support/watch.py, and of hangs.py and timeline.py in pipelink/runtime.
struct pl_watch {
  unsigned long long limit;  // nanoseconds; 0: waits have none
  char* control;             // pl_control
  char* records;             // `record_capacity` pl_records, in host memory
  char* events;              // for each CTA and lane a pl_lane and `event_capacity` pl_events; null: no timeline
  unsigned record_capacity, lanes, event_capacity, traced_ctas;
  unsigned stays;  // not 0: threads must not leave alone (tensor memory has to be freed)
  unsigned warps;  // those that have a role, a bit each
};
static_assert(sizeof(pl_watch) == 56 && alignof(pl_watch) == 8, "links reserve room for it behind the parameters");
struct pl_control {
  unsigned long long stop;  // when the kernel was stopped, 0: it was not
  unsigned records;         // how many were wanted
  unsigned unused;
  unsigned left[1];  // for each CTA: warps that are done or want to leave, a bit each
};
struct pl_record {
  unsigned site;  // plus 1
  unsigned cta, thread, stage, parity, lanes;
  unsigned waited;  // microseconds
  unsigned stuck;   // 0: interrupted in a wait that may have been an ordinary one
};
struct pl_lane {
  unsigned smid, clock_begin, clock_end, count;
  unsigned long long begin, end;  // nanoseconds; 0: not reached
  unsigned unused[8];
};
struct pl_event {
  unsigned site;  // plus 1
  unsigned stage, begin, end;
};

static __device__ __forceinline__ unsigned long long pl_now() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
  return now;
}
static __device__ __forceinline__ unsigned pl_cta() {
  return (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
}

static __device__ __forceinline__ void pl_left(const pl_watch& watch) {
  atomicOr(&reinterpret_cast<pl_control*>(watch.control)->left[pl_cta()], 1u << (threadIdx.x >> 5));
}

#if defined(PL_DEBUG_HANGS)
static __device__ __forceinline__ bool pl_mbarrier_try(unsigned address, unsigned parity) {
  unsigned done;
  asm volatile(
      "{\n.reg .pred P1;\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%1], %2;\nselp.u32 %0, 1, 0, P1;\n}"
      : "=r"(done)
      : "r"(address), "r"(parity)
      : "memory");
  return done;
}

// Whether all warps of the cluster that have a role want to leave or are done.
static __device__ __forceinline__ bool pl_all_left(const pl_watch& watch) {
  const volatile pl_control* control = reinterpret_cast<const volatile pl_control*>(watch.control);
  const unsigned rank = pl_cluster_rank();
  unsigned x, y, z, nx, ny, nz;
  asm("mov.u32 %0, %%cluster_ctaid.x;\nmov.u32 %1, %%cluster_ctaid.y;\nmov.u32 %2, %%cluster_ctaid.z;"
      : "=r"(x), "=r"(y), "=r"(z));
  asm("mov.u32 %0, %%cluster_nctaid.x;\nmov.u32 %1, %%cluster_nctaid.y;\nmov.u32 %2, %%cluster_nctaid.z;"
      : "=r"(nx), "=r"(ny), "=r"(nz));
  for (unsigned k = 0; k < nz; ++k)
    for (unsigned j = 0; j < ny; ++j)
      for (unsigned i = 0; i < nx; ++i) {
        const unsigned cta =
            ((blockIdx.z - z + k) * gridDim.y + blockIdx.y - y + j) * gridDim.x + blockIdx.x - x + i;
        if (watch.warps & ~control->left[cta]) return false;
      }
  return true;
}

// Notes what a warp's lanes `stuck` wait for, in one record, and ends all lanes that are here.
static __device__ __forceinline__ void pl_leave(const pl_watch& watch, unsigned site, unsigned stage, unsigned parity,
                                                unsigned stuck, unsigned long long waited) {
  pl_control* control = reinterpret_cast<pl_control*>(watch.control);
  if ((threadIdx.x & 31) + 1 == __ffs(stuck)) {
    const unsigned number = atomicAdd(&control->records, 1);
    if (number < watch.record_capacity) {
      volatile pl_record* record = reinterpret_cast<volatile pl_record*>(watch.records) + number;
      record->cta = pl_cta();
      record->thread = threadIdx.x;
      record->stage = stage;
      record->parity = parity;
      record->lanes = stuck;
      record->waited = static_cast<unsigned>(waited / 1000);
      record->stuck = waited >= watch.limit / 8;
      __threadfence_system();
      record->site = site + 1;
    }
  }
  __threadfence_system();
  pl_left(watch);
  const unsigned long long stop = *reinterpret_cast<volatile unsigned long long*>(&control->stop);
  while (watch.stays || !pl_all_left(watch)) {
    if (static_cast<long long>(pl_now() - stop) > static_cast<long long>(watch.limit / 4 * 3)) asm volatile("trap;");
    __nanosleep(20000);
  }
#pragma unroll 1
  for (unsigned i = 0; i < 20; ++i) __nanosleep(100000);  // copies that are on their way take microseconds
  asm volatile("exit;");
  __builtin_unreachable();
}

// The wait, until its end or until its thread should leave; returns whether it should.
template <class Done>
static __device__ __forceinline__ bool pl_wait_limited(Done done, const pl_watch& watch, unsigned long long begin) {
  while (!done()) {
    if (watch.limit == 0) continue;
    pl_control* control = reinterpret_cast<pl_control*>(watch.control);
    const unsigned long long stop = *reinterpret_cast<volatile unsigned long long*>(&control->stop);
    const unsigned long long now = pl_now(), waited = now - begin;
    if (waited >= watch.limit) {
      atomicCAS(&control->stop, 0ull, now);
      return true;
    }
    if (stop == 0) continue;
    if (waited >= watch.limit / 8 || static_cast<long long>(now - stop) >= static_cast<long long>(watch.limit / 4))
      return true;  // before, it may be an ordinary wait
  }
  return false;
}

// If one lane leaves, all that wait with it do: a part of a warp could not go on.
template <class Done>
static __device__ __forceinline__ void pl_wait(Done done, unsigned parity, const char* watched, unsigned site,
                                               unsigned stage) {
  const pl_watch& watch = *reinterpret_cast<const pl_watch*>(watched);
  unsigned long long begin = 0;
  bool leaves = false;
  if (!done()) {
    begin = pl_now();
    leaves = pl_wait_limited(done, watch, begin);
  }
  const unsigned stuck = __ballot_sync(__activemask(), leaves);
  if (stuck) pl_leave(watch, site, stage, parity, stuck, pl_now() - begin);
}

static __device__ __forceinline__ void pl_mbarrier_wait(unsigned address, unsigned parity, const char* watched,
                                                        unsigned site, unsigned stage) {
  pl_wait([&] { return pl_mbarrier_try(address, parity); }, parity, watched, site, stage);
}
#endif
