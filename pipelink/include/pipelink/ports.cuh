// pipelink/ports.cuh: what components hand to each other: streams through rings, calls, tokens.
//
// A port is a type; its operations take pl::self.  What they do (wait on which mbarrier, at which address, with which
// arrival) is defined by the linker, once it knows both ends.
#pragma once
#include <pipelink/resources.cuh>

namespace pl {

struct slot {  // a slot of a ring, between acquire and commit or between wait and release
  unsigned stage;
};

namespace detail {

template <class Port, class Stream>
struct any_stream {
  static_assert(is_stream<Stream>::value,
                "PL_IN/PL_OUT/PL_LOCAL(name, what, attributes...): the second argument must be pl::stream<tiles...>");
  using pl_tiles = Stream;
  // Address of tile Part of the slot, in shared memory, or in tensor memory for a pl::tmem_tile.
  template <int Part = 0>
  static __device__ __forceinline__ unsigned address(self s, slot at) {
    static_assert(0 <= Part && Part < Stream::parts, "the slot has fewer tiles");
    return Port::pl_address(s.id, s.frame, at.stage, Part);
  }
  // The ring's depth, a constant of the placement.
  static __device__ __forceinline__ int stages(self s) { return Port::pl_stages(s.id, s.frame); }
  template <class T, int Part = 0>
  static __device__ __forceinline__ T* pointer(self s, slot at) {
    return static_cast<T*>(__cvta_shared_to_generic(address<Part>(s, at)));
  }
};

// 16 bytes from global to shared memory, or zeros where `valid` is false.
__device__ __forceinline__ void copy_async(unsigned to, const void* from, bool valid) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(__cvta_generic_to_global(from)),
               "r"(valid ? 16 : 0)
               : "memory");
}

template <class Port, class Stream, class... A>
struct ring_port : any_stream<Port, Stream> {
  static_assert((true && ... && is_one_of<A, PL_ON_RING_>()),
                "PL_IN/PL_OUT: not a port attribute; known: " PL_KNOWN_ON_RING_);
  static_assert(count<A...>(about::ring) == 1, "PL_IN/PL_OUT: exactly one pl::ring<min, max> is needed");
  static_assert(count<A...>(about::touch) == 1,
                "PL_IN/PL_OUT: exactly one of " PL_KNOWN_TOUCHES_ " is needed");
  static_assert(!has<may_be_empty, A...>() || has<ends, A...>(), "pl::may_be_empty needs pl::ends");
  static_assert(!has<per_warp, A...>() || has<by_wgmma, A...>(),
                "pl::per_warp is of pl::by_wgmma: what threads read, each warp gives back");
  enum : bool { can_end = has<ends, A...>() };
  PL_STATIC_FN_ void pl_write(writer& w) {
    Stream::write(w);
    write_all<A...>(w);
  }
};

}  // namespace detail

template <class Port, class Stream, class... A>
struct out_port : detail::ring_port<Port, Stream, A...> {
  enum : bool { tma = detail::has<by_tma, A...>(), bulk = detail::has<by_bulk, A...>() };
  enum : bool { can_end = detail::has<ends, A...>() };
  static_assert(!detail::has<by_wgmma, A...>(), "PL_OUT: wgmma does not write shared memory; pl::by_tma or pl::by_threads");
  static_assert(detail::count<A...>(about::cache) == 0 ||
                    ((tma || bulk) && (0 + ... + detail::policies_of<A>::count) == Stream::parts),
                "PL_OUT: pl::l2<policies...> has a policy for each tile of a pl::by_tma or pl::by_bulk port");
  static_assert(detail::count<A...>(about::flight) == 0 || tma || bulk,
                "PL_OUT: pl::in_flight<n> counts the slots that a pl::by_tma or pl::by_bulk port fills");
  // Waits for a free slot and takes it; a by_tma or by_bulk port also announces the slot's bytes.
  static __device__ __forceinline__ slot acquire(self s) { return {Port::pl_acquire(s.id, s.frame)}; }
  // A by_cp_async port: copies 16 bytes, as PL_LOCAL's copy_async does.
  template <int Part = 0>
  static __device__ __forceinline__ void copy_async(self s, slot at, unsigned offset, const void* from, bool valid) {
    static_assert(detail::has<by_cp_async, A...>(), "copy_async fills a pl::by_cp_async port");
    detail::copy_async(detail::any_stream<Port, Stream>::template address<Part>(s, at) + offset, from, valid);
  }
  // The slot's data are written, or on their way by cp.async.  Called by every thread of the role, after its own writes.
  static __device__ __forceinline__ void commit(self s, slot at) {
    static_assert(!tma && !bulk, "a by_tma or by_bulk port commits through its bytes");
    Port::pl_commit(s.id, s.frame, at.stage);
  }
  // TMA of one box into tile Part of the slot; coordinates innermost first, as the tensor-copy instruction takes them.
  template <int Part = 0, class Map, int MapPart, class Box, class... X>
  static __device__ __forceinline__ void copy(self s, slot at, const tensor_map<Map, MapPart, Box>& map, X... x) {
    copy_at<Part>(s, at, 0, map, x...);
  }
  // The same, `offset` bytes into the tile: a box smaller than the tile.  The boxes of a slot have to fill it.
  template <int Part = 0, class Map, int MapPart, class Box, class... X>
  static __device__ __forceinline__ void copy_at(self s, slot at, unsigned offset,
                                                 const tensor_map<Map, MapPart, Box>& map, X... x) {
    static_assert(detail::same<Map, Port>::value, "this tensor map belongs to another port");
    static_assert(tma, "only a pl::by_tma port can be filled by TMA");
    static_assert(0 <= Part && Part < Stream::parts, "the slot has fewer tiles");
    static_assert(MapPart == Part || detail::same<typename detail::part_of<Stream, MapPart>::type,
                                                  typename detail::part_of<Stream, Part>::type>::value,
                  "this tensor map is for another tile of the slot: pl::tensor_map<port, part>");
    static_assert(sizeof...(X) >= 1 && sizeof...(X) <= 5, "a tensor copy takes 1 to 5 coordinates");
    if constexpr (sizeof...(X) == 1) Port::pl_tma1(s.id, s.frame, at.stage, Part, offset, &map, x...);
    if constexpr (sizeof...(X) == 2) Port::pl_tma2(s.id, s.frame, at.stage, Part, offset, &map, x...);
    if constexpr (sizeof...(X) == 3) Port::pl_tma3(s.id, s.frame, at.stage, Part, offset, &map, x...);
    if constexpr (sizeof...(X) == 4) Port::pl_tma4(s.id, s.frame, at.stage, Part, offset, &map, x...);
    if constexpr (sizeof...(X) == 5) Port::pl_tma5(s.id, s.frame, at.stage, Part, offset, &map, x...);
  }
  // A by_bulk port: copies `bytes` from global memory, `offset` bytes into tile Part; all three, and `from`, are
  // multiples of 16 bytes.  The copies of a slot have to fill it.
  template <int Part = 0>
  static __device__ __forceinline__ void copy(self s, slot at, const void* from, unsigned bytes, unsigned offset = 0) {
    static_assert(bulk, "only a pl::by_bulk port can be filled by bulk copies");
    static_assert(0 <= Part && Part < Stream::parts, "the slot has fewer tiles");
    Port::pl_tma1(s.id, s.frame, at.stage, Part, offset, from, static_cast<int>(bytes));
  }
  // acquire() and copy<0>() of a slot with one tile.
  template <class Map, int MapPart, class Box, class... X>
  static __device__ __forceinline__ void tma_load(self s, const tensor_map<Map, MapPart, Box>& map, X... x) {
    static_assert(Stream::parts == 1, "tma_load fills a slot of one tile; use acquire() and copy<part>()");
    slot at = acquire(s);
    copy<0>(s, at, map, x...);
  }
  // No more tiles: the consumer's wait() then returns a slot for which ended() holds.
  static __device__ __forceinline__ void end(self s) {
    static_assert(can_end, "declare pl::ends to end a stream");
    Port::pl_end(s.id, s.frame);
  }
};

template <class Port, class Stream, class... A>
struct in_port : detail::ring_port<Port, Stream, A...> {
  static_assert(!detail::has<by_cp_async, A...>() && !detail::has<by_bulk, A...>(),
                "PL_IN: neither cp.async nor bulk copies read shared memory");
  static_assert(detail::count<A...>(about::cache) + detail::count<A...>(about::flight) == 0,
                "PL_IN: pl::l2<policies...> and pl::in_flight<n> are of the port that is filled");
  enum : bool { can_end = detail::has<ends, A...>() };
  // Waits for the next filled slot.
  static __device__ __forceinline__ slot wait(self s) { return {Port::pl_wait(s.id, s.frame)}; }
  // This thread has read the slot's data for the last time.
  static __device__ __forceinline__ void release(self s, slot at) { Port::pl_release(s.id, s.frame, at.stage); }
  // Is this slot the end mark?  The mark occupies a slot: it is freed here, so that nobody forgets.
  static __device__ __forceinline__ bool ended(self s, slot at) {
    static_assert(can_end, "declare pl::ends to test for the end");
    if (!Port::pl_ended(s.id, s.frame, at.stage)) return false;
    Port::pl_release(s.id, s.frame, at.stage);
    return true;
  }
};

// A ring that the same warps fill with cp.async and read.
template <class Port, class Stream, class... A>
struct local_port : detail::any_stream<Port, Stream> {
  static_assert((true && ... && detail::is_one_of<A, PL_ON_LOCAL_>()),
                "PL_LOCAL: not an attribute; known: " PL_KNOWN_ON_LOCAL_);
  static_assert(detail::count<A...>(about::ring) == 1, "PL_LOCAL: exactly one pl::ring<min, max> is needed");
  static_assert(detail::count<A...>(about::touch) == 1 && detail::has<by_cp_async, A...>(),
                "PL_LOCAL: pl::by_cp_async is needed");
  PL_STATIC_FN_ void pl_write(detail::writer& w) {
    Stream::write(w);
    detail::write_all<A...>(w);
  }
  // Takes the next slot to fill, once every thread of the role has released it.
  static __device__ __forceinline__ slot acquire(self s) { return {Port::pl_acquire(s.id, s.frame)}; }
  // Copies 16 bytes, `offset` bytes into tile Part, asynchronously; writes zeros instead where `valid` is false.
  // Source and destination are aligned to 16 bytes.
  template <int Part = 0>
  static __device__ __forceinline__ void copy_async(self s, slot at, unsigned offset, const void* from, bool valid) {
    detail::copy_async(detail::any_stream<Port, Stream>::template address<Part>(s, at) + offset, from, valid);
  }
  // The copies into this slot are issued: they form the thread's next cp.async group (an empty one is fine).
  static __device__ __forceinline__ void commit(self s, slot at) { Port::pl_commit(s.id, s.frame, at.stage); }
  // Waits until the oldest filled slot holds the data of every thread of the role.
  static __device__ __forceinline__ slot wait(self s) { return {Port::pl_wait(s.id, s.frame)}; }
  static __device__ __forceinline__ void release(self s, slot at) { Port::pl_release(s.id, s.frame, at.stage); }
};

// Order without data.
template <class Port, class Attributes>
struct token_out_port;
template <class Port, class... A>
struct token_out_port<Port, detail::attributes<A...>> {
  static_assert((true && ... && detail::is_one_of<A, PL_ON_TOKEN_>()),
                "PL_TOKEN_OUT: not an attribute; known: " PL_KNOWN_ON_TOKEN_);
  PL_STATIC_FN_ void pl_write(detail::writer& w) {
    w.field("direction", "out");
    w.field("kind", "token");
    detail::write_all<A...>(w);
  }
  // Lets the other end's next take() through.
  static __device__ __forceinline__ void pass(self s) { Port::pl_pass(s.id, s.frame); }
};
template <class Port, class Attributes>
struct token_in_port;
template <class Port, class... A>
struct token_in_port<Port, detail::attributes<A...>> {
  static_assert((true && ... && detail::is_one_of<A, PL_ON_TOKEN_>()),
                "PL_TOKEN_IN: not an attribute; known: " PL_KNOWN_ON_TOKEN_);
  PL_STATIC_FN_ void pl_write(detail::writer& w) {
    w.field("direction", "in");
    w.field("kind", "token");
    detail::write_all<A...>(w);
  }
  // Waits for the other end's pass(); goes through `credit` times before the first.
  static __device__ __forceinline__ void take(self s) { Port::pl_take(s.id, s.frame); }
};

// Signals: counters in global memory, between CTAs of the grid.  Each launch counts from 0.
namespace detail {
PL_FN_ bool same_text(const char* a, const char* b) { return *a == *b && (*a == 0 || same_text(a + 1, b + 1)); }
}  // namespace detail
template <class Port>
struct signal_out_port {
  // Adds to a counter, after what this thread did, and what it knows that others did: a release.
  static __device__ __forceinline__ void add(self s, unsigned index, unsigned count = 1) {
    Port::pl_signal(s.id, s.frame, index, count, 0);
  }
};
template <class Port>
struct peer_signal_out_port {
  // The same to a counter of the GPU with this rank, this one's own included.
  static __device__ __forceinline__ void add(self s, unsigned rank, unsigned index, unsigned count = 1) {
    Port::pl_signal(s.id, s.frame, index, count, rank);
  }
};
template <class Port>
struct signal_in_port {
  // Waits until a counter is at least so high; what was done before the additions can be read then, also by TMA.
  static __device__ __forceinline__ void await(self s, unsigned index, unsigned at_least) {
    Port::pl_await(s.id, s.frame, index, at_least);
  }
};

// Call ports.  Arguments and result travel in a pack whose address is passed, so that every call port has one
// signature and the linker needs no C++ convention for passing structs.  LTO dissolves the pack.
namespace detail {
template <class... T>
struct pack {
  static __device__ __forceinline__ pack make() { return {}; }
};
template <class T, class... R>
struct pack<T, R...> {
  T head;
  pack<R...> tail;
  static __device__ __forceinline__ pack make(T t, R... r) { return {t, pack<R...>::make(r...)}; }
};
template <class T>
struct stored {
  using type = T;
  static __device__ __forceinline__ T pass(T v) { return v; }
  static __device__ __forceinline__ T take(T v) { return v; }
};
template <class T>
struct stored<T&> {
  using type = T*;
  static __device__ __forceinline__ T* pass(T& v) { return &v; }
  static __device__ __forceinline__ T& take(T* v) { return *v; }
};
template <int I, class P>
__device__ __forceinline__ auto& get(P& p) {
  if constexpr (I == 0)
    return p.head;
  else
    return get<I - 1>(p.tail);
}
template <class R>
struct call_result {
  R result;
};
template <>
struct call_result<void> {};
}  // namespace detail

template <class Signature>
struct call {
  static_assert(detail::same<Signature, void>::value, "a call port needs a function type, such as float(int)");
};
template <class R, class... A>
struct call<R(A...)> {
  using result = R;
  using implementation = R(self, A...);
  struct frame : detail::call_result<R> {
    detail::pack<typename detail::stored<A>::type...> arguments;
  };
  PL_STATIC_FN_ void pl_write(detail::writer& w) {
    w.field("kind", "call");
    w.key("signature");
    w.put('"');
    type_name<R>::write(w);
    w.put('(');
    [[maybe_unused]] bool first = true;
    ((first ? (first = false, void()) : w.raw(", "), type_name<A>::write(w)), ...);
    w.raw(")\"");
    w.comma = true;
  }
  template <class Port>
  static __device__ __forceinline__ R invoke(self s, A... a) {
    frame f;
    f.arguments = detail::pack<typename detail::stored<A>::type...>::make(detail::stored<A>::pass(a)...);
    Port::pl_call(s.id, s.frame, reinterpret_cast<char*>(&f));
    if constexpr (!detail::same<R, void>::value) return f.result;
  }
  template <class Port, int... I>
  static __device__ __forceinline__ void answer(self s, char* p, detail::list<I...>) {
    [[maybe_unused]] frame& f = *reinterpret_cast<frame*>(p);
    if constexpr (detail::same<R, void>::value)
      Port::body(s, detail::stored<A>::take(detail::get<I>(f.arguments))...);
    else
      f.result = Port::body(s, detail::stored<A>::take(detail::get<I>(f.arguments))...);
  }
  template <class Port>
  static __device__ __forceinline__ void answer(self s, char* p) {
    answer<Port>(s, p, typename detail::make_list<sizeof...(A)>::type{});
  }
};
}  // namespace pl

#define PL_STREAM_(nm, dir, ...)                                                                           \
  PL_HERE_                                                                                                 \
  PL_USABLE_(nm, "PL_OUT, PL_IN, PL_LOCAL: a port is not named like one of its operations, nor pl_...",     \
             "acquire copy copy_at copy_async commit tma_load end wait release ended address pointer stages") \
  struct nm : ::pl::dir##_port<nm, __VA_ARGS__> {                                                          \
    PL_STATIC_FN_ const char* pl_name() { return #nm; }                                                    \
    PL_STATIC_FN_ void pl_write(::pl::detail::writer& pl_writer) {                                         \
      pl_writer.field("direction", #dir);                                                                  \
      ::pl::dir##_port<nm, __VA_ARGS__>::pl_write(pl_writer);                                              \
    }                                                                                                      \
    static __device__ unsigned pl_acquire(int, void*);                                                     \
    static __device__ void pl_commit(int, void*, unsigned);                                                \
    static __device__ unsigned pl_wait(int, void*);                                                        \
    static __device__ void pl_release(int, void*, unsigned);                                               \
    static __device__ unsigned pl_address(int, void*, unsigned, int);                                      \
    static __device__ unsigned pl_stages(int, void*);                                                      \
    static __device__ void pl_tma1(int, void*, unsigned, int, unsigned, const void*, int);                 \
    static __device__ void pl_tma2(int, void*, unsigned, int, unsigned, const void*, int, int);            \
    static __device__ void pl_tma3(int, void*, unsigned, int, unsigned, const void*, int, int, int);       \
    static __device__ void pl_tma4(int, void*, unsigned, int, unsigned, const void*, int, int, int, int);  \
    static __device__ void pl_tma5(int, void*, unsigned, int, unsigned, const void*, int, int, int, int, int); \
    static __device__ void pl_end(int, void*);                                                             \
    static __device__ unsigned pl_ended(int, void*, unsigned);                                                 \
  };                                                                                                       \
  PL_RECORD_(nm, nm, "port", nm)                                                                           \
  static_assert(true, "")
// PL_OUT(ab, pl::stream<tiles...>, pl::ring<2, 8>, pl::by_tma);   the producer's end of a ring
#define PL_OUT(nm, ...) PL_STREAM_(nm, out, __VA_ARGS__)
// PL_IN(ab, pl::stream<tiles...>, pl::ring<2, 8>, pl::by_wgmma);  the consumer's end
#define PL_IN(nm, ...) PL_STREAM_(nm, in, __VA_ARGS__)
// PL_LOCAL(ab, pl::stream<tiles...>, pl::ring<2, 6>, pl::by_cp_async);  both ends in one role
#define PL_LOCAL(nm, ...) PL_STREAM_(nm, local, __VA_ARGS__)

#define PL_TOKEN_(nm, dir, operation, ...)                                          \
  PL_HERE_                                                                          \
  PL_USABLE_(nm, "PL_TOKEN_OUT, PL_TOKEN_IN: a token is not named like its operation, nor pl_...", "pass take") \
  struct nm : ::pl::token_##dir##_port<nm, ::pl::detail::attributes<__VA_ARGS__>> { \
    PL_STATIC_FN_ const char* pl_name() { return #nm; }                             \
    static __device__ void operation(int, void*);                                   \
  };                                                                                \
  PL_RECORD_(nm, nm, "port", nm)                                                    \
  static_assert(true, "")
// PL_TOKEN_OUT(turn); turn::pass(self)      PL_TOKEN_IN(turn, pl::credit<1>); turn::take(self)
#define PL_TOKEN_OUT(nm, ...) PL_TOKEN_(nm, out, pl_pass, __VA_ARGS__)
#define PL_TOKEN_IN(nm, ...) PL_TOKEN_(nm, in, pl_take, __VA_ARGS__)

// PL_COUNTERS(flags, "m_tiles");  the memory of signals: so many counters, each on a line of its own, that the launches
// of one stream share, and all components that name it.
#define PL_COUNTERS(nm, count)                                     \
  PL_WORKSPACE(nm, "128 * (1 + (" count "))", ::pl::cleared_once); \
  PL_PARAM(nm##_memory, unsigned*);                                \
  PL_BIND(nm##_memory, #nm);                                       \
  PL_PARAM(nm##_count, int);                                       \
  PL_BIND(nm##_count, count)
#define PL_SIGNAL_(nm, base, dir, memory, order, holder, operation, ...)                             \
  static_assert(sizeof(memory##_memory_param) > 0, "PL_SIGNAL: no PL_COUNTERS of this name");        \
  static_assert(::pl::detail::same_text(#order, "gpu") || ::pl::detail::same_text(#order, "system"), \
                "PL_SIGNAL_OUT, PL_SIGNAL_IN: the scope is gpu or system");                          \
  PL_HERE_                                                                                           \
  PL_USABLE_(nm, "PL_SIGNAL_OUT, PL_SIGNAL_IN: a signal is not named like its operation, nor pl_...", "add await") \
  struct nm : ::pl::base<nm> {                                                                       \
    PL_STATIC_FN_ const char* pl_name() { return #nm; }                                              \
    PL_STATIC_FN_ void pl_write(::pl::detail::writer& pl_writer) {                                   \
      pl_writer.field("direction", #dir);                                                            \
      pl_writer.field("kind", "signal");                                                             \
      pl_writer.field("scope", #order);                                                              \
      pl_writer.field("owner", #holder);                                                             \
      pl_writer.field("workspace", #memory);                                                         \
      pl_writer.field("reset", "epoch");                                                             \
    }                                                                                                \
    static __device__ void operation(int, void*, __VA_ARGS__);                                       \
  };                                                                                                 \
  PL_RECORD_(nm, nm, "port", nm)                                                                     \
  static_assert(true, "")
// PL_SIGNAL_OUT(done, flags, gpu);  done::add(self, i)          the scope is gpu or system
#define PL_SIGNAL_OUT(nm, memory, order) \
  PL_SIGNAL_(nm, signal_out_port, out, memory, order, workspace, pl_signal, unsigned, unsigned, unsigned)
// PL_SIGNAL_IN(ready, flags, gpu);  ready::await(self, i, n)
#define PL_SIGNAL_IN(nm, memory, order) \
  PL_SIGNAL_(nm, signal_in_port, in, memory, order, workspace, pl_await, unsigned, unsigned)

// PL_PEER_COUNTERS(flags, "m_tiles", 2);  the same between so many GPUs: tensor flags, i32 [1 + m_tiles, 32], of each of
// them, and argument flags_peers, those of all by rank.  The caller gives zeros, and nobody else writes there.
#define PL_PEER_COUNTERS(nm, count, gpus)                                       \
  PL_TENSOR(nm, int, "1 + (" count "), 32", ::pl::readwrite, ::pl::align<128>); \
  PL_PEERS(nm##_peers, nm, gpus);                                               \
  PL_PARAM(nm##_memory, unsigned*);                                             \
  PL_BIND(nm##_memory, #nm);                                                    \
  PL_PARAM(nm##_table, ::pl::peers<unsigned, gpus>);                            \
  PL_BIND(nm##_table, #nm "_peers");                                            \
  PL_PARAM(nm##_count, int);                                                    \
  PL_BIND(nm##_count, count)
// PL_PEER_SIGNAL_OUT(done, flags);  done::add(self, rank, i)
#define PL_PEER_SIGNAL_OUT(nm, memory) \
  PL_SIGNAL_(nm, peer_signal_out_port, out, memory, system, peer, pl_signal, unsigned, unsigned, unsigned)
// PL_PEER_SIGNAL_IN(ready, flags);  ready::await(self, i, n)    waits for a counter of this GPU
#define PL_PEER_SIGNAL_IN(nm, memory) \
  PL_SIGNAL_(nm, signal_in_port, in, memory, system, peer, pl_await, unsigned, unsigned)

// PL_CALL(work, pl::tile_coord(int));  work(self, i) is answered by the component that the port is connected to.
#define PL_CALL(nm, ...)                                                                                       \
  PL_HERE_                                                                                                     \
  PL_USABLE_(nm, "PL_CALL: the name cannot be used") \
  struct nm##_port : ::pl::call<__VA_ARGS__> {                                                                 \
    static __device__ void pl_call(int, void*, char*);                                                         \
    PL_STATIC_FN_ void pl_write(::pl::detail::writer& pl_writer) {                                             \
      pl_writer.field("direction", "calls");                                                                   \
      ::pl::call<__VA_ARGS__>::pl_write(pl_writer);                                                            \
    }                                                                                                          \
  };                                                                                                           \
  template <class... pl_T>                                                                                     \
  static __device__ __forceinline__ typename nm##_port::result nm(::pl::self self, pl_T&&... t) {              \
    return nm##_port::template invoke<nm##_port>(self, static_cast<pl_T&&>(t)...);                             \
  }                                                                                                            \
  PL_RECORD_(nm, nm, "port", nm##_port)                                                                        \
  static_assert(true, "")

// PL_ANSWER(next, pl::tile_coord(int));  what another component's PL_CALL can be connected to.
#define PL_ANSWER(nm, ...)                                                    \
  PL_HERE_                                                                    \
  PL_USABLE_(nm, "PL_ANSWER: the name cannot be used") \
  struct nm##_port : ::pl::call<__VA_ARGS__> {                                \
    static __device__ ::pl::call<__VA_ARGS__>::implementation body;           \
    static __device__ void pl_answer(int, void*, char*);                      \
    PL_STATIC_FN_ void pl_write(::pl::detail::writer& pl_writer) {            \
      pl_writer.field("direction", "answers");                                \
      ::pl::call<__VA_ARGS__>::pl_write(pl_writer);                           \
    }                                                                         \
  };                                                                          \
  PL_RECORD_(nm, nm, "port", nm##_port)                                       \
  static_assert(true, "")

// PL_DEFINE(next)(pl::self self, int i) -> pl::tile_coord { body of the answer }
#define PL_DEFINE(nm)                                                                 \
  PL_HERE_                                                                            \
  static_assert(::pl::detail::is_answer<nm##_port>(0), "PL_DEFINE: not declared with PL_ANSWER"); \
  PL_RECORD_(0answer_##nm, nm, "answer", ::pl::detail::nothing)                        \
  __device__ void nm##_port::pl_answer(int id, void* frame, char* pack) { \
    answer<nm##_port>(::pl::self{id, frame}, pack);                       \
  }                                                                       \
  __device__ __forceinline__ auto nm##_port::body
