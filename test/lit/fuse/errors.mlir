// RUN: pl-opt --pipeline=transfer,fold,entry -split-input-file -verify-diagnostics %s

module @acme.a attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 4 : i64, align = 4 : i64} : () -> ()
}
module @unplaced attributes {pipelink.kernel = {target = "sm_90a"}} {
  // expected-error @+1 {{kernel 'unplaced' is not placed; run check,place first}}
  "pipelink.instance"() {sym_name = "a", component = @acme.a} : () -> ()
}

// -----

module @acme.flag attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.port"() {sym_name = "raise", direction = "out", kind = "signal", scope = "gpu", owner = "workspace"} : () -> ()
}
module @acme.watch attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.port"() {sym_name = "see", direction = "in", kind = "signal", scope = "gpu", owner = "workspace"} : () -> ()
}
module @signals attributes {pipelink.kernel = {target = "sm_90a"}, pipelink.placement = {threads = 256, warps = 8, min_ctas = 1, cursors = 0, entry_registers = 255, smem_bytes = 0, mbarriers = [], words = []}, pipelink.launch = {arguments = [], dimensions = [], derived = [], grid = ["1", "1", "1"], parameters = {bytes = 0, align = 128, fields = []}}} {
  "pipelink.instance"() {sym_name = "a", component = @acme.flag, placement = {id = 0, roles = {run = {first_warp = 0, warps = 4}}}} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @acme.watch, placement = {id = 1, roles = {run = {first_warp = 4, warps = 4}}}} : () -> ()
  // expected-error @+1 {{transfer 'signal' of @a::@raise to @b::@see has no device code yet [transfer-without-code]}}
  "pipelink.connect"() {source = @a::@raise, target = @b::@see, placement = {transfer = "signal", scope = "gpu", owner = "workspace"}} : () -> ()
}
