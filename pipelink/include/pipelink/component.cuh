// pipelink/component.cuh: what a component includes.
//
//   PL_COMPONENT(acme::tma_loader) {
//   PL_ROLE(load, pl::warps<1>, pl::registers<24, 40>, pl::one_thread);
//   PL_OUT(a, pl::stream<pl::swizzle128<pl::tile<pl::bf16, 128, 64>>>, pl::ring<2, 8>, pl::by_tma);
//   PL_PARAM(map_a, pl::tensor_map<a>);
//   PL_PARAM(k_tiles, int);
//   PL_ENTRY(load) {
//     for (int k = 0; k < k_tiles(self); ++k) a::tma_load(self, map_a(self), k * 64, 0);
//   }
//   }
//
// Compile it with `nvcc -dc -gencode arch=compute_90a,code=lto_90a` or with `pl-cc`; both give an object that the linker
// takes.  C++17 or later.  Reference: docs/contracts.md.
#pragma once
#if __cplusplus < 201703L
#error "PipeLink's headers need C++17: compile with -std=c++17 or later"
#endif
#include <pipelink/launch.cuh>
#include <pipelink/ports.cuh>
#include <pipelink/records.cuh>
#include <pipelink/resources.cuh>
#include <pipelink/types.cuh>
