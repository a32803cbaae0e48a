// Warpgroup matrix multiplication of sm_90a on e4m3 tiles in shared memory, f32 accumulators in registers.
// Operands lie as bf16's do (pipelink/wgmma.cuh): rows of 128 bytes, here 128 elements, under the 128-byte swizzle;
// adding 2 to a descriptor moves 32 elements.  The tensor cores cut what they add to about 13 bits behind the leading one (as
// measured; the PTX ISA promises nothing), so long sums lose more than f32 does: promote them where that matters.
#pragma once
#include <pipelink/wgmma.cuh>

namespace plc {

using pl::wgmma::descriptor;
#define PLC_D4_(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define PLC_D16_(i) PLC_D4_(i), PLC_D4_(i + 4), PLC_D4_(i + 8), PLC_D4_(i + 12)
// 64 x 256 x 32: acc = a * b^T, or += where `accumulate` is not 0.
__device__ __forceinline__ void wgmma_e4m3(float (&d)[128], descriptor a, descriptor b, int accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e4m3 {"
      "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
      "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
      "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
      "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63,"
      "%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,"
      "%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,"
      "%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111,"
      "%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
      "}, %128, %129, p, 1, 1;\n}\n"
      : PLC_D16_(0), PLC_D16_(16), PLC_D16_(32), PLC_D16_(48),
        PLC_D16_(64), PLC_D16_(80), PLC_D16_(96), PLC_D16_(112)
      : "l"(a), "l"(b), "r"(accumulate));
}
// 64 x 128 x 32: acc = a * b^T, or += where `accumulate` is not 0.
__device__ __forceinline__ void wgmma_e4m3(float (&d)[64], descriptor a, descriptor b, int accumulate) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 {"
      "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
      "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31,"
      "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
      "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
      "}, %64, %65, p, 1, 1;\n}\n"
      : PLC_D16_(0), PLC_D16_(16), PLC_D16_(32), PLC_D16_(48)
      : "l"(a), "l"(b), "r"(accumulate));
}
#undef PLC_D16_
#undef PLC_D4_

}  // namespace plc
