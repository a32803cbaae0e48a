// What the components of an interpreter share.
#pragma once
#include <pipelink/component.cuh>

namespace plc {

// 128 bytes: an operation's number, and its operands as its contract lays them out.
struct alignas(16) instruction {
  int opcode;
  int unused[3];
  int operands[28];
};
using instructions = pl::stream<pl::item<instruction>>;

// What a role of a dispatcher does: every instruction in turn.
template <class In, class Dispatch>
__device__ __forceinline__ void interpret(pl::self self) {
#pragma unroll 1
  for (;;) {
    const pl::slot at = In::wait(self);
    if (In::ended(self, at)) break;
    const instruction* now = In::template pointer<instruction>(self, at);
    Dispatch::run(self, now->opcode, now->operands);
    In::release(self, at);
  }
}

}  // namespace plc
