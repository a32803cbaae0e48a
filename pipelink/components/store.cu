// Epilogue: out = accumulators, rounded to bf16.
#include "epilogue.cuh"

PL_COMPONENT(plc::store) {
PLC_OUTPUT(pl::bf16);

PL_DEFINE(store)(pl::self self, plc::chunk& values, int row, int col) -> void {
  plc::store_chunk(output(self), values, row, col);
}
}
