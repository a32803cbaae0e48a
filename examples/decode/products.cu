// The products of a decoder layer: queries, keys and values; the output projection; gate and up; down; logits.
#include "decode.cuh"

// hidden, normed, to queries, keys and values; keys and values go to the cache, queries to `queries`, turned by RoPE.  The
// four rows of a group are dimensions d, d + D/2, d + 1, d + 1 + D/2 of a head.
PL_COMPONENT(decode::attention_inputs) {
DECODE_PRODUCT_(4096, 64);
DECODE_ADDS_;
PL_OPERAND(layer, int);
PL_SMEM(squares, float[16], pl::align<16>, pl::in_role<compute>);
PL_PARAM(head, int);      // D, known at link time
PL_PARAM(query_heads, int);
PL_PARAM(key_heads, int);
PL_PARAM(eps, float);
PL_PARAM(hidden, const float*);
PL_PARAM(norms, const __nv_bfloat16*);
PL_PARAM(queries, float*);
PL_PARAM(newest, float*);
PL_PARAM(keys, __nv_bfloat16*);
PL_PARAM(values, __nv_bfloat16*);
PL_PARAM(rope, const float*);
PL_PARAM(position, const int*);
PL_PARAM(longest, int);
PL_TENSOR(hidden, float, "HIDDEN", pl::readwrite, pl::align<16>);
PL_TENSOR(norms, pl::bf16, "NORMS, HIDDEN", pl::read, pl::align<16>);
PL_TENSOR(queries, float, "H * D", pl::readwrite, pl::align<16>);
PL_TENSOR(newest, float, "2, HK, D", pl::readwrite, pl::align<8>);
PL_TENSOR(keys, pl::bf16, "LAYERS, HK, T, D", pl::readwrite, pl::align<128>);
PL_TENSOR(values, pl::bf16, "LAYERS, HK, T, D", pl::readwrite, pl::align<128>);
PL_TENSOR(rope, float, "T, D / 2, 2", pl::read, pl::align<8>);
PL_TENSOR(position, int, "1", pl::readwrite);
PL_BIND(query_heads, "H");
PL_BIND(key_heads, "HK");
PL_BIND(longest, "T");
PL_PROTOCOL(compute, DECODE_AWAITS_ "squares.write; met.sync; squares.read; x.write; " DECODE_MULTIPLIES_
                                    "parts.read; met.sync; done.signal by 1 thread;");
PL_ENTRY(compute) {
  const int thread = compute::thread(self), n = count(self), at = layer(self), where = position(self)[0];
  decode::norm_weights<4096> weight;
  weight.read(norms(self) + 2 * at * k(self), k(self), thread);
  DECODE_AWAIT_;
  decode::take_normed<met>(self, x(self), squares(self), hidden(self), weight, eps(self), k(self), thread);
  met::sync(self);
  decode::multiply<rows>(self, x(self), parts(self), n, k(self) / 2048, thread);
  met::sync(self);
  const int half = head(self) / 2;
#pragma unroll 1
  for (int t = thread; t < n * 2; t += decode::Threads) {
    const int group = t / 2, dimension = (first(self) + group * step(self)) * 2 + t % 2;
    const int of = dimension / half, d = dimension % half;
    float a = decode::row_of(parts(self), group, t % 2 * 2), b = decode::row_of(parts(self), group, t % 2 * 2 + 1);
    const int key = of - query_heads(self), value = key - key_heads(self);
    if (value < 0) {
      const float2 turn = reinterpret_cast<const float2*>(rope(self))[where * half + d];
      const float c = a * turn.x - b * turn.y;
      b = b * turn.x + a * turn.y, a = c;
    }
    if (key < 0) {
      queries(self)[of * head(self) + d] = a, queries(self)[of * head(self) + d + half] = b;
    } else {
      const long long row = static_cast<long long>(at) * key_heads(self) + (value < 0 ? key : value);
      __nv_bfloat16* to = (value < 0 ? keys(self) : values(self)) + (row * longest(self) + where) * head(self);
      to[d] = __float2bfloat16(a), to[d + half] = __float2bfloat16(b);
      float* also = newest(self) + (of - query_heads(self)) * head(self);
      also[d] = a, also[d + half] = b;
    }
  }
  met::sync(self);
  if (thread == 0) done::add(self, stage(self));
}
}

// hidden += W x.
#define DECODE_RESIDUAL(NAME, K_MOST, SOURCE)                                                                     \
  PL_COMPONENT(NAME) {                                                                                            \
    DECODE_PRODUCT_(K_MOST, 64);                                                                                  \
    DECODE_ADDS_;                                                                                                 \
    PL_PARAM(hidden, float*);                                                                                     \
    PL_PARAM(from, const float*);                                                                                 \
    PL_TENSOR(hidden, float, "HIDDEN", pl::readwrite, pl::align<16>);                                             \
    PL_BIND(from, SOURCE);                                                                                        \
    PL_PROTOCOL(compute, DECODE_AWAITS_ "x.write; " DECODE_MULTIPLIES_ "parts.read; met.sync; "                   \
                                        "done.signal by 1 thread;");                                              \
    PL_ENTRY(compute) {                                                                                           \
      const int thread = compute::thread(self), n = count(self);                                                  \
      DECODE_AWAIT_;                                                                                              \
      decode::take(x(self), from(self), k(self), thread);                                                         \
      met::sync(self);                                                                                            \
      decode::multiply<rows>(self, x(self), parts(self), n, k(self) / 2048, thread);                              \
      met::sync(self);                                                                                            \
      _Pragma("unroll 1") for (int t = thread; t < n * 4; t += decode::Threads) {                                 \
        float* to = hidden(self) + (first(self) + t / 4 * step(self)) * 4 + t % 4;                                \
        *to = __ldcg(to) + decode::row_of(parts(self), t / 4, t % 4);                                             \
      }                                                                                                           \
      met::sync(self);                                                                                            \
      if (thread == 0) done::add(self, stage(self));                                                              \
    }                                                                                                             \
  }
DECODE_RESIDUAL(decode::output_projection, 4096, "attended")
DECODE_RESIDUAL(decode::down, 14336, "activated")

// SiLU(gate) * up of hidden, normed.  The four rows of a group are gate i, up i, gate i + 1, up i + 1.
PL_COMPONENT(decode::gate_up) {
DECODE_PRODUCT_(4096, 64);
DECODE_ADDS_;
PL_OPERAND(layer, int);
PL_SMEM(squares, float[16], pl::align<16>, pl::in_role<compute>);
PL_PARAM(eps, float);
PL_PARAM(hidden, const float*);
PL_PARAM(norms, const __nv_bfloat16*);
PL_PARAM(activated, float*);
PL_TENSOR(hidden, float, "HIDDEN", pl::readwrite, pl::align<16>);
PL_TENSOR(norms, pl::bf16, "NORMS, HIDDEN", pl::read, pl::align<16>);
PL_TENSOR(activated, float, "FFN", pl::readwrite, pl::align<16>);
PL_PROTOCOL(compute, DECODE_AWAITS_ "squares.write; met.sync; squares.read; x.write; " DECODE_MULTIPLIES_
                                    "parts.read; met.sync; done.signal by 1 thread;");
PL_ENTRY(compute) {
  const int thread = compute::thread(self), n = count(self);
  decode::norm_weights<4096> weight;
  weight.read(norms(self) + (2 * layer(self) + 1) * k(self), k(self), thread);
  DECODE_AWAIT_;
  decode::take_normed<met>(self, x(self), squares(self), hidden(self), weight, eps(self), k(self), thread);
  met::sync(self);
  decode::multiply<rows>(self, x(self), parts(self), n, k(self) / 2048, thread);
  met::sync(self);
#pragma unroll 1
  for (int t = thread; t < n * 2; t += decode::Threads) {
    const float gate = decode::row_of(parts(self), t / 2, t % 2 * 2), up = decode::row_of(parts(self), t / 2, t % 2 * 2 + 1);
    activated(self)[(first(self) + t / 2 * step(self)) * 2 + t % 2] = gate / (1 + __expf(-gate)) * up;
  }
  met::sync(self);
  if (thread == 0) done::add(self, stage(self));
}
}

// The logits of hidden, normed, and the token with the highest: it becomes `token`, and `position` goes on.  Every CTA
// leaves its best in `best`; the last one to come decides.
PL_COMPONENT(decode::logits) {
DECODE_PRODUCT_(4096, 320);
PL_OPERAND(ctas, int);
PL_SMEM(squares, float[16], pl::align<16>, pl::in_role<compute>);
PL_SMEM(found, unsigned long long[16], pl::in_role<compute>);
PL_PARAM(eps, float);
PL_PARAM(vocabulary, int);
PL_PARAM(hidden, const float*);
PL_PARAM(norms, const __nv_bfloat16*);
PL_PARAM(last_norm, int);
PL_PARAM(scores, float*);
PL_PARAM(best, unsigned long long*);
PL_PARAM(token, int*);
PL_PARAM(position, int*);
PL_TENSOR(hidden, float, "HIDDEN", pl::readwrite, pl::align<16>);
PL_TENSOR(norms, pl::bf16, "NORMS, HIDDEN", pl::read, pl::align<16>);
PL_TENSOR(scores, float, "VOCABULARY", pl::write);
PL_TENSOR(best, long long, "2", pl::readwrite);
PL_TENSOR(token, int, "1", pl::readwrite);
PL_TENSOR(position, int, "1", pl::readwrite);
PL_BIND(last_norm, "NORMS - 1");
PL_BIND(vocabulary, "VOCABULARY");
PL_PROTOCOL(compute, DECODE_AWAITS_ "squares.write; met.sync; squares.read; x.write; " DECODE_MULTIPLIES_
                                    "parts.read; found.write; met.sync; found.read;");
PL_ENTRY(compute) {
  const int thread = compute::thread(self), n = count(self);
  decode::norm_weights<4096> weight;
  weight.read(norms(self) + last_norm(self) * k(self), k(self), thread);
  DECODE_AWAIT_;
  decode::take_normed<met>(self, x(self), squares(self), hidden(self), weight, eps(self), k(self), thread);
  met::sync(self);
  decode::multiply<rows>(self, x(self), parts(self), n, k(self) / 2048, thread);
  met::sync(self);
  unsigned long long top = 0;
#pragma unroll 1
  for (int t = thread; t < n * 4; t += decode::Threads) {
    const int row = (first(self) + t / 4 * step(self)) * 4 + t % 4;
    const float y = decode::row_of(parts(self), t / 4, t % 4);
    if (row < vocabulary(self)) {
      scores(self)[row] = y;
      const unsigned bits = __float_as_uint(y), key = bits >> 31 ? ~bits : bits | 0x80000000u;  // in order of the floats
      const unsigned long long one = static_cast<unsigned long long>(key) << 32 | (0xffffffffu - row);
      top = one > top ? one : top;  // of equals the first
    }
  }
#pragma unroll
  for (int o = 16; o; o >>= 1) {
    const unsigned long long other = __shfl_xor_sync(~0u, top, o);
    top = other > top ? other : top;
  }
  if (thread % 32 == 0) found(self)[thread / 32] = top;
  met::sync(self);
  if (thread == 0) {
    for (int w = 1; w < decode::Warps; ++w) top = found(self)[w] > top ? found(self)[w] : top;
    atomicMax(best(self), top);
    __threadfence();
    if (atomicAdd(best(self) + 1, 1ull) == ctas(self) - 1) {
      __threadfence();
      token(self)[0] = 0xffffffffu - static_cast<unsigned>(atomicExch(best(self), 0ull));
      best(self)[1] = 0;
      position(self)[0] += 1;
    }
  }
}
}
