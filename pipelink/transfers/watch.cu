// What only a debug link calls: a role's timeline, and the note that a warp is done.  See watch.cuh.
//
// The frame holds a cursor for the thread's lane: `stage` counts its events, `parity` is the lane's number, or none.
// The first thread of each warpgroup of a role has a lane.  Events carry the SM's 32-bit clock; a lane's first and last
// clock stand beside the global timer, whose resolution is coarser.
#include "device.cuh"
#include "watch.cuh"

enum : unsigned { pl_no_lane = ~0u };

PL_TRANSFER_INLINE pl_lane* pl_lane_at(const pl_watch& watch, unsigned lane) {
  const size_t bytes = sizeof(pl_lane) + size_t(watch.event_capacity) * sizeof(pl_event);
  return reinterpret_cast<pl_lane*>(watch.events + (size_t(pl_cta()) * watch.lanes + lane) * bytes);
}

PL_TRANSFER unsigned pl_clock() {
  unsigned now;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(now)::"memory");
  return now;
}

// The role whose threads begin at `first`, and its lanes at number `lane`, begins.
PL_TRANSFER void pl_lane_begin(const char* watched, char* where, unsigned lane, unsigned first) {
  const pl_watch& watch = *reinterpret_cast<const pl_watch*>(watched);
  pl_cursor& cursor = *reinterpret_cast<pl_cursor*>(where);
  const unsigned thread = threadIdx.x - first;
  cursor.stage = 0;
  cursor.parity = pl_no_lane;
  if (watch.events == nullptr || (thread & 127) != 0 || pl_cta() >= watch.traced_ctas) return;
  cursor.parity = lane + (thread >> 7);
  pl_lane* own = pl_lane_at(watch, cursor.parity);
  asm volatile("mov.u32 %0, %%smid;" : "=r"(own->smid));
  own->begin = pl_now();
  own->clock_begin = pl_clock();
}
PL_TRANSFER void pl_lane_end(const char* watched, char* where) {
  const pl_cursor& cursor = *reinterpret_cast<pl_cursor*>(where);
  if (cursor.parity == pl_no_lane) return;
  pl_lane* own = pl_lane_at(*reinterpret_cast<const pl_watch*>(watched), cursor.parity);
  own->clock_end = pl_clock();
  own->end = pl_now();
  own->count = cursor.stage;
}
// A wait at `site` for slot `stage`, begun at clock `begin`, is over.
PL_TRANSFER void pl_lane_note(const char* watched, char* where, unsigned site, unsigned stage, unsigned begin) {
  pl_cursor& cursor = *reinterpret_cast<pl_cursor*>(where);
  if (cursor.parity == pl_no_lane) return;
  const pl_watch& watch = *reinterpret_cast<const pl_watch*>(watched);
  if (cursor.stage < watch.event_capacity) {
    pl_event* events = reinterpret_cast<pl_event*>(pl_lane_at(watch, cursor.parity) + 1);
    *reinterpret_cast<uint4*>(events + cursor.stage) = make_uint4(site + 1, stage, begin, pl_clock());
  }
  ++cursor.stage;
}

// The thread's role is over.
PL_TRANSFER void pl_watch_done(const char* watched) {
  const pl_watch& watch = *reinterpret_cast<const pl_watch*>(watched);
  if (watch.limit) pl_left(watch);
}
