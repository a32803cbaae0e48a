// The epilogues with f16 out, and f16 for what they read: bias and residual.
#include "activations.cuh"
#include "epilogue.cuh"

PL_COMPONENT(plc::store_f16) {
PLC_OUTPUT(pl::f16);

PL_DEFINE(store)(pl::self self, plc::chunk& values, int row, int col) -> void {
  plc::store_chunk(output(self), values, row, col);
}
}

PL_COMPONENT(plc::bias_relu_f16) {
PLC_OUTPUT(pl::f16);
PL_PARAM(bias, const pl::f16*);
PL_TENSOR(bias, pl::f16, "N", pl::read, pl::align<4>);

PL_DEFINE(store)(pl::self self, plc::chunk& values, int row, int col) -> void {
  plc::add_row(bias(self), cols(self), values, col);
#pragma unroll
  for (int j = 0; j < 32; ++j) values[j] = fmaxf(values[j], 0.0f);
  plc::store_chunk(output(self), values, row, col);
}
}

PL_COMPONENT(plc::gelu_f16) {
PLC_OUTPUT(pl::f16);

PL_DEFINE(store)(pl::self self, plc::chunk& values, int row, int col) -> void {
#pragma unroll
  for (int j = 0; j < 32; ++j) values[j] = plc::gelu_of(values[j]);
  plc::store_chunk(output(self), values, row, col);
}
}

PL_COMPONENT(plc::residual_add_f16) {
PLC_OUTPUT(pl::f16);
PL_PARAM(residual, const pl::f16*);
PL_PARAM(residual_stride, int);
PL_TENSOR(residual, pl::f16, "M, N", pl::read, pl::align<16>);
PL_BIND(residual_stride, "stride(residual, 0)");

PL_DEFINE(store)(pl::self self, plc::chunk& values, int row, int col) -> void {
  const plc::matrix_of<pl::f16> from = {residual(self), rows(self), cols(self), residual_stride(self)};
  plc::add_chunk(from, values, row, col);
  plc::store_chunk(output(self), values, row, col);
}
}

PL_COMPONENT(plc::swiglu_f16) {
PLC_GATED_OUTPUT(pl::f16);

PL_DEFINE(store)(pl::self self, plc::chunk& values, int row, int col) -> void {
  plc::store_chunk(output(self), plc::gated(values, plc::silu_of), row, col / 2);
}
}

PL_COMPONENT(plc::geglu_f16) {
PLC_GATED_OUTPUT(pl::f16);

PL_DEFINE(store)(pl::self self, plc::chunk& values, int row, int col) -> void {
  plc::store_chunk(output(self), plc::gated(values, plc::gelu_of), row, col / 2);
}
}
