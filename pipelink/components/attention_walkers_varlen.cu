// Walkers over sequences that stand one behind another: Q [1, TQ, H, D], K and V [1, TK, HK, D].  The n-th sequence has
// the queries cu_seqlens_q[n] up to cu_seqlens_q[n + 1], and the keys cu_seqlens_k[n] up to cu_seqlens_k[n + 1].
//
// Tiles are numbered without a table: sequence n begins at number (cu_seqlens_q[n] + n * (ROWS - 1)) / ROWS, which leaves
// it as many as its queries need, or one more.  A number too many is a tile without keys whose rows are all behind the
// end.  The sequence of a number is found by halving.
#include "attention.cuh"

// Keys and values may also lie in pages, of which a table names those of each sequence: its first seqused_k[n] keys count.
//
// ROWS: queries of a tile.  KEYS: of a block.  CAUSAL: query r looks at the keys up to r + keys - queries, and tiles are
// dealt out forth and back; otherwise at all, and the tiles of a head run at the same time.
//
// Causal tiles come sequence by sequence, from the last to the first: of those with even numbers the longest first, of
// the others the shortest first.  So tiles that follow one another are about equally long, which forth and back evens
// out, and the first sequence, the last to be dealt out, ends with its shortest.  A number too many stands where tiles
// are short.
//
// SPAN says where the keys of sequence n are, WHERE what it takes.
#define PLC_VARLEN_WALKER_(NAME, ROWS, KEYS, CAUSAL, WHERE, SPAN)                                                      \
  PL_COMPONENT(NAME) {                                                                                                 \
    PL_ANSWER(next, plc::attention_tile(int));                                                                         \
    PL_ANSWER(blocks, plc::attention_block(plc::attention_tile, int, int));                                            \
    PL_PROMISE(plc_rows, "queries");                                                                                   \
    PL_REQUIRE(plc_tile_queries, ROWS);                                                                                \
    PL_REQUIRE(plc_block_keys, KEYS);                                                                                  \
    PL_PARAM(cu_seqlens_q, const int*);                                                                                \
    PL_PARAM(sequences, int);                                                                                          \
    PL_PARAM(numbers, int);                                                                                            \
    PL_PARAM(heads, int);                                                                                              \
    PL_PARAM(group, int);                                                                                              \
    PL_TENSOR(cu_seqlens_q, int, "N1", pl::read);                                                                      \
    WHERE;                                                                                                             \
    PL_DERIVE(varlen_tiles, "(SQ + (N1 - 1) * " #ROWS " - (N1 - 1)) / " #ROWS);                                        \
    PL_BIND(sequences, "N1 - 1");                                                                                      \
    PL_BIND(numbers, "varlen_tiles");                                                                                  \
    PL_BIND(heads, "H");                                                                                               \
    PL_BIND(group, "H / HK");                                                                                          \
    PL_GRID("min(H * varlen_tiles, sms * occupancy)");                                                                 \
    PL_DEFINE(next)(pl::self self, int i) -> plc::attention_tile {                                                     \
      const int ctas = gridDim.x, cta = blockIdx.x, all = numbers(self);                                               \
      const int t = i * ctas + (CAUSAL && i % 2 ? ctas - 1 - cta : cta);                                               \
      const int number = CAUSAL ? all - 1 - t / heads(self) : t % all, head = CAUSAL ? t % heads(self) : t / all;      \
      const bool valid = CAUSAL ? number >= 0 : head < heads(self);                                                    \
      const int* begins = cu_seqlens_q(self);                                                                          \
      int n = 0, behind = valid ? sequences(self) : 1;                                                                 \
      _Pragma("unroll 1") while (behind - n > 1) {                                                                     \
        const int middle = (n + behind) / 2;                                                                           \
        if ((__ldg(begins + middle) + middle * (ROWS - 1)) / ROWS <= number)                                           \
          n = middle;                                                                                                  \
        else                                                                                                           \
          behind = middle;                                                                                             \
      }                                                                                                                \
      const int q_begin = __ldg(begins + n), queries = __ldg(begins + n + 1) - q_begin;                                \
      int batch, kv_begin, keys;                                                                                       \
      SPAN;                                                                                                            \
      const int first = (q_begin + n * (ROWS - 1)) / ROWS, at = number - first, tiles = (queries + ROWS - 1) / ROWS;   \
      const int spare = (q_begin + queries + (n + 1) * (ROWS - 1)) / ROWS - first - tiles;                             \
      const int turned = n % 2 ? tiles - 1 - at : at - spare;                                                          \
      const int m = !CAUSAL ? at : turned < 0 ? tiles : turned;                                                        \
      const int seen = m * ROWS < queries ? keys : 0;                                                                  \
      return {m, head, head / group(self), 0, batch, queries, seen, q_begin, kv_begin, 0, 1, 0, 0, 0, valid};          \
    }                                                                                                                  \
    PL_DEFINE(blocks)(pl::self, plc::attention_tile tile, int j, int) -> plc::attention_block {                        \
      const int first = CAUSAL ? tile.m * ROWS + tile.keys - tile.queries : tile.keys - 1;                             \
      const int end = CAUSAL ? min(first + ROWS, tile.keys) : tile.keys;                                               \
      const int index = (max(end, 0) + KEYS - 1) / KEYS - 1 - j;                                                       \
      return {index, index < 0 ? plc::no_block : (index + 1) * KEYS > first + 1 ? plc::edge_block : plc::full_block};  \
    }                                                                                                                  \
  }

// Keys behind one another, as queries are.
#define PLC_VARLEN_SPAN_WHERE                                                                                          \
  PL_PARAM(cu_seqlens_k, const int*);                                                                                  \
  PL_TENSOR(cu_seqlens_k, int, "N1", pl::read)
#define PLC_VARLEN_SPAN                                                                                                \
  batch = 0, kv_begin = __ldg(cu_seqlens_k(self) + n), keys = __ldg(cu_seqlens_k(self) + n + 1) - kv_begin
#define PLC_VARLEN_WALKER(NAME, ROWS, KEYS, CAUSAL)                                                                    \
  PLC_VARLEN_WALKER_(NAME, ROWS, KEYS, CAUSAL, PLC_VARLEN_SPAN_WHERE, PLC_VARLEN_SPAN)
PLC_VARLEN_WALKER(plc::attention_varlen_dense_128, 128, 128, false)
PLC_VARLEN_WALKER(plc::attention_varlen_dense_192, 192, 128, false)
PLC_VARLEN_WALKER(plc::attention_varlen_causal_128, 128, 128, true)
PLC_VARLEN_WALKER(plc::attention_varlen_causal_192, 192, 128, true)
PLC_VARLEN_WALKER(plc::attention_varlen_dense_128_k64, 128, 64, false)
PLC_VARLEN_WALKER(plc::attention_varlen_causal_128_k64, 128, 64, true)

// Keys in pages.
#define PLC_PAGED_SPAN_WHERE                                                                                           \
  PL_REQUIRE(plc_keys, "paged");                                                                                       \
  PL_PARAM(seqused_k, const int*);                                                                                     \
  PL_TENSOR(seqused_k, int, "NS", pl::read)
#define PLC_PAGED_SPAN batch = n, kv_begin = 0, keys = __ldg(seqused_k(self) + n)
#define PLC_PAGED_WALKER(NAME, ROWS, CAUSAL)                                                                           \
  PLC_VARLEN_WALKER_(NAME, ROWS, 128, CAUSAL, PLC_PAGED_SPAN_WHERE, PLC_PAGED_SPAN)
PLC_PAGED_WALKER(plc::attention_paged_dense_128, 128, false)
PLC_PAGED_WALKER(plc::attention_paged_dense_192, 192, false)
PLC_PAGED_WALKER(plc::attention_paged_causal_128, 128, true)
PLC_PAGED_WALKER(plc::attention_paged_causal_192, 192, true)
