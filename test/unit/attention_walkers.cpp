// Asks walkers and masks of attention as loader and core do, and compares what counts with what should.  Prints what is
// wrong, and how many pairs were looked at.  A host compiler builds it against host_components.
#include <cstdio>
#include <random>
#include <set>
#include <vector>

#include "attention_masks.cu"
#include "attention_walkers.cu"
#include "attention_windows.cu"

using plc::attention_block;
using plc::attention_tile;

static long long looked_at = 0, wrong = 0, skips = 0, full = 0, edges = 0, vain = 0;
template <class... Args>
static void complain(const char* form, Args... args) {
  if (++wrong <= 20) std::printf(form, args...);
}

struct Shape {
  int batches, heads, queries, keys;
};

// `keep(batch, head, query, key)`: whether a pair counts.  `next`, `blocks` and `mask` are the components' answers.
template <int Rows, class Next, class Blocks, class Mask, class Keep>
static void check(const char* name, Shape shape, Next next, Blocks blocks, Mask mask, Keep keep) {
  constexpr int N = plc::attention_columns;
  const pl::self self;
  const int tiles = (shape.queries + Rows - 1) / Rows, all = tiles * shape.heads * shape.batches;
  std::set<std::vector<int>> seen;
  gridDim.x = std::min(all, 7);
  std::vector<int> most(gridDim.x, 0);
  for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x)
    for (int i = 0;; ++i) {
      const attention_tile tile = next(self, i);
      if (!tile) break;
      if (!seen.insert({tile.batch, tile.head, tile.m}).second || tile.m < 0 || tile.m >= tiles ||
          tile.head >= shape.heads || tile.batch >= shape.batches)
        complain("%s: tile %d of head %d twice, or outside\n", name, tile.m, tile.head);
      std::vector<int> loaded;  // the loader's
      for (int j = 0;; ++j) {
        const attention_block block = blocks(self, tile, j, tile.m * Rows);
        if (!block) break;
        if (block.index < 0 || block.index * N >= shape.keys) complain("%s: loads block %d\n", name, block.index);
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
            plc::scores s{};
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
            if (counts[query * shape.keys + key] != keep(tile.batch, tile.head, row + query, key))
              complain("%s: %d x %d: query %d counts key %d %d times\n", name, shape.queries, shape.keys, row + query,
                       key, counts[query * shape.keys + key]);
      }
    }
  if (int(seen.size()) != all) complain("%s: %d tiles of %d\n", name, int(seen.size()), all);
}

#define SET(component, shape, rows)                                                                              \
  (component::given_queries = shape.queries, component::given_keys = shape.keys, component::given_group = 1,     \
   component::given_heads = shape.heads, component::given_batches = shape.batches,                               \
   component::given_q_tiles = (shape.queries + rows - 1) / rows)

static const Shape shapes[] = {{1, 1, 1, 1},     {1, 2, 64, 64},   {2, 1, 127, 300}, {1, 2, 300, 127},
                               {1, 1, 700, 700}, {1, 1, 515, 129}, {1, 1, 129, 1000}};

static void check_plain() {
  for (Shape shape : shapes) {
    SET(plc::attention_dense, shape, 128);
    check<128>("dense", shape, plc::attention_dense::next, plc::attention_dense::blocks, plc::attention_edge::mask,
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
        plc::attention_window_mask::given_left = left, plc::attention_window_mask::given_right = right;
#define CHECK(rows)                                                                                            \
  SET(plc::attention_window_##rows, shape, rows);                                                              \
  plc::attention_window_##rows::given_left = left, plc::attention_window_##rows::given_right = right;          \
  check<rows>("window_" #rows, shape, plc::attention_window_##rows::next, plc::attention_window_##rows::blocks, \
              plc::attention_window_mask::mask, keep)
        CHECK(128);
        CHECK(192);
#undef CHECK
      }
}

int main() {
  check_plain();
  check_windows();
  std::printf("%lld pairs, %lld wrong; warps saw %lld blocks full, %lld masked, %lld of them in vain, %lld skipped\n",
              looked_at, wrong, full, edges, vain, skips);
  return wrong != 0;
}
