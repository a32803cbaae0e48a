// KIND: aliased store against a load of the same role
// DECIDED: prove
// The probabilities lie where the scores were.  Loads and stores of tensor memory are asynchronous, and the warps of the
// role run apart.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// Stored while the scores may still be loaded
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, align = 4} : () -> ()
  "pipelink.tmem"() {sym_name = "s", columns = 64, live = [0, 1]} : () -> ()
  "pipelink.tmem"() {sym_name = "o", columns = 64, live = [1, 2]} : () -> ()
  "pipelink.barrier"() {sym_name = "loaded", threads = 128} : () -> ()
  // expected-error @below {{'@a::@run' touches '@a::@o' (o) while '@a::@run' may still read '@a::@s' (s), which shares its memory [slot-race]}}
  "pipelink.protocol"() {text = "s.write; loaded.sync; s.read; o.write;", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_100a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}

// -----

// Loaded first
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, align = 4} : () -> ()
  "pipelink.tmem"() {sym_name = "s", columns = 64, live = [0, 1]} : () -> ()
  "pipelink.tmem"() {sym_name = "o", columns = 64, live = [1, 2]} : () -> ()
  "pipelink.barrier"() {sym_name = "loaded", threads = 128} : () -> ()
  "pipelink.protocol"() {text = "s.write; loaded.sync; s.read; loaded.sync; o.write;", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_100a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}

// -----

// Not in one place
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4, align = 4} : () -> ()
  "pipelink.tmem"() {sym_name = "s", columns = 64, live = [0, 2]} : () -> ()
  "pipelink.tmem"() {sym_name = "o", columns = 64, live = [1, 3]} : () -> ()
  "pipelink.barrier"() {sym_name = "loaded", threads = 128} : () -> ()
  "pipelink.protocol"() {text = "s.write; loaded.sync; s.read; o.write;", of = "run"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_100a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}
