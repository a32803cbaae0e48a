// A logit that joins each row's sum, once and with no value: what a query can look at instead of keys.
#include "attention.cuh"

// None.
PL_COMPONENT(plc::attention_no_sink) {
PL_ANSWER(sink, void(plc::row_pair&, plc::attention_tile, int));
PL_DEFINE(sink)(pl::self, plc::row_pair&, plc::attention_tile, int) -> void {}
}
