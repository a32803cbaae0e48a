// Components that print and assert, for debug links.
#include <pipelink/component.cuh>

// Sends rows of x through a ring, and says so in each thread that is first in its warp.
PL_COMPONENT(test::talking_writer) {
PL_ROLE(send, pl::warps<4>, pl::registers<24, 40>);
PL_OUT(rows, pl::stream<pl::row_major<pl::tile<float, 128>>>, pl::ring<2, 4>, pl::by_threads);
PL_PARAM(x, const float*);
PL_PARAM(n, int);
PL_TENSOR(x, float, "N, 128", pl::read);
PL_BIND(n, "N");
PL_GRID("1");
PL_PROTOCOL(send, "repeat n { rows.acquire; rows.commit; }");
PL_ENTRY(send) {
  const int i = send::thread(self);
  for (int row = 0; row < n(self); ++row) {
    auto slot = rows::acquire(self);
    rows::pointer<float>(self, slot)[i] = x(self)[row * 128 + i];
    if (i % 32 == 0) printf("send %d, warp %d: %.1f\n", row, i / 32, x(self)[row * 128 + i]);
    rows::commit(self, slot);
  }
}
}

// Adds them up, in warps that hold many registers, and says each sum, and at the end whether none was negative.
PL_COMPONENT(test::talking_reader) {
PL_ROLE(add, pl::warps<8>, pl::registers<224, 240>);
PL_IN(rows, pl::stream<pl::row_major<pl::tile<float, 128>>>, pl::ring<2, 4>, pl::by_threads);
PL_PARAM(sums, float*);
PL_PARAM(n, int);
PL_TENSOR(sums, float, "N, 256", pl::write);
PL_BIND(n, "N");
PL_PROTOCOL(add, "repeat n { rows.wait; rows.release; }");
PL_ENTRY(add) {
  const int i = add::thread(self);
  float sum = 0;
  for (int row = 0; row < n(self); ++row) {
    auto slot = rows::wait(self);
    sum += rows::pointer<float>(self, slot)[i % 128];
    rows::release(self, slot);
    assert(sum >= 0 && "sums are positive");
    sums(self)[row * 256 + i] = sum;
    if (i == 255) printf("add %d: %s %.1f\n", row, "the sum is", sum);
  }
}
}
