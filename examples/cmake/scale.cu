// An epilogue's step: multiplies the accumulators that a mainloop hands over.
#include <pipelink/component.cuh>

PL_COMPONENT(example::scale) {
PL_ANSWER(apply, void(float (&)[128], int, int));
PL_CALL(store, void(float (&)[128], int, int));
PL_PARAM(factor, float);

PL_DEFINE(apply)(pl::self self, float (&accumulators)[128], int row, int column) -> void {
#pragma unroll
  for (int i = 0; i < 128; ++i) accumulators[i] *= factor(self);
  store(self, accumulators, row, column);
}
}
