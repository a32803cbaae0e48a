// The core of attention for few queries, written with CuTe: tiles of 16 rows, blocks of 128 keys, 16 warps.
//
// The contract is that of the library's core, with other tiles.  Every warp calls `store`, with the row 16 times its
// number behind the tile's first: the first warp has the tile's rows, the others have none, and come to help.
//
// Each head's size has a source of its own: CuTe's templates take a compiler 20 s for one.
#pragma once
#include <cute/tensor.hpp>

#include "few_queries.cuh"

#define CUTE_ATTENTION_FEW(NAME, ELEMENT, D)                                                                           \
  PL_COMPONENT(NAME) {                                                                                                 \
    using tile_of = example::few<ELEMENT, D>;                                                                          \
    PL_ROLE(attend, pl::warps<16>, pl::registers<112, 112>);                                                           \
    PL_IN(q, plc::attention_rows<ELEMENT, 16, D>, pl::ring<1, 2>, pl::by_threads);                                     \
    PL_IN(k, plc::attention_rows<ELEMENT, 128, D>, pl::ring<2, 4>, pl::by_threads);                                    \
    PL_IN(v, plc::attention_rows<ELEMENT, 128, D>, pl::ring<2, 4>, pl::by_threads);                                    \
    PL_SMEM(maxima, tile_of::maxima, pl::align<16>);                                                                   \
    PL_SMEM(weights, tile_of::weights, pl::align<1024>);                                                               \
    PL_SMEM(ends, tile_of::ends, pl::align<16>);                                                                       \
    PL_BARRIER(met, pl::threads<512>);                                                                                 \
    PL_CALL(work, plc::attention_tile(int));                                                                           \
    PL_CALL(blocks, plc::attention_block(plc::attention_tile, int, int));                                              \
    PL_CALL(score, void(plc::scores&, plc::attention_tile, int, int));                                                 \
    PL_CALL(mask, void(plc::scores&, plc::attention_tile, int, int, int));                                             \
    PL_CALL(sink, void(plc::row_pair&, plc::attention_tile, int));                                                     \
    PL_CALL(store, void(pl::fragment<float, D / 2>&, plc::row_pair&, plc::attention_tile, int));                       \
    PL_PROMISE(plc_tile_queries, 16);                                                                                  \
    PL_PROMISE(plc_block_keys, 128);                                                                                   \
    PL_PARAM(scale, float);                                                                                            \
    PL_PROTOCOL(attend,                                                                                                \
                "repeat work { q.wait; q.release; choose plc.some { "                                                  \
                "k.wait; k.release; choose { score; choose { mask; } or { } } or { } maxima.write; met.sync; "         \
                "repeat blocks { maxima.read; weights.write; met.sync; "                                               \
                "k.wait; k.release; choose { score; choose { mask; } or { } } or { } maxima.write; "                   \
                "v.wait; weights.read; v.release; met.sync; } "                                                        \
                "maxima.read; weights.write; met.sync; v.wait; weights.read; v.release; "                              \
                "ends.write; met.sync; ends.read; } or { } sink; store; }");                                           \
    PL_ENTRY(attend) {                                                                                                 \
      const float base2 = scale(self) * 1.4426950408889634f;                                                           \
      for (int i = 0;; ++i) {                                                                                          \
        const plc::attention_tile tile = work(self, i);                                                                \
        if (!plc::uniform(bool(tile))) break;                                                                          \
        const int row = tile.m * 16;                                                                                   \
        plc::online_softmax softmax;                                                                                   \
        pl::fragment<float, D / 2> o;                                                                                  \
        example::attend_item<ELEMENT, D, q, k, v, met>(                                                                   \
            self, attend::thread(self), maxima(self), weights(self), ends(self), base2, tile.skips,                    \
            [=](int j) { return blocks(self, tile, j, row); },                                                         \
            [=](plc::scores& s, int column) { score(self, s, tile, row, column); },                                    \
            [=](plc::scores& s, int column, int kind) { mask(self, s, tile, row, column, kind); }, softmax, o);        \
        float factor[2];                                                                                               \
        plc::row_pair log_sum, other{{plc::minus_infinity(), plc::minus_infinity()}};                                  \
        sink(self, other, tile, row);                                                                                  \
        softmax.finish(base2, other, factor, log_sum);                                                                 \
        _Pragma("unroll") for (int n = 0; n < D / 2; ++n) o[n] *= factor[n / 2 % 2];                                   \
        store(self, o, log_sum, tile, row + attend::warp(self) * 16);                                                  \
      }                                                                                                                \
    }                                                                                                                  \
  }
