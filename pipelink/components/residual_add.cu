// Epilogue: out = accumulators + residual, added in f32.  residual may be out itself.
#include "epilogue.cuh"

PL_COMPONENT(plc::residual_add) {
PLC_OUTPUT(pl::bf16);
PL_PARAM(residual, const pl::bf16*);
PL_PARAM(residual_stride, int);
PL_TENSOR(residual, pl::bf16, "M, N", pl::read, pl::align<16>);
PL_BIND(residual_stride, "stride(residual, 0)");

PL_DEFINE(store)(pl::self self, plc::chunk& values, int row, int col) -> void {
  const plc::matrix from = {residual(self), rows(self), cols(self), residual_stride(self)};
  plc::add_chunk(from, values, row, col);
  plc::store_chunk(output(self), values, row, col);
}
}
