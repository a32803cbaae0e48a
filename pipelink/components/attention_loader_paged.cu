// Loads keys and values out of caches of pages, [pages, page size, HK, D]: block_table [sequences, pages of one] names the
// pages of each sequence in the order of its keys.  A block of 128 keys is several pages of 16 or 64, or half of one of
// 256.  sm_90.
//
// Pages that begin behind a sequence's end are not read, whatever the table says of them: zeros come instead.  The last
// page is read as a whole: what it holds behind the end counts 0 times, and so has to be finite.
#include "attention.cuh"

namespace plc {
// True, in the one thread of the loader.  The compiler knows that of `elect.sync`, and not of a comparison of thread
// numbers: around each copy behind such a one it puts a loop over the warp's threads, 10 instructions instead of 5.
__device__ __forceinline__ bool chosen() {
  unsigned yes;
  asm volatile("{\n.reg .pred p;\nelect.sync _|p, 1;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(yes));
  return yes;
}

// The pages of the next `Few` boxes, of keys of which `left` are not behind the sequence's end; -1 where all are.
template <int Box, int Few>
__device__ __forceinline__ void name_pages(int (&pages)[Few], const int* entries, int left) {
#pragma unroll
  for (int b = 0; b < Few; ++b) pages[b] = b * Box < left ? __ldg(entries + b) : -1;
}

// One slot: the keys from `row` of a sequence on, of which those behind `end` are in pages that nobody names.  The first
// entries of the table are on their way while the slot is waited for; for all at once there are no registers.
template <class Port, int Keys, int D, int Page, class Map>
__device__ __forceinline__ void load_pages(pl::self self, const Map& map, const int* table, int head, int row, int end) {
  constexpr int Box = Page < Keys ? Page : Keys, Boxes = Keys / Box, Few = Boxes < 4 ? Boxes : 4;
  const int* entries = table + unsigned(row) / Page;
  int pages[Few];
  name_pages<Box>(pages, entries, end - row);
  pl::slot slot = Port::acquire(self);
#pragma unroll 1
  for (int first = 0; first < Boxes; first += Few) {
    if (first != 0) name_pages<Box>(pages, entries + first, end - row - first * Box);
#pragma unroll
    for (int b = 0; b < Few; ++b)
#pragma unroll
      for (int column = 0; column < D; column += 64)
        Port::template copy_at<0>(self, slot, column * Keys * 2 + (first + b) * Box * 128, map, column, head,
                                  Page < Keys ? 0 : row % Page, pages[b]);
  }
}
}  // namespace plc

#define PLC_ATTENTION_LOADER_PAGED(NAME, ELEMENT, ROWS, KEYS, D, PACK, PAGE)                                           \
  PL_COMPONENT(NAME) {                                                                                                 \
    PLC_ATTENTION_LOADER_PORTS_(ELEMENT, ROWS, KEYS, D, PACK);                                                         \
    PL_PARAM(map_k, pl::tensor_map<k, 0, pl::box<1, (PAGE < KEYS ? PAGE : KEYS), 1, 64>>);                             \
    PL_PARAM(map_v, pl::tensor_map<v, 0, pl::box<1, (PAGE < KEYS ? PAGE : KEYS), 1, 64>>);                             \
    PL_PARAM(block_table, const int*);                                                                                 \
    PL_PARAM(table_row, int);                                                                                          \
    PL_TENSOR(k, ELEMENT, "P, " #PAGE ", HK, " #D, pl::read);                                                          \
    PL_TENSOR(v, ELEMENT, "P, " #PAGE ", HK, " #D, pl::read);                                                          \
    PL_TENSOR(block_table, int, "NS, MP", pl::read);                                                                   \
    PL_BIND(map_k, "k");                                                                                               \
    PL_BIND(map_v, "v");                                                                                               \
    PL_BIND(table_row, "stride(block_table, 0)");                                                                      \
    PL_DERIVE(most_keys, "MP * " #PAGE);                                                                               \
    PL_PROMISE(plc_keys, "paged");                                                                                     \
    PLC_PACKED_ROWS_##PACK;                                                                                            \
    PL_ENTRY(load) {                                                                                                   \
      if (!plc::chosen()) return;                                                                                      \
      plc::load_attention(                                                                                             \
          [=](int i) { return work(self, i); },                                                                        \
          [=](plc::attention_tile tile, int j) { return blocks(self, tile, j, tile.m * ROWS); },                       \
          [=](plc::attention_tile t) {                                                                                 \
            plc::load_head<q, ROWS, D>(self, map_q(self), t.head, t.q_begin + t.m * (ROWS / PACK), t.batch);           \
          },                                                                                                           \
          [=](plc::attention_tile t, int index) {                                                                      \
            const int* table = block_table(self) + static_cast<long long>(t.kv_batch) * table_row(self);               \
            plc::load_pages<k, KEYS, D, PAGE>(self, map_k(self), table, t.kv_head, t.kv_begin + index * KEYS,          \
                                              t.kv_begin + t.keys);                                                    \
          },                                                                                                           \
          [=](plc::attention_tile t, int index) {                                                                      \
            const int* table = block_table(self) + static_cast<long long>(t.kv_batch) * table_row(self);               \
            plc::load_pages<v, KEYS, D, PAGE>(self, map_v(self), table, t.kv_head, t.kv_begin + index * KEYS,          \
                                              t.kv_begin + t.keys);                                                    \
          });                                                                                                          \
    }                                                                                                                  \
  }

#define PLC_PAGED_LOADERS(PACK, PAGE)                                                                                  \
  PLC_ATTENTION_LOADER_PAGED(plc::attention_loader_paged_##PAGE##_##PACK##_128, pl::bf16, 128, 128, 128, PACK, PAGE)   \
  PLC_ATTENTION_LOADER_PAGED(plc::attention_loader_paged_##PAGE##_##PACK##_64, pl::bf16, 192, 128, 64, PACK, PAGE)
#define PLC_PAGED_LOADERS_OF(PAGE)                                                                                     \
  PLC_PAGED_LOADERS(1, PAGE)                                                                                           \
  PLC_PAGED_LOADERS(2, PAGE)                                                                                           \
  PLC_PAGED_LOADERS(4, PAGE)                                                                                           \
  PLC_PAGED_LOADERS(8, PAGE)                                                                                           \
  PLC_PAGED_LOADERS(16, PAGE)
PLC_PAGED_LOADERS_OF(16)
PLC_PAGED_LOADERS_OF(64)
PLC_PAGED_LOADERS_OF(256)
