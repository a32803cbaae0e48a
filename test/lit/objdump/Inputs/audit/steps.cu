#include <pipelink/component.cuh>
#include <pipelink/stores.cuh>
// Code that takes the steps of its protocol in another order, or not as often, or not with every thread.
using rows = pl::stream<pl::row_major<pl::tile<float, 8, 32>>>;
using pairs = pl::stream<pl::swizzle128<pl::tile<pl::bf16, 64, 64>>, pl::swizzle128<pl::tile<pl::bf16, 64, 64>>>;
PL_COMPONENT(lit::part_of_a_barrier) {
PL_ROLE(run, pl::warps<8>);
PL_BARRIER(met, pl::threads<256>);
PL_PROTOCOL(run, "met.sync;");
PL_ENTRY(run) {
  if (run::thread(self) < 128) met::sync(self);
}
}
PL_COMPONENT(lit::second_sync) {
PL_ROLE(run, pl::warps<4>);
PL_BARRIER(met, pl::threads<128>);
PL_PARAM(n, int);
PL_SMEM(all, float[128]);
PL_PARAM(out, float*);
PL_PROTOCOL(run, "repeat n { all.write; met.sync; all.read; met.sync; }");
PL_ENTRY(run) {
  const int t = run::thread(self);
  for (int i = 0; i < n(self); ++i) {
    all(self)[t] = i;
    met::sync(self);
    out(self)[i * 128 + t] = all(self)[127 - t];
  }
}
}
PL_COMPONENT(lit::sometimes) {
PL_ROLE(run, pl::warps<1>);
PL_IN(x, rows, pl::ring<1, 4>, pl::by_threads);
PL_PARAM(n, int);
PL_PARAM(keep, int);
PL_PROTOCOL(run, "repeat n { x.wait; x.release; }");
PL_ENTRY(run) {
  for (int i = 0; i < n(self); ++i) {
    pl::slot slot = x::wait(self);
    if (i != keep(self)) x::release(self, slot);
  }
}
}
PL_COMPONENT(lit::pass_first) {
PL_ROLE(run, pl::warps<1>);
PL_TOKEN_IN(mine);
PL_TOKEN_OUT(other);
PL_PARAM(n, int);
PL_PROTOCOL(run, "repeat n { mine.take; other.pass; }");
PL_ENTRY(run) {
  for (int i = 0; i < n(self); ++i) {
    other::pass(self);
    mine::take(self);
  }
}
}
PL_COMPONENT(lit::one_tile) {
PL_ROLE(load, pl::warps<1>, pl::one_thread);
PL_OUT(ab, pairs, pl::ring<2, 4>, pl::by_tma);
PL_PARAM(map_a, pl::tensor_map<ab, 0>);
PL_PARAM(map_b, pl::tensor_map<ab, 1>);
PL_PARAM(n, int);
PL_PROTOCOL(load, "repeat n { ab.acquire; ab.copy; }");
PL_ENTRY(load) {
  for (int i = 0; i < n(self); ++i) ab::copy<0>(self, ab::acquire(self), map_a(self), i * 64, 0);
}
}
PL_COMPONENT(lit::seven_boxes) {
PL_ROLE(load, pl::warps<1>, pl::one_thread);
PL_OUT(x, pl::stream<pl::swizzle128<pl::tile<pl::bf16, 64, 64>>>, pl::ring<2, 4>, pl::by_tma);
PL_PARAM(map, pl::tensor_map<x, 0, pl::box<8, 64>>);
PL_PARAM(n, int);
PL_PROTOCOL(load, "repeat n { x.acquire; x.copy; }");
PL_ENTRY(load) {
  for (int i = 0; i < n(self); ++i) {
    const pl::slot slot = x::acquire(self);
#pragma unroll 1
    for (int box = 0; box < 7; ++box) x::copy_at<0>(self, slot, box * 1024, map(self), 0, i * 64 + box * 8);
  }
}
}
PL_COMPONENT(lit::all_release) {
PL_ROLE(run, pl::warps<4>);
PL_IN(x, rows, pl::ring<1, 4>, pl::by_threads);
PL_PARAM(n, int);
PL_BARRIER(met, pl::threads<128>);
PL_PROTOCOL(run, "repeat n { x.wait; met.sync; x.release by 1 warp; }");
PL_ENTRY(run) {
  for (int i = 0; i < n(self); ++i) {
    pl::slot slot = x::wait(self);
    met::sync(self);
    x::release(self, slot);
  }
}
}
PL_COMPONENT(lit::fence_of_no_round) {
PL_ROLE(run, pl::warps<1>);
PL_SMEM(tile, float[32], pl::align<128>);
PL_PARAM(n, int);
PL_PARAM(out, float*);
PL_PROTOCOL(run, "tile.write; fence async; tile.read;");
PL_ENTRY(run) {
  const int t = run::thread(self);
  tile(self)[t] = t;
#pragma unroll 1
  for (int i = 0; i < n(self); ++i) pl::publish();
  __syncwarp();
  out(self)[t] = tile(self)[31 - t];
}
}
PL_COMPONENT(lit::early) {
PL_ROLE(store, pl::warps<1>, pl::one_thread);
PL_IN(x, pl::stream<pl::swizzle128<pl::tile<pl::bf16, 16, 64>>>, pl::ring<2, 4>, pl::by_tma);
PL_PARAM(n, int);
PL_PARAM(to, pl::tile_map<pl::swizzle128<pl::tile<pl::bf16, 16, 64>>>);
PL_PROTOCOL(store, "repeat n { x.wait; x.release; }");
PL_ENTRY(store) {
  for (int i = 0; i < n(self); ++i) {
    pl::slot slot = x::wait(self);
    pl::store_tile(to(self), x::address(self, slot), 0, i * 16);
    pl::commit_stores();
    pl::wait_stores<1>();
    x::release(self, slot);
  }
}
}
PL_COMPONENT(lit::before_the_product) {
PL_ROLE(mma, pl::warps<4>);
PL_IN(ab, pl::stream<pl::swizzle128<pl::tile<pl::bf16, 64, 64>>>, pl::ring<2, 4>, pl::by_wgmma);
PL_PARAM(n, int);
PL_PROTOCOL(mma, "repeat n { ab.wait; ab.release; }");
PL_ENTRY(mma) {
  float d[4] = {};
  for (int i = 0; i < n(self); ++i) {
    pl::slot slot = ab::wait(self);
    const unsigned long long at = (ab::address(self, slot) & 0x3FFFF) >> 4 | 1ull << 62 | 64ull << 32 | 1ull << 16;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, 1, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %4, p, 1, 1, 0, 0;\n}"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(at));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    ab::release(self, slot);
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
}
}
PL_COMPONENT(lit::nothing_said) {
PL_ROLE(run, pl::warps<4>);
PL_BARRIER(met, pl::threads<128>);
PL_SMEM(all, float[128]);
PL_PARAM(out, float*);
PL_ENTRY(run) {
  const int t = run::thread(self);
  all(self)[t] = t;
  met::sync(self);
  out(self)[t] = all(self)[127 - t];
}
}
PL_COMPONENT(lit::three_slots) {
PL_ROLE(send, pl::warps<1>);
PL_OUT(x, rows, pl::ring<1, 4>, pl::by_threads);
PL_ENTRY(send) {
  for (int i = 0; i < 3; ++i) {
    pl::slot slot = x::acquire(self);
    x::pointer<float>(self, slot)[send::thread(self)] = i;
    x::commit(self, slot);
  }
}
}
PL_COMPONENT(lit::by_data) {
PL_ROLE(run, pl::warps<4>);
PL_BARRIER(met, pl::threads<128>);
PL_PARAM(flags, const int*);
PL_PROTOCOL(run, "choose { met.sync; } or { }");
PL_ENTRY(run) {
  if (flags(self)[run::thread(self)]) met::sync(self);
}
}
PL_COMPONENT(lit::true_to_its_word) {
PL_ROLE(run, pl::warps<8>);
PL_IN(x, rows, pl::ring<1, 4>, pl::by_threads);
PL_BARRIER(met, pl::threads<256>);
PL_PARAM(n, int);
PL_PARAM(out, float*);
PL_PROTOCOL(run, "repeat n+ { x.wait; met.sync; x.release by 1 warp; repeat 3 { met.sync; } }");
PL_ENTRY(run) {
  float sum = 0;
  for (int i = 0; i < n(self); ++i) {
    pl::slot slot = x::wait(self);
    sum += x::pointer<float>(self, slot)[run::thread(self)];
    met::sync(self);
    if (run::warp(self) == 0) x::release(self, slot);
#pragma unroll 1
    for (int j = 0; j < 3; ++j) met::sync(self);
  }
  out(self)[run::thread(self)] = sum;
}
}
PL_COMPONENT(lit::unguarded) {
PL_ROLE(load, pl::warps<1>);
PL_OUT(x, pl::stream<pl::swizzle128<pl::tile<pl::bf16, 64, 64>>>, pl::ring<2, 4>, pl::by_tma);
PL_PARAM(map, pl::tensor_map<x>);
PL_PARAM(n, int);
PL_PROTOCOL(load, "repeat n { x.acquire by 1 thread; x.copy by 1 thread; }");
PL_ENTRY(load) {
  for (int i = 0; i < n(self); ++i) x::tma_load(self, map(self), 0, i * 64);
}
}
PL_COMPONENT(lit::guarded) {
PL_ROLE(load, pl::warps<1>);
PL_OUT(x, pl::stream<pl::swizzle128<pl::tile<pl::bf16, 64, 64>>>, pl::ring<2, 4>, pl::by_tma);
PL_PARAM(map, pl::tensor_map<x>);
PL_PARAM(n, int);
PL_PROTOCOL(load, "repeat n { x.acquire by 1 thread; x.copy by 1 thread; }");
PL_ENTRY(load) {
  if (load::thread(self) == 0)
    for (int i = 0; i < n(self); ++i) x::tma_load(self, map(self), 0, i * 64);
}
}
