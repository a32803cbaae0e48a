// What the structural verifier refuses.
// RUN: pl-opt --pipeline=check -split-input-file -verify-diagnostics %s -o -

// Text that is not IR
// expected-error @below {{custom op 'foo' is unknown}}
foo

// -----

// An operation without a name
// expected-error @below {{an operation has an empty name [invalid-ir]}}
"pipelink."() : () -> ()

// -----

// A kernel in a module of its own, as an IR that was printed and put into a file
module {
  // expected-error @below {{kernel 'k' stands inside of another module, where it is not seen [misplaced-operation]}}
  module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  }
  module {
    // expected-error @below {{component 'a' stands inside of another module, where it is not seen}}
    module @a attributes {pipelink.component = {abi = 1}} {
    }
  }
}
module @b attributes {pipelink.component = {abi = 1}} {
}

// -----

// An unknown operation
module @a attributes {pipelink.component = {abi = 1}} {
  // expected-error @below {{unknown operation 'pipelink.rol' [unknown-operation]}}
  "pipelink.rol"() {sym_name = "run", warps = 4} : () -> ()
}

// -----

// An operation outside
// expected-error @below {{'pipelink.resident' stands outside of a component and a kernel [misplaced-operation]}}
  "pipelink.resident"() : () -> ()
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}

// -----

// A kernel's operation in a component
module @a attributes {pipelink.component = {abi = 1}} {
  // expected-error @below {{'pipelink.instance' stands in a component, it belongs in a kernel [misplaced-operation]}}
  "pipelink.instance"() {sym_name = "x", component = @x} : () -> ()
}

// -----

// An unknown attribute
module @a attributes {pipelink.component = {abi = 1}} {
  // expected-error @below {{role 'run' has an unknown attribute 'regs' [unknown-attribute]}}
  "pipelink.role"() {sym_name = "run", warps = 4, regs = 3} : () -> ()
}

// -----

// An unknown attribute of the module
// expected-error @below {{module 'a' has an unknown attribute 'pipelink.colour' [unknown-attribute]}}
module @a attributes {pipelink.component = {abi = 1}, pipelink.colour = 3} {
}

// -----

// An unknown key of a tile
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-error @below {{tile 0 of port 'o' has an unknown attribute 'pitch' [unknown-attribute]}}
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024, pitch = 3}]} : () -> ()
}

// -----

// An attribute that this kind of port does not have
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-error @below {{port 'f' has 'stages', which call ports (calls) do not have [unknown-attribute]}}
  "pipelink.port"() {sym_name = "f", direction = "calls", kind = "call", signature = "void()", stages = [1, 2]} : () -> ()
}

// -----

// A missing attribute
module @a attributes {pipelink.component = {abi = 1}} {
  // expected-error @below {{role 'run' has no 'warps' [missing-attribute]}}
  "pipelink.role"() {sym_name = "run"} : () -> ()
}

// -----

// A stream without tiles
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-error @below {{port 'o' has no 'tiles', which stream ports have [missing-attribute]}}
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", stages = [1, 2], touch = "tma"} : () -> ()
}

// -----

// A kernel without a target
// expected-error @below {{pipelink.kernel has no 'target' [missing-attribute]}}
module @k attributes {pipelink.kernel = {}} {
}

// -----

// A wrong type
module @a attributes {pipelink.component = {abi = 1}} {
  // expected-error @below {{'warps' of role 'run' is an i64 integer, not '4' [wrong-attribute]}}
  "pipelink.role"() {sym_name = "run", warps = "4"} : () -> ()
}

// -----

// A wrong width
module @a attributes {pipelink.component = {abi = 1}} {
  // expected-error @below {{'warps' of role 'run' is an i64 integer, not 4 : i32 [wrong-attribute]}}
  "pipelink.role"() {sym_name = "run", warps = 4 : i32} : () -> ()
}

// -----

// A wrong choice
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-error @below {{'direction' of port 'o' is one of out, in, local}}
  "pipelink.port"() {sym_name = "o", direction = "outt", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}

// -----

// A direction of another kind
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-error @below {{port 'f' is of kind token: its direction is out or in, not 'calls' [wrong-attribute]}}
  "pipelink.port"() {sym_name = "f", direction = "calls", kind = "token"} : () -> ()
}

// -----

// A number out of bounds
module @a attributes {pipelink.component = {abi = 1}} {
  // expected-error @below {{'warps' of role 'run' is 0, it must be 1 … 1099511627776 [wrong-attribute]}}
  "pipelink.role"() {sym_name = "run", warps = 0} : () -> ()
}

// -----

// Weights count beside each other, and their sum has to stay in range
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @x} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @x} : () -> ()
  // expected-error @below {{'weight' of 'pipelink.connect' is 1000001, it must be 0 … 1000000 [wrong-attribute]}}
  "pipelink.connect"() {source = @a::@x, target = @b::@x, weight = 1000001} : () -> ()
}

// -----

// A bind with neither expression nor value
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{gives neither 'to' nor 'value' [wrong-attribute]}}
  "pipelink.bind"() {param = "n"} : () -> ()
}

// -----

// A barrier for part of a warp
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-error @below {{barrier 's' has 100 threads, not a multiple of 32 up to 1024 [wrong-attribute]}}
  "pipelink.barrier"() {sym_name = "s", threads = 100} : () -> ()
}

// -----

// More arrivals than an mbarrier counts
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-error @below {{mbarrier 's' expects 1048576 arrivals, an mbarrier counts to 1048575 [wrong-attribute]}}
  "pipelink.mbarrier"() {sym_name = "s", arrivals = 1048576, count = 1} : () -> ()
}

// -----

// A range upside down
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-error @below {{'stages' of port 'o' is [4, 2], not a range from 1 up [bad-range]}}
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [4, 2], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}

// -----

// Half a range
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-error @below {{'stages' of port 'o' is [min, max], not [4] [bad-range]}}
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}

// -----

// An empty interval
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-error @below {{'live' of smem 's' is an interval [begin, end] with begin < end, not [3, 3] [bad-range]}}
  "pipelink.smem"() {sym_name = "s", bytes = 128, align = 128, live = [3, 3]} : () -> ()
}

// -----

// An alignment that is no power of two
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-error @below {{'align' of smem 's' is 96, not a power of two [bad-alignment]}}
  "pipelink.smem"() {sym_name = "s", bytes = 128, align = 96} : () -> ()
}

// -----

// Shared memory that states no alignment
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-error @below {{smem 's' states no alignment [alignment-unstated]}}
  "pipelink.smem"() {sym_name = "s", bytes = 128} : () -> ()
}

// -----

// A tile that states no alignment
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-error @below {{tile 0 of port 'o' states no alignment [alignment-unstated]}}
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128"}]} : () -> ()
}

// -----

// Two components of one name
// expected-note @below {{first defined here}}
  module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
// expected-error @below {{component 'a' is defined twice [duplicate-name]}}
  module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}

// -----

// Two kernels of one name
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
// expected-note @below {{first defined here}}
  module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}
// expected-error @below {{kernel 'k' is defined twice [duplicate-name]}}
  module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// A kernel named as a component
// expected-note @below {{first defined here}}
  module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
// expected-error @below {{kernel 'a' is defined twice [duplicate-name]}}
  module @a attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// Two ports of one name
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-note @below {{first defined here}}
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  // expected-error @below {{port 'o' is defined twice [duplicate-name]}}
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}

// -----

// Two tensors of one name
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.tensor"() {name = "x", element = "bf16", shape = ["M"], access = "read"} : () -> ()
  // expected-error @below {{derive 'x' is defined twice [duplicate-name]}}
  "pipelink.derive"() {name = "x", value = "M"} : () -> ()
}

// -----

// Two grids
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  // expected-error @below {{grid 'grid' is defined twice [duplicate-name]}}
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}

// -----

// An expression with an unknown function
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-error @below {{unknown function 'ceildv' in 'ceildv(M, 2)' [bad-expression]}}
  "pipelink.derive"() {name = "x", value = "ceildv(M, 2)"} : () -> ()
}

// -----

// An unknown component
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  // expected-error @below {{instance 'b' is of component 'bb', which is not declared [unknown-component]}}
  "pipelink.instance"() {sym_name = "b", component = @bb} : () -> ()
}

// -----

// An unknown instance
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  // expected-error @below {{'@loda::@o' names instance 'loda', which kernel 'k' does not have [unknown-instance]}}
  "pipelink.connect"() {source = @loda::@o, target = @b::@i} : () -> ()
}

// -----

// An unknown port
// expected-note @below {{the component is declared here}}
  module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  // expected-error @below {{component 'a' has no port 'out', which '@a::@out' names [unknown-port]}}
  "pipelink.connect"() {source = @a::@out, target = @b::@i} : () -> ()
}

// -----

// An unknown role
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-error @below {{port 'o' of component 'a' names role 'ran', which it does not have [unknown-role]}}
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}], role = "ran"} : () -> ()
}

// -----

// Pages that nobody has
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "token"} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "token"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  // expected-error @below {{component 'a' leases no pages 'p', which '@a::@p' names [unknown-name]}}
  "pipelink.connect"() {source = @a::@o, target = @a::@i, lease = @a::@p} : () -> ()
}

// -----

// Roles that operations do not have
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @a} : () -> ()
  // expected-error @below {{component 'a' has no role 'go', which operation 'o' names [unknown-role]}}
  "pipelink.operation"() {sym_name = "o", dispatcher = @a, instance = @b, roles = {run = "go"}} : () -> ()
}

// -----

// An operation of instances that are not there
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  // expected-error @below {{'@b' names instance 'b', which kernel 'k' does not have [unknown-instance]}}
  "pipelink.operation"() {sym_name = "o", dispatcher = @a, instance = @b} : () -> ()
}

// -----

// A parameter that nobody has
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
  // expected-error @below {{component 'a' has no parameter 'n', which '@a::@n' names [unknown-name]}}
  "pipelink.bind"() {param = @a::@n, value = 3} : () -> ()
}

// -----

// A buffer that nobody has
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
  // expected-error @below {{component 'b' has no buffer 'x', which '@b::@x' names [unknown-name]}}
  "pipelink.overlay"() {buffers = [@a::@o, @b::@x], because = "they are apart"} : () -> ()
}

// -----

// A tile that is smaller than its elements
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-error @below {{tile 0 of port 'o' has 8192 bytes, 128×64 bf16 need 16384 [wrong-attribute]}}
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024, bytes = 8192}]} : () -> ()
}

// -----

// A tensor map's own box and tile
module @a attributes {pipelink.component = {abi = 1}} {
  // expected-error @below {{'box' of param 'm' holds 0, not an integer from 1 up [wrong-attribute]}}
  "pipelink.param"() {sym_name = "m", type = "tensor_map", bytes = 128, align = 64, box = [0, 64]} : () -> ()
  // expected-error @below {{the tile of param 'n' has no 'layout' [missing-attribute]}}
  "pipelink.param"() {sym_name = "n", type = "tensor_map", bytes = 128, align = 64, tile = {element = "bf16", shape = [16, 32], bytes = 1024, align = 512}} : () -> ()
}

// -----

// A list of integers holds nothing else
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  // expected-error @below {{'shared' of 'pipelink.connect' holds 'N', not an integer from 0 up [wrong-attribute]}}
  "pipelink.connect"() {source = @a::@x, target = @b::@x, transfer = "cluster", shared = ["N"]} : () -> ()
  // expected-error @below {{'shared' of 'pipelink.connect' holds -1, not an integer from 0 up [wrong-attribute]}}
  "pipelink.connect"() {source = @a::@y, target = @b::@y, transfer = "cluster", shared = [1, -1]} : () -> ()
  // expected-error @below {{'shared' of 'pipelink.connect' holds True, not an integer from 0 up [wrong-attribute]}}
  "pipelink.connect"() {source = @a::@z, target = @b::@z, shared = [true]} : () -> ()
}

// -----

// Numbers of expressions have 64 bits
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  // expected-error @below {{'pipelink.grid': expected numbers of 64 bits in '9223372036854775808' [bad-expression]}}
  "pipelink.grid"() {value = ["9223372036854775808", "1", "1"]} : () -> ()
}

// -----

module @c attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "r", warps = 1} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  // expected-error @below {{the name of instance 'a::b' has '::', which stands between names [bad-symbol]}}
  "pipelink.instance"() {sym_name = "a::b", component = @c} : () -> ()
}
