#include <pipelink/component.cuh>

PL_COMPONENT(lit::scale) {
PL_ROLE(run, pl::warps<4>, pl::registers<64, 128>);
PL_ANSWER(apply, void(float (&)[4], int));
PL_PARAM(factor, float);
PL_ENTRY(run) {}
PL_DEFINE(apply)(pl::self self, float (&x)[4], int) -> void {
  for (int i = 0; i < 4; ++i) x[i] *= factor(self);
}
}
