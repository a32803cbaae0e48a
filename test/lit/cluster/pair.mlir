// What tensor cores that multiply together need of their kernel.
// RUN: pl-opt --pipeline=check -split-input-file -verify-diagnostics %s -o -

// No cluster
module @load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  // expected-note @below {{port 'a' is declared here}}
  "pipelink.port"() {sym_name = "a", direction = "out", kind = "stream", touch = "tma", cta_group = 2, stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "in", kind = "stream", touch = "tcgen05", cta_group = 2, stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_100a"}} {
  "pipelink.instance"() {sym_name = "load", component = @load} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @mma} : () -> ()
  // expected-error @below {{'@load::@a' to '@mma::@a' is for a pair of CTAs, kernel 'k' has no cluster [cluster-mismatch]}}
  "pipelink.connect"() {source = @load::@a, target = @mma::@a} : () -> ()
}

// -----

// A cluster whose CTAs may go different ways
module @load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  // expected-note @below {{port 'a' is declared here}}
  "pipelink.port"() {sym_name = "a", direction = "out", kind = "stream", touch = "tma", cta_group = 2, stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "in", kind = "stream", touch = "tcgen05", cta_group = 2, stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_100a"}} {
  "pipelink.instance"() {sym_name = "load", component = @load} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @mma} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  // expected-error @below {{'@load::@a' to '@mma::@a' is for a pair of CTAs, but nothing promises cluster_lockstep = 2 [cluster-mismatch]}}
  "pipelink.connect"() {source = @load::@a, target = @mma::@a} : () -> ()
}

// -----

// A pair and a CTA for itself in one kernel
module @load attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  // expected-note @below {{port 'a' is declared here}}
  "pipelink.port"() {sym_name = "a", direction = "out", kind = "stream", touch = "tma", cta_group = 2, stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  // expected-note @below {{port 'b' is declared here}}
  "pipelink.port"() {sym_name = "b", direction = "out", kind = "stream", touch = "tma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @mma attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "a", direction = "in", kind = "stream", touch = "tcgen05", cta_group = 2, stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
  "pipelink.port"() {sym_name = "b", direction = "in", kind = "stream", touch = "tcgen05", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_100a"}} {
  "pipelink.instance"() {sym_name = "load", component = @load} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @mma} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.promise"() {name = "cluster_lockstep", value = 2} : () -> ()
  // expected-error @below {{'@load::@a' is of cta_group 2 and '@load::@b' of cta_group 1, a kernel has one [cluster-mismatch]}}
  "pipelink.connect"() {source = @load::@a, target = @mma::@a} : () -> ()
  "pipelink.connect"() {source = @load::@b, target = @mma::@b} : () -> ()
}
