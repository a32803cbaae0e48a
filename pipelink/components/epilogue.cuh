// What every epilogue that writes `out` declares: the tensor, its bounds and its row stride.
#pragma once
#include "fragment.cuh"

#define PLC_OUTPUT()                                                                  \
  PL_ANSWER(store, void(plc::chunk&, int, int));                                      \
  PL_PARAM(out, pl::bf16*);                                                           \
  PL_PARAM(rows, int);                                                                \
  PL_PARAM(cols, int);                                                                \
  PL_PARAM(out_stride, int);                                                          \
  PL_TENSOR(out, pl::bf16, "M, N", pl::write, pl::align<16>);                         \
  PL_BIND(rows, "M");                                                                 \
  PL_BIND(cols, "N");                                                                 \
  PL_BIND(out_stride, "stride(out, 0)");                                              \
  static __device__ __forceinline__ plc::matrix output(pl::self self) {               \
    return {out(self), rows(self), cols(self), out_stride(self)};                     \
  }                                                                                   \
  static_assert(true, "")
