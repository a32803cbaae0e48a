// Epilogue: out = silu(gate) * up.  The weight is stored as [gate; up] rows; a gated loader brings them side by side.
#include "activations.cuh"
#include "epilogue.cuh"

PL_COMPONENT(plc::swiglu) {
PLC_GATED_OUTPUT(pl::bf16);

PL_DEFINE(store)(pl::self self, plc::chunk& values, int row, int col) -> void {
  plc::store_chunk(output(self), plc::gated(values, plc::silu_of), row, col / 2);
}
}
