// RUN: pl-opt --pipeline=check,place,prove -split-input-file %s | FileCheck %s

// 17 warps: one quarter of the SM has five, so a thread gets what it would get of 20 warps, 96.  That is less than the
// 16 warps need, so the one lowers for them; by 65536 / (17 x 32) = 120 nobody would have to.

module @x.few attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 1 : i64, registers = [24, 96]} : () -> ()
}
module @x.many attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 16 : i64, registers = [112, 112]} : () -> ()
}
// CHECK-LABEL: module @seventeen
// CHECK-SAME: entry_registers = 96 : i64
// CHECK-SAME: threads = 640 : i64
// CHECK-SAME: warpgroups = [{registers = 32 : i64}, {registers = 112 : i64}, {registers = 112 : i64}, {registers = 112 : i64}, {registers = 112 : i64}]
module @seventeen attributes {pipelink.kernel = {target = "sm_90a"}} {
  // CHECK: first_warp = 0 : i64
  "pipelink.instance"() {sym_name = "few", component = @x.few} : () -> ()
  // CHECK: first_warp = 4 : i64
  "pipelink.instance"() {sym_name = "many", component = @x.many} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}

// -----

// What 17 warps get is enough: no registers are shifted, and no warps are added.

module @x.few attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 1 : i64, registers = [24, 96]} : () -> ()
}
module @x.many attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 16 : i64, registers = [64, 96]} : () -> ()
}
// CHECK-LABEL: module @enough
// CHECK-SAME: entry_registers = 96 : i64
// CHECK-SAME: threads = 544 : i64
// CHECK-NOT: warpgroups
module @enough attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "few", component = @x.few} : () -> ()
  // CHECK: first_warp = 0 : i64
  "pipelink.instance"() {sym_name = "many", component = @x.many} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}

// -----

// Of two CTAs of six warps each quarter has three warps; of three of them, 18 warps, five.

module @x.six attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 6 : i64, registers = [96, 168]} : () -> ()
}
// CHECK-LABEL: module @two
// CHECK-SAME: entry_registers = 168 : i64
module @two attributes {pipelink.kernel = {target = "sm_90a", min_ctas = 2 : i64}} {
  "pipelink.instance"() {sym_name = "a", component = @x.six} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}
// CHECK-LABEL: module @three
// CHECK-SAME: entry_registers = 96 : i64
module @three attributes {pipelink.kernel = {target = "sm_90a", min_ctas = 3 : i64}} {
  "pipelink.instance"() {sym_name = "a", component = @x.six} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}
