// Epilogue: out = max(accumulators + bias, 0), bias one bf16 value a column.
#include "epilogue.cuh"

PL_COMPONENT(plc::bias_relu) {
PLC_OUTPUT(pl::bf16);
PL_PARAM(bias, const pl::bf16*);
PL_TENSOR(bias, pl::bf16, "N", pl::read, pl::align<4>);

PL_DEFINE(store)(pl::self self, plc::chunk& values, int row, int col) -> void {
  plc::add_row(bias(self), cols(self), values, col);
#pragma unroll
  for (int j = 0; j < 32; ++j) values[j] = fmaxf(values[j], 0.0f);
  plc::store_chunk(output(self), values, row, col);
}
}
