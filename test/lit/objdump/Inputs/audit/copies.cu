#include <pipelink/component.cuh>
#include <pipelink/stores.cuh>
#include <pipelink/wgmma.cuh>
// Buffers of a component's own that asynchronous instructions fill or read.
#define LIT_GATHER(NAME, ...)                                                                                       \
  PL_COMPONENT(NAME) {                                                                                              \
  PL_ROLE(run, pl::warps<1>);                                                                                       \
  PL_SMEM(all, float[2][128], pl::align<16>);                                                                       \
  PL_PARAM(from, const float*);                                                                                     \
  PL_PARAM(n, int);                                                                                                 \
  PL_PARAM(out, float*);                                                                                            \
  PL_PROTOCOL(run, "all.write; all.read; repeat n { all.write; all.read; }");                                       \
  PL_ENTRY(run) {                                                                                                   \
    const int t = run::thread(self);                                                                                \
    auto fetch = [&](int i) {                                                                                       \
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(all_smem::address(self) + i % 2 * 512 + t * 16), \
                   "l"(from(self) + i * 128 + t * 4) : "memory");                                                   \
      asm volatile("cp.async.commit_group;" ::: "memory");                                                          \
    };                                                                                                              \
    fetch(0);                                                                                                       \
    for (int i = 0; i < n(self); ++i) {                                                                             \
      __VA_ARGS__                                                                                                   \
      __syncwarp();                                                                                                 \
      out(self)[i * 32 + t] = all(self)[i % 2][t];                                                                  \
    }                                                                                                               \
  }                                                                                                                 \
  }
LIT_GATHER(lit::right_two_stages, fetch(i + 1); asm volatile("cp.async.wait_group 1;" ::: "memory");)
LIT_GATHER(lit::right_wait_for_all, asm volatile("cp.async.wait_all;" ::: "memory");)
LIT_GATHER(lit::waits_for_none, fetch(i + 1);)
LIT_GATHER(lit::waits_for_too_few, asm volatile("cp.async.wait_group 1;" ::: "memory");)
#define LIT_BULK(NAME, PROTOCOL, ...)                                                                               \
  PL_COMPONENT(NAME) {                                                                                              \
  PL_ROLE(run, pl::warps<1>, pl::one_thread);                                                                       \
  PL_SMEM(all, float[128], pl::align<16>);                                                                          \
  PL_MBARRIER(full, pl::arrivals<1>);                                                                               \
  PL_PARAM(from, const float*);                                                                                     \
  PL_PARAM(out, float*);                                                                                            \
  PL_PROTOCOL(run, PROTOCOL);                                                                                       \
  PL_ENTRY(run) {                                                                                                   \
    full::expect(self, 0, 512);                                                                                     \
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];" ::"r"(  \
                     all_smem::address(self)), "l"(from(self)), "r"(full::address(self)) : "memory");               \
    __VA_ARGS__                                                                                                     \
    out(self)[0] = all(self)[4];                                                                                    \
  }                                                                                                                 \
  }
LIT_BULK(lit::right_bulk, "all.write; full.arrive; full.wait; all.read;", full::wait(self, 0, 0);)
LIT_BULK(lit::bulk_without_a_wait, "all.write; full.arrive; all.read;")
LIT_BULK(lit::bulk_not_said, "full.arrive; full.wait; all.read;", full::wait(self, 0, 0);)
#define LIT_PRODUCT(NAME, PROTOCOL, BETWEEN, ...)                                                                   \
  PL_COMPONENT(NAME) {                                                                                              \
  PL_ROLE(mma, pl::warps<4>);                                                                                       \
  PL_SMEM(a, unsigned[2048], pl::align<1024>);                                                                      \
  PL_BARRIER(met, pl::threads<128>);                                                                                \
  PL_PARAM(out, float*);                                                                                            \
  PL_PROTOCOL(mma, PROTOCOL);                                                                                       \
  PL_ENTRY(mma) {                                                                                                   \
    float d[32] = {};                                                                                               \
    const int t = mma::thread(self);                                                                                \
    for (int i = 0; i < 16; ++i) a(self)[i * 128 + t] = t;                                                          \
    BETWEEN                                                                                                         \
    met::sync(self);                                                                                                \
    const unsigned long long at = pl::wgmma::k_major(a_smem::address(self));                                        \
    pl::wgmma::fence();                                                                                             \
    pl::wgmma::multiply<pl::bf16>(d, at, at, true);                                                                 \
    pl::wgmma::commit();                                                                                            \
    __VA_ARGS__                                                                                                     \
    pl::wgmma::wait<0>();                                                                                           \
    for (int i = 0; i < 32; ++i) out(self)[t * 32 + i] = d[i];                                                      \
  }                                                                                                                 \
  }
LIT_PRODUCT(lit::right_product, "a.write; fence async; met.sync; a.read;", pl::publish();)
LIT_PRODUCT(lit::product_without_a_fence, "a.write; met.sync; a.read;", )
LIT_PRODUCT(lit::product_not_said, "a.write; fence async; met.sync;", pl::publish();)
LIT_PRODUCT(lit::written_under_a_product, "a.write; fence async; met.sync; a.read; a.write;", pl::publish();, a(self)[t] = 0;)
