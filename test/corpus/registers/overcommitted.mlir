// KIND: pool overcommitted: more than the register file, also through min-CTAs 2
// DECIDED: place, check
// Three warpgroups start with 168 registers a thread, 504 together: what .inc asks beyond that never comes.
// RUN: pl-opt --pipeline=check,place -split-input-file -verify-diagnostics %s

// Eight registers too many
module @light attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, registers = [32, 40]} : () -> ()
}
module @heavy attributes {pipelink.component = {abi = 1}} {
  // expected-error @below {{kernel 'k': 3 warpgroups need at least 32 + 240 + 240 = 512 registers a thread, 8 over the pool of 3 x 168 = 504 [register-overcommit]}}
  "pipelink.role"() {sym_name = "run", warps = 8, align = 4, registers = [240, 240]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @light} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @heavy} : () -> ()
}

// -----

// 232 each, 40 for the light one: all of the pool
module @light attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, registers = [32, 40]} : () -> ()
}
module @heavy attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8, align = 4, registers = [232, 232]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @light} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @heavy} : () -> ()
}

// -----

// Two CTAs on an SM have half of it each
module @light attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, registers = [32, 40]} : () -> ()
}
module @heavy attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8, align = 4, registers = [232, 232]} : () -> ()
}
// expected-error @below {{kernel 'k' needs at least 32 x 32 + 232 x 256 = 60416 registers for each of 2 CTAs, 27648 over the 32768 that sm_90a has [register-overcommit]}}
module @k attributes {pipelink.kernel = {target = "sm_90a", min_ctas = 2}} {
  "pipelink.instance"() {sym_name = "a", component = @light} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @heavy} : () -> ()
}

// -----

// And this fits twice
module @light attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, registers = [32, 40]} : () -> ()
}
module @heavy attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8, align = 4, registers = [88, 96]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a", min_ctas = 2}} {
  "pipelink.instance"() {sym_name = "a", component = @light} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @heavy} : () -> ()
}
