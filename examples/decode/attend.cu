// Attention of one token over the cache, on CUDA cores: an instruction is a head of keys, and a part of the positions.
//
// A slot is a page of keys or of values, 16 KiB as they lie in the cache, in turn.  The newest key and value come beside the
// queries, so that no page has to wait for them.  Each part leaves its maximum, its sum and its outputs; of each head the
// part that comes last puts them together.
#include "decode.cuh"

#ifndef DECODE_HEAD
#define DECODE_HEAD 64  // dimensions of a head
#endif
#ifndef DECODE_GROUP
#define DECODE_GROUP 4  // heads of queries to one of keys
#endif

namespace decode {
constexpr int D = DECODE_HEAD, G = DECODE_GROUP, Keys = Page / 2 / D;
constexpr int Lanes = Threads / Keys;             // threads of a key, 16 dimensions each
constexpr int Shares = Threads / (G * D / 2);     // threads of a pair of outputs, which divide the keys
static_assert(D / Lanes == 16 && Shares >= 1 && G == 4, "4 warps keep what is known of a head each");

constexpr float nothing = -1e30f;  // a score that counts for nothing

struct block {  // keys `first`, first + 1, ... of the sequence, `count` of them
  int first, count;
  __device__ __forceinline__ operator bool() const { return count > 0; }
};
}  // namespace decode
PL_TYPE(decode::block, "decode::block");

// Which keys a part has: as many pages as the others, of those before `position`.
PL_COMPONENT(decode::positions) {
PL_ANSWER(next, decode::block(int));
PL_OPERAND(part, int);
PL_OPERAND(parts, int);
PL_PARAM(position, const int*);
PL_TENSOR(position, int, "1", pl::readwrite);
PL_DEFINE(next)(pl::self self, int i) -> decode::block {
  const int keys = position(self)[0], all = (keys + decode::Keys - 1) / decode::Keys;
  const int each = (all + parts(self) - 1) / parts(self);
  const int first = (part(self) * each + i) * decode::Keys, left = keys - first;
  return {first, i < each && left > 0 ? min(left, decode::Keys) : 0};
}
}

PL_COMPONENT(decode::attend) {
PL_ROLE(load, pl::warps<1>, pl::registers<24, 64>, pl::one_thread);
PL_ROLE(compute, pl::warps<16>, pl::registers<40, 128>);
PL_OUT(cache, decode::page, pl::ring<2, 12>, pl::by_bulk, pl::in_flight<3>, pl::in_role<load>);
PL_IN(kv, decode::page, pl::ring<2, 12>, pl::by_threads, pl::in_role<compute>);
PL_CALL(next, decode::block(int));
PL_OPERAND(layer, int);
PL_OPERAND(head, int);
PL_OPERAND(piece, int);   // of so many, as the answer to `next` has them
PL_OPERAND(of, int);
PL_OPERAND(stage, int);
PL_OPERAND(awaited, int);
PL_PARAM(scale, float);
PL_PARAM(key_heads, int);
PL_PARAM(longest, int);
PL_PARAM(most, int);
PL_PARAM(position, const int*);
PL_PARAM(queries, const float*);
PL_PARAM(newest, const float*);
PL_PARAM(keys, const __nv_bfloat16*);
PL_PARAM(values, const __nv_bfloat16*);
PL_PARAM(attended, float*);
PL_PARAM(pieces, float*);
PL_PARAM(tickets, int*);
PL_TENSOR(position, int, "1", pl::readwrite);
PL_TENSOR(queries, float, "H * D", pl::readwrite, pl::align<16>);
PL_TENSOR(newest, float, "2, HK, D", pl::readwrite, pl::align<8>);
PL_TENSOR(keys, pl::bf16, "LAYERS, HK, T, D", pl::readwrite, pl::align<128>);
PL_TENSOR(values, pl::bf16, "LAYERS, HK, T, D", pl::readwrite, pl::align<128>);
PL_TENSOR(attended, float, "H * D", pl::readwrite, pl::align<16>);
PL_TENSOR(pieces, float, "H, PARTS, D + 2", pl::readwrite, pl::align<8>);
PL_TENSOR(tickets, int, "HK", pl::readwrite);
PL_BIND(key_heads, "HK");
PL_BIND(longest, "T");
PL_BIND(most, "PARTS");
PL_COUNTERS(stages, "LONGEST");
PL_SIGNAL_IN(ready, stages, gpu);
PL_AWAITS(ready, "max(stage - 1, 0)", "min(stage, 1) * awaited");
DECODE_ADDS_;
PL_SMEM(q, float[decode::G][decode::D], pl::align<16>, pl::in_role<compute>);
PL_SMEM(scores, float[decode::G][decode::Keys], pl::align<16>, pl::in_role<compute>);
PL_SMEM(weights, float[decode::G][decode::Keys], pl::align<16>, pl::in_role<compute>);
PL_SMEM(factors, float[decode::G], pl::align<16>, pl::in_role<compute>);
PL_SMEM(outputs, float[decode::Shares][decode::G][decode::D], pl::align<16>, pl::in_role<compute>);
PL_SMEM(last, int, pl::in_role<compute>);
PL_BARRIER(met, pl::threads<512>, pl::in_role<compute>);
PL_RESIDENT;
PL_PROTOCOL(load, "repeat next { cache.acquire; cache.copy; cache.acquire; cache.copy; }");
PL_PROTOCOL(compute, "choose { ready.await by 1 thread; } or { } met.sync; q.write; met.sync; "
                     "choose { q.read by 4 warps; } or { } "
                     "repeat next { kv.wait; q.read; kv.release; scores.write; met.sync; "
                     "scores.read by 4 warps; weights.write by 4 warps; factors.write by 4 warps; met.sync; "
                     "kv.wait; factors.read; weights.read; kv.release; } "
                     "outputs.write; met.sync; outputs.read; met.sync; last.write by 1 thread; met.sync; last.read; "
                     "met.sync; done.signal by 1 thread;");
PL_ENTRY(load) {
  const long long row = (static_cast<long long>(layer(self)) * key_heads(self) + head(self)) * longest(self);
#pragma unroll 1
  for (int i = 0; const decode::block b = next(self, i); ++i) {
    const long long at = (row + b.first) * decode::D;
    const pl::slot k = cache::acquire(self);
    cache::copy(self, k, keys(self) + at, decode::Page);
    const pl::slot v = cache::acquire(self);
    cache::copy(self, v, values(self) + at, decode::Page);
  }
}
PL_ENTRY(compute) {
  constexpr int D = decode::D, G = decode::G;
  const int thread = compute::thread(self), lane = thread % 32, warp = thread / 32;
  if (thread == 0 && stage(self) > 0) ready::await(self, stage(self) - 1, awaited(self));
  met::sync(self);
  if (thread < G * D / 4) {
    const float4 v = __ldcg(reinterpret_cast<const float4*>(queries(self) + head(self) * G * D) + thread);
    reinterpret_cast<float4*>(q(self))[thread] = {v.x * scale(self), v.y * scale(self), v.z * scale(self), v.w * scale(self)};
  }
  const float* newest_key = newest(self) + head(self) * D;
  const float* newest_value = newest_key + key_heads(self) * D;
  float known[D / 32];
#pragma unroll
  for (int j = 0; j < D / 32; ++j) known[j] = __ldcg(newest_key + lane + 32 * j);
  met::sync(self);
  const int key = thread / decode::Lanes, part = thread % decode::Lanes;          // of scores
  const int pair = thread % (G * D / 2), share = thread / (G * D / 2);            // of outputs
  const int of_head = pair / (D / 2), dimension = pair % (D / 2) * 2;
  float top = decode::nothing, sum = 0, a = 0, b = 0;  // top and sum: of head `warp`
  if (piece(self) == 0) {
    if (warp < G) {
      float s = 0;
#pragma unroll
      for (int j = 0; j < D / 32; ++j) s = fmaf(known[j], q(self)[warp][lane + 32 * j], s);
      top = decode::sum_of_warp(s), sum = 1;
    }
    if (share == 0) {
      const float2 v = __ldcg(reinterpret_cast<const float2*>(newest_value + dimension));
      a = v.x, b = v.y;
    }
  }
#pragma unroll 1
  for (int i = 0; const decode::block now = next(self, i); ++i) {
    const pl::slot k = kv::wait(self);
    const uint4* from = kv::pointer<uint4>(self, k) + (key * D + part * 16) / 8;
    float x[8], y[8];
    decode::widen(x, from[0]), decode::widen(y, from[1]);
    float s[G];
#pragma unroll
    for (int g = 0; g < G; ++g) {
      const float* mine = q(self)[g] + part * 16;
      s[g] = 0;
#pragma unroll
      for (int j = 0; j < 8; ++j) s[g] = fmaf(x[j], mine[j], fmaf(y[j], mine[8 + j], s[g]));
    }
    kv::release(self, k);
#pragma unroll
    for (int g = 0; g < G; ++g)
#pragma unroll
      for (int o = decode::Lanes / 2; o; o >>= 1) s[g] += __shfl_xor_sync(~0u, s[g], o);
    if (part == 0)
#pragma unroll
      for (int g = 0; g < G; ++g) scores(self)[g][key] = key < now.count ? s[g] : decode::nothing;
    met::sync(self);
    if (warp < G) {
      float high = top;
#pragma unroll
      for (int j = lane; j < decode::Keys; j += 32) high = fmaxf(high, scores(self)[warp][j]);
#pragma unroll
      for (int o = 16; o; o >>= 1) high = fmaxf(high, __shfl_xor_sync(~0u, high, o));
      float added = 0;
#pragma unroll
      for (int j = lane; j < decode::Keys; j += 32) {
        const float p = __expf(scores(self)[warp][j] - high);
        weights(self)[warp][j] = p, added += p;
      }
      const float factor = __expf(top - high);
      sum = sum * factor + decode::sum_of_warp(added), top = high;
      if (lane == 0) factors(self)[warp] = factor;
    }
    met::sync(self);
    const pl::slot v = kv::wait(self);
    const __nv_bfloat162* column = kv::pointer<__nv_bfloat162>(self, v) + dimension / 2;
    const float factor = factors(self)[of_head];
    a *= factor, b *= factor;
#pragma unroll 8
    for (int j = share; j < now.count; j += decode::Shares) {
      const float2 value = __bfloat1622float2(column[j * (D / 2)]);
      const float p = weights(self)[of_head][j];
      a = fmaf(p, value.x, a), b = fmaf(p, value.y, b);
    }
    kv::release(self, v);
  }
  outputs(self)[share][of_head][dimension] = a, outputs(self)[share][of_head][dimension + 1] = b;
  met::sync(self);
  float* piece_of = pieces(self) + (static_cast<long long>(head(self)) * G * most(self) + piece(self)) * (D + 2);
  const int next_head = most(self) * (D + 2);
  if (thread < G * D) {
    const int g = thread / D, d = thread % D;
    float x = 0;
#pragma unroll
    for (int s = 0; s < decode::Shares; ++s) x += outputs(self)[s][g][d];
    piece_of[g * next_head + d] = x;
  }
  if (warp < G && lane == 0) piece_of[warp * next_head + D] = top, piece_of[warp * next_head + D + 1] = sum;
  met::sync(self);
  if (thread == 0) {
    __threadfence();
    const int before = atomicAdd(tickets(self) + head(self), 1);
    *last(self) = before == of(self) - 1;
    if (before == of(self) - 1) tickets(self)[head(self)] = 0;
    __threadfence();
  }
  met::sync(self);
  if (*last(self) != 0) {  // a warp puts a quarter of a head's dimensions together; each lane knows of one part
    constexpr int Own = D / 4, Halves = 32 / Own;
    const int g = warp / 4, dimension = warp % 4 * Own + lane % Own;
    const float* mine = pieces(self) + (static_cast<long long>(head(self)) * G + g) * next_head;
    const bool there = lane < of(self);
    float x[32 / Halves];
#pragma unroll
    for (int p = 0; p < 32 / Halves; ++p) {
      const int at = p * Halves + lane / Own;
      x[p] = at < of(self) ? __ldcg(mine + at * (D + 2) + dimension) : 0;
    }
    const float high_of = there ? __ldcg(mine + lane * (D + 2) + D) : decode::nothing;
    const float sum_of = there ? __ldcg(mine + lane * (D + 2) + D + 1) : 0;
    float high = high_of;
#pragma unroll
    for (int o = 16; o; o >>= 1) high = fmaxf(high, __shfl_xor_sync(~0u, high, o));
    const float weight = __expf(high_of - high), all = decode::sum_of_warp(weight * sum_of);
    float y = 0;
#pragma unroll
    for (int p = 0; p < 32 / Halves; ++p) y = fmaf(__shfl_sync(~0u, weight, p * Halves + lane / Own), x[p], y);
    if (Halves == 2) y += __shfl_xor_sync(~0u, y, 16);
    if (lane < Own) attended(self)[(head(self) * G + g) * D + dimension] = y / all;
  }
  met::sync(self);
  if (thread == 0) done::add(self, stage(self));
}
}
