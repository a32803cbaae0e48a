// What becomes of the scores of every block, Q * K^T before `scale`, whatever the walker says of it.
#include "attention.cuh"

// They stay as they are.
PL_COMPONENT(plc::attention_plain) {
PL_ANSWER(score, void(plc::scores&, plc::attention_tile, int, int));
PL_DEFINE(score)(pl::self, plc::scores&, plc::attention_tile, int, int) -> void {}
}
