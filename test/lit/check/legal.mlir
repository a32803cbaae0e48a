// Which transfers may carry what.
// RUN: pl-opt --pipeline=check -split-input-file %s | FileCheck %s

// A tile written row-major and read swizzled is converted.
// CHECK: legal = ["ring.threads.convert"]
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "row_major", align = 16}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", touch = "wgmma", stages = [2, 4], tiles = [{element = "bf16", shape = [128, 64], layout = "swizzle128", align = 1024}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// Tokens carry order alone.
// CHECK: legal = ["token"]
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "token", credit = 1} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "token"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @b::@i} : () -> ()
}

// -----

// Several consumers of one stream, a work list that may be empty and ends.
// CHECK: legal = ["ring.threads"], source = @list::@work, target = @first::@work
// CHECK: legal = ["ring.threads"], source = @list::@work, target = @second::@work
module @list attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "work", direction = "out", kind = "stream", touch = "threads", stages = [1, 4], ends = true, may_be_empty = true, tiles = [{element = "item<8>", shape = [1], layout = "item", bytes = 8, align = 8}]} : () -> ()
}
module @user attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "work", direction = "in", kind = "stream", touch = "threads", stages = [2, 8], ends = true, may_be_empty = true, tiles = [{element = "item<8>", shape = [1], layout = "item", bytes = 8, align = 8}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "list", component = @list} : () -> ()
  "pipelink.instance"() {sym_name = "first", component = @user} : () -> ()
  "pipelink.instance"() {sym_name = "second", component = @user} : () -> ()
  "pipelink.connect"() {source = @list::@work, target = @first::@work} : () -> ()
  "pipelink.connect"() {source = @list::@work, target = @second::@work} : () -> ()
}
