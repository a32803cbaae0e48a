// pipelink/cute.cuh: a tile whose shared-memory layout is a CuTe layout.
//
//   PL_IN(a, pl::stream<pl::cute_tile<pl::bf16, Layout>>, pl::ring<2, 4>, pl::by_wgmma);
//
// The record holds shape and stride as nested lists and, for a composed layout, the swizzle <B, M, S>.  Needs CUTLASS's
// headers (pl-cc --include-cutlass), and with NVRTC -default-device, because theirs name no execution space.
#pragma once
#include <cute/layout.hpp>
#include <cute/layout_composed.hpp>
#include <cute/swizzle_layout.hpp>
#include <pipelink/component.cuh>

namespace pl {
namespace detail {
template <class Tree, int... I>
PL_FN_ void write_modes(writer& w, Tree const&, list<I...>);
template <class Tree>
PL_FN_ void write_tree(writer& w, Tree const& t) {
  if constexpr (cute::is_tuple<Tree>::value) {
    w.open('[');
    write_modes(w, t, typename make_list<cute::tuple_size<Tree>::value>::type{});
    w.close(']');
  } else {
    static_assert(cute::is_static<Tree>::value, "pl::cute_tile: the layout must be static");
    w.item(static_cast<long long>(Tree::value));
  }
}
template <class Tree, int... I>
PL_FN_ void write_modes(writer& w, Tree const&, list<I...>) {
  (write_tree(w, cute::tuple_element_t<I, Tree>{}), ...);
}
template <class Layout>
struct cute_parts {
  using layout = Layout;
  PL_STATIC_FN_ void swizzle(writer&) {}
  PL_STATIC_FN_ int align(int) { return 128; }
};
template <int B, int M, int S, class Offset, class L>
struct cute_parts<cute::ComposedLayout<cute::Swizzle<B, M, S>, Offset, L>> {
  using layout = L;
  PL_STATIC_FN_ void swizzle(writer& w) {
    w.key("swizzle");
    w.open('[');
    w.item(B);
    w.item(M);
    w.item(S);
    w.close(']');
  }
  // The pattern repeats every 2^(B + M + |S|) elements.
  PL_STATIC_FN_ int align(int bits) {
    int bytes = (1 << (B + M + (S > 0 ? S : -S))) * bits / 8;
    return bytes > 128 ? bytes : 128;
  }
};
}  // namespace detail

template <class T, class Layout>
struct cute_tile {
  static_assert(detail::is_element<T>::value, "pl::cute_tile: not an element type; specialise pl::element<T>");
  enum : long long { bytes = static_cast<long long>(cute::cosize_v<Layout>) * element<T>::bits / 8 };
  enum : int { align = detail::cute_parts<Layout>::align(element<T>::bits) };
  PL_STATIC_FN_ void write(detail::writer& w) {
    using L = typename detail::cute_parts<Layout>::layout;
    w.field("element", element<T>::name());
    w.key("shape");
    list_of(w, L{}.shape());
    w.key("stride");
    list_of(w, L{}.stride());
    detail::cute_parts<Layout>::swizzle(w);
    w.field("layout", "cute");
    w.field("bytes", bytes);
    w.field("align", align);
  }

 private:
  // A one-mode layout has a bare number: the record always holds a list.
  template <class Tree>
  PL_STATIC_FN_ void list_of(detail::writer& w, Tree const& t) {
    if constexpr (!cute::is_tuple<Tree>::value) w.open('[');
    detail::write_tree(w, t);
    if constexpr (!cute::is_tuple<Tree>::value) w.close(']');
  }
};
}  // namespace pl
