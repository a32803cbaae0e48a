// Components for tests: a ring with different consumers, scratch memory with a named barrier, streams of work items,
// per-thread state.
#include <pipelink/component.cuh>

using page = pl::stream<pl::row_major<pl::tile<float, 32, 32>>>;

// Writes `pages` pages of 32 x 32 floats, read from memory, into its ring.
PL_COMPONENT(test::pages) {
PL_ROLE(fill, pl::warps<4>, pl::registers<24, 64>);
PL_OUT(x, page, pl::ring<2, 4>, pl::by_threads);
PL_PARAM(source, const float*);
PL_PARAM(pages, int);
PL_TENSOR(input, float, "pages, 1024", pl::read);
PL_BIND(source, "input");
PL_PROTOCOL(fill, "repeat pages { x.acquire; x.commit; }");

PL_ENTRY(fill) {
  int t = fill::thread(self);
  for (int i = 0; i < pages(self); ++i) {
    auto slot = x::acquire(self);
    float* to = x::pointer<float>(self, slot);
#pragma unroll
    for (int j = 0; j < 8; ++j) to[t + 128 * j] = source(self)[i * 1024 + t + 128 * j];
    x::commit(self, slot);
  }
}
}

// Column sums of every page.
PL_COMPONENT(test::column_sum) {
PL_ROLE(run, pl::warps<1>, pl::registers<24, 64>);
PL_IN(x, page, pl::ring<1, 8>, pl::by_threads);
PL_PARAM(sums, float*);
PL_PARAM(pages, int);
PL_TENSOR(sum, float, "pages, 32", pl::write);
PL_BIND(sums, "sum");
PL_PROTOCOL(run, "repeat pages { x.wait; x.release; }");

PL_ENTRY(run) {
  int t = run::thread(self);
  for (int i = 0; i < pages(self); ++i) {
    auto slot = x::wait(self);
    const float* p = x::pointer<float>(self, slot);
    float total = 0.f;
#pragma unroll
    for (int r = 0; r < 32; ++r) total += p[r * 32 + t];
    x::release(self, slot);
    sums(self)[i * 32 + t] = total;
  }
}
}

// Column maxima of every page, by four warps that meet at a named barrier and exchange through scratch memory.
PL_COMPONENT(test::column_max) {
PL_ROLE(run, pl::warps<4>, pl::registers<24, 64>);
PL_IN(x, page, pl::ring<2, 8>, pl::by_threads);
PL_SMEM(scratch, float[128], pl::align<128>);
PL_BARRIER(met, pl::threads<128>);
PL_PARAM(maxima, float*);
PL_PARAM(pages, int);
PL_TENSOR(maximum, float, "pages, 32", pl::write);
PL_BIND(maxima, "maximum");
PL_PROTOCOL(run, "repeat pages { x.wait; x.release; scratch.write; met.sync; scratch.read by 1 warp; met.sync; }");

PL_ENTRY(run) {
  int t = run::thread(self), lane = t % 32, warp = t / 32;
  for (int i = 0; i < pages(self); ++i) {
    auto slot = x::wait(self);
    const float* p = x::pointer<float>(self, slot);
    float best = p[warp * 8 * 32 + lane];
#pragma unroll
    for (int r = 1; r < 8; ++r) best = fmaxf(best, p[(warp * 8 + r) * 32 + lane]);
    x::release(self, slot);
    scratch(self)[t] = best;
    met::sync(self);
    if (warp == 0) {
      for (int w = 1; w < 4; ++w) best = fmaxf(best, scratch(self)[w * 32 + lane]);
      maxima(self)[i * 32 + lane] = best;
    }
    met::sync(self);
  }
}
}

// A stream whose length only the producer knows: it sends `counts[CTA]` items and ends.
struct work_item {
  int value, weight;
};
PL_TYPE(work_item, "work_item");

PL_COMPONENT(test::items) {
PL_ROLE(send, pl::warps<1>, pl::registers<24, 40>);
PL_OUT(work, pl::stream<pl::item<work_item>>, pl::ring<2, 4>, pl::by_threads, pl::ends, pl::may_be_empty);
PL_PARAM(lengths, const int*);
PL_TENSOR(counts, int, "ctas", pl::read);
PL_BIND(lengths, "counts");
PL_GRID("ctas");

PL_ENTRY(send) {
  int n = lengths(self)[blockIdx.x];
  for (int i = 0; i < n; ++i) {
    auto slot = work::acquire(self);
    if (send::thread(self) == 0) *work::pointer<work_item>(self, slot) = {i + 1, 2};
    work::commit(self, slot);
  }
  work::end(self);
}
}

PL_COMPONENT(test::weigh) {
PL_ROLE(run, pl::warps<1>, pl::registers<24, 64>);
PL_IN(work, pl::stream<pl::item<work_item>>, pl::ring<1, 8>, pl::by_threads, pl::ends, pl::may_be_empty);
PL_PARAM(totals, int*);
PL_TENSOR(total, int, "ctas", pl::write);
PL_BIND(totals, "total");

PL_ENTRY(run) {
  int sum = 0;
  for (;;) {
    auto slot = work::wait(self);
    if (work::ended(self, slot)) break;
    const work_item* item = work::pointer<work_item>(self, slot);
    sum += item->value * item->weight;
    work::release(self, slot);
  }
  if (run::thread(self) == 0) totals(self)[blockIdx.x] = sum;
}
}

// A passive component with per-thread state that survives between calls, and the role that calls it.
PL_COMPONENT(test::running_mean) {
PL_ANSWER(reset, void());
PL_ANSWER(add, float(float));
PL_STATE(mean, float2);

PL_DEFINE(reset)(pl::self self) -> void { mean(self) = {0.f, 0.f}; }
PL_DEFINE(add)(pl::self self, float x) -> float {
  float2& m = mean(self);
  m.x += x;
  m.y += 1.f;
  return m.x / m.y;
}
}
PL_COMPONENT(test::series) {
PL_ROLE(run, pl::warps<1>, pl::registers<24, 64>);
PL_CALL(reset, void());
PL_CALL(add, float(float));
PL_PARAM(values, const float*);
PL_PARAM(means, float*);
PL_PARAM(count, int);
PL_TENSOR(value, float, "count, 32", pl::read);
PL_TENSOR(result, float, "count, 32", pl::write);
PL_BIND(values, "value");
PL_BIND(means, "result");
PL_PROTOCOL(run, "reset; repeat count { add; }");

PL_ENTRY(run) {
  int t = run::thread(self);
  reset(self);
  for (int i = 0; i < count(self); ++i) means(self)[i * 32 + t] = add(self, values(self)[i * 32 + t]);
}
}
