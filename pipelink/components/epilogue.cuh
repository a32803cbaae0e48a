// What every epilogue that writes `out` declares: the tensor, its bounds, its row stride, and how the columns of the
// accumulators belong to those of `out`.
#pragma once
#include "fragment.cuh"

// Column c of the accumulators is column c of `out`.
#define PLC_OUTPUT(ELEMENT)            \
  PL_REQUIRE(plc_columns, "plain");    \
  PLC_OUTPUT_(ELEMENT)
// Every 64 columns of the accumulators are 32 of a gate and 32 of what it gates, for 32 columns of `out`.
#define PLC_GATED_OUTPUT(ELEMENT)      \
  PL_REQUIRE(plc_columns, "gated32");  \
  PLC_OUTPUT_(ELEMENT)
#define PLC_OUTPUT_(ELEMENT)                                                          \
  PL_ANSWER(store, void(plc::chunk&, int, int));                                      \
  PL_PARAM(out, ELEMENT*);                                                            \
  PL_PARAM(rows, int);                                                                \
  PL_PARAM(cols, int);                                                                \
  PL_PARAM(out_stride, int);                                                          \
  PL_TENSOR(out, ELEMENT, "M, N", pl::write, pl::align<16>);                          \
  PL_BIND(rows, "M");                                                                 \
  PL_BIND(cols, "N");                                                                 \
  PL_BIND(out_stride, "stride(out, 0)");                                              \
  static __device__ __forceinline__ plc::matrix_of<ELEMENT> output(pl::self self) {   \
    return {out(self), rows(self), cols(self), out_stride(self)};                     \
  }                                                                                   \
  static_assert(true, "")
