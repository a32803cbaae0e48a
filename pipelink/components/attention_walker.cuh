// What every walker of attention declares: its answers, and the sizes of the launch.  A tile's rows are queries of one
// head, and its keys are all of the sequence's, as scores that ask for the place of either require.
#pragma once
#include "attention.cuh"

#define PLC_ATTENTION_LAUNCH_                                             \
  PL_ANSWER(next, plc::attention_tile(int));                              \
  PL_ANSWER(blocks, plc::attention_block(plc::attention_tile, int, int)); \
  PL_PROMISE(plc_rows, "queries");                                        \
  PL_PARAM(q_tiles, int);                                                 \
  PL_PARAM(heads, int);                                                   \
  PL_PARAM(group, int);                                                   \
  PL_PARAM(batches, int);                                                 \
  PL_PARAM(queries, int);                                                 \
  PL_PARAM(keys, int);                                                    \
  PL_BIND(heads, "H");                                                    \
  PL_BIND(group, "H / HK");                                               \
  PL_BIND(batches, "B");                                                  \
  PL_BIND(queries, "SQ");                                                 \
  PL_BIND(keys, "SK")
// With a grid whose CTAs take one tile after another.
#define PLC_ATTENTION_WALKER_ \
  PLC_ATTENTION_LAUNCH_;      \
  PL_GRID("min(B * H * q_tiles, sms * occupancy)")
