// Warpgroups of a role that take turns: a named barrier for each, at which it waits for its turn and the one before
// passes it on; the entry lets the last one make the first turn, and the first one take back the last.
// RUN: pl-opt --pipeline=check,place -split-input-file %s | FileCheck %s --check-prefix=PLACE
// RUN: pl-opt --pipeline=check,place,transfer -split-input-file %s | FileCheck %s --check-prefix=TRANSFER
// RUN: pl-opt --pipeline=check,place,fuse -split-input-file %s | FileCheck %s --check-prefix=ENTRY
// RUN: pl-opt --pipeline=check,place,prove -split-input-file %s -o -

// Three warpgroups behind another role: barriers 2, 3 and 4, since 1 is the other component's.
// PLACE-LABEL: module @k
// PLACE: barriers = {met = {id = 1 : i64, threads = 128 : i64}}
// PLACE: turns = {turn = [{id = 2 : i64, threads = 256 : i64}, {id = 3 : i64, threads = 256 : i64}, {id = 4 : i64, threads = 256 : i64}]}

// Four bits a warpgroup: 0x432 to take, 0x243 to pass on; thread 128 is the role's first.
// TRANSFER-LABEL: module @k
// TRANSFER: llvm.func @_ZN3run4turn7pl_takeEiPv
// TRANSFER: llvm.mlir.constant(1074 : i32)
// TRANSFER-NEXT: llvm.mlir.constant(128 : i32)
// TRANSFER-NEXT: llvm.call @pl_turns_take
// TRANSFER: llvm.func @_ZN3run4turn7pl_passEiPv
// TRANSFER: llvm.mlir.constant(579 : i32)
// TRANSFER-NEXT: llvm.mlir.constant(128 : i32)
// TRANSFER-NEXT: llvm.call @pl_turns_pass
// TRANSFER: llvm.func @pl_turns_take{{.*}}convergent

// ENTRY-LABEL: llvm.func @k(
// ENTRY: %[[ID:.*]] = llvm.mlir.constant(2 : i32)
// ENTRY-NEXT: %[[LAST:.*]] = llvm.mlir.constant(384 : i32)
// ENTRY-NEXT: llvm.call @pl_turns_begin(%[[ID]], %[[LAST]])
// ENTRY: llvm.call @_ZN3run3run8pl_enterEiPv
// ENTRY: %[[ID:.*]] = llvm.mlir.constant(2 : i32)
// ENTRY-NEXT: %[[FIRST:.*]] = llvm.mlir.constant(128 : i32)
// ENTRY-NEXT: llvm.call @pl_turns_end(%[[ID]], %[[FIRST]])
module @other attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 128} : () -> ()
  "pipelink.protocol"() {of = "run", text = "met.sync;"} : () -> ()
}
module @run attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 12} : () -> ()
  "pipelink.turns"() {sym_name = "turn"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "turn.take; turn.pass;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_80"}} {
  "pipelink.instance"() {sym_name = "first", component = @other} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @run} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}

// -----

// Roles of an exclusive group begin and end their turns each by itself, on the same barriers.
// PLACE-LABEL: module @group
// PLACE: turns = {turn = [{id = 2 : i64, threads = 256 : i64}, {id = 3 : i64, threads = 256 : i64}]}
// PLACE: turns = {turn = [{id = 2 : i64, threads = 256 : i64}, {id = 3 : i64, threads = 256 : i64}]}
// ENTRY-LABEL: llvm.func @group(
// ENTRY: llvm.call @pl_turns_begin
// ENTRY: llvm.call @_ZN3run3run8pl_enterEiPv
// ENTRY: llvm.call @pl_turns_end
// ENTRY: llvm.call @pl_meet_warps
// ENTRY: llvm.call @pl_turns_begin
// ENTRY: llvm.call @_ZN3run3run8pl_enterEiPv
// ENTRY: llvm.call @pl_turns_end
module @run attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8} : () -> ()
  "pipelink.turns"() {sym_name = "turn"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat 2 { turn.take; turn.pass; }"} : () -> ()
}
module @group attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @run} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @run} : () -> ()
  "pipelink.exclusive"() {name = "both", roles = [@a::@run, @b::@run]} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}

// -----

// The turns of a component without a role are those of whoever calls it.
// PLACE-LABEL: module @called
// PLACE: turns = {turn = [{id = 1 : i64, threads = 256 : i64}, {id = 2 : i64, threads = 256 : i64}]}
// ENTRY-LABEL: llvm.func @called(
// ENTRY: llvm.call @pl_turns_begin
// ENTRY: llvm.call @_ZN6caller3run8pl_enterEiPv
// ENTRY: llvm.call @pl_turns_end
module @caller attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 8} : () -> ()
  "pipelink.port"() {sym_name = "work", direction = "calls", kind = "call", signature = "void()"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat 3 { work; }"} : () -> ()
}
module @worker attributes {pipelink.component = {abi = 1}} {
  "pipelink.turns"() {sym_name = "turn"} : () -> ()
  "pipelink.port"() {sym_name = "work", direction = "answers", kind = "call", signature = "void()"} : () -> ()
  "pipelink.protocol"() {of = "work", text = "turn.take; turn.pass;"} : () -> ()
}
module @called attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @caller} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @worker} : () -> ()
  "pipelink.connect"() {source = @a::@work, target = @b::@work} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}
