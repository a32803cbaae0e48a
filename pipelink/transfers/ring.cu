// Rings in shared memory between roles on different warps, and tokens (rings without a payload).
//
// A slot has two mbarriers: `full` (its data are there) and `empty` (its readers are done).  A ring of n stages keeps
// its full barriers at full + 8 * stage and its empty ones at empty + 8 * stage.  Cursors start at stage 0, parity 0;
// a producer's first pass over the ring does not wait, because it waits for the phase before the first.
// Where a stream ends, one word a stage at end + 4 * stage says whether the slot is the end mark; end == 0: no such
// words.  All arguments but cursor, stage, map and coordinates are constants of the placement.
#include "device.cuh"

// The next free slot; for a slot that TMA fills (bytes > 0) its bytes are announced, which is the producer's arrival.
PL_TRANSFER unsigned pl_ring_acquire(char* where, unsigned empty, unsigned full, unsigned stages, unsigned bytes,
                            unsigned end PL_WATCH) {
  pl_cursor& cursor = *reinterpret_cast<pl_cursor*>(where);
  unsigned stage = cursor.stage;
  pl_mbarrier_wait(empty + 8 * stage, cursor.parity ^ 1 PL_WATCHED(stage));
  if (end) pl_store_shared(end + 4 * stage, 0);
  if (bytes) pl_mbarrier_expect(full + 8 * stage, bytes);
  pl_advance(cursor, stages);
  return stage;
}

// The same, once fewer than `flight` slots before it are still being filled: the slot so far back is full.  One of the
// lap before the first counts as full.
PL_TRANSFER unsigned pl_ring_acquire_within(char* where, unsigned empty, unsigned full, unsigned stages, unsigned bytes,
                                   unsigned end, unsigned flight PL_WATCH) {
  pl_cursor& cursor = *reinterpret_cast<pl_cursor*>(where);
  unsigned stage = cursor.stage;
  pl_mbarrier_wait(empty + 8 * stage, cursor.parity ^ 1 PL_WATCHED(stage));
  bool before = stage < flight;
  pl_mbarrier_wait(full + 8 * (before ? stage + stages - flight : stage - flight), cursor.parity ^ before PL_WATCHED(stage));
  if (end) pl_store_shared(end + 4 * stage, 0);
  if (bytes) pl_mbarrier_expect(full + 8 * stage, bytes);
  pl_advance(cursor, stages);
  return stage;
}

// The slot's data are written by threads; `fence` where TMA or tensor cores read them next (PTX ISA, async proxy).
PL_TRANSFER void pl_ring_commit(unsigned full, unsigned stage, unsigned unit, unsigned fence) {
  if (fence) pl_fence_proxy_async();
  pl_arrive_as(full + 8 * stage, unit);
}

// The slot's data are on their way by cp.async: this thread arrives when its copies so far are there (PTX ISA
// 9.7.13.15.16; noinc: the barrier counts this arrival).  That arrival releases the copies alone; what the thread wrote
// itself, it fences before (__threadfence_block).
PL_TRANSFER void pl_ring_async_commit(unsigned full, unsigned stage) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(full + 8 * stage) : "memory");
}

PL_TRANSFER unsigned pl_ring_wait(char* where, unsigned full, unsigned stages PL_WATCH) {
  pl_cursor& cursor = *reinterpret_cast<pl_cursor*>(where);
  unsigned stage = cursor.stage;
  pl_mbarrier_wait(full + 8 * stage, cursor.parity PL_WATCHED(stage));
  pl_advance(cursor, stages);
  return stage;
}

PL_TRANSFER void pl_ring_release(unsigned empty, unsigned stage, unsigned unit) {
  pl_arrive_as(empty + 8 * stage, unit);
}

// The end mark takes a slot of its own.  Every thread of the producer calls it, as it calls acquire.
PL_TRANSFER void pl_ring_end(char* where, unsigned empty, unsigned full, unsigned stages, unsigned unit, unsigned end PL_WATCH) {
  pl_cursor& cursor = *reinterpret_cast<pl_cursor*>(where);
  unsigned stage = cursor.stage;
  pl_mbarrier_wait(empty + 8 * stage, cursor.parity ^ 1 PL_WATCHED(stage));
  pl_store_shared(end + 4 * stage, 1);
  pl_arrive_as(full + 8 * stage, unit);
  pl_advance(cursor, stages);
}

PL_TRANSFER unsigned pl_ring_ended(unsigned stage, unsigned end) { return pl_load_shared(end + 4 * stage); }

// To this CTA's memory (PTX ISA 8.6): for shared::cluster, ptxas puts a call into the code of sm_120.
PL_TRANSFER void pl_ring_tma1(unsigned to, unsigned offset, const char* map, unsigned full, unsigned stage, int c0) {
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3}], [%2];" ::"r"(to + offset),
      "l"(map), "r"(full + 8 * stage), "r"(c0)
      : "memory");
}
PL_TRANSFER void pl_ring_tma2(unsigned to, unsigned offset, const char* map, unsigned full, unsigned stage, int c0,
                              int c1) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3,%4}], [%2];" ::"r"(to + offset),
      "l"(map), "r"(full + 8 * stage), "r"(c0), "r"(c1)
      : "memory");
}
PL_TRANSFER void pl_ring_tma3(unsigned to, unsigned offset, const char* map, unsigned full, unsigned stage, int c0,
                              int c1, int c2) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3,%4,%5}], [%2];" ::"r"(to + offset),
      "l"(map), "r"(full + 8 * stage), "r"(c0), "r"(c1), "r"(c2)
      : "memory");
}
PL_TRANSFER void pl_ring_tma4(unsigned to, unsigned offset, const char* map, unsigned full, unsigned stage, int c0,
                              int c1, int c2, int c3) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3,%4,%5,%6}], [%2];" ::"r"(to + offset),
      "l"(map), "r"(full + 8 * stage), "r"(c0), "r"(c1), "r"(c2), "r"(c3)
      : "memory");
}
PL_TRANSFER void pl_ring_tma5(unsigned to, unsigned offset, const char* map, unsigned full, unsigned stage, int c0,
                              int c1, int c2, int c3, int c4) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3,%4,%5,%6,%7}], [%2];" ::"r"(to + offset),
      "l"(map), "r"(full + 8 * stage), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4)
      : "memory");
}

// `bytes` of global memory as they lie there; sizes and addresses are multiples of 16 (PTX ISA 9.7.9.25.4.1).
PL_TRANSFER void pl_ring_bulk1(unsigned to, unsigned offset, const char* from, unsigned full, unsigned stage, int bytes) {
  asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to + offset),
               "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(full + 8 * stage)
               : "memory");
}

// The conversion: the producer's threads wrote a row-major staging tile; together they move it to its slot, 16 bytes
// at a time, each chunk where the swizzle puts it, and then commit.  mask is 0x70, 0x30 or 0x10 for 128, 64 or 32
// byte rows: the swizzle exchanges address bits 4..6 with bits 7..9 (PTX ISA, shared-memory swizzling modes).
// The barrier (id, threads) is the producer's own.  It is met before the copy, so that all of the tile is written,
// and after it, so that the next tile does not overwrite what a slower warp still copies.
PL_TRANSFER void pl_ring_convert_commit(unsigned staging, unsigned to, unsigned bytes, unsigned mask, unsigned thread,
                                        unsigned barrier, unsigned threads, unsigned full, unsigned stage, unsigned unit,
                                        unsigned fence) {
  pl_barrier_sync(barrier, threads);
  for (unsigned at = thread * 16; at < bytes; at += threads * 16) {
    unsigned a, b, c, d;
    asm volatile("ld.shared.v4.b32 {%0,%1,%2,%3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(staging + at) : "memory");
    asm volatile("st.shared.v4.b32 [%0], {%1,%2,%3,%4};" ::"r"(to + (at ^ ((at >> 3) & mask))), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
  }
  if (fence) pl_fence_proxy_async();
  pl_arrive_as(full + 8 * stage, unit);
  pl_barrier_sync(barrier, threads);
}

// Tokens: one mbarrier, no payload.  The taker's cursor starts with parity 1 where it has a first credit.
PL_TRANSFER void pl_token_pass(unsigned full, unsigned unit) { pl_arrive_as(full, unit); }
PL_TRANSFER void pl_token_take(char* where, unsigned full PL_WATCH) {
  pl_cursor& cursor = *reinterpret_cast<pl_cursor*>(where);
  pl_mbarrier_wait(full, cursor.parity PL_WATCHED(0));
  cursor.parity ^= 1;
}
