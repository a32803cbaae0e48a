// pipelink/programmatic.cuh: a role that begins before the kernel in front has ended.  sm_90 and later.
//
//   PL_ROLE(load, pl::warps<1>, pl::one_thread, pl::early);
//   PL_PROGRAMMATIC;
//   PL_ENTRY(load) {
//     ...what no kernel in front writes: weights, tables...
//     pl::wait_for_previous();
//     ...everything else...
//   }
//
// In a launch that is not programmatic, and in a kernel with nothing in front of it, neither function does anything.
#pragma once

namespace pl {

// Waits until the kernels in front have ended; what they wrote can be read, and what they read can be written, by this
// thread.  Every thread of a pl::early role calls it, on every path.
__device__ __forceinline__ void wait_for_previous() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
// Lets the next kernel of the stream begin, once every CTA of this one has said so or ended.  The linker says it when a
// role begins; nothing that this kernel writes is visible to the next one for it.
__device__ __forceinline__ void launch_dependents() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }

}  // namespace pl
