// Rotary position embedding: an active component whose angles need stack, and one that answers with the turned pair.
#include <pipelink/component.cuh>

// y[row] = x[row], each pair (i, i + 64) of its 128 values turned by position[row] / base^(i / 64).
PL_COMPONENT(test::rope) {
PL_ROLE(turn, pl::warps<2>);
PL_PARAM(x, const float*);
PL_PARAM(y, float*);
PL_PARAM(position, const int*);
PL_PARAM(rows, int);
PL_CALL(rotate, void(float&, float&, float));
PL_TENSOR(x, float, "N, 128", pl::read);
PL_TENSOR(y, float, "N, 128", pl::write);
PL_TENSOR(position, int, "N", pl::read);
PL_BIND(rows, "N");
PL_GRID("min(N, sms * 8)");
PL_ENTRY(turn) {
  const int i = turn::thread(self);
  const float frequency = exp2f(-13.287712379549449f / 64 * i);  // base 10,000
  for (int row = blockIdx.x; row < rows(self); row += gridDim.x) {
    float first = x(self)[row * 128 + i], second = x(self)[row * 128 + 64 + i];
    rotate(self, first, second, position(self)[row] * frequency);
    y(self)[row * 128 + i] = first;
    y(self)[row * 128 + 64 + i] = second;
  }
}
}

PL_COMPONENT(test::rotation) {
PL_ANSWER(rotate, void(float&, float&, float));
PL_STACK(32);
PL_DEFINE(rotate)(pl::self, float& first, float& second, float angle) -> void {
  const float c = cosf(angle), s = sinf(angle), x = first;
  first = x * c - second * s;
  second = second * c + x * s;
}
}
