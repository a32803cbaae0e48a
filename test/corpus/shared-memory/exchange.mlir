// KIND: a buffer of another CTA read before it is written there, or written while it is read, with no meeting between
// DECIDED: prove
// Sums of rows that lie in two CTAs: each writes what it found, and adds what the other has.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// The other may still write what is read
module @row_sums attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.smem"() {sym_name = "partial", bytes = 512, align = 16} : () -> ()
  "pipelink.cluster_barrier"() {sym_name = "met"} : () -> ()
  "pipelink.param"() {sym_name = "rows", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{'@sum::@run, CTA 0': peer_read partial, and write partial of other warps of the role may not be over: they do not meet between [missing-meeting]}}
  "pipelink.protocol"() {of = "run", text = "repeat rows { partial.write; partial.peer_read; met.sync; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "sum", component = @row_sums} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.grid"() {value = ["2 * sms", "1", "1"]} : () -> ()
}

// -----

// The other may still read what is written for the next row: the first row is right
module @row_sums attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.smem"() {sym_name = "partial", bytes = 512, align = 16} : () -> ()
  "pipelink.cluster_barrier"() {sym_name = "met"} : () -> ()
  "pipelink.param"() {sym_name = "rows", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{'@sum::@run, CTA 0': write partial, and peer_read partial of other warps of the role may not be over: they do not meet between [missing-meeting]}}
  "pipelink.protocol"() {of = "run", text = "repeat rows { partial.write; met.sync; partial.peer_read; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "sum", component = @row_sums} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.grid"() {value = ["2 * sms", "1", "1"]} : () -> ()
}

// -----

// The CTAs meet in front of both
module @row_sums attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.smem"() {sym_name = "partial", bytes = 512, align = 16} : () -> ()
  "pipelink.cluster_barrier"() {sym_name = "met"} : () -> ()
  "pipelink.param"() {sym_name = "rows", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat rows { partial.write; met.sync; partial.peer_read; met.sync; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "sum", component = @row_sums} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.grid"() {value = ["2 * sms", "1", "1"]} : () -> ()
}
