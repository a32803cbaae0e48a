// RUN: pl-opt --pipeline=check,place -split-input-file -verify-diagnostics %s

module @x.a attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 4 : i64} : () -> ()
}
// expected-error @+1 {{unknown target 'sm_9Oa'}}
module @k attributes {pipelink.kernel = {target = "sm_9Oa"}} {
  "pipelink.instance"() {sym_name = "a", component = @x.a} : () -> ()
}

// -----

// A pointer and a tensor map that nothing binds.

module @x.a attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 1 : i64} : () -> ()
  // expected-error @+1 {{parameter '@a::@dst' is a pointer and nothing binds it to a tensor, workspace or peer buffer}}
  "pipelink.param"() {sym_name = "dst", type = "pointer", bytes = 8 : i64, align = 8 : i64} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @x.a} : () -> ()
}

// -----

// A misspelt dimension.

module @x.a attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 1 : i64} : () -> ()
  "pipelink.tensor"() {name = "x", element = "f32", shape = ["rows", "columns"], access = "read"} : () -> ()
  // expected-error @+1 {{derived value 'tiles' uses 'row' in 'ceildiv(row, 128)', which is no dimension, derived value or scalar argument}}
  "pipelink.derive"() {name = "tiles", value = "ceildiv(row, 128)"} : () -> ()
  "pipelink.grid"() {value = ["tiles", "1", "1"]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @x.a} : () -> ()
}

// -----

module @x.a attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 1 : i64} : () -> ()
  // expected-error @+1 {{derived values depend on each other: a -> b -> a}}
  "pipelink.derive"() {name = "a", value = "b + 1"} : () -> ()
  // expected-note @+1 {{part of the cycle}}
  "pipelink.derive"() {name = "b", value = "a * 2"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @x.a} : () -> ()
}

// -----

module @x.a attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 1 : i64} : () -> ()
  // expected-error @+1 {{tensor 'x' is declared as f32[n] by '@a', but '@b' declares bf16[n]}}
  "pipelink.tensor"() {name = "x", element = "f32", shape = ["n"], access = "read"} : () -> ()
  // expected-error @+1 {{grid is declared as [n, 1, 1] by '@a', but '@b' declares [sms, 1, 1]}}
  "pipelink.grid"() {value = ["n", "1", "1"]} : () -> ()
}
module @x.b attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 1 : i64} : () -> ()
  // expected-note @+1 {{the other declaration is here}}
  "pipelink.tensor"() {name = "x", element = "bf16", shape = ["n"], access = "read"} : () -> ()
  // expected-note @+1 {{the other declaration is here}}
  "pipelink.grid"() {value = ["sms", "1", "1"]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @x.a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @x.b} : () -> ()
}

// -----

module @x.a attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 1 : i64} : () -> ()
  "pipelink.tensor"() {name = "x", element = "f32", shape = ["n"], access = "read"} : () -> ()
}
// expected-error @+1 {{kernel 'k' has tensor arguments but neither it nor a component declares a grid}}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @x.a} : () -> ()
}

// -----

module @x.a attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 1 : i64} : () -> ()
  // expected-error @+1 {{scalar argument 'table' is a struct<32768,16>, which a launch cannot pass}}
  "pipelink.param"() {sym_name = "table", type = "struct<32768,16>", bytes = 32768 : i64, align = 16 : i64} : () -> ()
}
// expected-error @+1 {{the parameters of kernel 'k' need 32768 bytes, 4 over 32764}}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @x.a} : () -> ()
}

// -----

// As many addresses as there are GPUs, and buffers like a tensor that is there.

module @x.a attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 1 : i64} : () -> ()
  // expected-error @+1 {{parameter '@a::@one' holds 1 address, and 'peers' has 2 addresses [launch-conflict]}}
  "pipelink.param"() {sym_name = "one", type = "pointer", bytes = 8 : i64, align = 8 : i64} : () -> ()
  // expected-error @+1 {{parameter '@a::@two' holds 2 addresses, and 'x' has 1 address [launch-conflict]}}
  "pipelink.param"() {sym_name = "two", type = "pointer", bytes = 16 : i64, align = 8 : i64} : () -> ()
  // expected-error @+1 {{parameter '@a::@map' holds 1 tensor map, and 'peers' has 2 buffers [launch-conflict]}}
  "pipelink.param"() {sym_name = "map", type = "tensor_map", bytes = 128 : i64, align = 64 : i64, tile = {element = "i32", shape = [32], layout = "row_major", bytes = 128 : i64, align = 128 : i64}} : () -> ()
  // expected-error @+1 {{parameter '@a::@maps' holds 2 tensor maps, and 'x' has 1 buffer [launch-conflict]}}
  "pipelink.param"() {sym_name = "maps", type = "tensor_map", bytes = 256 : i64, align = 64 : i64, tile = {element = "i32", shape = [32], layout = "row_major", bytes = 128 : i64, align = 128 : i64}} : () -> ()
  // expected-error @+1 {{parameter '@a::@other' copies tiles of i32[32], but tensor 'float_peers' is f32[n] [launch-conflict]}}
  "pipelink.param"() {sym_name = "other", type = "tensor_map", bytes = 256 : i64, align = 64 : i64, tile = {element = "i32", shape = [32], layout = "row_major", bytes = 128 : i64, align = 128 : i64}} : () -> ()
  "pipelink.tensor"() {name = "x", element = "i32", shape = ["n"], access = "read"} : () -> ()
  "pipelink.peer"() {name = "peers", tensor = "x", count = 2 : i64} : () -> ()
  "pipelink.bind"() {param = "one", to = "peers"} : () -> ()
  "pipelink.bind"() {param = "two", to = "x"} : () -> ()
  "pipelink.bind"() {param = "map", to = "peers"} : () -> ()
  "pipelink.bind"() {param = "maps", to = "x"} : () -> ()
  "pipelink.bind"() {param = "other", to = "float_peers"} : () -> ()
  "pipelink.tensor"() {name = "y", element = "f32", shape = ["n"], access = "read"} : () -> ()
  "pipelink.peer"() {name = "float_peers", tensor = "y", count = 2 : i64} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @x.a} : () -> ()
}

// -----

module @x.a attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 1 : i64} : () -> ()
  "pipelink.tensor"() {name = "data", element = "i32", shape = ["n"], access = "read"} : () -> ()
  // expected-error @+1 {{peers 'all' are buffers like tensor 'dta', which nothing declares [launch-conflict]}}
  "pipelink.peer"() {name = "all", tensor = "dta", count = 2 : i64} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @x.a} : () -> ()
}

// -----

// A pointer to other elements than the tensor holds; bytes and unsigned integers are bits of any kind.

module @x.a attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 1 : i64} : () -> ()
  "pipelink.tensor"() {name = "x", element = "bf16", shape = ["n"], access = "read"} : () -> ()
  // expected-error @+2 {{parameter '@a::@x' points to f32, but the tensor holds bf16}}
  // expected-note @-2 {{the tensor is declared here}}
  "pipelink.param"() {sym_name = "x", type = "const f32*", bytes = 8 : i64, align = 8 : i64} : () -> ()
  "pipelink.tensor"() {name = "y", element = "i32", shape = ["n"], access = "read"} : () -> ()
  // expected-error @+2 {{parameter '@a::@y' points to i64, but the tensor holds i32}}
  // expected-note @-2 {{the tensor is declared here}}
  "pipelink.param"() {sym_name = "y", type = "i64*", bytes = 8 : i64, align = 8 : i64} : () -> ()
  "pipelink.tensor"() {name = "z", element = "bf16", shape = ["n"], access = "read"} : () -> ()
  "pipelink.param"() {sym_name = "z", type = "const u32*", bytes = 8 : i64, align = 8 : i64} : () -> ()
  "pipelink.tensor"() {name = "b", element = "e4m3", shape = ["n"], access = "read"} : () -> ()
  "pipelink.param"() {sym_name = "b", type = "i8*", bytes = 8 : i64, align = 8 : i64} : () -> ()
  "pipelink.tensor"() {name = "i", element = "i32", shape = ["n"], access = "read"} : () -> ()
  "pipelink.param"() {sym_name = "i", type = "const u32*", bytes = 8 : i64, align = 8 : i64} : () -> ()
  "pipelink.tensor"() {name = "f", element = "f32", shape = ["n"], access = "read"} : () -> ()
  "pipelink.param"() {sym_name = "f", type = "const struct<16,16>*", bytes = 8 : i64, align = 8 : i64} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @x.a} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}

// -----

// What a launch cannot pass.

module @x.a attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 1 : i64} : () -> ()
  // expected-error @+1 {{tensor 'x' holds e2m1, which a launch cannot pass [not-passable]}}
  "pipelink.tensor"() {name = "x", element = "e2m1", shape = ["n"], access = "read"} : () -> ()
  // expected-error @+1 {{tensor 'y' has 9 dimensions, a launch passes 8}}
  "pipelink.tensor"() {name = "y", element = "f32", shape = ["n", "n", "n", "n", "n", "n", "n", "n", "n"], access = "read"} : () -> ()
  // expected-error @+1 {{scalar argument 's' is a struct<16,8>, which a launch cannot pass}}
  "pipelink.param"() {sym_name = "s", type = "struct<16,8>", bytes = 16 : i64, align = 8 : i64} : () -> ()
  // expected-error @+1 {{scalar argument 't' is a bf16, which a launch cannot pass}}
  "pipelink.param"() {sym_name = "t", type = "bf16", bytes = 2 : i64, align = 2 : i64} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @x.a} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}

// -----

// Names that launches and expressions have taken, and such that no expression can name.

module @x.a attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 1 : i64} : () -> ()
  // expected-error @+1 {{'stream' is a word of launches and expressions, and no argument or value may have it [reserved-name]}}
  "pipelink.tensor"() {name = "stream", element = "f32", shape = ["n"], access = "read"} : () -> ()
  // expected-error @+1 {{'sms' is a word of launches and expressions}}
  "pipelink.tensor"() {name = "x", element = "f32", shape = ["sms"], access = "read"} : () -> ()
  // expected-error @+1 {{'device' is a word of launches and expressions}}
  "pipelink.param"() {sym_name = "device", type = "i32", bytes = 4 : i64, align = 4 : i64} : () -> ()
  // expected-error @+1 {{the name 'a b' in the launch contract consists of more than letters, digits and '_'}}
  "pipelink.tensor"() {name = "a b", element = "f32", shape = ["n"], access = "read"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @x.a} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}

// -----

// A float in an expression: nothing is computed with it.

module @x.a attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 1 : i64} : () -> ()
  "pipelink.param"() {sym_name = "alpha", type = "f32", bytes = 4 : i64, align = 4 : i64} : () -> ()
  // expected-error @+1 {{derived value 'twice' computes with 'alpha' in '2 * alpha', but it is a f32}}
  "pipelink.derive"() {name = "twice", value = "2 * alpha"} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.param"() {sym_name = "beta", type = "f64", bytes = 8 : i64, align = 8 : i64} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @x.a} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  // expected-error @+1 {{parameter '@a::@n' is a i32 and is bound to 'alpha', which is a f32}}
  "pipelink.bind"() {param = @a::@n, to = "alpha"} : () -> ()
  "pipelink.bind"() {param = @a::@beta, to = "alpha"} : () -> ()
}

// -----

// Values that a parameter cannot hold.

module @x.a attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 1 : i64} : () -> ()
  "pipelink.param"() {sym_name = "i", type = "i32", bytes = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.param"() {sym_name = "j", type = "u8", bytes = 1 : i64, align = 1 : i64} : () -> ()
  "pipelink.param"() {sym_name = "f", type = "f32", bytes = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.param"() {sym_name = "g", type = "f16", bytes = 2 : i64, align = 2 : i64} : () -> ()
  "pipelink.param"() {sym_name = "b", type = "bool", bytes = 1 : i64, align = 1 : i64} : () -> ()
  "pipelink.param"() {sym_name = "t", type = "i32", bytes = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.param"() {sym_name = "e", type = "i32", bytes = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.param"() {sym_name = "h", type = "f64", bytes = 8 : i64, align = 8 : i64} : () -> ()
  "pipelink.param"() {sym_name = "s", type = "struct<16,8>", bytes = 16 : i64, align = 8 : i64} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @x.a} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  // expected-error @+1 {{parameter '@a::@i' is a i32 and is bound to 1.5, which is no integer [bad-binding]}}
  "pipelink.bind"() {param = @a::@i, value = 1.5} : () -> ()
  // expected-error @+1 {{parameter '@a::@j' is a u8, which cannot hold 256}}
  "pipelink.bind"() {param = @a::@j, value = 256 : i64} : () -> ()
  // expected-error @+1 {{parameter '@a::@f' is a f32, which cannot hold 1e+39}}
  "pipelink.bind"() {param = @a::@f, value = 1.0e39} : () -> ()
  // expected-error @+1 {{parameter '@a::@g' is a f16, which cannot hold 65536.0}}
  "pipelink.bind"() {param = @a::@g, value = 65536.0} : () -> ()
  // expected-error @+1 {{parameter '@a::@b' is a bool, which cannot hold 2}}
  "pipelink.bind"() {param = @a::@b, value = 2 : i64} : () -> ()
  // expected-error @+1 {{parameter '@a::@t' is a i32 and is bound to the text 'n'}}
  "pipelink.bind"() {param = @a::@t, value = "n"} : () -> ()
  // expected-error @+1 {{parameter '@a::@s' is a struct<16,8>, and only numbers are bound at link time}}
  "pipelink.bind"() {param = @a::@s, value = 1 : i64} : () -> ()
  // expected-error @+1 {{parameter '@a::@e' is a i32, which cannot hold 4294967296}}
  "pipelink.bind"() {param = @a::@e, to = "65536 * 65536"} : () -> ()
  "pipelink.bind"() {param = @a::@h, value = 1.0e39} : () -> ()
}


// -----

// A stride that the tensor does not have; a value derived of extents may be one, of another tensor.
module @x.a attributes {pipelink.component = {abi = 1, images = [{arch = "sm_80"}]}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.tensor"() {name = "a", element = "f32", shape = ["B", "S"], access = "read"} : () -> ()
  "pipelink.tensor"() {name = "first", element = "i32", shape = ["T + 1"], access = "read"} : () -> ()
  "pipelink.derive"() {name = "T", value = "B * ceildiv(S, 128)"} : () -> ()
  // expected-error @+1 {{derived value 'Q' asks for stride 2 of 'a' in 'stride(a, 2)', which has 2 [unknown-symbol]}}
  "pipelink.derive"() {name = "Q", value = "stride(a, 2)"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @x.a} : () -> ()
  "pipelink.grid"() {value = ["T", "1", "1"]} : () -> ()
}

// -----

// What no launch can be, whatever is passed: a grid of none or too many, a division by zero, sizes below 0 or too large.

module @x.a attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 1 : i64} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4 : i64, align = 4 : i64} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @x.a} : () -> ()
  // expected-error @+1 {{an extent of tensor 'x' is 3 - 4 = -1, expected at least 0 [bad-expression]}}
  "pipelink.tensor"() {name = "x", element = "f32", shape = ["N", "3 - 4"], access = "read"} : () -> ()
  "pipelink.derive"() {name = "none", value = "2 - 2"} : () -> ()
  // expected-error @+1 {{division by zero in 'N / none' [bad-expression]}}
  "pipelink.bind"() {param = @a::@n, to = "N / none"} : () -> ()
  // expected-error @+1 {{workspace 'w' is 8 * (none - 1) = -8 bytes, expected 0 to 1099511627776 [bad-expression]}}
  "pipelink.workspace"() {name = "w", bytes = "8 * (none - 1)", init = "zero"} : () -> ()
  // expected-error @+2 {{the grid's x is none = 0, expected 1 to 2147483647 [grid-limit]}}
  // expected-error @+1 {{the grid's y is 65536, expected 1 to 65535 [grid-limit]}}
  "pipelink.grid"() {value = ["none", "65536", "1"]} : () -> ()
}

// -----

module @x.a attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 1 : i64} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @x.a} : () -> ()
  "pipelink.cluster"() {value = [2, 2, 1]} : () -> ()
  "pipelink.derive"() {name = "three", value = "2 + 1"} : () -> ()
  // expected-error @+1 {{the grid's x is three = 3, expected a multiple of the cluster's 2 [grid-limit]}}
  "pipelink.grid"() {value = ["three", "4", "1"]} : () -> ()
}
