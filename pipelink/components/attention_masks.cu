// Which pairs of queries and keys count in a block that the walker did not call full: the others' scores become minus
// infinity.
#include "attention_mask.cuh"

// The sequence of keys ends within the block.
#define PLC_ATTENTION_EDGE(NAME, KEYS)                                                                                 \
  PL_COMPONENT(NAME) {                                                                                                 \
    PL_ANSWER(mask, void(plc::scores_of<KEYS>&, plc::attention_tile, int, int, int));                                  \
    PL_DEFINE(mask)(pl::self, plc::scores_of<KEYS>& s, plc::attention_tile tile, int, int column, int) -> void {       \
      const int end = tile.keys - column;                                                                              \
      plc::keep_below<KEYS>(s, [=](int) { return end; });                                                              \
    }                                                                                                                  \
  }

// Query r looks at the keys up to r + SK - SQ.
#define PLC_CAUSAL_MASK(NAME, KEYS)                                                                                    \
  PL_COMPONENT(NAME) {                                                                                                 \
    PL_ANSWER(mask, void(plc::scores_of<KEYS>&, plc::attention_tile, int, int, int));                                  \
    PL_DEFINE(mask)(pl::self, plc::scores_of<KEYS>& s, plc::attention_tile tile, int row, int column, int) -> void {   \
      const int end = row + tile.keys - tile.queries + 1 - column;                                                     \
      plc::keep_below<KEYS>(s, [=](int below) { return end + below; });                                                \
    }                                                                                                                  \
  }

PLC_ATTENTION_EDGE(plc::attention_edge, 128)
PLC_ATTENTION_EDGE(plc::attention_edge_k64, 64)
PLC_CAUSAL_MASK(plc::attention_causal_mask, 128)
PLC_CAUSAL_MASK(plc::attention_causal_mask_k64, 64)
