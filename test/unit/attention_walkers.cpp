// Asks walkers and masks of attention as loader and core do, and compares what counts with what should.  Prints what is
// wrong, and how many pairs were looked at.  A host compiler builds it against host_components.
#include <cstdio>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "attention_lists.cu"
#include "attention_masks.cu"
#include "attention_walkers.cu"
#include "attention_windows.cu"

using plc::attention_block;
using plc::attention_tile;

static long long looked_at = 0, shared = 0, wrong = 0, skips = 0, full = 0, edges = 0, vain = 0;
template <class... Args>
static void complain(const char* form, Args... args) {
  if (++wrong <= 20) std::printf(form, args...);
}

struct Shape {
  int batches, heads, queries, keys;
};

// `keep(batch, head, query, key)`: whether a pair counts.  `wide`: keys of what lists name.  `next`, `blocks` and `mask` are the components' answers.
template <int Rows, int N = 128, class Next, class Blocks, class Mask, class Keep>
static void check(const char* name, Shape shape, Next next, Blocks blocks, Mask mask, Keep keep,
                  int wide = N) {
  const pl::self self;
  const int tiles = (shape.queries + Rows - 1) / Rows, all = tiles * shape.heads * shape.batches;
  std::set<std::vector<int>> seen;
  std::map<std::vector<int>, int> covered;  // how many of a tile's keys are somebody's
  std::set<int> shares;
  gridDim.x = std::strncmp(name, "blocks", 6) ? std::min(all, 7) : all;  // a CTA for each tile of these
  if (!std::strcmp(name, "dense")) gridDim.x = 7;
  std::vector<int> most(gridDim.x, 0);
  for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x)
    for (int i = 0;; ++i) {
      const attention_tile tile = next(self, i);
      if (!tile) break;
      if (!seen.insert({tile.batch, tile.head, tile.m, tile.part}).second || tile.m < 0 || tile.m >= tiles ||
          tile.head >= shape.heads || tile.batch >= shape.batches || tile.part < 0 || tile.part >= tile.parts)
        complain("%s: tile %d of head %d twice, or outside\n", name, tile.m, tile.head);
      const int from = tile.parts > 1 ? tile.block_begin * N : 0;
      const int to = tile.parts > 1 ? std::min(tile.block_end * N, shape.keys) : shape.keys;
      covered[{tile.batch, tile.head, tile.m}] += to - from;
      shared += tile.parts > 1;
      if (tile.parts > 1 && (!shares.insert(tile.share + tile.part).second || tile.share + tile.part >= 2 * int(gridDim.x)))
        complain("%s: tile %d of head %d shares a place, %d\n", name, tile.m, tile.head, tile.share + tile.part);
      std::vector<int> loaded;  // the loader's
      for (int j = 0;; ++j) {
        const attention_block block = blocks(self, tile, j, tile.m * Rows);
        if (!block) break;
        if (block.index < 0 || block.index * N / wide * wide >= shape.keys) complain("%s: loads block %d\n", name, block.index);
        loaded.push_back(block.index);
        if (loaded.size() > 10000) return complain("%s: a list without end\n", name);
      }
      for (int row = tile.m * Rows; row < (tile.m + 1) * Rows; row += 16) {
        std::vector<int> counts(16 * shape.keys, 0);
        for (int j = 0; j <= int(loaded.size()); ++j) {
          const attention_block block = blocks(self, tile, j, row);
          const attention_block of_group = blocks(self, tile, j, row / 64 * 64);
          if (bool(block) != (j < int(loaded.size())) || (block && block.index != loaded[j])) {
            complain("%s: block %d of row %d is not the loader's\n", name, j, row);
            break;
          }
          if ((block.kind == plc::skipped_block) != (of_group.kind == plc::skipped_block))
            complain("%s: a part of a warpgroup skips\n", name);
          if (block.kind == plc::skipped_block && !tile.skips) complain("%s: skips, and does not say so\n", name);
          skips += block.kind == plc::skipped_block, full += block.kind == plc::full_block;
          edges += block.kind >= plc::edge_block;
          if (!block || block.kind == plc::skipped_block) continue;
          bool masked = false;
          for (int lane = 0; lane < 32; ++lane) {
            plc::scores_of<N> s{};
            threadIdx.x = 384 + lane;
            if (block.kind != plc::full_block) mask(self, s, tile, row, block.index * N, block.kind);
            for (int n = 0; n < N / 2; ++n) {
              const int query = lane / 4 + n / 2 % 2 * 8, key = block.index * N + n / 4 * 8 + lane % 4 * 2 + n % 2;
              masked |= std::isinf(s[n]);
              if (std::isinf(s[n])) continue;
              if (key < shape.keys)
                ++counts[query * shape.keys + key];
              else if (row + query < shape.queries)
                complain("%s: query %d looks behind the end, at %d\n", name, row + query, key);
            }
          }
          vain += block.kind != plc::full_block && !masked;
        }
        for (int query = 0; query < 16 && row + query < shape.queries; ++query)
          for (int key = 0; key < shape.keys; ++key, ++looked_at)
            if (counts[query * shape.keys + key] !=
                (key >= from && key < to && keep(tile.batch, tile.head, row + query, key)))
              complain("%s: %d x %d: query %d counts key %d %d times\n", name, shape.queries, shape.keys, row + query,
                       key, counts[query * shape.keys + key]);
      }
    }
  if (int(covered.size()) != all) complain("%s: %d tiles of %d\n", name, int(covered.size()), all);
  for (const auto& [tile, keys] : covered)
    if (keys != shape.keys) complain("%s: of tile %d %d keys of %d\n", name, tile[2], keys, shape.keys);
}

#define SET(component, shape, rows)                                                                              \
  (component::given_queries = shape.queries, component::given_keys = shape.keys, component::given_group = 1,     \
   component::given_heads = shape.heads, component::given_batches = shape.batches,                               \
   component::given_q_tiles = (shape.queries + rows - 1) / rows)

static const Shape shapes[] = {{1, 1, 1, 1},     {1, 2, 64, 64},   {2, 1, 127, 300}, {1, 2, 300, 127},
                               {1, 1, 700, 700}, {1, 1, 515, 129}, {1, 1, 129, 1000}};

static void check_plain() {
  for (Shape shape : {Shape{1, 3, 500, 3000}, {1, 1, 130, 2000}, {2, 1, 1, 4000}, {1, 7, 256, 1111}, {1, 5, 300, 9000}}) {
    SET(plc::attention_dense_192, shape, 192);
    check<192>("dense", shape, plc::attention_dense_192::next, plc::attention_dense_192::blocks, plc::attention_edge::mask,
               [](int, int, int, int) { return true; });
  }
  if (!shared) complain("no tile was shared\n");
  for (Shape shape : shapes) {
    SET(plc::attention_dense_128, shape, 128);
    check<128>("dense", shape, plc::attention_dense_128::next, plc::attention_dense_128::blocks, plc::attention_edge::mask,
               [](int, int, int, int) { return true; });
    const auto causal = [=](int, int, int query, int key) { return key <= query + shape.keys - shape.queries; };
#define CHECK(rows)                                                                                            \
  SET(plc::attention_causal_##rows, shape, rows);                                                              \
  check<rows>("causal_" #rows, shape, plc::attention_causal_##rows::next, plc::attention_causal_##rows::blocks, \
              plc::attention_causal_mask::mask, causal)
    CHECK(128);
    CHECK(192);
#undef CHECK
  }
}

static void check_windows() {
  for (Shape shape : shapes)
    for (int left : {-1, 0, 1, 14, 15, 62, 63, 64, 100, 127, 128, 200, 257, 1000, 2147483647})
      for (int right : {-1, 0, 1, 15, 64, 95, 111, 127, 130, 500, 2147483647}) {
        const auto keep = [=](int, int, int query, int key) {
          const long long at = query + shape.keys - shape.queries;
          return (left < 0 || key >= at - left) && (right < 0 || key <= at + right);
        };
        plc::attention_window_mask::given_left = plc::attention_window_mask_k64::given_left = left;
        plc::attention_window_mask::given_right = plc::attention_window_mask_k64::given_right = right;
#define CHECK(rows)                                                                                            \
  SET(plc::attention_window_##rows, shape, rows);                                                              \
  plc::attention_window_##rows::given_left = left, plc::attention_window_##rows::given_right = right;          \
  check<rows>("window_" #rows, shape, plc::attention_window_##rows::next, plc::attention_window_##rows::blocks, \
              plc::attention_window_mask::mask, keep)
        CHECK(128);
        CHECK(192);
#undef CHECK
        SET(plc::attention_window_128_k64, shape, 128);
        plc::attention_window_128_k64::given_left = left, plc::attention_window_128_k64::given_right = right;
        check<128, 64>("window_128_k64", shape, plc::attention_window_128_k64::next, plc::attention_window_128_k64::blocks,
                       plc::attention_window_mask_k64::mask, keep);
      }
}

static int below(int n) {
  static std::mt19937 random(7);
  return random() % n;
}

// Lists of random order, of which a third of all blocks are partial and a third full.
template <int Rows, class Next, class Blocks>
static void check_blocks(const char* name, Shape shape, int q_block, int kv_block, int batches, int heads, Next next,
                         Blocks blocks, int& rows_batch, int& rows_head, const int** lists) {
  const int rows = (shape.queries + Rows * q_block - 1) / (Rows * q_block), wide = 128 * kv_block;
  const int columns = (shape.keys + wide - 1) / wide, all = batches * heads * rows;
  std::vector<int> counts[2], indices[2], status(all * columns);
  for (auto& list : counts) list.assign(all, 0);
  for (auto& list : indices) list.assign(all * columns, 1 << 20);
  for (int row = 0; row < all; ++row)
    for (int i = 0, from = below(columns); i < columns; ++i) {
      const int column = (from + i) % columns, kind = below(3);
      status[row * columns + column] = kind;
      if (kind) indices[kind - 1][row * columns + counts[kind - 1][row]++] = column;
    }
  lists[0] = counts[0].data(), lists[1] = indices[0].data(), lists[2] = counts[1].data(), lists[3] = indices[1].data();
  rows_batch = batches > 1 ? heads * rows : 0, rows_head = heads > 1 ? rows : 0;
  check<Rows>(name, shape, next, blocks, plc::attention_causal_mask::mask, [&](int batch, int head, int query, int key) {
    const int row = (batch % batches * heads + head % heads) * rows + query / (Rows * q_block);
    const int kind = status[row * columns + key / wide];
    const int end = (key / 128 + 1) * 128;  // a full block that the sequence ends in is the mask's too
    return kind == 2 && end <= shape.keys || kind && key <= query + shape.keys - shape.queries;
  }, wide);
}

// Visits of random kinds, with random masks.
template <int Rows, class Next, class Blocks>
static void check_plan(const char* name, Shape shape, int batches, int heads, Next next, Blocks blocks, int& rows_batch,
                       int& rows_head, const int*& order, int& turns, const int*& ends, const int*& entries) {
  const int tiles = (shape.queries + Rows - 1) / Rows, all = tiles * shape.heads * shape.batches, masks = 5;
  const int columns = (shape.keys + 127) / 128, groups = Rows / 64, ctas = std::min(all, 7);
  std::vector<int> own_order, own_ends, own_entries, kinds;
  std::vector<unsigned> bits(masks * 256);
  for (unsigned& word : bits) word = below(1 << 16) << 16 | below(1 << 16);
  turns = (all + ctas - 1) / ctas + 1;
  own_order.assign(ctas * turns, -1);
  for (int t = 0; t < all; ++t) own_order[t % ctas * turns + t / ctas] = all - 1 - t;
  for (int row = 0; row < batches * heads * tiles; ++row) {
    own_ends.push_back(own_entries.size() / 4);
    for (int column = 0; column < columns; ++column) {
      const bool whole = (column + 1) * 128 <= shape.keys;
      int entry[4] = {column, -1, -1, -1};
      bool some = false;
      for (int group = 0; group < groups; ++group) {
        const int choice = below(4);
        const int kind = choice == 0   ? plc::skipped_block
                         : choice == 1 ? (whole ? plc::full_block : plc::edge_block)
                                       : plc::edge_block + 1 + below(masks);
        kinds.push_back(entry[1 + group] = kind);
        some |= choice != 0;
      }
      if (some) own_entries.insert(own_entries.end(), entry, entry + 4);
    }
    own_ends.push_back(own_entries.size() / 4);
  }
  order = own_order.data(), ends = own_ends.data(), entries = own_entries.data();
  plc::attention_block_mask::given_mask_bits = reinterpret_cast<const uint2*>(bits.data());
  rows_batch = batches > 1 ? heads * tiles : 0, rows_head = heads > 1 ? tiles : 0;
  check<Rows>(name, shape, next, blocks, plc::attention_block_mask::mask, [&](int batch, int head, int query, int key) {
    const int row = (batch % batches * heads + head % heads) * tiles + query / Rows;
    const int kind = kinds[(row * columns + key / 128) * groups + query % Rows / 64];
    if (kind <= plc::edge_block) return kind != plc::skipped_block;
    const int lane = query % 8 * 4 + key % 8 / 2, word = query % 64 / 16 * 64 + lane * 2 + query % 16 / 8;
    return (bits[(kind - plc::edge_block - 1) * 256 + word] >> (key % 128 / 8 * 2 + key % 2) & 1) != 0;
  });
}

static void check_lists() {
  for (Shape shape : {Shape{1, 1, 1, 1}, {2, 3, 300, 500}, {1, 2, 700, 1000}, {2, 1, 129, 256}})
    for (int shared = 0; shared < 4; ++shared) {
      const int batches = shared & 1 ? 1 : shape.batches, heads = shared & 2 ? 1 : shape.heads;
      const int* lists[4];
#define CHECK(rows)                                                                                                \
  {                                                                                                                \
    namespace blocks = plc::attention_blocks_##rows;                                                               \
    namespace plan = plc::attention_plan_##rows;                                                                   \
    SET(blocks, shape, rows);                                                                                      \
    SET(plan, shape, rows);                                                                                        \
    for (int q_block : {1, 2, 3})                                                                                  \
      for (int kv_block : {1, 3}) {                                                                                \
        blocks::given_q_block = q_block, blocks::given_q_share = ((1 << 30) + q_block - 1) / q_block;              \
        blocks::given_kv_block = kv_block, blocks::given_kv_share = ((1 << 30) + kv_block - 1) / kv_block;         \
        const int wide = 128 * kv_block;                                                                           \
        blocks::given_longest = blocks::given_longest_full = (shape.keys + wide - 1) / wide;                       \
        check_blocks<rows>(                                                                                        \
            "blocks_" #rows, shape, q_block, kv_block, batches, heads, blocks::next,                               \
            [&](pl::self self, attention_tile tile, int j, int row) {                                              \
              blocks::given_kv_num_blocks = lists[0], blocks::given_kv_indices = lists[1];                         \
              blocks::given_full_kv_num_blocks = lists[2], blocks::given_full_kv_indices = lists[3];               \
              return blocks::blocks(self, tile, j, row);                                                           \
            },                                                                                                     \
            blocks::given_rows_batch, blocks::given_rows_head, lists);                                             \
      }                                                                                                            \
    check_plan<rows>("plan_" #rows, shape, batches, heads, plan::next, plan::blocks, plan::given_rows_batch,       \
                     plan::given_rows_head, plan::given_list_order, plan::given_turns, plan::given_list_ends,      \
                     plan::given_list_entries);                                                                    \
  }
      CHECK(128)
      CHECK(192)
#undef CHECK
    }
}

int main() {
  check_plain();
  check_windows();
  check_lists();
  std::printf("%lld pairs, %lld wrong; warps saw %lld blocks full, %lld masked, %lld of them in vain, %lld skipped\n",
              looked_at, wrong, full, edges, vain, skips);
  return wrong != 0;
}
