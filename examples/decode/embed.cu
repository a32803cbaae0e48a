// hidden = the embedding of `token`, a part of it in each CTA.
#include "decode.cuh"

PL_COMPONENT(decode::embed) {
PL_ROLE(compute, pl::warps<16>, pl::registers<40, 128>);
PL_OPERAND(first, int);
PL_OPERAND(count, int);
PL_OPERAND(stage, int);
PL_PARAM(size, int);
PL_PARAM(token, const int*);
PL_PARAM(embeddings, const __nv_bfloat16*);
PL_PARAM(hidden, float*);
PL_TENSOR(token, int, "1", pl::readwrite);
PL_TENSOR(embeddings, pl::bf16, "VOCABULARY, HIDDEN", pl::read);
PL_TENSOR(hidden, float, "HIDDEN", pl::readwrite, pl::align<16>);
PL_BIND(size, "HIDDEN");
PL_COUNTERS(stages, "LONGEST");
DECODE_ADDS_;
PL_BARRIER(met, pl::threads<512>);
PL_RESIDENT;
PL_PROTOCOL(compute, "met.sync; done.signal by 1 thread;");
PL_ENTRY(compute) {
  const int thread = compute::thread(self), i = first(self) + thread;
  if (thread < count(self)) hidden(self)[i] = __bfloat162float(embeddings(self)[static_cast<long long>(token(self)[0]) * size(self) + i]);
  met::sync(self);
  if (thread == 0) done::add(self, stage(self));
}
}
