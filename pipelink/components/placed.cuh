// What goes to a tensor through shared memory: a slot of blocks, each with the place that it belongs to.
//
// The producer's threads write the blocks (rows of 64 elements in the 128-byte swizzle, one block behind the other) and
// the places; the linker puts the proxy fence between their writes and the copies of the TMA store that reads the slot.
#pragma once
#include <pipelink/component.cuh>

namespace plc {

template <int Blocks>
struct places {
  int row[Blocks], col[Blocks];
};
template <class Element, int Blocks, int Rows>
using placed_blocks =
    pl::stream<pl::swizzle128<pl::tile<Element, Blocks * Rows, 64>>, pl::item<places<Blocks>>>;

// Where the 16 bytes that hold elements 8 * chunk ... of a row lie, from the start of a block.
__device__ __forceinline__ unsigned swizzled(int row, int chunk) { return row * 128 + ((chunk ^ (row & 7)) << 4); }

__device__ __forceinline__ void store_shared(unsigned at, const unsigned (&w)[4]) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3])
               : "memory");
}

}  // namespace plc
PL_TYPE(plc::places<1>, "plc::places<1>");
PL_TYPE(plc::places<8>, "plc::places<8>");
