// pipelink/types.cuh: elements, tiles and streams, values in calls, and how each is named in a record.
//
// Names are structural, not the compiler's spelling: gcc (nvcc's host pass) and EDG (NVRTC) print types differently,
// and both must give the same record.
#pragma once
#include <pipelink/records.cuh>

struct __nv_bfloat16;  // <cuda_bf16.h> and <cuda_fp16.h>, if the author uses them
struct __half;

namespace pl {

struct bf16;  // element types by name: tiles need no header of theirs
struct f16;
struct e4m3;
struct e5m2;

// element<T>: name() and bits of an element type.  Open: specialise it for more.
template <class T>
struct element;
#define PL_ELEMENT_(T, NAME, BITS)                    \
  template <>                                         \
  struct element<T> {                                 \
    PL_STATIC_FN_ const char* name() { return NAME; } \
    enum : int { bits = BITS };                 \
  };
PL_ELEMENT_(bf16, "bf16", 16)
PL_ELEMENT_(f16, "f16", 16)
PL_ELEMENT_(::__nv_bfloat16, "bf16", 16)
PL_ELEMENT_(::__half, "f16", 16)
PL_ELEMENT_(e4m3, "e4m3", 8)
PL_ELEMENT_(e5m2, "e5m2", 8)
PL_ELEMENT_(float, "f32", 32)
PL_ELEMENT_(double, "f64", 64)
PL_ELEMENT_(bool, "bool", 8)
PL_ELEMENT_(char, "i8", 8)
PL_ELEMENT_(signed char, "i8", 8)
PL_ELEMENT_(unsigned char, "u8", 8)
PL_ELEMENT_(short, "i16", 16)
PL_ELEMENT_(unsigned short, "u16", 16)
PL_ELEMENT_(int, "i32", 32)
PL_ELEMENT_(unsigned, "u32", 32)
PL_ELEMENT_(long, "i64", 64)
PL_ELEMENT_(unsigned long, "u64", 64)
PL_ELEMENT_(long long, "i64", 64)
PL_ELEMENT_(unsigned long long, "u64", 64)

#undef PL_ELEMENT_
namespace detail {
template <class T, class = void>
struct is_element {
  enum : bool { value = false };
};
template <class T>
struct is_element<T, void_t<decltype(element<T>::bits)>> {
  enum : bool { value = true };
};
}  // namespace detail

// ---------------------------------------------------------------- names of types in signatures
// A class is struct<size,alignment>, or NAME<size,alignment> after PL_TYPE(T, "NAME").
template <class T, class = void>
struct type_name {
  PL_STATIC_FN_ void write(detail::writer& w) {
    w.raw("struct<");
    w.number(sizeof(T));
    w.put(',');
    w.number(alignof(T));
    w.put('>');
  }
};
template <>
struct type_name<void> {
  PL_STATIC_FN_ void write(detail::writer& w) { w.raw("void"); }
};
template <class T>
struct type_name<T, detail::void_t<decltype(element<T>::bits)>> {
  PL_STATIC_FN_ void write(detail::writer& w) { w.raw(element<T>::name()); }
};
template <class T>
struct type_name<const T> {
  PL_STATIC_FN_ void write(detail::writer& w) {
    w.raw("const ");
    type_name<T>::write(w);
  }
};
template <class T>
struct type_name<T*> {
  PL_STATIC_FN_ void write(detail::writer& w) {
    type_name<T>::write(w);
    w.put('*');
  }
};
template <class T>
struct type_name<T&> {
  PL_STATIC_FN_ void write(detail::writer& w) {
    type_name<T>::write(w);
    w.put('&');
  }
};
template <class T, decltype(sizeof(0)) N>
struct type_name<T[N]> {
  PL_STATIC_FN_ void write(detail::writer& w) {
    type_name<T>::write(w);
    w.put('[');
    w.number(N);
    w.put(']');
  }
};
#define PL_TYPE(T, NAME)                                 \
  template <>                                            \
  struct pl::type_name<T> {                              \
    PL_STATIC_FN_ void write(::pl::detail::writer& w) {  \
      w.raw(NAME "<");                                   \
      w.number(sizeof(T));                               \
      w.put(',');                                        \
      w.number(alignof(T));                              \
      w.put('>');                                        \
    }                                                    \
  }

// N values of each thread, in registers as long as every index is a constant.
template <class T, int N>
struct fragment {
  T v[N];
  __host__ __device__ constexpr T& operator[](int i) { return v[i]; }
  __host__ __device__ constexpr const T& operator[](int i) const { return v[i]; }
};
template <class T, int N>
struct type_name<fragment<T, N>> {
  PL_STATIC_FN_ void write(detail::writer& w) {
    w.raw("fragment<");
    type_name<T>::write(w);
    w.put(',');
    w.number(N);
    w.put('>');
  }
};

// What a scheduler answers: an output tile's row and column, in tiles; `valid` is false after the last one.
struct tile_coord {
  int m, n;
  bool valid;
  __host__ __device__ constexpr explicit operator bool() const { return valid; }
};
template <>
struct type_name<tile_coord> {
  PL_STATIC_FN_ void write(detail::writer& w) { w.raw("tile_coord"); }
};

// ---------------------------------------------------------------- tiles
// tile<T, rows, columns>: the last dimension is contiguous.  A layout around it says how it lies in shared memory.
template <class T, int... Shape>
struct tile {
  static_assert(sizeof...(Shape) >= 1 && sizeof...(Shape) <= 5, "pl::tile<element, dimensions...>: 1 to 5 dimensions");
  static_assert((true && ... && (Shape > 0)), "pl::tile: every dimension is positive");
  static_assert(detail::is_element<T>::value, "pl::tile: not an element type; specialise pl::element<T> to add one");
  enum : long long { bytes = (1LL * ... * Shape) * element<T>::bits / 8 };
  PL_STATIC_FN_ void write(detail::writer& w) {
    w.field("element", element<T>::name());
    w.key("shape");
    w.open('[');
    (w.item(Shape), ...);
    w.close(']');
  }
};
namespace detail {
template <class Tile>
struct is_tile {
  enum : bool { value = false };
};
template <class T, int... Shape>
struct is_tile<tile<T, Shape...>> {
  enum : bool { value = true };
};
}  // namespace detail
#define PL_LAYOUT_(NAME, ALIGN)                                                                                  \
  template <class Tile>                                                                                          \
  struct NAME {                                                                                                  \
    static_assert(detail::is_tile<Tile>::value, "pl::" #NAME "<...> takes a pl::tile<element, dimensions...>");  \
    enum : long long { bytes = Tile::bytes };                                                              \
    enum : int { align = ALIGN };                                                                          \
    PL_STATIC_FN_ void write(detail::writer& w) {                                                                \
      Tile::write(w);                                                                                            \
      w.field("layout", #NAME);                                                                                  \
      w.field("bytes", bytes);                                                                                   \
      w.field("align", align);                                                                                   \
    }                                                                                                            \
  };
// Swizzle patterns repeat from boundaries of their size (PTX ISA, "Shared memory layout" of wgmma and tensor copies);
// row_major is a destination of TMA, which wants 128 bytes.
PL_LAYOUT_(swizzle128, 1024)
PL_LAYOUT_(swizzle64, 512)
PL_LAYOUT_(swizzle32, 256)
PL_LAYOUT_(row_major, 128)
#undef PL_LAYOUT_

// rows x columns of accumulators in tensor memory: row i is lane i, a column is 32 bits (sm_100a, sm_103a).  The slot's
// address is then one of tensor memory, lane in the upper half and column in the lower.
template <class T, int Rows, int Columns>
struct tmem_tile {
  static_assert(element<T>::bits == 32, "pl::tmem_tile: elements of 32 bits");
  static_assert(Rows == 64 || Rows == 128, "pl::tmem_tile: 64 or 128 rows, the lanes of tensor memory");
  static_assert(Columns >= 8 && Columns <= 512 && Columns % 8 == 0, "pl::tmem_tile: 8 to 512 columns, a multiple of 8");
  enum : long long { bytes = 4LL * Rows * Columns };
  PL_STATIC_FN_ void write(detail::writer& w) {
    tile<T, Rows, Columns>::write(w);
    w.field("layout", "tmem");
    w.field("space", "tmem");
    w.field("bytes", bytes);
    w.field("columns", Columns);
  }
};

// One value of any plain type per slot: work items, indices.
template <class T>
struct item {
  enum : long long { bytes = sizeof(T) };
  enum : int { align = alignof(T) > 16 ? alignof(T) : 16 };
  PL_STATIC_FN_ void write(detail::writer& w) {
    w.key("element");
    w.put('"');
    type_name<T>::write(w);
    w.put('"');
    w.comma = true;
    w.key("shape");
    w.raw("[1]");
    w.comma = true;
    w.field("layout", "item");
    w.field("bytes", bytes);
    w.field("align", align);
  }
};

// What travels through a ring: one slot holds all parts, under one mbarrier.
template <class... Parts>
struct stream {
  static_assert(sizeof...(Parts) >= 1, "pl::stream<tiles...>: at least one tile");
  enum : int { parts = sizeof...(Parts) };
  enum : long long { bytes = (0LL + ... + Parts::bytes) };
  PL_STATIC_FN_ void write(detail::writer& w) {
    w.field("kind", "stream");
    w.key("tiles");
    w.open('[');
    ((w.open('{'), Parts::write(w), w.close('}')), ...);
    w.close(']');
  }
};
namespace detail {
template <class T>
struct is_stream {
  enum : bool { value = false };
};
template <class... P>
struct is_stream<stream<P...>> {
  enum : bool { value = true };
};
// Tile I of a stream.
template <class Stream, int I>
struct part_of;
template <class... P, int I>
struct part_of<stream<P...>, I> : nth<I, P...> {};
}  // namespace detail
}  // namespace pl
