// KIND: cluster above 8 without opt-in
// DECIDED: check
// Sixteen CTAs are the most; above eight the runtime opts in (test_cluster.py).
// RUN: pl-opt --pipeline=check,place -split-input-file -verify-diagnostics %s

// More than there are
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  // expected-error @below {{a cluster of 32 CTAs is asked, the largest has 16 [cluster-too-large]}}
  "pipelink.cluster"() {value = [32, 1, 1]} : () -> ()
}

// -----

// The most
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.cluster"() {value = [16, 1, 1]} : () -> ()
}

// -----

// On a target without clusters
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_80"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  // expected-error @below {{a cluster of 2 CTAs is asked, sm_80 has no clusters [unsupported-by-target]}}
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
}
