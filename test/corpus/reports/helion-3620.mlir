// KIND: a raise with nobody lowering
// DECIDED: check
// REPORT: https://github.com/pytorch/helion/pull/3620
// WRONG: The two warpgroups that compute raised their registers to 168 and no other warpgroup gave any back: 512
// threads start with 128 each. Once the counts took effect, the increase could never be served.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// The others keep the 128 that every thread starts with.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 4, align = 4, registers = [128, 128]} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 8, align = 4, registers = [168, 168]} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.port"() {sym_name = "d", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @lib.reduce attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "reduce", warps = 4, align = 4, registers = [128, 128]} : () -> ()
  "pipelink.port"() {sym_name = "d", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
// expected-error @below {{kernel 'k' needs at least 128 x 128 + 168 x 256 + 128 x 128 = 75776 registers, 10240 over the 65536 that sm_90a has [register-overcommit]}}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.instance"() {sym_name = "reduce", component = @lib.reduce} : () -> ()
  "pipelink.connect"() {source = @load::@a, target = @math::@a} : () -> ()
  "pipelink.connect"() {source = @math::@d, target = @reduce::@d} : () -> ()
}

// -----

// 80 and 88 for the others: 80 + 168 + 168 + 88 = 504.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 4, align = 4, registers = [88, 88]} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 8, align = 4, registers = [168, 168]} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.port"() {sym_name = "d", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @lib.reduce attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "reduce", warps = 4, align = 4, registers = [80, 80]} : () -> ()
  "pipelink.port"() {sym_name = "d", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.instance"() {sym_name = "reduce", component = @lib.reduce} : () -> ()
  "pipelink.connect"() {source = @load::@a, target = @math::@a} : () -> ()
  "pipelink.connect"() {source = @math::@d, target = @reduce::@d} : () -> ()
}

// -----

// The other two give up exactly what is raised.
module @lib.load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 4, align = 4, registers = [88, 88]} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @lib.math attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "math", warps = 8, align = 4, registers = [168, 168]} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.port"() {sym_name = "d", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @lib.reduce attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "reduce", warps = 4, align = 4, registers = [88, 88]} : () -> ()
  "pipelink.port"() {sym_name = "d", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @lib.load} : () -> ()
  "pipelink.instance"() {sym_name = "math", component = @lib.math} : () -> ()
  "pipelink.instance"() {sym_name = "reduce", component = @lib.reduce} : () -> ()
  "pipelink.connect"() {source = @load::@a, target = @math::@a} : () -> ()
  "pipelink.connect"() {source = @math::@d, target = @reduce::@d} : () -> ()
}
