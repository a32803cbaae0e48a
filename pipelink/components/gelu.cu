// Epilogue: out = gelu(accumulators), the tanh form.
#include "activations.cuh"
#include "epilogue.cuh"

PL_COMPONENT(plc::gelu) {
PLC_OUTPUT(pl::bf16);

PL_DEFINE(store)(pl::self self, plc::chunk& values, int row, int col) -> void {
#pragma unroll
  for (int j = 0; j < 32; ++j) values[j] = plc::gelu_of(values[j]);
  plc::store_chunk(output(self), values, row, col);
}
}
