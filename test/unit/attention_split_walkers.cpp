// Asks the walkers and masks of attention over sequences of several lengths, and of those whose keys CTAs share, as
// loader and core do: every pair that should count does so in one part, parts stand where the output looks for them.
// Prints what is wrong, and how many pairs were looked at.  A host compiler builds it against host_components.
inline int __ffs(int x) { return __builtin_ffs(x); }

#include "attention_split.cu"
#include "attention_masks.cu"
#include "attention_walkers_varlen.cu"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <vector>

using plc::attention_block;
using plc::attention_tile;

static long long looked_at = 0, shared = 0, empty = 0, skipped = 0, wrong = 0;
template <class... Args>
static void complain(const char* form, Args... args) {
  if (++wrong <= 20) std::printf(form, args...);
}

struct Case {
  const char* name;
  int rows, pack, heads, kv_heads;
  bool causal, neighbours;
  std::vector<int> queries, keys;  // of each sequence
  bool paged;                      // where keys of sequence n begin at 0 of the n-th
};
using Next = std::function<attention_tile(int)>;
using Blocks = std::function<attention_block(attention_tile, int, int)>;
using Mask = std::function<void(plc::scores&, attention_tile, int, int, int)>;

// Who has a part of a tile.
struct Part {
  int cta, number, count, part, parts;  // number: which tile of the CTA
};

static void check(const Case& c, int ctas, const Next& next, const Blocks& blocks, const Mask& mask) {
  constexpr int N = plc::attention_columns;
  const int sequences = int(c.queries.size()), group = c.heads / c.kv_heads;
  std::vector<int> q_begins{0}, kv_begins{0};
  for (int n = 0; n < sequences; ++n) {
    q_begins.push_back(q_begins[n] + c.queries[n]);
    kv_begins.push_back(kv_begins[n] + c.keys[n]);
  }
  const int longest = *std::max_element(c.keys.begin(), c.keys.end()) + 1;
  const auto at = [&](int n, int head, int query) { return (q_begins[n] + query) * c.heads + head; };
  std::vector<int> stored(q_begins.back() * c.heads, 0);     // how many parts a query of a head has
  std::vector<int> counts(stored.size() * longest, 0);       // how often it counts a key
  std::map<std::vector<int>, std::vector<Part>> parts;
  gridDim.x = ctas;
  for (blockIdx.x = 0; int(blockIdx.x) < ctas; ++blockIdx.x) {
    int tiles = 0;
    while (next(tiles))
      if (++tiles > 10000) return complain("%s: tiles without end\n", c.name);
    for (int i = 0; i < tiles; ++i) {
      const attention_tile tile = next(i);
      int n = tile.kv_batch;
      if (!c.neighbours && !c.paged) {
        for (n = 0; n + 1 < sequences && q_begins[n + 1] <= tile.q_begin; ++n) {}
        while (n > 0 && c.queries[n] != tile.queries && q_begins[n] == tile.q_begin) --n;
      }
      if (n < 0 || n >= sequences || tile.head < 0 || tile.head >= c.heads || tile.kv_head != tile.head / group)
        return complain("%s: a tile of sequence %d, head %d and %d\n", c.name, n, tile.head, tile.kv_head);
      if (tile.parts > 1) ++shared;
      if (c.neighbours) parts[{n, tile.head, tile.m}].push_back({int(blockIdx.x), i, tiles, tile.part, tile.parts});
      const int offset = c.neighbours || c.paged ? tile.kv_begin : tile.kv_begin - kv_begins[n];
      std::vector<int> loaded;
      for (int j = 0; attention_block block = blocks(tile, j, tile.m * c.rows); ++j) {
        if (block.index < 0 || offset + block.index * N >= c.keys[n]) complain("%s: loads block %d\n", c.name, block.index);
        loaded.push_back(block.index);
        if (j > 10000) return complain("%s: a list without end\n", c.name);
      }
      empty += loaded.empty();
      for (int row = tile.m * c.rows; row < (tile.m + 1) * c.rows; row += 16) {
        for (int j = 0; tile.skips && j < int(loaded.size()); ++j) {  // a warpgroup without any query, and only that
          const bool skips = blocks(tile, j, row).kind == plc::skipped_block;
          if (skips != (row / 64 * 64 / c.pack >= c.queries[n])) complain("%s: row %d skips wrongly\n", c.name, row);
          skipped += skips;
        }
        const int first = row / c.pack;
        if (first >= c.queries[n]) break;
        for (int of = row; of < row + 16; ++of) {
          const int query = of / c.pack, head = tile.head + of % c.pack;
          if (query < c.queries[n] && head < (tile.kv_head + 1) * group) ++stored[at(n, head, query)];
        }
        for (int j = 0; j < int(loaded.size()); ++j) {
          const attention_block block = blocks(tile, j, row);
          if (block.index != loaded[j]) return complain("%s: block %d is not the loader's\n", c.name, j);
          for (int lane = 0; lane < 32; ++lane) {
            plc::scores s{};
            threadIdx.x = 384 + lane;
            if (block.kind != plc::full_block) mask(s, tile, row, block.index * N, block.kind);
            for (int k = 0; k < N / 2; ++k) {
              const int of = row + lane / 4 + k / 2 % 2 * 8, query = of / c.pack, head = tile.head + of % c.pack;
              const int key = offset + block.index * N + k / 4 * 8 + lane % 4 * 2 + k % 2;
              if (std::isinf(s[k]) || query >= c.queries[n] || head >= (tile.kv_head + 1) * group) continue;
              if (key >= c.keys[n])
                complain("%s: sequence %d looks behind its end, at %d\n", c.name, n, key);
              else
                ++counts[at(n, head, query) * longest + key];
            }
          }
        }
      }
    }
  }
  for (const auto& [tile, found] : parts) {
    bool neighbours = int(found.size()) == found[0].parts;
    for (int p = 0; p < int(found.size()); ++p) {
      const Part& part = found[p];
      neighbours &= part.part == p && part.parts == found[0].parts && part.cta == found[0].cta + p;
      if (part.parts > 1) neighbours &= p == 0 ? part.number == part.count - 1 : part.number == 0;
    }
    if (!neighbours) complain("%s: parts of a tile of sequence %d are not those of neighbours\n", c.name, tile[0]);
  }
  for (int n = 0; n < sequences; ++n)
    for (int head = 0; head < c.heads; ++head)
      for (int query = 0; query < c.queries[n]; ++query) {
        const int of = at(n, head, query);
        if (!stored[of]) complain("%s: nobody stores query %d of sequence %d\n", c.name, query, n);
        if (!c.neighbours && stored[of] > 1) complain("%s: query %d is stored %d times\n", c.name, query, stored[of]);
        for (int key = 0; key < c.keys[n]; ++key, ++looked_at) {
          const bool keep = !c.causal || key <= query + c.keys[n] - c.queries[n];
          if (counts[of * longest + key] != keep)
            complain("%s: sequence %d, query %d counts key %d wrongly\n", c.name, n, query, key);
        }
      }
}

static int ceildiv(int a, int b) { return (a + b - 1) / b; }

static const std::vector<std::vector<int>> same = {{1}, {129}, {1000}, {128, 128, 128}, {700, 700}};
static const std::vector<std::vector<int>> several = {{0}, {300}, {0, 300, 0, 129}, {1, 64, 1000, 128, 0}, {0, 0}};

// GIVE: what else the walker is given, by the sequences' keys and the share of a CTA.
#define SPLIT(component, rows, is_causal, the_mask, lists, GIVE)                                                       \
  for (int pack : {1, 4, 8})                                                                                           \
    for (int most : {1, 7, 132})                                                                                       \
      for (auto [heads, kv_heads] : {std::pair<int, int>{1, 1}, {6, 2}, {10, 1}})                                      \
          for (const std::vector<int>& keys : lists)                                                                   \
            for (int queries : {1, 40}) {                                                                              \
              namespace walker = plc::component;                                                                       \
              const int batches = int(keys.size()), longest = *std::max_element(keys.begin(), keys.end());             \
              const int tiles = kv_heads * ceildiv(heads / kv_heads, pack), q_tiles = ceildiv(queries * pack, rows);   \
              const int all = batches * tiles * q_tiles * std::max(1, ceildiv(longest, 128));                          \
              const int share = ceildiv(all, most);                                                                    \
              walker::given_pack = pack, walker::given_q_tiles = q_tiles, walker::given_batches = batches;             \
              walker::given_head_tiles = tiles, walker::given_group = heads / kv_heads;                                \
              walker::given_queries = queries, plc::attention_split_causal_mask::given_pack = pack;                    \
              GIVE;                                                                                                    \
              const Case c{#component, rows, pack, heads,  kv_heads, is_causal,                                        \
                           true,       std::vector<int>(batches, queries), keys,     false};                           \
              const pl::self self;                                                                                     \
              check(                                                                                                   \
                  c, ceildiv(all, share), [&](int i) { return walker::next(self, i); },                                \
                  [&](attention_tile t, int j, int row) { return walker::blocks(self, t, j, row); },                   \
                  [&](plc::scores& s, attention_tile t, int row, int column, int kind) {                               \
                    plc::the_mask::mask(self, s, t, row, column, kind);                                                \
                  });                                                                                                  \
            }

static const std::pair<std::vector<int>, std::vector<int>> batches[] = {
    {{1}, {1}},
    {{300}, {300}},
    {{0, 5, 0, 0, 300, 0}, {0, 5, 0, 0, 300, 0}},
    {{7, 200, 130}, {0, 200, 0}},
    {{0, 200, 0}, {9, 200, 500}},
    {{1, 129, 3, 1}, {400, 515, 64, 127}},
    {{515, 70, 200}, {129, 1, 199}},
};

// KEYS: how the walker hears of the sequences' keys.
#define VARLEN(component, rows, is_causal, the_mask, is_paged, KEYS)                                                   \
  for (const auto& [queries, keys] : batches)                                                                          \
    for (int most : {1, 3, 132})                                                                                       \
      for (auto [heads, kv_heads] : {std::pair<int, int>{1, 1}, {4, 2}}) {                                             \
        namespace walker = plc::component;                                                                             \
        std::vector<int> q_begins{0}, kv_begins{0};                                                                    \
        for (int n : queries) q_begins.push_back(q_begins.back() + n);                                                 \
        for (int n : keys) kv_begins.push_back(kv_begins.back() + n);                                                  \
        const int sequences = int(queries.size());                                                                     \
        walker::given_cu_seqlens_q = q_begins.data(), walker::given_sequences = sequences;                             \
        walker::given_heads = heads, walker::given_group = heads / kv_heads;                                           \
        walker::given_numbers = (q_begins.back() + sequences * (rows - 1)) / rows;                                     \
        KEYS;                                                                                                          \
        const Case c{#component, rows, 1, heads, kv_heads, is_causal, false, queries, keys, is_paged};                 \
        const pl::self self;                                                                                           \
        check(                                                                                                         \
            c, std::min(heads * walker::given_numbers, most), [&](int i) { return walker::next(self, i); },            \
            [&](attention_tile t, int j, int row) { return walker::blocks(self, t, j, row); },                         \
            [&](plc::scores& s, attention_tile t, int row, int column, int kind) {                                     \
              plc::the_mask::mask(self, s, t, row, column, kind);                                                      \
            });                                                                                                        \
      }

// Causal tiles of sequences of one length, of 32 heads: no CTA has much more to do than the others.
template <class Next, class Blocks>
static void check_shares(int sequences, int length, Next next, Blocks blocks) {
  int most = 0, all = 0;
  gridDim.x = 132;
  for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x) {
    int own = 0;
    for (int i = 0; attention_tile tile = next(i); ++i)
      for (int j = 0; blocks(tile, j, 0); ++j) ++own;
    most = std::max(most, own), all += own;
  }
  if (most * 132ll > all * 105ll / 100)
    complain("%d sequences of %d: a CTA has %d blocks of %d\n", sequences, length, most, all);
}

static void check_dealing() {
  namespace walker = plc::attention_paged_causal_128;
  for (auto [sequences, length] : {std::pair<int, int>{4, 4096}, {7, 2048}, {16, 1024}, {1, 16384}}) {
    std::vector<int> begins(sequences + 1), keys(sequences, length);
    for (int n = 0; n <= sequences; ++n) begins[n] = n * length;
    walker::given_cu_seqlens_q = begins.data(), walker::given_sequences = sequences, walker::given_seqused_k = keys.data();
    walker::given_heads = 32, walker::given_group = 4;
    walker::given_numbers = (sequences * length + sequences * 127) / 128;
    const pl::self self;
    check_shares(
        sequences, length, [&](int i) { return walker::next(self, i); },
        [&](attention_tile t, int j, int row) { return walker::blocks(self, t, j, row); });
  }
}

int main() {
  check_dealing();
  SPLIT(attention_split_128, 128, false, attention_edge, same,
        (walker::given_keys = longest, walker::given_split_share = share))
  SPLIT(attention_split_causal_192, 192, true, attention_split_causal_mask, same,
        (walker::given_keys = longest, walker::given_split_share = share))
  SPLIT(attention_split_lengths_192, 192, false, attention_edge, several, walker::given_seqused_k = keys.data())
  SPLIT(attention_split_lengths_causal_128, 128, true, attention_split_causal_mask, several,
        walker::given_seqused_k = keys.data())
  VARLEN(attention_varlen_dense_128, 128, false, attention_edge, false, walker::given_cu_seqlens_k = kv_begins.data())
  VARLEN(attention_varlen_causal_192, 192, true, attention_causal_mask, false,
         walker::given_cu_seqlens_k = kv_begins.data())
  VARLEN(attention_paged_dense_192, 192, false, attention_edge, true, walker::given_seqused_k = keys.data())
  VARLEN(attention_paged_causal_128, 128, true, attention_causal_mask, true, walker::given_seqused_k = keys.data())
  std::printf("%lld pairs, %lld wrong; %lld tiles in parts, %lld without keys, %lld blocks skipped\n", looked_at, wrong, shared, empty,
              skipped);
  return wrong != 0;
}
