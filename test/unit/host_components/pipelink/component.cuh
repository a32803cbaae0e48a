// Passive components on the host: parameters are variables, answers are functions, a thread is what `threadIdx` says.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>

#define __device__
#define __host__
#define __forceinline__ inline
using std::max;
using std::min;
inline struct { unsigned x; } threadIdx, blockIdx, gridDim;
struct uint2 { unsigned x, y; };

inline float __int_as_float(unsigned bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}
inline float __uint_as_float(unsigned bits) { return __int_as_float(bits); }
template <class T>
T __shfl_xor_sync(unsigned, T x, int) { return x; }
template <class T>
T __shfl_sync(unsigned, T x, int) { return x; }
inline bool __any_sync(unsigned, bool x) { return x; }
template <class T>
T __ldg(const T* from) { return *from; }

namespace pl {
struct self {};
struct slot {};
struct bf16 {};
struct f16 {};
template <class T, int N>
struct fragment {
  T v[N];
  T& operator[](int n) { return v[n]; }
  const T& operator[](int n) const { return v[n]; }
};
template <class...>
struct stream;
template <class, int...>
struct tile;
template <class>
struct swizzle128;
}  // namespace pl

#define PL_COMPONENT(...) namespace __VA_ARGS__
#define PL_ANSWER(...) static_assert(true, "")
#define PL_DEFINE(name) inline auto name
#define PL_PARAM(name, ...)    \
  inline __VA_ARGS__ given_##name; \
  inline auto name(pl::self) { return given_##name; } static_assert(true, "")
#define PL_BIND(...) static_assert(true, "")
#define PL_GRID(...) static_assert(true, "")
#define PL_TENSOR(...) static_assert(true, "")
#define PL_DERIVE(...) static_assert(true, "")
#define PL_TYPE(...) static_assert(true, "")
#define PL_REQUIRE(...) static_assert(true, "")
#define PL_PROMISE(...) static_assert(true, "")
