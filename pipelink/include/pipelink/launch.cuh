// pipelink/launch.cuh: what a component states: protocols, and its part of the launch contract, what a caller passes and
// what is derived from it.
//
// Texts are expressions over the kernel's dimensions: integers, names, + - * / % , ceildiv, min, max, stride(tensor, d),
// `sms` and `occupancy`.  The kernel's own statements win over a component's.
#pragma once
#include <pipelink/attributes.cuh>
#include <pipelink/types.cuh>

namespace pl {
struct read {
  PL_STATIC_FN_ const char* access() { return "read"; }
};
struct write {
  PL_STATIC_FN_ const char* access() { return "write"; }
};
struct readwrite {
  PL_STATIC_FN_ const char* access() { return "readwrite"; }
};
struct cleared_once {  // zeros before the first launch that uses the memory, and from then on what launches leave
  PL_STATIC_FN_ const char* initial() { return "once"; }
};
struct zeroed {
  PL_STATIC_FN_ const char* initial() { return "zero"; }
};
struct uninitialised {
  PL_STATIC_FN_ const char* initial() { return "none"; }
};
namespace detail {
// grid: one to three texts, the rest "1"; cluster: one to three numbers, the rest 1.
PL_FN_ void write_extent(writer& w, const char* x, const char* y = "1", const char* z = "1") {
  w.key("value");
  w.open('[');
  w.item(x);
  w.item(y);
  w.item(z);
  w.close(']');
}
PL_FN_ void write_extent(writer& w, int x, int y = 1, int z = 1) {
  w.key("value");
  w.open('[');
  w.item(x);
  w.item(y);
  w.item(z);
  w.close(']');
}
PL_FN_ void write_steps(writer& w, const char* steps) { w.field("text", steps); }
// access, then attributes: pl::align<n>.
template <class Mode, class... A>
PL_FN_ void write_tensor(writer& w) {
  static_assert((true && ... && is_one_of<A, PL_ON_TENSOR_>()),
                "PL_TENSOR: not an attribute; known: " PL_KNOWN_ON_TENSOR_);
  w.field("access", Mode::access());
  write_all<A...>(w);
}
// Texts in pairs, of which the first or the second are written.
PL_FN_ void write_every_other(writer&, int) {}
template <class... T>
PL_FN_ void write_every_other(writer& w, int which, const char* first, const char* second, T... more) {
  w.item(which == 0 ? first : second);
  write_every_other(w, which, more...);
}
template <class... T>
PL_FN_ void write_counted(writer& w, T... texts) {
  static_assert(sizeof...(T) >= 2 && sizeof...(T) <= 32 && sizeof...(T) % 2 == 0,
                "PL_AWAITS, PL_ADDS(port, \"index\", \"count\", ...): texts in pairs, up to 16");
  w.key("index");
  w.open('[');
  write_every_other(w, 0, texts...);
  w.close(']');
  w.key("count");
  w.open('[');
  write_every_other(w, 1, texts...);
  w.close(']');
}
template <class T>
PL_FN_ void write_requirement(writer& w, T what) {
  w.field("value", what);
}
template <class T>
PL_FN_ void write_requirement(writer& w, T what, const char* port) {
  w.field("value", what);
  w.field("port", port);
}
}  // namespace detail
}  // namespace pl

#define PL_STATEMENT_(id, nm, op, ...)                                              \
  PL_HERE_                                                                          \
  struct pl_statement_##id {                                                        \
    PL_STATIC_FN_ void pl_write([[maybe_unused]] ::pl::detail::writer& pl_writer) { __VA_ARGS__; } \
  };                                                                                \
  PL_RECORD_(id, nm, op, pl_statement_##id)                                         \
  static_assert(true, "")

// PL_TENSOR(a, pl::bf16, "M, K", pl::read);  a row-major tensor argument, its last dimension contiguous.
// PL_TENSOR(a, pl::bf16, "M, K", pl::read, pl::align<16>);  every row starts on 16 bytes and is a multiple of 16 long.
#define PL_TENSOR(nm, type, shape, ...)                                                                    \
  static_assert(::pl::detail::is_element<type>::value, "PL_TENSOR: not an element type");                  \
  PL_STATEMENT_(0tensor_##nm, nm, "tensor", pl_writer.field("element", ::pl::element<type>::name()); pl_writer.split("shape", shape); \
                ::pl::detail::write_tensor<__VA_ARGS__>(pl_writer))
// PL_BIND(map_a, "a");  parameter map_a gets its value from a tensor, a workspace or an expression.
#define PL_BIND(nm, to)                                                                \
  static_assert(sizeof(nm##_param) > 0, "PL_BIND: not declared with PL_PARAM");        \
  PL_STATEMENT_(0bind_##nm, nm, "bind", pl_writer.field("param", #nm); pl_writer.field("to", to))
// PL_DERIVE(k_tiles, "ceildiv(K, 64)");  a symbol computed at launch.
#define PL_DERIVE(nm, text) PL_STATEMENT_(0derive_##nm, nm, "derive", pl_writer.field("value", text))
// PL_GRID("min(m_tiles * n_tiles, sms * occupancy)");  one to three extents.
#define PL_GRID(...) PL_STATEMENT_(0grid, grid, "grid", ::pl::detail::write_extent(pl_writer, __VA_ARGS__))
// PL_CLUSTER(2, 1, 1);
#define PL_CLUSTER(...) PL_STATEMENT_(0cluster, cluster, "cluster", ::pl::detail::write_extent(pl_writer, __VA_ARGS__))
// PL_STACK(64);  bytes of stack a thread that the component's code needs: local memory, for arrays that are indexed at
// run time, which sinf, cosf and tanf have for large arguments.
#define PL_STACK(bytes_) \
  static_assert((bytes_) >= 1, "PL_STACK(bytes): at least 1"); \
  PL_STATEMENT_(0stack, stack, "stack", pl_writer.field("bytes", static_cast<long long>(bytes_)))
// PL_RESIDENT;  all CTAs of the grid must be on the device at once.
#define PL_RESIDENT PL_STATEMENT_(0resident, resident, "resident", )
// PL_PROGRAMMATIC;  the kernel may begin before the one in front of it on its stream has ended.
#define PL_PROGRAMMATIC PL_STATEMENT_(0programmatic, programmatic, "programmatic", )
// PL_WORKSPACE(counters, "m_tiles * 4", pl::zeroed);  global memory for the launch, in bytes.
#define PL_WORKSPACE(nm, bytes, initial_state) \
  PL_STATEMENT_(0workspace_##nm, nm, "workspace", pl_writer.field("bytes", bytes); pl_writer.field("init", initial_state::initial()))
// PL_PEERS(all_x, x, 2);  buffers like tensor x, of so many GPUs: an argument of its own, by rank.
#define PL_PEERS(nm, local, gpus)                                                              \
  static_assert((gpus) >= 1 && (gpus) <= 64, "PL_PEERS(name, tensor, gpus): 1 to 64 GPUs"); \
  PL_STATEMENT_(0peers_##nm, nm, "peer", pl_writer.field("tensor", #local); pl_writer.field("count", static_cast<long long>(gpus)))
// PL_PROTOCOL(mma, "repeat k_tiles { ab.wait; ab.release; }");  in what order a role, or an answered call, uses the
// component's ports, barriers and buffers: docs/protocols.md.  At most one for each.
#define PL_PROTOCOL(nm, ...) PL_STATEMENT_(0protocol_##nm, nm, "protocol", ::pl::detail::write_steps(pl_writer, __VA_ARGS__))
// PL_PROMISE(k_major, 1); PL_REQUIRE(k_major, 1);  facts between components: every requirement needs an equal promise,
// of the kernel or of components that this one is connected to, directly or through others.
// PL_REQUIRE(k_major, 1, "ab");  of those beyond port ab.
#define PL_REQUIRE(nm, ...) \
  PL_STATEMENT_(0require_##nm, nm, "require", pl_writer.field("key", #nm); ::pl::detail::write_requirement(pl_writer, __VA_ARGS__))
#define PL_PROMISE(nm, what) PL_STATEMENT_(0promise_##nm, nm, "promise", pl_writer.field("key", #nm); pl_writer.field("value", what))
// PL_AWAITS(ready, "stage - 1", "min(stage, 1) * awaited");  what an instruction awaits: which of the port's counters, and
// how much; 0: nothing.  Expressions over the component's integer operands and parameters.
// PL_ADDS(done, "stage", "1");  what it adds.  Both in the order in which the operation does them: docs/megakernels.md.
#define PL_AWAITS(nm, ...)                                                                                      \
  static_assert(__is_base_of(::pl::signal_in_port<nm>, nm), "PL_AWAITS: not declared with PL_SIGNAL_IN");       \
  PL_STATEMENT_(0awaits_##nm, nm, "awaits", ::pl::detail::write_counted(pl_writer, __VA_ARGS__))
#define PL_ADDS(nm, ...)                                                                                        \
  static_assert(__is_base_of(::pl::signal_out_port<nm>, nm), "PL_ADDS: not declared with PL_SIGNAL_OUT");       \
  PL_STATEMENT_(0adds_##nm, nm, "adds", ::pl::detail::write_counted(pl_writer, __VA_ARGS__))
