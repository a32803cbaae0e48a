#include <pipelink/component.cuh>
struct work_item {
  int first, count;
};
PL_TYPE(work_item, "work_item");

PL_COMPONENT(test::everything) {
PL_ROLE(load, pl::warps<1>, pl::registers<24, 40>, pl::one_thread);
PL_ROLE(run, pl::warps<8>, pl::registers<168, 240>);
PL_OUT(ab, pl::stream<pl::swizzle128<pl::tile<pl::bf16, 128, 64>>, pl::row_major<pl::tile<float, 32>>>, pl::ring<2, 8>, pl::by_tma, pl::ends, pl::in_role<load>);
PL_IN(items, pl::stream<pl::item<work_item>>, pl::ring<1, 4>, pl::by_threads, pl::ends, pl::may_be_empty, pl::in_role<run>);
PL_LOCAL(pages, pl::stream<pl::swizzle64<pl::tile<pl::e4m3, 16, 64>>>, pl::ring<2, 4>, pl::by_cp_async, pl::in_role<run>);
PL_TOKEN_OUT(done);
PL_TOKEN_IN(turn, pl::credit<1>, pl::in_role<run>);
PL_CALL(next, pl::tile_coord(int, const work_item&));
PL_ANSWER(store, void(float (&)[128], pl::fragment<unsigned, 4>, work_item*));
PL_SMEM(scratch, float[128], pl::align<1024>, pl::live<0, 2>, pl::in_role<run>);
PL_STATE(rows, work_item);
PL_BARRIER(met, pl::threads<256>, pl::in_role<run>);
PL_MBARRIER(full, pl::arrivals<2>, pl::count<3>, pl::in_role<run>);
PL_CLUSTER_BARRIER(together, pl::in_role<run>);
PL_TURNS(order, pl::in_role<run>);
PL_TMEM(kept, 64, pl::live<1, 2>, pl::in_role<run>);
PL_PARAM(map, pl::tensor_map<ab, 1>);
PL_PARAM(half, pl::tensor_map<ab, 0, pl::box<64, 64>>);
PL_PARAM(whole, pl::tile_map<pl::swizzle64<pl::tile<pl::bf16, 16, 32>>>);
PL_PARAM(out, __nv_bfloat16*);
PL_PARAM(k_tiles, int);
PL_PARAM(first, work_item);
PL_TENSOR(a, pl::bf16, " M , 64", pl::readwrite);
PL_BIND(map, "a");
PL_BIND(half, "a");
PL_BIND(whole, "a");
PL_DERIVE(k_steps, "ceildiv(K, 64)");
PL_GRID("min(m_tiles * n_tiles, sms * occupancy)");
PL_CLUSTER(2);
PL_RESIDENT;
PL_STACK(48);
PL_WORKSPACE(counters, "m_tiles * 4", pl::zeroed);
PL_REQUIRE(k_major, 1);
PL_PROMISE(order, "row \"major\"");
PL_PROTOCOL(load, "ab.acquire; ab.copy; ab.end;");
PL_PROTOCOL(run, "turn.take; repeat 1 { items.wait; items.release; } pages.acquire; pages.commit; pages.wait;" " pages.release; next; scratch.write; met.sync by 8 warps; done.pass;");
PL_ENTRY(load) {
  auto slot = ab::acquire(self);
  ab::copy<1>(self, slot, map(self), 0);
  for (int i = 0; i < 2; ++i) ab::copy_at<0>(self, slot, i * 8192, half(self), 0, i * 64);
  ab::end(self);
}
PL_ENTRY(run) {
  turn::take(self);
  auto item = items::wait(self);
  if (items::ended(self, item)) return;
  work_item w = *items::pointer<work_item>(self, item);
  items::release(self, item);
  auto page = pages::acquire(self);
  pages::copy_async<0>(self, page, 16 * run::thread(self), out(self), w.count > 0);
  pages::commit(self, page);
  pages::release(self, pages::wait(self));
  rows(self) = w;
  scratch(self)[run::thread(self)] = float(next(self, k_tiles(self), w).m);
  met::sync(self);
  done::pass(self);
}
PL_DEFINE(store)(pl::self self, float (&acc)[128], pl::fragment<unsigned, 4> f, work_item* w) -> void {
  acc[0] += float(f[0] + w->first + first(self).count);
}
}
