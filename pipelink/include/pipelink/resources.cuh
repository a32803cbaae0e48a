// pipelink/resources.cuh: what a component owns or is given: roles, shared memory, state, barriers, parameters.
//
// Every accessor takes pl::self and calls a device function that the linker defines, `(int id, void* frame)`: the
// instance id, a constant in each inlined copy, and the linker's per-thread frame, which becomes registers.
// Symbols are the Itanium names of <component>::<resource>::<function>; no compound type occurs twice in a signature,
// so they hold no substitutions and the linker can derive them from the record.
#pragma once
#include <pipelink/attributes.cuh>
#include <pipelink/types.cuh>

namespace pl {

// What an entry and an answer receive, and every accessor takes.
struct self {
  int id;
  void* frame;
};

// Extents of a tensor map's box, in the tensor's order: pl::box<rows, columns>.
template <int... Extent>
struct box {};
// A CUtensorMap for tile Part of Port, whose box is that tile or Box.
template <class Port, int Part = 0, class Box = void>
struct alignas(64) tensor_map {
  unsigned char opaque[128];
};

// The addresses of PL_PEERS, by rank.
template <class T, int Gpus>
struct peers {
  T* address[Gpus];
  // Chosen from all of them: parameters that are indexed at run time would be copied to the stack.
  __device__ __forceinline__ T* operator[](int rank) const {
    T* found = address[0];
#pragma unroll
    for (int other = 1; other < Gpus; ++other) found = rank == other ? address[other] : found;
    return found;
  }
};

// Tensor maps of the buffers of PL_PEERS, by rank: TMA straight from the memory of another GPU.
template <class Port, int Gpus, int Part = 0, class Box = void>
struct peer_maps {
  tensor_map<Port, Part, Box> map[Gpus];
  __device__ __forceinline__ const tensor_map<Port, Part, Box>& operator[](int rank) const { return map[rank]; }
};

// A CUtensorMap whose box is Tile, for tensor copies that the component issues itself: <pipelink/stores.cuh>.
template <class Tile>
struct alignas(64) tile_map {
  unsigned char opaque[128];
};

template <class Role, class... A>
struct role {
  static_assert((true && ... && detail::is_one_of<A, PL_ON_ROLE_>()),
                "PL_ROLE: not a role attribute; known: " PL_KNOWN_ON_ROLE_);
  static_assert(detail::count<A...>(about::warps) == 1, "PL_ROLE: exactly one pl::warps<n> is needed");
  static_assert(detail::count<A...>(about::registers) <= 1, "PL_ROLE: pl::registers<min, max> is given twice");
  PL_STATIC_FN_ void pl_write(detail::writer& w) { detail::write_all<A...>(w); }
  // The thread's, warp's and warpgroup's number within the role.
  static __device__ __forceinline__ unsigned thread(self s) { return threadIdx.x - Role::pl_first_thread(s.id, s.frame); }
  static __device__ __forceinline__ unsigned warp(self s) { return thread(s) / 32; }
  static __device__ __forceinline__ unsigned warpgroup(self s) { return thread(s) / 128; }
};

template <class T, class... A>
struct memory {
  static_assert((true && ... && detail::is_one_of<A, PL_ON_SMEM_>()),
                "PL_SMEM: not an attribute; known: " PL_KNOWN_ON_SMEM_);
  static_assert(detail::count<A...>(about::align) <= 1, "PL_SMEM: pl::align<n> is given twice");
  PL_STATIC_FN_ void pl_write(detail::writer& w) {
    w.field("bytes", static_cast<long long>(sizeof(T)));
    if (detail::count<A...>(about::align) == 0) w.field("align", static_cast<long long>(alignof(T)));
    detail::write_all<A...>(w);
  }
  template <class U>
  struct element_of {
    using type = U;
  };
  template <class U, decltype(sizeof(0)) N>
  struct element_of<U[N]> {
    using type = U;
  };
  using type = typename element_of<T>::type;
};

template <class Barrier, class... A>
struct barrier {
  static_assert((true && ... && detail::is_one_of<A, PL_ON_BARRIER_>()),
                "PL_BARRIER: not an attribute; known: " PL_KNOWN_ON_BARRIER_);
  static_assert(detail::count<A...>(about::count) == 1, "PL_BARRIER: exactly one pl::threads<n> is needed");
  PL_STATIC_FN_ void pl_write(detail::writer& w) { detail::write_all<A...>(w); }
  // Waits until all threads of the barrier have arrived.
  static __device__ __forceinline__ void sync(self s) {
    asm volatile("barrier.sync.aligned %0, %1;" ::"r"(Barrier::pl_id(s.id, s.frame)),
                 "r"(Barrier::pl_threads(s.id, s.frame))
                 : "memory");
  }
  // Arrives without waiting.
  static __device__ __forceinline__ void arrive(self s) {
    asm volatile("barrier.arrive.aligned %0, %1;" ::"r"(Barrier::pl_id(s.id, s.frame)),
                 "r"(Barrier::pl_threads(s.id, s.frame))
                 : "memory");
  }
};

// Mbarriers that the component arrives at and waits for itself, in shared memory (PTX ISA, mbarrier).  The linker places
// and initialises them.  Index: which of pl::count<n>, from 0.
template <class Mbarrier, class... A>
struct mbarrier {
  static_assert((true && ... && detail::is_one_of<A, PL_ON_MBARRIER_>()),
                "PL_MBARRIER: not an attribute; known: " PL_KNOWN_ON_MBARRIER_);
  static_assert(detail::count<A...>(about::arrivals) == 1, "PL_MBARRIER: exactly one pl::arrivals<n> is needed");
  static_assert(detail::count<A...>(about::number) <= 1, "PL_MBARRIER: pl::count<n> is given twice");
  PL_STATIC_FN_ void pl_write(detail::writer& w) { detail::write_all<A...>(w); }
  // The shared-memory address, for the component's own instructions.
  static __device__ __forceinline__ unsigned address(self s, unsigned index = 0) {
    return Mbarrier::pl_address(s.id, s.frame, index);
  }
  // The calling thread arrives.
  static __device__ __forceinline__ void arrive(self s, unsigned index = 0) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address(s, index)) : "memory");
  }
  // The calling thread arrives, and the phase also waits for `bytes` of copies that complete on it.
  static __device__ __forceinline__ void expect(self s, unsigned index, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(s, index)), "r"(bytes)
                 : "memory");
  }
  // Waits until the phase of this parity is complete: 0 the first, 1 the second, and so on in turn.
  static __device__ __forceinline__ void wait(self s, unsigned index, unsigned parity) {
    Mbarrier::pl_wait(s.id, s.frame, index, parity);
  }
};

// Where the threads of a role meet those of the same role in the other CTAs of the cluster (sm_90).  What any of them did
// before, in its own shared memory and in the others', comes before what they do after.
template <class Barrier, class Attributes>
struct cluster_barrier;
template <class Barrier, class... A>
struct cluster_barrier<Barrier, detail::attributes<A...>> {
  static_assert((true && ... && detail::is_one_of<A, PL_ON_CLUSTER_BARRIER_>()),
                "PL_CLUSTER_BARRIER: not an attribute; known: " PL_KNOWN_ON_CLUSTER_BARRIER_);
  PL_STATIC_FN_ void pl_write(detail::writer& w) { detail::write_all<A...>(w); }
  // Every thread of the role arrives, and waits until those of all CTAs have.
  static __device__ __forceinline__ void sync(self s) { Barrier::pl_sync(s.id, s.frame); }
};

// An order among the warpgroups of a role: each takes its turn when the one before has passed it on, again and again in
// the order of their numbers; the first turn is that of warpgroup 0.  What a warpgroup did before it passed comes before
// what the next one does.  A warpgroup passes as often as it takes, and all of them equally often.
template <class Turns, class Attributes>
struct turns;
template <class Turns, class... A>
struct turns<Turns, detail::attributes<A...>> {
  static_assert((true && ... && detail::is_one_of<A, PL_ON_TURNS_>()),
                "PL_TURNS: not an attribute; known: " PL_KNOWN_ON_TURNS_);
  PL_STATIC_FN_ void pl_write(detail::writer& w) { detail::write_all<A...>(w); }
  // Waits until it is the turn of the calling thread's warpgroup, all of whose threads call this.
  static __device__ __forceinline__ void take(self s) { Turns::pl_take(s.id, s.frame); }
  // The next warpgroup's turn begins: after the last one's, that of the first.
  static __device__ __forceinline__ void pass(self s) { Turns::pl_pass(s.id, s.frame); }
};

// Where a role runs the operation that an opcode names, with the operands that an instruction holds for it.  The threads
// of the role come together, with one opcode, and go on together.
template <class Dispatch, int Bytes, class... A>
struct dispatch {
  static_assert(1 <= Bytes && Bytes <= 4096, "PL_DISPATCH(name, bytes, ...): operands take 1 to 4096 bytes");
  static_assert((true && ... && detail::is_one_of<A, PL_ON_DISPATCH_>()),
                "PL_DISPATCH: not an attribute; known: " PL_KNOWN_ON_DISPATCH_);
  PL_STATIC_FN_ void pl_write(detail::writer& w) {
    w.field("bytes", Bytes);
    detail::write_all<A...>(w);
  }
  // `operands`: aligned to 16 bytes, in memory that stays as it is until this returns.  Opcodes that name no operation
  // of this role do nothing.
  static __device__ __forceinline__ void run(self s, unsigned opcode, const void* operands) {
    Dispatch::pl_run(s.id, s.frame, opcode, operands);
  }
};

// Pages of shared memory that the slots of operations are taken from, in the order in which they are dispatched.
template <int Bytes, class... A>
struct lease {
  static_assert(Bytes >= 16 && Bytes % 16 == 0, "PL_LEASE(name, bytes, ...): a page has a multiple of 16 bytes");
  static_assert((true && ... && detail::is_one_of<A, PL_ON_LEASE_>()),
                "PL_LEASE: not an attribute; known: " PL_KNOWN_ON_LEASE_);
  static_assert(detail::count<A...>(about::pages) == 1, "PL_LEASE: exactly one pl::pages<min, max> is needed");
  PL_STATIC_FN_ void pl_write(detail::writer& w) {
    w.field("page_bytes", Bytes);
    if (detail::count<A...>(about::align) == 0) w.field("align", 128);
    detail::write_all<A...>(w);
  }
};

// Columns of tensor memory (sm_100a, sm_103a, sm_110a), in the CTA's one allocation, which the linker makes and frees.
template <class Tmem, int Columns, class... A>
struct tensor_memory {
  static_assert(Columns >= 1 && Columns <= 512, "PL_TMEM(name, columns, ...): 1 to 512 columns");
  static_assert((true && ... && detail::is_one_of<A, PL_ON_TMEM_>()),
                "PL_TMEM: not an attribute; known: " PL_KNOWN_ON_TMEM_);
  PL_STATIC_FN_ void pl_write(detail::writer& w) {
    w.field("columns", Columns);
    detail::write_all<A...>(w);
  }
  // The tensor-memory address: its first column, in lane 0.
  static __device__ __forceinline__ unsigned address(self s) { return Tmem::pl_address(s.id, s.frame); }
};

namespace detail {
// Where shared memory of this CTA lies in another of its cluster (PTX ISA, mapa).
__device__ __forceinline__ unsigned address_in(unsigned address, unsigned rank) {
  unsigned there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}
template <class T>
PL_FN_ bool is_role(decltype(&T::pl_enter)*) {
  return true;
}
template <class T>
PL_FN_ bool is_role(...) {
  return false;
}
template <class T>
PL_FN_ bool is_answer(decltype(&T::pl_answer)*) {
  return true;
}
template <class T>
PL_FN_ bool is_answer(...) {
  return false;
}
template <class T>
struct parameter {
  PL_STATIC_FN_ void pl_write(writer& w) {
    w.key("type");
    w.put('"');
    type_name<T>::write(w);
    w.put('"');
    w.comma = true;
    w.field("bytes", static_cast<long long>(sizeof(T)));
    w.field("align", static_cast<long long>(alignof(T)));
  }
};
template <class T>
struct operand : parameter<T> {
  static_assert(alignof(T) <= 16, "PL_OPERAND: operands are aligned to 16 bytes at most");
  PL_STATIC_FN_ void pl_write(writer& w) {
    parameter<T>::pl_write(w);
    w.flag("operand");
  }
};
template <class Box>
struct map_box;
template <>
struct map_box<void> {
  PL_STATIC_FN_ void write(writer&) {}
};
template <int... Extent>
struct map_box<box<Extent...>> {
  static_assert(sizeof...(Extent) >= 1 && sizeof...(Extent) <= 5, "pl::box<extents...>: 1 to 5 dimensions");
  static_assert((true && ... && (0 < Extent && Extent <= 256)), "pl::box<extents...>: extents are 1 to 256");
  PL_STATIC_FN_ void write(writer& w) {
    w.key("box");
    w.open('[');
    (w.item(Extent), ...);
    w.close(']');
  }
};
template <class Port, int Part, class Box>
struct parameter<tensor_map<Port, Part, Box>> {
  static_assert(0 <= Part && Part < Port::pl_tiles::parts, "pl::tensor_map<port, part>: the port's slot has fewer tiles");
  PL_STATIC_FN_ void pl_write(writer& w) {
    w.field("type", "tensor_map");
    w.field("port", Port::pl_name());
    w.field("part", Part);
    map_box<Box>::write(w);
    w.field("bytes", 128);
    w.field("align", 64);
  }
};
template <class Port, int Gpus, int Part, class Box>
struct parameter<peer_maps<Port, Gpus, Part, Box>> {
  static_assert(1 <= Gpus && Gpus <= 64, "pl::peer_maps<port, gpus>: 1 to 64 GPUs");
  static_assert(0 <= Part && Part < Port::pl_tiles::parts, "pl::peer_maps<port, gpus, part>: the slot has fewer tiles");
  PL_STATIC_FN_ void pl_write(writer& w) {
    w.field("type", "tensor_map");
    w.field("port", Port::pl_name());
    w.field("part", Part);
    map_box<Box>::write(w);
    w.field("bytes", 128 * Gpus);
    w.field("align", 64);
  }
};
template <class T, int Gpus>
struct parameter<peers<T, Gpus>> {
  PL_STATIC_FN_ void pl_write(writer& w) {
    w.key("type");
    w.put('"');
    type_name<T*>::write(w);
    w.put('"');
    w.comma = true;
    w.field("bytes", 8 * Gpus);
    w.field("align", 8);
  }
};
template <class Tile>
struct parameter<tile_map<Tile>> {
  PL_STATIC_FN_ void pl_write(writer& w) {
    w.field("type", "tensor_map");
    w.key("tile");
    w.open('{');
    Tile::write(w);
    w.close('}');
    w.field("bytes", 128);
    w.field("align", 64);
  }
};
}  // namespace detail
}  // namespace pl

// PL_ROLE(load, pl::warps<1>, pl::registers<24, 40>, pl::one_thread);
#define PL_ROLE(nm, ...)                                                  \
  PL_HERE_                                                                \
  PL_USABLE_(nm, "PL_ROLE: a role is not named like one of its operations, nor pl_...", "thread warp warpgroup") \
  struct nm : ::pl::role<nm, __VA_ARGS__> {                               \
    PL_STATIC_FN_ const char* pl_name() { return #nm; }                   \
    static __device__ unsigned pl_first_thread(int, void*);               \
    static __device__ void pl_enter(int, void*);                          \
    static __device__ void pl_body(::pl::self);                           \
  };                                                                      \
  PL_RECORD_(nm, nm, "role", nm)                                          \
  static_assert(true, "")

// PL_ENTRY(load) { body of the role; `self` is in scope }
#define PL_ENTRY(nm)                                                                                       \
  PL_HERE_                                                                                                 \
  static_assert(::pl::detail::is_role<nm>(0), "PL_ENTRY: not declared with PL_ROLE");                      \
  PL_RECORD_(0entry_##nm, nm, "entry", ::pl::detail::nothing)                                               \
  __device__ void nm::pl_enter(int id, void* frame) { pl_body(::pl::self{id, frame}); }                    \
  __device__ __forceinline__ void nm::pl_body([[maybe_unused]] ::pl::self self)

// PL_SMEM(scratch, float[1024], pl::align<128>);  scratch(self) is a pointer, scratch_smem::address(self) its address,
// scratch_smem::peer(self, rank) that of the same buffer in a CTA of the cluster (<pipelink/cluster.cuh>).
#define PL_SMEM(nm, ...)                                                                                      \
  PL_HERE_                                                                                                    \
  PL_USABLE_(nm, "PL_SMEM: the name cannot be used") \
  struct nm##_smem : ::pl::memory<__VA_ARGS__> {                                                              \
    static __device__ unsigned pl_address(int, void*);                                                        \
    static __device__ __forceinline__ unsigned address(::pl::self self) { return pl_address(self.id, self.frame); } \
    static __device__ __forceinline__ unsigned peer(::pl::self self, unsigned rank) {                         \
      return ::pl::detail::address_in(pl_address(self.id, self.frame), rank);                                 \
    }                                                                                                         \
  };                                                                                                          \
  [[maybe_unused]] static __device__ __forceinline__ nm##_smem::type* nm(::pl::self self) {                   \
    return static_cast<nm##_smem::type*>(__cvta_shared_to_generic(nm##_smem::pl_address(self.id, self.frame))); \
  }                                                                                                           \
  PL_RECORD_(nm, nm, "smem", nm##_smem)                                                                       \
  static_assert(true, "")

// PL_STATE(rows, my_struct);  rows(self) is a reference: per-thread state of a component that outlives its calls, in
// the linker's frame and so in registers.  All its bytes are zero when the kernel begins.
#define PL_STATE(nm, ...)                                                                              \
  PL_HERE_                                                                                             \
  PL_USABLE_(nm, "PL_STATE: the name cannot be used") \
  static_assert(__is_trivially_constructible(__VA_ARGS__),                                             \
                "PL_STATE: it is zero when the kernel begins, so its type has no constructor and no initialisers"); \
  struct nm##_state : ::pl::memory<__VA_ARGS__> {                                                      \
    using value = __VA_ARGS__;                                                                         \
    static __device__ void* pl_address(int, void*);                                                    \
  };                                                                                                   \
  [[maybe_unused]] static __device__ __forceinline__ nm##_state::value& nm(::pl::self self) {          \
    return *static_cast<nm##_state::value*>(nm##_state::pl_address(self.id, self.frame));              \
  }                                                                                                    \
  PL_RECORD_(nm, nm, "state", nm##_state)                                                              \
  static_assert(true, "")

// PL_BARRIER(done, pl::threads<128>);  done::sync(self), done::arrive(self): a named barrier; the linker picks its id.
#define PL_BARRIER(nm, ...)                                  \
  PL_HERE_                                                   \
  PL_USABLE_(nm, "PL_BARRIER: a barrier is not named like one of its operations, nor pl_...", "sync arrive") \
  struct nm : ::pl::barrier<nm, __VA_ARGS__> {               \
    static __device__ unsigned pl_id(int, void*);            \
    static __device__ unsigned pl_threads(int, void*);       \
  };                                                         \
  PL_RECORD_(nm, nm, "barrier", nm)                          \
  static_assert(true, "")

// PL_MBARRIER(full, pl::arrivals<1>, pl::count<2>);  full::expect(self, i, bytes), full::arrive(self, i),
// full::wait(self, i, parity), full::address(self, i): mbarriers of the component's own.
#define PL_MBARRIER(nm, ...)                                         \
  PL_HERE_                                                           \
  PL_USABLE_(nm, "PL_MBARRIER: an mbarrier is not named like one of its operations, nor pl_...", "address arrive expect wait") \
  struct nm : ::pl::mbarrier<nm, __VA_ARGS__> {                      \
    static __device__ unsigned pl_address(int, void*, unsigned);     \
    static __device__ void pl_wait(int, void*, unsigned, unsigned);  \
  };                                                                 \
  PL_RECORD_(nm, nm, "mbarrier", nm)                                 \
  static_assert(true, "")

// PL_CLUSTER_BARRIER(met);  met::sync(self): every thread of the role, in every CTA of the cluster.
#define PL_CLUSTER_BARRIER(nm, ...)                                                                   \
  PL_HERE_                                                                                            \
  PL_USABLE_(nm, "PL_CLUSTER_BARRIER: a barrier is not named like its operation, nor pl_...", "sync") \
  struct nm : ::pl::cluster_barrier<nm, ::pl::detail::attributes<__VA_ARGS__>> {                      \
    static __device__ void pl_sync(int, void*);                                                       \
  };                                                                                                  \
  PL_RECORD_(nm, nm, "cluster_barrier", nm)                                                           \
  static_assert(true, "")

// PL_TURNS(turn);  turn::take(self), turn::pass(self): the warpgroups of the role take turns, in the order of their numbers.
#define PL_TURNS(nm, ...)                                                                         \
  PL_HERE_                                                                                        \
  PL_USABLE_(nm, "PL_TURNS: turns are not named like their operations, nor pl_...", "take pass")  \
  struct nm : ::pl::turns<nm, ::pl::detail::attributes<__VA_ARGS__>> {                            \
    static __device__ void pl_take(int, void*);                                                   \
    static __device__ void pl_pass(int, void*);                                                   \
  };                                                                                              \
  PL_RECORD_(nm, nm, "turns", nm)                                                                 \
  static_assert(true, "")

// PL_DISPATCH(operations, 112);  operations::run(self, opcode, operands): the operation's role, on these threads.
#define PL_DISPATCH(nm, ...)                                                                    \
  PL_HERE_                                                                                      \
  PL_USABLE_(nm, "PL_DISPATCH: a dispatch is not named like its operation, nor pl_...", "run")  \
  struct nm : ::pl::dispatch<nm, __VA_ARGS__> {                                                 \
    static __device__ void pl_run(int, void*, unsigned, const void*);                           \
  };                                                                                            \
  PL_RECORD_(nm, nm, "dispatch", nm)                                                            \
  static_assert(true, "")

// PL_LEASE(pages, 16384, pl::pages<2, 13>);  connections name it, and have their slots there.
#define PL_LEASE(nm, ...)                         \
  PL_HERE_                                        \
  PL_USABLE_(nm, "PL_LEASE: the name cannot be used") \
  struct nm##_lease : ::pl::lease<__VA_ARGS__> {}; \
  PL_RECORD_(nm, nm, "lease", nm##_lease)         \
  static_assert(true, "")

// PL_TMEM(accumulator, 128);  accumulator::address(self) is a tensor-memory address.
#define PL_TMEM(nm, ...)                                             \
  PL_HERE_                                                           \
  PL_USABLE_(nm, "PL_TMEM: tensor memory is not named like its operation, nor pl_...", "address") \
  struct nm : ::pl::tensor_memory<nm, __VA_ARGS__> {                 \
    static __device__ unsigned pl_address(int, void*);               \
  };                                                                 \
  PL_RECORD_(nm, nm, "tmem", nm)                                     \
  static_assert(true, "")

// PL_OPERAND(tile, int);  tile(self): a parameter that comes with each instruction.
#define PL_OPERAND(nm, ...) PL_PARAMETER_(nm, operand, __VA_ARGS__)
// PL_PARAM(k_tiles, int);  k_tiles(self): a launch parameter, or a constant bound at link time.
#define PL_PARAM(nm, ...) PL_PARAMETER_(nm, parameter, __VA_ARGS__)
#define PL_PARAMETER_(nm, how, ...)                                                                           \
  PL_HERE_                                                                                                    \
  PL_USABLE_(nm, "PL_PARAM, PL_OPERAND: the name cannot be used") \
  struct nm##_param : ::pl::detail::how<__VA_ARGS__> {                                                  \
    using type = __VA_ARGS__;                                                                                 \
    static __device__ const void* pl_address(int, void*);                                                     \
  };                                                                                                          \
  [[maybe_unused]] static __device__ __forceinline__ const nm##_param::type& nm(::pl::self self) {            \
    return *static_cast<const nm##_param::type*>(nm##_param::pl_address(self.id, self.frame));                \
  }                                                                                                           \
  PL_RECORD_(nm, nm, "param", nm##_param)                                                                     \
  static_assert(true, "")
