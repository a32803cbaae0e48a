// RUN: pl-opt --pipeline=check,place %s | FileCheck %s
// Rings that compete for memory: a slot is worth less the more there are, so that none starves.  Of 232448 bytes four
// slots of 49152 fit, with one of 24576.
module @fill attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "out", kind = "stream", touch = "tma", stages = [1, 8], role = "run", tiles = [
      {element = "bf16", shape = [192, 128], layout = "row_major", align = 128}]} : () -> ()
}
module @drain attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [1, 8], role = "run", tiles = [
      {element = "bf16", shape = [192, 128], layout = "row_major", align = 128}]} : () -> ()
}
module @drain3 attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "x", direction = "in", kind = "stream", touch = "threads", stages = [3, 8], role = "run", tiles = [
      {element = "bf16", shape = [192, 128], layout = "row_major", align = 128}]} : () -> ()
}
module @half attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.port"() {sym_name = "own", direction = "local", kind = "stream", touch = "cp_async", stages = [1, 8], role = "run", tiles = [
      {element = "bf16", shape = [96, 128], layout = "row_major", align = 128}]} : () -> ()
}

// Neither starves.
module @even attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @fill} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @drain} : () -> ()
  "pipelink.instance"() {sym_name = "c", component = @fill} : () -> ()
  "pipelink.instance"() {sym_name = "d", component = @drain} : () -> ()
  "pipelink.connect"() {source = @a::@x, target = @b::@x} : () -> ()
  "pipelink.connect"() {source = @c::@x, target = @d::@x} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}
// CHECK-LABEL: module @even
// CHECK-SAME: bound = 2520 : i64
// CHECK-SAME: optimal = true
// CHECK-SAME: '@a::@x': stepped down to 2 stages of 1 to 8
// CHECK-SAME: '@c::@x': stepped down to 2 stages of 1 to 8
// CHECK-SAME: value = 2520 : i64
// CHECK: stages = 2 : i64
// CHECK-SAME: source = @a::@x
// CHECK: stages = 2 : i64
// CHECK-SAME: source = @c::@x

// What one end needs at least it has, and what is left goes to the other.
module @least attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @fill} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @drain3} : () -> ()
  "pipelink.instance"() {sym_name = "c", component = @fill} : () -> ()
  "pipelink.instance"() {sym_name = "d", component = @drain} : () -> ()
  "pipelink.connect"() {source = @a::@x, target = @b::@x} : () -> ()
  "pipelink.connect"() {source = @c::@x, target = @d::@x} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}
// CHECK-LABEL: module @least
// CHECK: stages = 3 : i64
// CHECK-SAME: source = @a::@x
// CHECK: stages = 1 : i64
// CHECK-SAME: source = @c::@x

// Depth that is worth three times as much: its second slot and its third come before the other's second.
module @weighed attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @fill} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @drain} : () -> ()
  "pipelink.instance"() {sym_name = "c", component = @fill} : () -> ()
  "pipelink.instance"() {sym_name = "d", component = @drain} : () -> ()
  "pipelink.connect"() {source = @a::@x, target = @b::@x} : () -> ()
  "pipelink.connect"() {source = @c::@x, target = @d::@x, weight = 3} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}
// CHECK-LABEL: module @weighed
// CHECK: stages = 1 : i64
// CHECK-SAME: source = @a::@x
// CHECK: stages = 3 : i64
// CHECK-SAME: source = @c::@x

// Two slots of half the size are taken for one, as long as the two are worth more: the fourth and the fifth are, the
// sixth and the seventh are not.
module @sizes attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @fill} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @drain} : () -> ()
  "pipelink.instance"() {sym_name = "c", component = @half} : () -> ()
  "pipelink.connect"() {source = @a::@x, target = @b::@x} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}
// CHECK-LABEL: module @sizes
// CHECK: stages = 5 : i64
// CHECK-SAME: sym_name = "c"
// CHECK: stages = 2 : i64
// CHECK-SAME: source = @a::@x

// Operations that take turns lie on each other, and what both have more of counts twice.
module @turns attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @fill} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @drain} : () -> ()
  "pipelink.instance"() {sym_name = "c", component = @half} : () -> ()
  "pipelink.instance"() {sym_name = "d", component = @half} : () -> ()
  "pipelink.connect"() {source = @a::@x, target = @b::@x} : () -> ()
  "pipelink.exclusive"() {name = "ops", roles = [@c::@run, @d::@run]} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}
// CHECK-LABEL: module @turns
// CHECK: stages = 7 : i64
// CHECK-SAME: sym_name = "c"
// CHECK: stages = 7 : i64
// CHECK-SAME: sym_name = "d"
// CHECK: stages = 1 : i64
// CHECK-SAME: source = @a::@x
