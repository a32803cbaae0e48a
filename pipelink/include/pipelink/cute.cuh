// pipelink/cute.cuh: a tile whose shared-memory layout is a CuTe layout.
//
//   PL_IN(a, pl::stream<pl::cute_tile<pl::bf16, Layout>>, pl::ring<2, 4>, pl::by_wgmma);
//
// A layout that is one of PipeLink's own (rows of one swizzle width, such as a K-major GMMA atom tiled along M, or plain
// rows) is recorded under that name, so the other end of a connection need not know CuTe.  Any other is recorded with
// its shape, the extent and stride of every mode ("stride": [extent, stride, extent, stride, ...]) and, for a composed
// layout, the swizzle [bits, base, shift] over byte addresses.  Needs CUTLASS's headers (pl-cc --include-cutlass), and
// with NVRTC -default-device, because theirs name no execution space.
#pragma once
#include <cute/layout.hpp>
#include <cute/layout_composed.hpp>
#include <cute/pointer_flagged.hpp>
#include <cute/swizzle_layout.hpp>
#include <pipelink/component.cuh>

namespace pl {
namespace detail {
// "extent, stride" of every mode of a layout, in order.
template <class Shape, class Stride, int... I>
PL_FN_ void write_modes(writer& w, Shape const& shape, Stride const& stride, list<I...>);
template <class Shape, class Stride>
PL_FN_ void write_mode(writer& w, Shape const& shape, Stride const& stride) {
  if constexpr (cute::is_tuple<Shape>::value) {
    write_modes(w, shape, stride, typename make_list<cute::tuple_size<Shape>::value>::type{});
  } else {
    static_assert(cute::is_static<Shape>::value && cute::is_static<Stride>::value,
                  "pl::cute_tile: the layout must be static");
    w.item(static_cast<long long>(Shape::value));
    w.item(static_cast<long long>(Stride::value));
  }
}
template <class Shape, class Stride, int... I>
PL_FN_ void write_modes(writer& w, Shape const&, Stride const&, list<I...>) {
  (write_mode(w, cute::tuple_element_t<I, Shape>{}, cute::tuple_element_t<I, Stride>{}), ...);
}
// The extents of the layout's top modes: the tile's shape.
template <class Layout, int... I>
PL_FN_ void write_extents(writer& w, list<I...>) {
  (w.item(static_cast<long long>(decltype(cute::size<I>(Layout{}))::value)), ...);
}
// log2 of an element's bytes: what turns a swizzle of element indices into one of byte addresses.
PL_FN_ int element_shift(int bits) {
  int shift = -3;
  for (; bits > 1; bits /= 2) ++shift;
  return shift;
}
template <class Layout>
struct cute_parts {
  using layout = Layout;
  enum : int { row_bytes = 0 };
  PL_STATIC_FN_ void swizzle(writer&, int) {}
  PL_STATIC_FN_ int align(int) { return 128; }
};
template <int B, int M, int S, class Offset, class L>
struct cute_parts<cute::ComposedLayout<cute::Swizzle<B, M, S>, Offset, L>> {
  using layout = L;
  enum : int { row_bytes = -1 };
  PL_STATIC_FN_ void write_swizzle(writer& w, int base) {
    w.key("swizzle");
    w.open('[');
    w.item(B);
    w.item(base);
    w.item(S);
    w.close(']');
  }
  PL_STATIC_FN_ void swizzle(writer& w, int bits) { write_swizzle(w, M + element_shift(bits)); }
  // The pattern repeats every 2^(B + M + |S|) elements.
  PL_STATIC_FN_ int align(int bits) {
    int bytes = (1 << (B + M + (S > 0 ? S : -S))) * bits / 8;
    return bytes > 128 ? bytes : 128;
  }
};
// With a flag for its offset the swizzle acts on byte addresses, whatever the element: <B, 4, 3> is the hardware's own,
// over rows of 16 << B bytes.
template <int B, int M, int S, int Bits, class L>
struct cute_parts<cute::ComposedLayout<cute::Swizzle<B, M, S>, cute::smem_ptr_flag_bits<Bits>, L>>
    : cute_parts<cute::ComposedLayout<cute::Swizzle<B, M, S>, cute::Int<0>, L>> {
  enum : int { row_bytes = M == 4 && S == 3 ? 16 << B : -1 };
  PL_STATIC_FN_ void swizzle(writer& w, int) {
    cute_parts<cute::ComposedLayout<cute::Swizzle<B, M, S>, cute::Int<0>, L>>::write_swizzle(w, M);
  }
  PL_STATIC_FN_ int align(int) {
    return cute_parts<cute::ComposedLayout<cute::Swizzle<B, M, S>, cute::Int<0>, L>>::align(8);
  }
};

// PipeLink's name for a tile whose rows hold Bytes bytes and are swizzled over RowBytes (0: not at all), or void.
template <class Tile, int Bytes, int RowBytes>
struct named_tile {
  using type = void;
};
template <class Tile, int Bytes>
struct named_tile<Tile, Bytes, 0> {
  using type = row_major<Tile>;
};
template <class Tile>
struct named_tile<Tile, 128, 128> {
  using type = swizzle128<Tile>;
};
template <class Tile>
struct named_tile<Tile, 64, 64> {
  using type = swizzle64<Tile>;
};
template <class Tile>
struct named_tile<Tile, 32, 32> {
  using type = swizzle32<Tile>;
};
template <class T, class Modes, int RowBytes>
struct row_tile {
  using type = void;
};
template <class T, int R, int C, int RowBytes>
struct row_tile<T, cute::Layout<cute::Shape<cute::Int<R>, cute::Int<C>>, cute::Stride<cute::Int<C>, cute::Int<1>>>,
                RowBytes> : named_tile<tile<T, R, C>, C * element<T>::bits / 8, RowBytes> {};
template <class T, class Layout, int Rank = cute::rank_v<typename cute_parts<Layout>::layout>>
struct own_tile {
  using type = void;
};
template <class T, class Layout>
struct own_tile<T, Layout, 2>
    : row_tile<T, decltype(cute::coalesce(typename cute_parts<Layout>::layout{}, cute::Shape<cute::_1, cute::_1>{})),
               cute_parts<Layout>::row_bytes> {};
template <class Own, class Layout>
PL_FN_ int tile_align(int bits) {
  if constexpr (same<Own, void>::value) return cute_parts<Layout>::align(bits);
  else return Own::align;
}
}  // namespace detail

template <class T, class Layout>
struct cute_tile {
  static_assert(detail::is_element<T>::value, "pl::cute_tile: not an element type; specialise pl::element<T>");
  enum : long long { bytes = static_cast<long long>(cute::cosize_v<Layout>) * element<T>::bits / 8 };
  using own = typename detail::own_tile<T, Layout>::type;
  enum : int { align = detail::tile_align<own, Layout>(element<T>::bits) };
  PL_STATIC_FN_ void write(detail::writer& w) {
    if constexpr (!detail::same<own, void>::value) {
      own::write(w);
    } else {
      using L = typename detail::cute_parts<Layout>::layout;
      w.field("element", element<T>::name());
      w.key("shape");
      w.open('[');
      detail::write_extents<L>(w, typename detail::make_list<cute::rank_v<L>>::type{});
      w.close(']');
      w.key("stride");
      w.open('[');
      detail::write_mode(w, L{}.shape(), L{}.stride());
      w.close(']');
      detail::cute_parts<Layout>::swizzle(w, element<T>::bits);
      w.field("layout", "cute");
      w.field("bytes", bytes);
      w.field("align", align);
    }
  }
};
}  // namespace pl
