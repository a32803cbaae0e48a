// Components for what a launch needs: workspaces, residency, clusters, scalars, grids that follow the device.
#include <pipelink/component.cuh>

// out[i] = a value that another component gives.
PL_COMPONENT(test::fill) {
PL_ROLE(run, pl::warps<4>);
PL_CALL(value, float(int));
PL_PARAM(out, float*);
PL_PARAM(n, int);
PL_TENSOR(out, float, "N", pl::write);
PL_BIND(n, "N");
PL_GRID("ceildiv(N, 128)");
PL_ENTRY(run) {
  int i = blockIdx.x * 128 + run::thread(self);
  if (i < n(self)) out(self)[i] = value(self, i);
}
}

PL_COMPONENT(test::affine) {
PL_ANSWER(value, float(int));
PL_PARAM(alpha, float);
PL_PARAM(beta, int);
PL_DEFINE(value)(pl::self self, int i) -> float { return alpha(self) * i + beta(self); }
}

// Every CTA takes a ticket from a counter that must be zero when the launch begins.
PL_COMPONENT(test::tickets) {
PL_ROLE(run, pl::warps<1>, pl::one_thread);
PL_PARAM(out, int*);
PL_PARAM(counter, int*);
PL_TENSOR(out, int, "N", pl::write);
PL_WORKSPACE(counter, "4", pl::zeroed);
PL_GRID("N");
PL_ENTRY(run) { out(self)[blockIdx.x] = atomicAdd(counter(self), 1); }
}

// All CTAs meet twice: works only if all of them run at once.
PL_COMPONENT(test::meeting) {
PL_ROLE(run, pl::warps<1>, pl::one_thread);
PL_PARAM(out, int*);
PL_PARAM(arrived, int*);
PL_TENSOR(out, int, "N", pl::write);
PL_WORKSPACE(arrived, "8", pl::zeroed);
PL_RESIDENT;
PL_GRID("N");
PL_ENTRY(run) {
  volatile int* at = arrived(self);
  for (int round = 0; round < 2; ++round) {
    __threadfence();
    atomicAdd(arrived(self) + round, 1);
    while (at[round] < int(gridDim.x)) {}
  }
  out(self)[blockIdx.x] = at[0] + at[1];
}
}

// out[CTA] = rank in the cluster.
PL_COMPONENT(test::ranks) {
PL_ROLE(run, pl::warps<1>, pl::one_thread);
PL_PARAM(out, int*);
PL_TENSOR(out, int, "N", pl::write);
PL_CLUSTER(2, 1, 1);
PL_GRID("N");
PL_ENTRY(run) {
  int rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  out(self)[blockIdx.x] = rank;
}
}

// out[0] = the grid's size, which follows the device.
PL_COMPONENT(test::persistent) {
PL_ROLE(run, pl::warps<1>, pl::one_thread);
PL_PARAM(out, int*);
PL_TENSOR(out, int, "N", pl::write);
PL_GRID("sms * occupancy");
PL_ENTRY(run) {
  if (blockIdx.x == 0) out(self)[0] = gridDim.x;
}
}

// Sums two answers; each is a large body, instantiated from one object.
PL_COMPONENT(test::sum) {
PL_ROLE(run, pl::warps<4>);
PL_CALL(first, unsigned(unsigned));
PL_CALL(second, unsigned(unsigned));
PL_PARAM(out, unsigned*);
PL_PARAM(n, int);
PL_TENSOR(out, unsigned, "N", pl::write);
PL_BIND(n, "N");
PL_GRID("ceildiv(N, 128)");
PL_PROTOCOL(run, "first; second;");
PL_ENTRY(run) {
  int i = blockIdx.x * 128 + run::thread(self);
  unsigned value = first(self, i) + second(self, i);  // by every thread: the answers synchronise
  if (i < n(self)) out(self)[i] = value;
}
}

PL_COMPONENT(test::scramble) {
PL_ANSWER(value, unsigned(unsigned));
PL_PARAM(salt, int);
PL_STATE(calls, unsigned);
PL_SMEM(table, unsigned[64], pl::align<16>);
PL_BARRIER(filled, pl::threads<128>);
PL_PROTOCOL(value, "table.write by 2 warps; filled.sync; table.read;");
PL_DEFINE(value)(pl::self self, unsigned x) -> unsigned {
  const unsigned t = threadIdx.x % 128;
  if (t < 64) table(self)[t] = t * salt(self);
  filled::sync(self);
  calls(self) = x;
#pragma unroll
  for (unsigned i = 0; i < 1200; ++i) x = (x ^ x >> 7) * 1664525u + (i ^ unsigned(salt(self)));
  return x + table(self)[t & 63] + calls(self);
}
}
