// pipelink/records.cuh: contract records, evaluated by the compiler.
//
// A declaration of a component is a type with a static `pl_write(writer&)`.  PL_RECORD_ renders it at compile time to one
// JSON text and lets it leave the compiler in three ways:
//   nvcc's host pass       bytes in ELF section .pipelink.contract of the object, NUL-terminated, in no fixed order
//   every device code pass initialised variables of the device code: what this architecture was compiled with.  No
//                          code refers to them, so a link drops them (nvJitLink -optimize-unused-variables); pl-cc and
//                          `pl-objdump --verify` read them from the PTX that nvJitLink makes of one image.
// C++17 or later; no header needed.  Every constexpr function names its execution spaces, which NVRTC demands.
#pragma once
#define PL_FN_ __host__ __device__ constexpr
#define PL_STATIC_FN_ static __host__ __device__ constexpr

namespace pl {

enum : int { abi = 1 };  // the contract version, "pipelink" in each record

namespace detail {

// Writes JSON into `out`, or only measures while `out` is null.
struct writer {
  char* out = nullptr;
  unsigned n = 0;
  bool comma = false;
  PL_FN_ void put(char c) {
    if (out) out[n] = c;
    ++n;
  }
  // Compilers evaluate this for every record, so it takes few steps for a character and fewer while it only measures.
  PL_FN_ void raw(const char* s) {
    const char* begin = s;
    if (char* to = out ? out + n : nullptr) {
      for (; *s; ++s) *to++ = *s;
    } else {
      while (*s) ++s;
    }
    n += static_cast<unsigned>(s - begin);
  }
  PL_FN_ void character(char c) {
    if (c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 32) {
      put(c);
      return;
    }
    const char* digits = "0123456789abcdef";
    if (c == '"' || c == '\\') {
      put('\\');
      put(c);
    } else {
      raw("\\u00");
      put(digits[c >> 4]);
      put(digits[c & 15]);
    }
  }
  PL_FN_ void string(const char* s) {
    put('"');
    for (; *s; ++s) character(*s);
    put('"');
  }
  PL_FN_ void number(long long v) {
    if (v < 0) {
      put('-');
      v = -v;
    }
    long long unit = 1;
    while (v / unit >= 10) unit *= 10;
    for (; unit; unit /= 10) put(char('0' + v / unit % 10));
  }
  PL_FN_ void separate() {
    if (comma) put(',');
    comma = false;
  }
  PL_FN_ void key(const char* k) {
    raw(comma ? ",\"" : "\"");
    comma = false;
    raw(k);
    raw("\":");
  }
  PL_FN_ void item(long long v) {
    separate();
    number(v);
    comma = true;
  }
  PL_FN_ void item(int v) { item(static_cast<long long>(v)); }
  PL_FN_ void item(const char* v) {
    separate();
    string(v);
    comma = true;
  }
  PL_FN_ void field(const char* k, long long v) {
    key(k);
    item(v);
  }
  PL_FN_ void field(const char* k, int v) { field(k, static_cast<long long>(v)); }
  PL_FN_ void field(const char* k, const char* v) {
    key(k);
    item(v);
  }
  PL_FN_ void version(const char* k, int major, int minor) {
    key(k);
    put('"');
    number(major);
    put('.');
    number(minor);
    put('"');
    comma = true;
  }
  PL_FN_ void flag(const char* k) {
    key(k);
    raw("true");
    comma = true;
  }
  PL_FN_ void open(char c) {
    separate();
    put(c);
  }
  PL_FN_ void close(char c) {
    put(c);
    comma = true;
  }
  // "M, K" -> ["M","K"]: splits at commas outside parentheses, without the blanks around each part.
  PL_FN_ void split(const char* k, const char* text) {
    key(k);
    open('[');
    while (*text) {
      while (*text == ' ') ++text;
      const char* end = text;
      for (int depth = 0; *end && (depth > 0 || *end != ','); ++end) depth += (*end == '(') - (*end == ')');
      const char* last = end;
      while (last != text && last[-1] == ' ') --last;
      separate();
      put('"');
      for (; text != last; ++text) character(*text);
      put('"');
      comma = true;
      text = *end ? end + 1 : end;
    }
    close(']');
  }
};

PL_FN_ const char* base_name(const char* path) {
  const char* last = path;
  for (; *path; ++path)
    if (*path == '/') last = path + 1;
  return last;
}
template <unsigned N>
struct text {
  char data[N];
};
template <class Record>
PL_FN_ unsigned measure() {
  writer w;
  Record::pl_write(w);
  return w.n + 1;
}
// The size as a constant, which is evaluated once however often it is asked for.
template <class Record>
struct size_of {
  enum : unsigned { value = measure<Record>() };
};
template <class Record>
using text_of = text<size_of<Record>::value>;
template <class Record>
PL_FN_ text_of<Record> render() {
  text_of<Record> t{};
  writer w;
  w.out = t.data;
  Record::pl_write(w);
  return t;
}
// Does `signature` (__PRETTY_FUNCTION__ of NAME::pl_component::where) name exactly NAME, not SOMETHING::NAME?
PL_FN_ bool at_global_scope(const char* signature, const char* name) {
  const char* tail = "::pl_component::where";
  for (const char* s = signature; *s; ++s) {
    const char* a = s;
    const char* b = name;
    while (*b && *a == *b) ++a, ++b;
    if (*b) continue;
    const char* c = tail;
    while (*c && *a == *c) ++a, ++c;
    if (!*c) return s == signature || s[-1] == ' ' || s[-1] == '*' || s[-1] == '&';
  }
  return false;
}
// Letters, digits, '_' and "::" between non-empty parts: what the linker can mangle and make a symbol of.
PL_FN_ bool is_component_name(const char* name) {
  bool part = false;
  for (; *name; ++name) {
    char c = *name;
    if (c == ':') {
      if (!part || name[1] != ':') return false;
      part = false;
      ++name;
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_') {
      part = true;
    } else {
      return false;
    }
  }
  return part;
}
// A declared name is one that C++ lets be used: inside a class of its own name, an operation of that name would be taken
// for the constructor.  `operations` are those of the class, apart by blanks.
PL_FN_ bool is_usable(const char* name, const char* operations = "") {
  if (*operations && name[0] == 'p' && name[1] == 'l' && name[2] == '_') return false;
  const char* const taken[] = {"self pl pl_component", operations};
  for (const char* words : taken)
    while (*words) {
      const char* a = name;
      while (*a && *a == *words) ++a, ++words;
      if (*a == 0 && (*words == 0 || *words == ' ')) return false;
      while (*words && *words++ != ' ') {}
    }
  return true;
}

// The few library pieces needed here, so that no standard header is.
template <class A, class B>
struct same {
  enum : bool { value = false };
};
template <class A>
struct same<A, A> {
  enum : bool { value = true };
};
template <class...>
using void_t = void;
template <int... I>
struct list {};
template <int N, int... I>
struct make_list : make_list<N - 1, N - 1, I...> {};
template <int... I>
struct make_list<0, I...> {
  using type = list<I...>;
};
template <int I, class T, class... R>
struct nth : nth<I - 1, R...> {};
template <class T, class... R>
struct nth<0, T, R...> {
  using type = T;
};
struct nothing {
  PL_STATIC_FN_ void pl_write(writer&) {}
};

}  // namespace detail
}  // namespace pl

// Found by name lookup where a declaration stands outside every component.
struct pl_component {
  enum : bool { declared = false };
  PL_STATIC_FN_ const char* name() { return ""; }
};

#if defined(PL_MONOLITH)  // is linked already: nobody reads its contracts
#define PL_EMIT_(id)
#elif defined(__CUDA_ARCH__)
#define PL_EMIT_(id)                                                                   \
  extern const __device__ ::pl::detail::text_of<pl_declared_##id> pl_record_##id##_text; \
  const __device__ ::pl::detail::text_of<pl_declared_##id> pl_record_##id##_text =       \
      ::pl::detail::render<pl_declared_##id>();
#else  // nvcc's host pass
#define PL_EMIT_(id)                                                                                 \
  __attribute__((used, section(".pipelink.contract"))) static constexpr auto pl_record_##id##_text = \
      ::pl::detail::render<pl_declared_##id>();
#endif

// Begins every declaration.  A namespace definition is legal only where a record survives: outside classes, functions
// and templates.
#define PL_HERE_                                                                                                      \
  namespace pl_declarations_stand_directly_in_PL_COMPONENT {}                                                         \
  static_assert(pl_component::declared, "this PL_ declaration stands outside PL_COMPONENT(name) { ... }");

// A name that a declaration gives; the rest: what is wrong with others, and the operations of its class.
#define PL_USABLE_(nm, what, ...) \
  static_assert(::pl::detail::is_usable(#nm, ##__VA_ARGS__), what "; self and pl are the library's names");

// id: unique in the component, so that a second declaration of a name is an error; that of what gives no name begins with
// a digit, so that no name is like it.  nm: the name in the record.
#define PL_RECORD_(id, nm, op, ...)                                                                                   \
  struct pl_declared_##id {                                                                                           \
    PL_STATIC_FN_ void pl_write(::pl::detail::writer& pl_writer) {                                                    \
      pl_writer.open('{');                                                                                            \
      pl_writer.field("pipelink", ::pl::abi);                                                                         \
      pl_writer.field("op", op);                                                                                      \
      pl_writer.field("component", pl_component::name());                                                             \
      pl_writer.field("name", #nm);                                                                                   \
      pl_writer.field("file", ::pl::detail::base_name(__FILE__));                                                     \
      pl_writer.field("line", __LINE__);                                                                              \
      __VA_ARGS__::pl_write(pl_writer);                                                                               \
      pl_writer.close('}');                                                                                           \
    }                                                                                                                 \
  };                                                                                                                  \
  PL_EMIT_(id)

// PL_COMPONENT(acme::tma_loader) { declarations and bodies }: the component is this namespace.  A macro may stand for
// the name (-D NAME=acme::tma_loader): it is expanded before it becomes text.
#define PL_COMPONENT(...) PL_COMPONENT_(__VA_ARGS__)
#define PL_COMPONENT_(...)                                                                                            \
  namespace __VA_ARGS__ {                                                                                             \
    struct pl_component {                                                                                             \
      enum : bool { declared = true };                                                                          \
      PL_STATIC_FN_ const char* name() { return #__VA_ARGS__; }                                                       \
      PL_STATIC_FN_ const char* where() { return __PRETTY_FUNCTION__; }                                               \
      PL_STATIC_FN_ void pl_write(::pl::detail::writer& pl_writer) {                                                  \
        pl_writer.field("cxx", __cplusplus > 201703L ? 20 : 17);                                                      \
        pl_writer.version("toolkit", __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__);                                     \
      }                                                                                                               \
    };                                                                                                                \
    static_assert(::pl::detail::is_component_name(#__VA_ARGS__),                                                      \
                  "PL_COMPONENT: the name is identifiers joined by ::, without blanks");                              \
    static_assert(::pl::detail::at_global_scope(pl_component::where(), #__VA_ARGS__),                                 \
                  "PL_COMPONENT belongs at global scope, in no other namespace");                                     \
    PL_RECORD_(0component, component, "component", pl_component)                                                       \
  }                                                                                                                   \
  namespace __VA_ARGS__
