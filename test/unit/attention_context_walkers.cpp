// Asks the walkers and the mask of a sequence that several GPUs share as loader and core do on each of them, and compares
// the pairs that count with those of the whole sequence.  A host compiler builds it against host_components.
#include <cstdio>
#include <set>
#include <vector>

#include "attention_context.cu"

using plc::attention_block;
using plc::attention_tile;

static long long looked_at = 0, wrong = 0, full = 0, edges = 0, behind = 0;
template <class... Args>
static void complain(const char* form, Args... args) {
  if (++wrong <= 20) std::printf(form, args...);
}

struct Shape {
  int gpus, batches, heads, rows;  // rows: of a rank
};

// Where in the sequence a row of a rank stands.
static int place(const Shape& shape, int rank, int row) {
  const int chunk = shape.rows / 2;
  return row < chunk ? rank * chunk + row : (2 * shape.gpus - 1 - rank) * chunk + row - chunk;
}

// The rows of ranks that are brought, block by block: of peers behind this one all, then of the others what is needed.
static std::vector<std::pair<int, int>> brought(const Shape& shape, int rank, bool causal) {
  std::vector<std::pair<int, int>> blocks;
  for (int s = 1; s < shape.gpus; ++s) {
    const int peer = (rank + s) % shape.gpus, rows = causal && peer < rank ? shape.rows / 2 : shape.rows;
    for (int row = 0; row < rows; row += 128) blocks.push_back({peer, row});
  }
  return blocks;
}

template <int Rows, class Next, class Blocks>
static void check(const char* name, const Shape& shape, int rank, bool causal, int ctas, Next next, Blocks blocks) {
  const pl::self self;
  const auto far = brought(shape, rank, causal);
  const int tiles = (shape.rows + Rows - 1) / Rows, own = shape.rows / 128, all = shape.rows * shape.gpus;
  std::set<std::vector<int>> seen;
  std::vector<long long> load(ctas, 0);
  gridDim.x = ctas;
  for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x)
    for (int i = 0;; ++i) {
      const attention_tile tile = next(self, i);
      if (!tile) break;
      if (!seen.insert({tile.batch, tile.head, tile.m}).second || tile.m < 0 || tile.m >= tiles ||
          tile.head >= shape.heads || tile.batch >= shape.batches || tile.kv_head != tile.head)
        complain("%s: tile %d of head %d twice, or outside\n", name, tile.m, tile.head);
      std::vector<int> loaded;
      for (int j = 0;; ++j) {
        const attention_block block = blocks(self, tile, j, tile.m * Rows);
        if (!block) break;
        if (block.index < 0 || block.index >= own + int(far.size())) complain("%s: loads block %d\n", name, block.index);
        if (!loaded.empty() && (loaded.back() < own ? block.index < own && block.index > loaded.back()
                                                    : block.index < loaded.back()))
          complain("%s: block %d comes behind %d\n", name, block.index, loaded.back());
        loaded.push_back(block.index);
        if (loaded.size() > 10000) return complain("%s: a list without end\n", name);
      }
      load[blockIdx.x] += loaded.size();
      if (tile.head) continue;  // as the others
      for (int row = tile.m * Rows; row < (tile.m + 1) * Rows && row < shape.rows; row += 16) {
        std::vector<int> counts(16 * all, 0);
        for (int j = 0; j <= int(loaded.size()); ++j) {
          const attention_block block = blocks(self, tile, j, row);
          if (bool(block) != (j < int(loaded.size())) || (block && block.index != loaded[j])) {
            complain("%s: block %d of row %d is not the loader's\n", name, j, row);
            break;
          }
          if (!block) continue;
          full += block.kind == plc::full_block, edges += block.kind == plc::edge_block;
          behind += block.kind > plc::edge_block;
          for (int lane = 0; lane < 32; ++lane) {
            plc::scores s{};
            threadIdx.x = 384 + lane;
            if (block.kind != plc::full_block)
              plc::attention_context_mask::mask(self, s, tile, row, block.index * 128, block.kind);
            for (int n = 0; n < 64; ++n) {
              if (std::isinf(s[n])) continue;
              const int key = n / 4 * 8 + lane % 4 * 2 + n % 2;
              const auto from = block.index < own ? std::make_pair(rank, block.index * 128) : far[block.index - own];
              ++counts[(lane / 4 + n / 2 % 2 * 8) * all + place(shape, from.first, from.second + key)];
            }
          }
        }
        for (int query = 0; query < 16; ++query)
          for (int key = 0; key < all; ++key, ++looked_at)
            if (counts[query * all + key] != (!causal || key <= place(shape, rank, row + query)))
              complain("%s: rank %d of %d: query %d counts key %d %d times\n", name, rank, shape.gpus, row + query, key,
                       counts[query * all + key]);
      }
    }
  if (int(seen.size()) != tiles * shape.heads * shape.batches) complain("%s: %d tiles\n", name, int(seen.size()));
  long long sum = 0, most = 0;
  for (long long blocks : load) sum += blocks, most = std::max(most, blocks);
  if (int(seen.size()) > 8 * ctas && most * ctas > sum * 1.05)
    complain("%s: rank %d of %d: a CTA has %lld blocks, all have %lld\n", name, rank, shape.gpus, most, sum);
}

#define CHECK(kind, rows_of, causal)                                                                                    \
  {                                                                                                                     \
    namespace walker = plc::attention_context_##kind##_##rows_of;                                                       \
    const int whole = causal ? shape.gpus - 1 - rank : shape.gpus - 1, own = shape.rows / 128;                          \
    walker::given_q_tiles = (shape.rows + rows_of - 1) / rows_of, walker::given_heads = shape.heads;                    \
    walker::given_group = 1, walker::given_all = shape.batches * shape.heads, walker::given_queries = shape.rows;       \
    walker::given_own_blocks = own, walker::given_whole_blocks = own * whole;                                           \
    walker::given_far_blocks = (shape.gpus - 1 + whole) * (shape.rows / 256);                                           \
    check<rows_of>(#kind "_" #rows_of, shape, rank, causal, ctas, walker::next, walker::blocks);                        \
  }

int main() {
  for (const Shape& shape : {Shape{2, 1, 1, 256}, {2, 2, 2, 512}, {2, 1, 3, 768}, {2, 1, 1, 1280}, {4, 1, 2, 512}, {8, 1, 1, 256}})
    for (int rank = 0; rank < shape.gpus; ++rank)
      for (int ctas : {1, 7}) {
        CHECK(dense, 128, false)
        CHECK(dense, 192, false)
        CHECK(causal, 128, true)
        CHECK(causal, 192, true)
      }
  {
    const Shape shape{2, 1, 33, 4096};
    for (int rank = 0, ctas = 132; rank < 2; ++rank) CHECK(causal, 128, true)
  }
  std::printf("%lld pairs, %lld wrong; warps saw %lld blocks full, %lld masked, %lld of the other chunk alone\n", looked_at,
              wrong, full, edges, behind);
  return wrong != 0;
}
