// A matrix-vector product whose weights stream through a ring of bulk copies, 16 KiB at a time, without a tensor map.
#include <pipelink/component.cuh>

namespace streaming {
constexpr int rows = 8, columns = 1024;
using weights = pl::stream<pl::row_major<pl::tile<pl::bf16, rows, columns>>>;
}  // namespace streaming

// Blocks of 8 rows by 1024 columns of w, each row one copy.  N is a multiple of 8, K of 1024.
PL_COMPONENT(test::weight_stream) {
PL_ROLE(load, pl::warps<1>, pl::one_thread);
PL_OUT(w, streaming::weights, pl::ring<2, 8>, pl::by_bulk);
PL_PARAM(from, const pl::bf16*);
PL_PARAM(blocks, int);
PL_PARAM(chunks, int);
PL_TENSOR(weight, pl::bf16, "N, K", pl::read, pl::align<16>);
PL_BIND(from, "weight");
PL_BIND(blocks, "N / 8");
PL_BIND(chunks, "K / 1024");
PL_GRID("min(N / 8, sms)");
PL_PROTOCOL(load, "repeat blocks { repeat chunks { w.acquire; w.copy; } }");
PL_ENTRY(load) {
  const char* base = reinterpret_cast<const char*>(from(self));
  const size_t pitch = size_t(chunks(self)) * streaming::columns * 2;
  for (int b = blockIdx.x; b < blocks(self); b += gridDim.x)
#pragma unroll 1  // else the front end and the linker's optimiser would unroll it each by its own measure
    for (int c = 0; c < chunks(self); ++c) {
      pl::slot slot = w::acquire(self);
#pragma unroll
      for (int r = 0; r < streaming::rows; ++r)
        w::copy<0>(self, slot, base + (size_t(b) * streaming::rows + r) * pitch + c * streaming::columns * 2,
                   streaming::columns * 2, r * streaming::columns * 2);
    }
}
}

// A warp a row: its dot product with x, in f32.
PL_COMPONENT(test::row_products) {
PL_ROLE(run, pl::warps<8>);
PL_IN(w, streaming::weights, pl::ring<2, 8>, pl::by_threads);
PL_PARAM(x, const float*);
PL_PARAM(y, float*);
PL_PARAM(blocks, int);
PL_PARAM(chunks, int);
PL_TENSOR(x, float, "K", pl::read, pl::align<16>);
PL_TENSOR(y, float, "N", pl::write);
PL_BIND(blocks, "N / 8");
PL_BIND(chunks, "K / 1024");
PL_PROTOCOL(run, "repeat blocks { repeat chunks { w.wait; w.release; } }");
PL_ENTRY(run) {
  const int lane = run::thread(self) % 32, row = run::thread(self) / 32;
  for (int b = blockIdx.x; b < blocks(self); b += gridDim.x) {
    float sum = 0.f;
    for (int c = 0; c < chunks(self); ++c) {
      pl::slot slot = w::wait(self);
      const uint4* bits = w::pointer<const uint4>(self, slot) + row * streaming::columns / 8;
      const float4* factors = reinterpret_cast<const float4*>(x(self) + c * streaming::columns);
#pragma unroll
      for (int i = lane; i < streaming::columns / 8; i += 32) {
        const uint4 v = bits[i];
        const float4 low = factors[2 * i], high = factors[2 * i + 1];
        sum += __uint_as_float(v.x << 16) * low.x + __uint_as_float(v.x & 0xFFFF0000u) * low.y;
        sum += __uint_as_float(v.y << 16) * low.z + __uint_as_float(v.y & 0xFFFF0000u) * low.w;
        sum += __uint_as_float(v.z << 16) * high.x + __uint_as_float(v.z & 0xFFFF0000u) * high.y;
        sum += __uint_as_float(v.w << 16) * high.z + __uint_as_float(v.w & 0xFFFF0000u) * high.w;
      }
      w::release(self, slot);
    }
#pragma unroll
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (lane == 0) y(self)[b * streaming::rows + row] = sum;
  }
}
}
