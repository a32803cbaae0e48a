#include <pipelink/component.cuh>
#include <pipelink/stores.cuh>
// Shared memory that lies where an instruction cannot take it, and another CTA's.
PL_COMPONENT(lit::under_a_swizzle) {
PL_ROLE(run, pl::warps<1>, pl::one_thread);
PL_SMEM(staging, unsigned char[2048], pl::align<128>);
PL_PARAM(to, pl::tile_map<pl::swizzle128<pl::tile<pl::bf16, 16, 64>>>);
PL_PROTOCOL(run, "staging.write; fence async; staging.read;");
PL_ENTRY(run) {
  *reinterpret_cast<float*>(staging(self)) = 1;
  pl::publish();
  pl::store_tile(to(self), staging_smem::address(self), 0, 0);
  pl::commit_stores();
  pl::wait_stores<0>();
}
}
PL_COMPONENT(lit::packed) {
struct __attribute__((packed)) state {
  unsigned flag;
  unsigned long long barrier;
};
PL_ROLE(run, pl::warps<1>, pl::one_thread);
PL_SMEM(mine, state, pl::align<16>);
PL_PROTOCOL(run, "mine.write;");
PL_ENTRY(run) {
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(mine_smem::address(self) + 4) : "memory");
}
}
PL_COMPONENT(lit::peers_buffer) {
PL_ROLE(run, pl::warps<1>);
PL_CLUSTER(2, 1, 1);
PL_SMEM(mine, float[32]);
PL_PARAM(out, float*);
PL_PROTOCOL(run, "mine.write;");
PL_ENTRY(run) {
  const int t = run::thread(self);
  mine(self)[t] = t;
  unsigned from;
  float found;
  asm volatile("mapa.shared::cluster.u32 %0, %1, 1;" : "=r"(from) : "r"(mine_smem::address(self) + 4 * t));
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(found) : "r"(from) : "memory");
  out(self)[t] = found;
}
}
PL_COMPONENT(lit::aligned) {
struct state {
  unsigned flag;
  unsigned long long barrier[2];
};
PL_ROLE(run, pl::warps<1>, pl::one_thread);
PL_SMEM(staging, unsigned char[2048], pl::align<1024>);
PL_SMEM(mine, state);
PL_PARAM(to, pl::tile_map<pl::swizzle128<pl::tile<pl::bf16, 16, 64>>>);
PL_PARAM(which, int);
PL_PROTOCOL(run, "mine.write; staging.read;");
PL_ENTRY(run) {
  asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(mine_smem::address(self) + 8 + 8 * which(self)) : "memory");
  pl::store_tile(to(self), staging_smem::address(self), 0, 0);
  pl::commit_stores();
  pl::wait_stores<0>();
}
}
// Buffers that are aligned to less than an instruction takes, or to enough, and used at another place.
#define LIT_PLACE(NAME, TYPE, ALIGN, TILE, WHERE)                                    \
  PL_COMPONENT(NAME) {                                                               \
  PL_ROLE(run, pl::warps<1>, pl::one_thread);                                        \
  PL_SMEM(staging, TYPE, pl::align<ALIGN>);                                          \
  PL_PARAM(to, pl::tile_map<pl::TILE<pl::tile<pl::bf16, 16, 64>>>);                  \
  PL_PARAM(row, int);                                                                \
  PL_PROTOCOL(run, "staging.read;");                                                 \
  PL_ENTRY(run) {                                                                    \
    const unsigned at = staging_smem::address(self);                                 \
    pl::store_tile(to(self), WHERE, 0, 0);                                           \
    pl::commit_stores();                                                             \
    pl::wait_stores<0>();                                                            \
  }                                                                                  \
  }
namespace lit {
struct inner { char head[64]; char tile[2048]; };
struct outer { char head[1024]; inner in[2]; };
}
LIT_PLACE(lit::plain_tile, unsigned char[2048], 16, row_major, at)
LIT_PLACE(lit::nested, lit::outer, 1024, swizzle128, at + 1024 + 64)
LIT_PLACE(lit::aligned_nested, lit::outer, 1024, swizzle128, at + 1024 + row(self) * 2048)
LIT_PLACE(lit::aligned_by_itself, unsigned char[4096], 16, swizzle128, (at + 1023) & ~1023u)
#define LIT_WORDS(NAME, ALIGN)                                                         \
  PL_COMPONENT(NAME) {                                                                 \
  PL_ROLE(run, pl::warps<1>);                                                          \
  PL_SMEM(words, float[128], pl::align<ALIGN>);                                        \
  PL_PARAM(out, float4*);                                                              \
  PL_PROTOCOL(run, "words.read;");                                                     \
  PL_ENTRY(run) {                                                                      \
    const int t = run::thread(self);                                                   \
    out(self)[t] = reinterpret_cast<float4*>(words(self))[31 - t];                     \
    unsigned a, b;                                                                     \
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"            \
                 : "=r"(a), "=r"(b) : "r"(words_smem::address(self) + t * 16) : "memory"); \
    out(self)[t].x = a + b;                                                            \
  }                                                                                    \
  }
LIT_WORDS(lit::words_of_four, 4)
LIT_WORDS(lit::aligned_words, 16)
