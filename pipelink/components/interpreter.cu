// An interpreter of instructions: a controller brings those of its CTA into a ring, and every role of the dispatcher
// takes each of them in turn and runs the operation that it names.
#include "interpreter.cuh"

// `program` holds the instructions of each CTA, of which it has `lengths`, in rows of equal length.
PL_COMPONENT(plc::controller) {
PL_ROLE(fetch, pl::warps<1>, pl::registers<24, 64>, pl::one_thread);
PL_OUT(instructions, plc::instructions, pl::ring<2, 8>, pl::by_bulk, pl::ends, pl::may_be_empty);
PL_PARAM(program, const plc::instruction*);
PL_PARAM(lengths, const int*);
PL_PARAM(longest, int);
PL_TENSOR(program, int, "CTAS, LONGEST, 32", pl::read, pl::align<128>);
PL_TENSOR(lengths, int, "CTAS", pl::read);
PL_BIND(longest, "LONGEST");
PL_GRID("CTAS");
PL_PROTOCOL(fetch, "repeat longest { choose { instructions.acquire; instructions.copy; } or { } } instructions.end;");
PL_ENTRY(fetch) {
  const plc::instruction* from = program(self) + static_cast<long long>(blockIdx.x) * longest(self);
  const int count = lengths(self)[blockIdx.x];
#pragma unroll 1
  for (int i = 0; i < longest(self); ++i) {
    if (i < count) {
      const pl::slot at = instructions::acquire(self);
      instructions::copy(self, at, from + i, sizeof(plc::instruction));
    }
  }
  instructions::end(self);
}
}

// A thread that loads and 16 warps that compute; slots of operations are pages of 16 KiB.
PL_COMPONENT(plc::interpreter) {
PL_ROLE(load, pl::warps<1>, pl::registers<24, 64>, pl::one_thread);
PL_ROLE(compute, pl::warps<16>, pl::registers<96, 128>);
PL_IN(to_load, plc::instructions, pl::ring<2, 8>, pl::by_threads, pl::ends, pl::may_be_empty, pl::in_role<load>);
PL_IN(to_compute, plc::instructions, pl::ring<2, 8>, pl::by_threads, pl::ends, pl::may_be_empty, pl::in_role<compute>);
PL_DISPATCH(loads, sizeof(plc::instruction::operands), pl::in_role<load>);
PL_DISPATCH(computes, sizeof(plc::instruction::operands), pl::in_role<compute>);
PL_LEASE(pages, 16384, pl::pages<2, 12>);
PL_PROTOCOL(load, "until to_load { to_load.wait; loads.run; to_load.release; }");
PL_PROTOCOL(compute, "until to_compute { to_compute.wait; computes.run; to_compute.release; }");
PL_ENTRY(load) { plc::interpret<to_load, loads>(self); }
PL_ENTRY(compute) { plc::interpret<to_compute, computes>(self); }
}
