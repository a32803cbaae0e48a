// pipelink/wgmma.cuh: warpgroup matrix multiplication of sm_90a, d = a * b or d += a * b.
//
//   float d[64];                                              // 64 x 128, of the warpgroup that calls
//   pl::wgmma::fence();
//   const auto a = pl::wgmma::k_major(a::address(self, slot)), b = pl::wgmma::k_major(b::address(self, slot));
//   for (int k = 0; k < 4; ++k) pl::wgmma::multiply<pl::bf16>(d, a + 2 * k, b + 2 * k, k != 0);
//   pl::wgmma::commit();
//   pl::wgmma::wait<0>();                                     // d can be read, a and b be written
//
// PTX ISA 9.7.15.5 (asynchronous warpgroup level matrix instructions).  M is 64, K is 16 elements of bf16 or f16, N is
// 8, 16, 32, 64, 96, 128, 192 or 256: twice the length of d.  Value 4g + 2h + e of d is, in lane l of warp w, row
// 16w + l / 4 + 8h, column 8g + 2 * (l % 4) + e.
//
// Operands in shared memory lie under the 128-byte swizzle: tiles pl::swizzle128<pl::tile<T, rows, 64>>, whose rows are
// 128 bytes.  K-major: rows are rows of A (or columns of B), a row holds 64 elements along K, of which an instruction
// reads 16.  MN-major: rows are along K, a row holds 64 elements along M (or N).
// A in registers: word i of lane l in warp w holds two elements of row 16w + l / 4 + 8 * (i % 2), columns
// 2 * (l % 4) + 8 * (i / 2) and the next, the first in the low half.  So d's values, packed in pairs, are the A of a
// product that follows: words 0 to 3 for K = 16 are its values 0 to 7.
#pragma once
#include <pipelink/types.cuh>

namespace pl {
namespace wgmma {

using descriptor = unsigned long long;  // of an operand in shared memory (PTX ISA, matrix descriptor)

// A tile's descriptor; `address` is a multiple of 1024.  Groups of 8 rows lie 1024 bytes apart.  Adding 2 moves 16
// elements along K (32 bytes, in units of 16).
__device__ __forceinline__ descriptor k_major(unsigned address) {
  return descriptor((address & 0x3FFFF) >> 4) | descriptor(1) << 16 | descriptor(1024 >> 4) << 32 | descriptor(1) << 62;
}
// The same, MN-major: each 64 elements along M or N are a tile of their own, `block` bytes behind the one before.
// Adding 128 moves 16 elements along K (16 rows of 128 bytes, in units of 16).
__device__ __forceinline__ descriptor mn_major(unsigned address, unsigned block) {
  return descriptor((address & 0x3FFFF) >> 4) | descriptor((block & 0x3FFFF) >> 4) << 16 | descriptor(1024 >> 4) << 32 |
         descriptor(1) << 62;
}
// Before the first multiply, and again after the registers of d or a were written by other instructions.
__device__ __forceinline__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
// What was multiplied since the last commit is a group.
__device__ __forceinline__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Waits until at most N committed groups of this warpgroup are unfinished.
template <int N>
__device__ __forceinline__ void wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}

// multiply<T, AMn, BMn>(d, a, b, accumulate): d = a * b, or += where `accumulate` is not 0; a is a descriptor, or four
// words of registers, which are K-major.  AMn and BMn: that operand is MN-major.
#define PL_WGMMA_SHARED_(TEXT, N, D, A, B, ACC, TA, TB)                                                           \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" ACC ", 0;\n"                                                   \
               "wgmma.mma_async.sync.aligned.m64n" N "k16.f32." TEXT "." TEXT                                     \
               " {" D "}, %" A ", %" B ", p, 1, 1, %" TA ", %" TB ";\n}\n"
#define PL_WGMMA_REGISTERS_(TEXT, N, D, A, B, ACC, TB)                                                            \
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %" ACC ", 0;\n"                                                   \
               "wgmma.mma_async.sync.aligned.m64n" N "k16.f32." TEXT "." TEXT                                     \
               " {" D "}, {" A "}, %" B ", p, 1, 1, %" TB ";\n}\n"
#define PL_WGMMA_(COUNT, N, D, OUT, I0, I1, I2, I3, I4, I5, I6)                                                      \
  template <class T, bool AMn = false, bool BMn = false>                                                             \
  __device__ __forceinline__ void multiply(float (&d)[COUNT], descriptor a, descriptor b, int accumulate) {          \
    static_assert(detail::same<T, bf16>::value || detail::same<T, f16>::value, "pl::wgmma: pl::bf16 or pl::f16");   \
    if constexpr (detail::same<T, bf16>::value)                                                                      \
      PL_WGMMA_SHARED_("bf16", N, D, I0, I1, I2, I3, I4)                                                          \
          : OUT : "l"(a), "l"(b), "r"(accumulate), "n"(int(AMn)), "n"(int(BMn)));                                    \
    else                                                                                                             \
      PL_WGMMA_SHARED_("f16", N, D, I0, I1, I2, I3, I4)                                                           \
          : OUT : "l"(a), "l"(b), "r"(accumulate), "n"(int(AMn)), "n"(int(BMn)));                                    \
  }                                                                                                                  \
  template <class T, bool BMn = false>                                                                               \
  __device__ __forceinline__ void multiply(float (&d)[COUNT], const unsigned (&a)[4], descriptor b, int accumulate) { \
    static_assert(detail::same<T, bf16>::value || detail::same<T, f16>::value, "pl::wgmma: pl::bf16 or pl::f16");   \
    if constexpr (detail::same<T, bf16>::value)                                                                      \
      PL_WGMMA_REGISTERS_("bf16", N, D, "%" I0 ",%" I1 ",%" I2 ",%" I3, I4, I5, I6)                               \
          : OUT : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate), "n"(int(BMn)));               \
    else                                                                                                             \
      PL_WGMMA_REGISTERS_("f16", N, D, "%" I0 ",%" I1 ",%" I2 ",%" I3, I4, I5, I6)                                \
          : OUT : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate), "n"(int(BMn)));               \
  }
#define PL_D4_(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define PL_D16_(i) PL_D4_(i), PL_D4_(i + 4), PL_D4_(i + 8), PL_D4_(i + 12)
#define PL_D32_(i) PL_D16_(i), PL_D16_(i + 16)
#define PL_WGMMA_D4_ \
  "%0,%1,%2,%3"
#define PL_WGMMA_D8_ \
  PL_WGMMA_D4_ ",%4,%5,%6,%7"
#define PL_WGMMA_D16_ \
  PL_WGMMA_D8_ ",%8,%9,%10,%11,%12,%13,%14,%15"
#define PL_WGMMA_D32_ \
  PL_WGMMA_D16_ ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define PL_WGMMA_D48_ \
  PL_WGMMA_D32_ ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47"
#define PL_WGMMA_D64_ \
  PL_WGMMA_D48_ ",%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define PL_WGMMA_D96_ \
  PL_WGMMA_D64_ ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79," \
  "%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95"
#define PL_WGMMA_D128_ \
  PL_WGMMA_D96_ ",%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111," \
  "%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
#define PL_WGMMA_OUT4_ PL_D4_(0)
#define PL_WGMMA_OUT8_ PL_D4_(0), PL_D4_(4)
#define PL_WGMMA_OUT16_ PL_D16_(0)
#define PL_WGMMA_OUT32_ PL_D32_(0)
#define PL_WGMMA_OUT48_ PL_D32_(0), PL_D16_(32)
#define PL_WGMMA_OUT64_ PL_D32_(0), PL_D32_(32)
#define PL_WGMMA_OUT96_ PL_D32_(0), PL_D32_(32), PL_D32_(64)
#define PL_WGMMA_OUT128_ PL_D32_(0), PL_D32_(32), PL_D32_(64), PL_D32_(96)
PL_WGMMA_(4, "8", PL_WGMMA_D4_, PL_WGMMA_OUT4_, "4", "5", "6", "7", "8", "9", "10")
PL_WGMMA_(8, "16", PL_WGMMA_D8_, PL_WGMMA_OUT8_, "8", "9", "10", "11", "12", "13", "14")
PL_WGMMA_(16, "32", PL_WGMMA_D16_, PL_WGMMA_OUT16_, "16", "17", "18", "19", "20", "21", "22")
PL_WGMMA_(32, "64", PL_WGMMA_D32_, PL_WGMMA_OUT32_, "32", "33", "34", "35", "36", "37", "38")
PL_WGMMA_(48, "96", PL_WGMMA_D48_, PL_WGMMA_OUT48_, "48", "49", "50", "51", "52", "53", "54")
PL_WGMMA_(64, "128", PL_WGMMA_D64_, PL_WGMMA_OUT64_, "64", "65", "66", "67", "68", "69", "70")
PL_WGMMA_(96, "192", PL_WGMMA_D96_, PL_WGMMA_OUT96_, "96", "97", "98", "99", "100", "101", "102")
PL_WGMMA_(128, "256", PL_WGMMA_D128_, PL_WGMMA_OUT128_, "128", "129", "130", "131", "132", "133", "134")
#undef PL_WGMMA_D4_
#undef PL_WGMMA_OUT4_
#undef PL_WGMMA_D8_
#undef PL_WGMMA_OUT8_
#undef PL_WGMMA_D16_
#undef PL_WGMMA_OUT16_
#undef PL_WGMMA_D32_
#undef PL_WGMMA_OUT32_
#undef PL_WGMMA_D48_
#undef PL_WGMMA_OUT48_
#undef PL_WGMMA_D64_
#undef PL_WGMMA_OUT64_
#undef PL_WGMMA_D96_
#undef PL_WGMMA_OUT96_
#undef PL_WGMMA_D128_
#undef PL_WGMMA_OUT128_
#undef PL_WGMMA_
#undef PL_WGMMA_REGISTERS_
#undef PL_WGMMA_SHARED_
#undef PL_D32_
#undef PL_D16_
#undef PL_D4_

}  // namespace wgmma
}  // namespace pl
