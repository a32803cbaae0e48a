// Every kind of step, of count and of caller; an operation prints as it was written.
// RUN: pl-opt %s | FileCheck %s
// RUN: pl-opt %s | pl-opt | FileCheck %s

module @acme.mainloop attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "mma", warps = 8 : i64} : () -> ()
  "pipelink.role"() {sym_name = "load", warps = 1 : i64, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 8], role = "mma", tiles = [
    {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024 : i64}]} : () -> ()
  "pipelink.port"() {sym_name = "items", direction = "in", kind = "stream", touch = "threads", stages = [2, 8], role = "load", ends = true, tiles = [
    {element = "i32", shape = [1], layout = "item", bytes = 4 : i64, align = 16 : i64}]} : () -> ()
  "pipelink.port"() {sym_name = "to", direction = "out", kind = "stream", touch = "tma", stages = [2, 8], role = "load", tiles = [
    {element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024 : i64}]} : () -> ()
  "pipelink.port"() {sym_name = "turn", direction = "in", kind = "token", role = "mma"} : () -> ()
  "pipelink.port"() {sym_name = "next", direction = "out", kind = "token", role = "mma"} : () -> ()
  "pipelink.port"() {sym_name = "work", direction = "calls", kind = "call", signature = "void()"} : () -> ()
  "pipelink.port"() {sym_name = "repeat", direction = "calls", kind = "call", signature = "void()"} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.smem"() {sym_name = "scratch", bytes = 512 : i64, align = 128 : i64, role = "mma"} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 256 : i64, role = "mma"} : () -> ()
  // CHECK: "pipelink.protocol"() {of = "mma", text = "turn.take; repeat work { repeat k_tiles+ {
  "pipelink.protocol"() {of = "mma", text = "turn.take; repeat work { repeat k_tiles+ { ab.wait; ab.read; ab.release keep 1 by 2 warpgroups; } ab.release by 8 warps; choose side { scratch.write by 1 thread; fence async; met.sync; scratch.read by 256 threads; } or { met.arrive; } or { } } repeat (ab.stages - 1) * max(k_tiles, 2) { repeat; } rank 1 { next.pass; }"} : () -> ()
  // CHECK: "pipelink.protocol"() {of = "load", text = "until items { items.wait; to.acquire; to.write; to.copy keep 1; items.release; } to.copy;"}
  "pipelink.protocol"() {of = "load", text = "until items { items.wait; to.acquire; to.write; to.copy keep 1; items.release; } to.copy;"} : () -> ()
}
