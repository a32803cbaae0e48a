// Streams within a stream: segments of any length, each of which ends, in a stream that ends.  One role sends the
// values of all segments, one adds up those of each, one writes the sums.
#include <pipelink/component.cuh>

namespace acme {
enum kind : int { value, close };  // of the segment, or behind its last
struct item {
  kind what;
  float number;
};
}  // namespace acme
PL_TYPE(acme::item, "acme::item");

PL_COMPONENT(acme::segments) {
PL_ROLE(send, pl::warps<1>);
PL_OUT(items, pl::stream<pl::item<acme::item>>, pl::ring<2, 8>, pl::by_threads, pl::ends, pl::may_be_empty);
PL_PARAM(values, const float*);
PL_PARAM(lengths, const int*);
PL_PARAM(segments, int);
PL_TENSOR(values, float, "N", pl::read);
PL_TENSOR(lengths, int, "S", pl::read);
PL_BIND(segments, "S");
PL_GRID("1");
PL_ENTRY(send) {
  const float* next = values(self);
  for (int s = 0; s < segments(self); ++s) {
    for (int i = 0; i < lengths(self)[s]; ++i) {
      const pl::slot slot = items::acquire(self);
      if (send::thread(self) == 0) *items::pointer<acme::item>(self, slot) = {acme::value, *next};
      ++next;
      items::commit(self, slot);
    }
    const pl::slot slot = items::acquire(self);
    if (send::thread(self) == 0) *items::pointer<acme::item>(self, slot) = {acme::close, 0.f};
    items::commit(self, slot);
  }
  items::end(self);
}
}

PL_COMPONENT(acme::segment_sum) {
PL_ROLE(add, pl::warps<1>);
PL_IN(items, pl::stream<pl::item<acme::item>>, pl::ring<2, 8>, pl::by_threads, pl::ends, pl::may_be_empty);
PL_OUT(sums, pl::stream<pl::item<float>>, pl::ring<2, 4>, pl::by_threads, pl::ends, pl::may_be_empty);
PL_PROTOCOL(add, "until items { items.wait; choose { items.release; } "
                 "or { items.release; sums.acquire; sums.commit; } } sums.end;");
PL_ENTRY(add) {
  float sum = 0.f;
  for (;;) {
    const pl::slot from = items::wait(self);
    if (items::ended(self, from)) break;
    const acme::item found = *items::pointer<acme::item>(self, from);
    items::release(self, from);
    if (found.what == acme::value) {
      sum += found.number;
      continue;
    }
    const pl::slot to = sums::acquire(self);
    if (add::thread(self) == 0) *sums::pointer<float>(self, to) = sum;
    sums::commit(self, to);
    sum = 0.f;
  }
  sums::end(self);
}
}

PL_COMPONENT(acme::sum_writer) {
PL_ROLE(write, pl::warps<1>);
PL_IN(sums, pl::stream<pl::item<float>>, pl::ring<2, 4>, pl::by_threads, pl::ends, pl::may_be_empty);
PL_PARAM(out, float*);
PL_TENSOR(out, float, "S", pl::write);
PL_ENTRY(write) {
  for (int s = 0;; ++s) {
    const pl::slot slot = sums::wait(self);
    if (sums::ended(self, slot)) break;
    if (write::thread(self) == 0) out(self)[s] = *sums::pointer<float>(self, slot);
    sums::release(self, slot);
  }
}
}
