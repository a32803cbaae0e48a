// What cannot take turns.
// RUN: pl-opt --pipeline=check,place -verify-diagnostics -split-input-file %s -o -

// One warpgroup
module @run attributes {pipelink.component = {abi = 1}} {
  // expected-note @below {{the role is declared here}}
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  // expected-error @below {{the warpgroups of '@a::@run' take turns by '@a::@turn', and it has 4 warps [unaligned-warpgroup]}}
  "pipelink.turns"() {sym_name = "turn"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @run} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}

// -----

// Warps that are no whole warpgroups
module @run attributes {pipelink.component = {abi = 1}} {
  // expected-note @below {{the role is declared here}}
  "pipelink.role"() {sym_name = "run", warps = 10} : () -> ()
  // expected-error @below {{the warpgroups of '@a::@run' take turns by '@a::@turn', and it has 10 warps [unaligned-warpgroup]}}
  "pipelink.turns"() {sym_name = "turn"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @run} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}

// -----

// One thread of many
module @run attributes {pipelink.component = {abi = 1}} {
  // expected-note @below {{the role is declared here}}
  "pipelink.role"() {sym_name = "run", warps = 8, threads = "one"} : () -> ()
  // expected-error @below {{the warpgroups of '@a::@run' take turns by '@a::@turn', and it has one thread [unaligned-warpgroup]}}
  "pipelink.turns"() {sym_name = "turn"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @run} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}

// -----

// Two roles, and none said
module @run attributes {pipelink.component = {abi = 1}} {
  // expected-note @below {{'@a::@run' is declared here}}
  "pipelink.role"() {sym_name = "run", warps = 8} : () -> ()
  // expected-note @below {{'@a::@other' is declared here}}
  "pipelink.role"() {sym_name = "other", warps = 8} : () -> ()
  // expected-error @below {{order of turns '@a::@turn' is used by '@a::@run', '@a::@other'; it needs exactly one [ambiguous-role]}}
  "pipelink.turns"() {sym_name = "turn"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @run} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}

// -----

// A role that the component does not have
module @run attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8} : () -> ()
  // expected-error @below {{turns 'turn' of component 'run' names role 'other', which it does not have [unknown-role]}}
  "pipelink.turns"() {sym_name = "turn", role = "other"} : () -> ()
}

// -----

// A step that it does not have
module @run attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8} : () -> ()
  "pipelink.turns"() {sym_name = "turn"} : () -> ()
  // expected-error @below {{protocol 'run', column 1: 'turn' has no 'sync' [bad-protocol]}}
  "pipelink.protocol"() {of = "run", text = "turn.sync;"} : () -> ()
}

// -----

// More barriers than a CTA has: four orders of four warpgroups
module @run attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 16} : () -> ()
  "pipelink.turns"() {sym_name = "first"} : () -> ()
  "pipelink.turns"() {sym_name = "second"} : () -> ()
  "pipelink.turns"() {sym_name = "third"} : () -> ()
  // expected-error @below {{kernel 'k' needs 16 named barriers at once, 1 over 15 (id 0 belongs to the entry) [too-many-barriers]}}
  "pipelink.turns"() {sym_name = "fourth"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @run} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}

// -----

// Turns of another role
module @run attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8} : () -> ()
  "pipelink.role"() {sym_name = "other", warps = 8} : () -> ()
  "pipelink.turns"() {sym_name = "turn", role = "run"} : () -> ()
  // expected-error @below {{protocol 'other', column 1: order of turns 'turn' is that of role 'run', not of 'other' [bad-protocol]}}
  "pipelink.protocol"() {of = "other", text = "turn.take;"} : () -> ()
}
