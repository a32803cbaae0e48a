// Floats that are known at link time become constants; float scalars of a launch go through as they are.
// RUN: pl-opt --pipeline=check,place %s | FileCheck %s --check-prefix=PLACED
// RUN: pl-opt --pipeline=check,place,fuse %s | FileCheck %s

// PLACED-DAG: eps = {value = 1.000000e-05 : f64}
// PLACED-DAG: {kind = "scalar", name = "scale", type = "f32"}
// PLACED-DAG: type = "f32", value = "scale"

// CHECK-DAG: llvm.mlir.constant(9.99999974E-6 : f32) : f32
// CHECK-DAG: llvm.mlir.constant(1.000000e+300 : f64) : f64
// CHECK-DAG: llvm.mlir.constant(8.000000e+00 : f32) : f32
// CHECK-DAG: llvm.mlir.constant(14336 : i16) : i16
// CHECK-DAG: llvm.mlir.constant(16256 : i16) : i16

module @x.a attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 1 : i64} : () -> ()
  "pipelink.param"() {sym_name = "eps", type = "f32", bytes = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.param"() {sym_name = "big", type = "f64", bytes = 8 : i64, align = 8 : i64} : () -> ()
  "pipelink.param"() {sym_name = "eight", type = "f32", bytes = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.param"() {sym_name = "half", type = "f16", bytes = 2 : i64, align = 2 : i64} : () -> ()
  "pipelink.param"() {sym_name = "one", type = "bf16", bytes = 2 : i64, align = 2 : i64} : () -> ()
  "pipelink.param"() {sym_name = "scale", type = "f32", bytes = 4 : i64, align = 4 : i64} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @x.a} : () -> ()
  "pipelink.bind"() {param = @a::@eps, value = 1.0e-5} : () -> ()
  "pipelink.bind"() {param = @a::@big, value = 1.0e300} : () -> ()
  "pipelink.bind"() {param = @a::@eight, value = 8 : i64} : () -> ()
  "pipelink.bind"() {param = @a::@half, value = 0.5} : () -> ()
  "pipelink.bind"() {param = @a::@one, value = 1.0} : () -> ()
}
