// What becomes of the scores of every block, Q * K^T before `scale`, whatever the walker says of it.
//
// A logit is `scale` times a score.  A part that makes logits divides them by `scale`, since the core multiplies by it.
// Scores of keys behind the sequence's end and of queries behind its last are of no account; the first may be NaN.
#include "attention.cuh"

namespace plc {
__device__ __forceinline__ float reciprocal_approximate(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// s = most * tanh(s * by * ln(2) / 2), as most - 2 * most / (1 + 2^(s * by)), accurate to a few units in the last place
// of `most` (tanh.approx: 2^-11).
template <int Keys>
__device__ __forceinline__ void cap(scores_of<Keys>& s, float by, float most) {
#pragma unroll
  for (int n = 0; n < Keys / 2; ++n)
    s[n] = fmaf(reciprocal_approximate(1.f + exp2_approximate(s[n] * by)), -2.f * most, most);
}
// The same where products of matrices leave less time: four of a query share one reciprocal, of their product.  Their
// exponents end at 30, where the quotient is rounded away, so that the product is finite.  NaN stays, and is kept from
// the other three.
template <>
__device__ __forceinline__ void cap<128>(scores_of<128>& s, float by, float most) {
#pragma unroll
  for (int h = 0; h < 2; ++h)
#pragma unroll
    for (int g = 0; g < 16; g += 2) {
      float d[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) d[i] = 1.f + exp2_approximate(fminf(s[4 * (g + i / 2) + 2 * h + i % 2] * by, 30.f));
      const float left = d[0] * d[1], right = d[2] * d[3], inverse = reciprocal_approximate(left * right);
      const float by_left = inverse * right, by_right = inverse * left;
      const float r[4] = {by_left * d[1], by_left * d[0], by_right * d[3], by_right * d[2]};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        float& x = s[4 * (g + i / 2) + 2 * h + i % 2];
        x = fmaf(r[i], -2.f * most, fmaf(x, 0.f, most));
      }
    }
}

// s += slope * (key - query), both counted so that the last query stands at the last key.
template <int Keys>
__device__ __forceinline__ void lean(scores_of<Keys>& s, float slope, const attention_tile& tile, int row, int column) {
  const int lane = threadIdx.x % 32;
  const float distance = column + lane % 4 * 2 - (row + lane / 4 + tile.keys - tile.queries);
#pragma unroll
  for (int n = 0; n < Keys / 2; ++n)
    s[n] = fmaf(slope, distance + static_cast<float>(n / 4 * 8 + n % 2 - n / 2 % 2 * 8), s[n]);
}

// Elements of a bias: two neighbours, or one if it is there.  Nothing writes them while the kernel runs.
template <class Element>
struct biases {
  static constexpr int size = 2;
  static __device__ __forceinline__ void pair(const char* at, float (&x)[2]) {
    unsigned word;
    asm volatile("ld.global.nc.b32 %0, [%1];" : "=r"(word) : "l"(at));
    x[0] = words<Element>::low(word);
    x[1] = words<Element>::high(word);
  }
  static __device__ __forceinline__ float one(const char* at, bool there) {
    unsigned short half;
    asm volatile("{\n.reg .pred there;\nsetp.ne.b32 there, %2, 0;\nmov.b16 %0, 0;\n@there ld.global.nc.b16 %0, [%1];\n}"
                 : "=&h"(half) : "l"(at), "r"(static_cast<int>(there)));
    return words<Element>::low(half);
  }
};
template <>
struct biases<float> {
  static constexpr int size = 4;
  static __device__ __forceinline__ void pair(const char* at, float (&x)[2]) {
    asm volatile("ld.global.nc.v2.f32 {%0, %1}, [%2];" : "=f"(x[0]), "=f"(x[1]) : "l"(at));
  }
  static __device__ __forceinline__ float one(const char* at, bool there) {
    float x;
    asm volatile("{\n.reg .pred there;\nsetp.ne.b32 there, %2, 0;\nmov.f32 %0, 0f00000000;\n"
                 "@there ld.global.nc.f32 %0, [%1];\n}"
                 : "=&f"(x) : "l"(at), "r"(static_cast<int>(there)));
    return x;
  }
};

// s += by * bias of a warp's queries and keys.  `first` is the bias of the sequence's first query and key, `stride` its
// rows' in elements.  Pairs of neighbours where they are aligned and the block lies within the sequence; otherwise
// less at a time, since there are no registers for all.
template <class Element, int Keys>
__device__ __forceinline__ void add_bias(scores_of<Keys>& s, const char* first, long long stride, float by,
                                         const attention_tile& tile, int row, int column) {
  constexpr int size = biases<Element>::size;
  const int lane = threadIdx.x % 32, key = column + lane % 4 * 2;
  const char* at[2];
#pragma unroll
  for (int h = 0; h < 2; ++h) at[h] = first + (min(row + lane / 4 + 8 * h, tile.queries - 1) * stride + key) * size;
  const bool in_pairs = reinterpret_cast<unsigned long long>(first) % (2 * size) == 0 && stride % 2 == 0;
  if (in_pairs && column + Keys <= tile.keys) {
#pragma unroll
    for (int n = 0; n < Keys / 2; n += 2) {
      float x[2];
      biases<Element>::pair(at[n / 2 % 2] + n / 4 * 8 * size, x);
      s[n] = fmaf(x[0], by, s[n]);
      s[n + 1] = fmaf(x[1], by, s[n + 1]);
    }
  } else {
#pragma unroll
    for (int g = 0; g < Keys / 8; g += 2)
      if (column + 8 * g < tile.keys)
#pragma unroll
        for (int n = 4 * g; n < 4 * g + 8; ++n) {
          const int of = n / 4 * 8 + n % 2;
          s[n] = fmaf(biases<Element>::one(at[n / 2 % 2] + of * size, key + of < tile.keys), by, s[n]);
        }
  }
}
}  // namespace plc

#define PLC_ATTENTION_SCORE_(KEYS)                                                                                     \
  PL_ANSWER(score, void(plc::scores_of<KEYS>&, plc::attention_tile, int, int))

// They stay as they are.
#define PLC_ATTENTION_PLAIN(NAME, KEYS)                                                                                \
  PL_COMPONENT(NAME) {                                                                                                 \
    PLC_ATTENTION_SCORE_(KEYS);                                                                                        \
    PL_DEFINE(score)(pl::self, plc::scores_of<KEYS>&, plc::attention_tile, int, int) -> void {}                        \
  }

// The logit is softcap * tanh(scale * score / softcap).
#define PLC_ATTENTION_SOFTCAP(NAME, KEYS)                                                                              \
  PL_COMPONENT(NAME) {                                                                                                 \
    PLC_ATTENTION_SCORE_(KEYS);                                                                                        \
    PL_PARAM(scale, float);                                                                                            \
    PL_PARAM(softcap, float);                                                                                          \
    PL_DEFINE(score)(pl::self self, plc::scores_of<KEYS>& s, plc::attention_tile, int, int) -> void {                  \
      const float most = softcap(self) * plc::reciprocal_approximate(scale(self));                                     \
      plc::cap<KEYS>(s, 2 * 1.4426950408889634f * plc::reciprocal_approximate(most), most);                            \
    }                                                                                                                  \
  }

// To the logit comes slope * (key - query), with a slope a head; ALiBi (Press et al., arXiv:2108.12409).
#define PLC_ATTENTION_ALIBI(NAME, KEYS)                                                                                \
  PL_COMPONENT(NAME) {                                                                                                 \
    PLC_ATTENTION_SCORE_(KEYS);                                                                                        \
    PL_PARAM(scale, float);                                                                                            \
    PL_REQUIRE(plc_rows, "queries");                                                                                   \
    PL_PARAM(alibi_slopes, const float*);                                                                              \
    PL_PARAM(slopes_batch, int);                                                                                       \
    PL_TENSOR(alibi_slopes, float, "B, H", pl::read);                                                                  \
    PL_BIND(slopes_batch, "stride(alibi_slopes, 0)");                                                                  \
    PL_DEFINE(score)(pl::self self, plc::scores_of<KEYS>& s, plc::attention_tile tile, int row, int column) -> void {  \
      const float slope = __ldg(alibi_slopes(self) + tile.batch * slopes_batch(self) + tile.head);                     \
      plc::lean<KEYS>(s, slope * plc::reciprocal_approximate(scale(self)), tile, row, column);                         \
    }                                                                                                                  \
  }

// To the logit comes an element of a tensor [B, H, SQ, SK], any but the last of whose strides may be 0.
#define PLC_ATTENTION_BIAS(NAME, ELEMENT, KEYS)                                                                        \
  PL_COMPONENT(NAME) {                                                                                                 \
    PLC_ATTENTION_SCORE_(KEYS);                                                                                        \
    PL_PARAM(scale, float);                                                                                            \
    PL_REQUIRE(plc_rows, "queries");                                                                                   \
    PL_PARAM(bias, const ELEMENT*);                                                                                    \
    PL_PARAM(bias_batch, long long);                                                                                   \
    PL_PARAM(bias_head, long long);                                                                                    \
    PL_PARAM(bias_row, long long);                                                                                     \
    PL_TENSOR(bias, ELEMENT, "B, H, SQ, SK", pl::read);                                                                \
    PL_BIND(bias_batch, "stride(bias, 0)");                                                                            \
    PL_BIND(bias_head, "stride(bias, 1)");                                                                             \
    PL_BIND(bias_row, "stride(bias, 2)");                                                                              \
    PL_DEFINE(score)(pl::self self, plc::scores_of<KEYS>& s, plc::attention_tile tile, int row, int column) -> void {  \
      const long long first = tile.batch * bias_batch(self) + tile.head * bias_head(self) +                            \
                              tile.q_begin * bias_row(self) + tile.kv_begin;                                           \
      const char* data = reinterpret_cast<const char*>(bias(self)) + first * plc::biases<ELEMENT>::size;               \
      const float by = plc::reciprocal_approximate(scale(self));                                                       \
      plc::add_bias<ELEMENT, KEYS>(s, data, bias_row(self), by, tile, row, column);                                    \
    }                                                                                                                  \
  }

PLC_ATTENTION_PLAIN(plc::attention_plain, 128)
PLC_ATTENTION_SOFTCAP(plc::attention_softcap, 128)
PLC_ATTENTION_ALIBI(plc::attention_alibi, 128)
PLC_ATTENTION_BIAS(plc::attention_bias_f32, float, 128)
PLC_ATTENTION_BIAS(plc::attention_bias_bf16, pl::bf16, 128)
PLC_ATTENTION_BIAS(plc::attention_bias_f16, pl::f16, 128)
PLC_ATTENTION_PLAIN(plc::attention_plain_k64, 64)
PLC_ATTENTION_SOFTCAP(plc::attention_softcap_k64, 64)
PLC_ATTENTION_ALIBI(plc::attention_alibi_k64, 64)
PLC_ATTENTION_BIAS(plc::attention_bias_f32_k64, float, 64)
PLC_ATTENTION_BIAS(plc::attention_bias_bf16_k64, pl::bf16, 64)
PLC_ATTENTION_BIAS(plc::attention_bias_f16_k64, pl::f16, 64)
