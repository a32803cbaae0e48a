// A component's own mbarriers: its waits, so that a debug link can give them a limit.  It arrives by itself.
#include "device.cuh"

PL_TRANSFER void pl_own_wait(unsigned address, unsigned index, unsigned parity PL_WATCH) {
  pl_mbarrier_wait(address, parity PL_WATCHED(index));
}
