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
  "pipelink.tensor"() {name = "x", element = "i32", shape = ["n"], access = "read"} : () -> ()
  "pipelink.peer"() {name = "peers", tensor = "x", count = 2 : i64} : () -> ()
  "pipelink.bind"() {param = "one", to = "peers"} : () -> ()
  "pipelink.bind"() {param = "two", to = "x"} : () -> ()
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
