// What a cluster barrier needs of its component and of the architecture.
// RUN: pl-opt --pipeline=check,place -split-input-file -verify-diagnostics %s -o -

// Two roles, and which of them meets is not said
module @run attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.role"() {sym_name = "other", warps = 1} : () -> ()
  // expected-error @below {{cluster barrier '@a::@met' is used by '@a::@run', '@a::@other'; it needs exactly one [ambiguous-role]}}
  "pipelink.cluster_barrier"() {sym_name = "met"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @run} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}

// -----

// A role that the component does not have
module @run attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-error @below {{cluster_barrier 'met' of component 'run' names role 'other', which it does not have [unknown-role]}}
  "pipelink.cluster_barrier"() {sym_name = "met", role = "other"} : () -> ()
}

// -----

// A step that it does not have
module @run attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.cluster_barrier"() {sym_name = "met"} : () -> ()
  // expected-error @below {{protocol 'run', column 1: 'met' has no 'arrive' [bad-protocol]}}
  "pipelink.protocol"() {of = "run", text = "met.arrive;"} : () -> ()
}

// -----

// An architecture without clusters
module @run attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.cluster_barrier"() {sym_name = "met"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_89"}} {
  // expected-error @below {{instance 'a' meets other CTAs of a cluster, which sm_89 does not have [unsupported-by-target]}}
  "pipelink.instance"() {sym_name = "a", component = @run} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}
