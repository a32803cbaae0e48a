// pipelink/attributes.cuh: what follows the name in PL_ROLE, PL_OUT, PL_SMEM, ...
//
// An attribute is a type with `attribute` (what it speaks about) and `write`.  Each declaration checks which it takes.
#pragma once
#include <pipelink/records.cuh>
#include <pipelink/touches.cuh>

namespace pl {

enum class about {
  warps, registers, threads, early, count, arrivals, number, align, live, ring, touch, ends, empty, per_warp, pair, cache, role, credit, pages, flight
};

// The attributes of each declaration, for its check, and as text for the message.
#define PL_ON_ROLE_ about::warps, about::registers, about::threads, about::early
#define PL_KNOWN_ON_ROLE_ "pl::warps<n>, pl::registers<min, max>, pl::one_thread, pl::early"
#define PL_ON_SMEM_ about::align, about::live, about::role
#define PL_KNOWN_ON_SMEM_ "pl::align<n>, pl::live<begin, end>, pl::in_role<role>"
#define PL_ON_BARRIER_ about::count, about::role
#define PL_KNOWN_ON_BARRIER_ "pl::threads<n>, pl::in_role<role>"
#define PL_ON_MBARRIER_ about::arrivals, about::number, about::role
#define PL_KNOWN_ON_MBARRIER_ "pl::arrivals<n>, pl::count<n>, pl::in_role<role>"
#define PL_ON_CLUSTER_BARRIER_ about::role
#define PL_KNOWN_ON_CLUSTER_BARRIER_ "pl::in_role<role>"
#define PL_ON_TURNS_ about::role
#define PL_KNOWN_ON_TURNS_ "pl::in_role<role>"
#define PL_ON_DISPATCH_ about::role
#define PL_KNOWN_ON_DISPATCH_ "pl::in_role<role>"
#define PL_ON_LEASE_ about::pages, about::align
#define PL_KNOWN_ON_LEASE_ "pl::pages<min, max>, pl::align<n>"
#define PL_ON_TMEM_ about::live, about::role
#define PL_KNOWN_ON_TMEM_ "pl::live<begin, end>, pl::in_role<role>"
#define PL_ON_RING_ about::ring, about::touch, about::ends, about::empty, about::per_warp, about::pair, about::cache, about::flight, \
    about::role
#define PL_KNOWN_ON_RING_                                                                      \
  "pl::ring<min, max>, " PL_KNOWN_TOUCHES_ ", pl::ends, pl::may_be_empty, pl::per_warp, pl::cta_pair, " \
  "pl::l2<policies...>, pl::in_flight<n>, pl::in_role<role>"
#define PL_ON_LOCAL_ about::ring, about::touch, about::role
#define PL_KNOWN_ON_LOCAL_ "pl::ring<min, max>, pl::by_cp_async, pl::in_role<role>"
#define PL_ON_TOKEN_ about::credit, about::role
#define PL_KNOWN_ON_TOKEN_ "pl::credit<n>, pl::in_role<role>"
#define PL_ON_TENSOR_ about::align
#define PL_KNOWN_ON_TENSOR_ "pl::align<n>"

// ---------------------------------------------------------------- roles
// Warps of the role.  Align: its first warp is a multiple of it; whole warpgroups start at one unless told otherwise.
template <int N, int Align = N % 4 == 0 ? 4 : 1>
struct warps {
  static_assert(N >= 1 && N <= 32, "pl::warps<n>: 1 to 32");
  static_assert(Align == 1 || Align == 2 || Align == 4, "pl::warps<n, align>: align is 1, 2 or 4");
  enum : int { attribute = int(about::warps) };
  PL_STATIC_FN_ void write(detail::writer& w) {
    w.field("warps", N);
    w.field("align", Align);
  }
};
// Registers per thread the role needs at least and can use at most (setmaxnreg: 24 to 256, multiples of 8).
template <int Min, int Max>
struct registers {
  static_assert(Min % 8 == 0 && Max % 8 == 0, "pl::registers<min, max>: multiples of 8");
  static_assert(24 <= Min && Min <= Max && Max <= 256, "pl::registers<min, max>: 24 <= min <= max <= 256");
  enum : int { attribute = int(about::registers) };
  PL_STATIC_FN_ void write(detail::writer& w) {
    w.key("registers");
    w.open('[');
    w.item(Min);
    w.item(Max);
    w.close(']');
  }
};
// The entry runs in one thread of the role's first warp.
struct one_thread {
  enum : int { attribute = int(about::threads) };
  PL_STATIC_FN_ void write(detail::writer& w) { w.field("threads", "one"); }
};
// In a programmatic launch the entry begins before the kernel in front has ended, and waits for it itself
// (<pipelink/programmatic.cuh>); other roles begin when it has.
struct early {
  enum : int { attribute = int(about::early) };
  PL_STATIC_FN_ void write(detail::writer& w) { w.flag("early"); }
};

// ---------------------------------------------------------------- memory and barriers
template <int N>
struct threads {
  static_assert(N >= 32 && N % 32 == 0 && N <= 1024, "pl::threads<n>: a multiple of 32, up to 1024");
  enum : int { attribute = int(about::count) };
  PL_STATIC_FN_ void write(detail::writer& w) { w.field("threads", N); }
};
// Arrivals that complete a phase of an mbarrier (PTX ISA, mbarrier: 1 to 2^20 - 1).
template <int N>
struct arrivals {
  static_assert(N >= 1 && N < 1 << 20, "pl::arrivals<n>: 1 to 1048575");
  enum : int { attribute = int(about::arrivals) };
  PL_STATIC_FN_ void write(detail::writer& w) { w.field("arrivals", N); }
};
// How many mbarriers there are under one name.
template <int N>
struct count {
  static_assert(N >= 1 && N <= 64, "pl::count<n>: 1 to 64");
  enum : int { attribute = int(about::number) };
  PL_STATIC_FN_ void write(detail::writer& w) { w.field("count", N); }
};
template <int N>
struct align {
  static_assert(N >= 1 && (N & (N - 1)) == 0, "pl::align<n>: a power of two");
  enum : int { attribute = int(about::align) };
  PL_STATIC_FN_ void write(detail::writer& w) { w.field("align", N); }
};
// Points of the component's own time between which the buffer holds data; disjoint intervals may be overlaid.
template <int Begin, int End>
struct live {
  static_assert(0 <= Begin && Begin < End, "pl::live<begin, end>: 0 <= begin < end");
  enum : int { attribute = int(about::live) };
  PL_STATIC_FN_ void write(detail::writer& w) {
    w.key("live");
    w.open('[');
    w.item(Begin);
    w.item(End);
    w.close(']');
  }
};

// How many pages of shared memory a lease has.
template <int Min, int Max>
struct pages {
  static_assert(1 <= Min && Min <= Max && Max <= 64, "pl::pages<min, max>: 1 <= min <= max <= 64");
  enum : int { attribute = int(about::pages) };
  PL_STATIC_FN_ void write(detail::writer& w) {
    w.key("pages");
    w.open('[');
    w.item(Min);
    w.item(Max);
    w.close(']');
  }
};

// ---------------------------------------------------------------- ports
// Depths of the ring that the component works with.
template <int Min, int Max>
struct ring {
  static_assert(1 <= Min && Min <= Max && Max <= 64, "pl::ring<min, max>: 1 <= min <= max <= 64");
  enum : int { attribute = int(about::ring) };
  PL_STATIC_FN_ void write(detail::writer& w) {
    w.key("stages");
    w.open('[');
    w.item(Min);
    w.item(Max);
    w.close(']');
  }
};
// How the data are touched at this end.  The linker derives arrival counts, their unit and proxy fences from it.
#define PL_TOUCH_(NAME, TEXT)                                                     \
  struct NAME {                                                                   \
    enum : int { attribute = int(about::touch) };                              \
    PL_STATIC_FN_ const char* name() { return TEXT; }                             \
    PL_STATIC_FN_ void write(detail::writer& w) { w.field("touch", TEXT); }       \
  };
PL_TOUCHES_(PL_TOUCH_)
#undef PL_TOUCH_
struct ends {  // the producer may say that nothing follows
  enum : int { attribute = int(about::ends) };
  PL_STATIC_FN_ void write(detail::writer& w) { w.flag("ends"); }
};
struct may_be_empty {  // the stream may end before its first item
  enum : int { attribute = int(about::empty) };
  PL_STATIC_FN_ void write(detail::writer& w) { w.flag("may_be_empty"); }
};
struct per_warp {  // by_wgmma: each warp gives slots back, since the warpgroup passes over some without a product
  enum : int { attribute = int(about::per_warp) };
  PL_STATIC_FN_ void write(detail::writer& w) { w.flag("per_warp"); }
};
struct cta_pair {  // the tensor cores of the two CTAs of a cluster work together on it: tcgen05 with cta_group::2
  enum : int { attribute = int(about::pair) };
  PL_STATIC_FN_ void write(detail::writer& w) { w.field("cta_group", 2); }
};
// How the L2 cache keeps what the copies of each tile bring, one policy a tile.
struct evict_normal {
  PL_STATIC_FN_ const char* policy() { return "normal"; }
};
struct evict_first {  // read once, such as activations that no other CTA needs
  PL_STATIC_FN_ const char* policy() { return "evict_first"; }
};
struct evict_last {  // read again and again, such as weights
  PL_STATIC_FN_ const char* policy() { return "evict_last"; }
};
template <class... Policies>
struct l2 {
  enum : int { attribute = int(about::cache), tiles = sizeof...(Policies) };
  PL_STATIC_FN_ void write(detail::writer& w) {
    w.key("cache");
    w.open('[');
    (w.item(Policies::policy()), ...);
    w.close(']');
  }
};
// by_tma, by_bulk: no more than n slots are being filled at once.  A deep ring then fills while its readers pause, and
// what else goes to memory does not queue behind all of it.
template <int N>
struct in_flight {
  static_assert(1 <= N && N <= 64, "pl::in_flight<n>: 1 to 64");
  enum : int { attribute = int(about::flight) };
  PL_STATIC_FN_ void write(detail::writer& w) { w.field("in_flight", N); }
};
template <class Role>
struct in_role {  // needed where a component has several roles
  enum : int { attribute = int(about::role) };
  PL_STATIC_FN_ void write(detail::writer& w) { w.field("role", Role::pl_name()); }
};
template <int N>
struct credit {  // times that take() goes through before the first pass()
  static_assert(0 <= N && N <= 1, "pl::credit<n>: 0 or 1");
  enum : int { attribute = int(about::credit) };
  PL_STATIC_FN_ void write(detail::writer& w) { w.field("credit", N); }
};

namespace detail {
template <class... A>
struct attributes {};  // a list that may be empty
template <class T, class = void>
struct is_attribute {
  enum : bool { value = false };
};
template <class T>
struct is_attribute<T, void_t<decltype(T::attribute)>> {
  enum : bool { value = true };
};
template <class T, bool = is_attribute<T>::value>
struct about_of {
  PL_STATIC_FN_ bool is(about) { return false; }
};
template <class T>
struct about_of<T, true> {
  PL_STATIC_FN_ bool is(about a) { return int(T::attribute) == int(a); }
};
template <class A, about... Known>
PL_FN_ bool is_one_of() {
  return (false || ... || about_of<A>::is(Known));
}
// How many of the attributes A speak about `what`.
template <class... A>
PL_FN_ int count([[maybe_unused]] about what) {
  return (0 + ... + int(about_of<A>::is(what)));
}
template <class A>
PL_FN_ void write_if(writer& w) {
  if constexpr (is_attribute<A>::value) A::write(w);
}
template <class... A>
PL_FN_ void write_all(writer& w) {
  (write_if<A>(w), ...);
}
template <class A>
struct policies_of {
  enum : int { count = 0 };
};
template <class... Policies>
struct policies_of<l2<Policies...>> {
  enum : int { count = sizeof...(Policies) };
};
template <class Attribute, class... A>
PL_FN_ bool has() {
  return (false || ... || same<A, Attribute>::value);
}
}  // namespace detail
}  // namespace pl
