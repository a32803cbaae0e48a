// A placed kernel becomes one kernel function and the functions its components call.
// RUN: pl-opt --pipeline=transfer %s | FileCheck %s --check-prefix=TRANSFER
// RUN: pl-opt --pipeline=transfer,fold %s | FileCheck %s --check-prefix=FOLD
// RUN: pl-opt --pipeline=transfer,fold,entry %s | FileCheck %s --check-prefix=ENTRY

module @acme.loader attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "load", warps = 1 : i64, align = 1 : i64, registers = [24, 40], threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "out", kind = "stream", tiles = [{element = "bf16", shape = [64, 64], layout = "swizzle128", bytes = 8192, align = 1024}, {element = "bf16", shape = [128, 64], layout = "swizzle128", bytes = 16384, align = 1024}], stages = [2, 8], touch = "tma", ends = true} : () -> ()
  "pipelink.param"() {sym_name = "map", type = "tensor_map", bytes = 128 : i64, align = 64 : i64, port = "ab", part = 0 : i64} : () -> ()
  "pipelink.param"() {sym_name = "k_tiles", type = "i32", bytes = 4 : i64, align = 4 : i64} : () -> ()
}
module @acme.mainloop attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "mma", warps = 4 : i64, align = 4 : i64, registers = [168, 240]} : () -> ()
  "pipelink.port"() {sym_name = "ab", direction = "in", kind = "stream", tiles = [{element = "bf16", shape = [64, 64], layout = "swizzle128", bytes = 8192, align = 1024}, {element = "bf16", shape = [128, 64], layout = "swizzle128", bytes = 16384, align = 1024}], stages = [2, 8], touch = "wgmma", ends = true} : () -> ()
  "pipelink.port"() {sym_name = "store", direction = "calls", kind = "call", signature = "void(f32)"} : () -> ()
  "pipelink.smem"() {sym_name = "scratch", bytes = 512 : i64, align = 128 : i64} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 128 : i64} : () -> ()
}
module @acme.epilogue attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.port"() {sym_name = "store", direction = "answers", kind = "call", signature = "void(f32)"} : () -> ()
  "pipelink.state"() {sym_name = "sum", bytes = 16 : i64, align = 16 : i64} : () -> ()
  "pipelink.param"() {sym_name = "scale", type = "f32", bytes = 4 : i64, align = 4 : i64} : () -> ()
}
module @two attributes {pipelink.kernel = {target = "sm_90a"},
  pipelink.placement = {threads = 384, warps = 12, min_ctas = 1, cursors = 2, entry_registers = 168, smem_bytes = 60416,
    warpgroups = [{registers = 40}, {registers = 232}, {registers = 232}],
    mbarriers = [{address = 1024, count = 2, arrivals = 1, name = "full"}, {address = 1040, count = 2, arrivals = 2, name = "empty"}],
    words = [{address = 1056, count = 2, value = 0, name = "end"}]},
  pipelink.launch = {arguments = [], dimensions = [], derived = [], grid = ["1", "1", "1"], parameters = {bytes = 256, align = 128, fields = [{offset = 0}, {offset = 128}]}}} {
  "pipelink.instance"() {sym_name = "load", component = @acme.loader, placement = {id = 0, roles = {load = {first_warp = 0, warps = 1}}, params = {map = {field = 0}, k_tiles = {value = 64}}}} : () -> ()
  "pipelink.instance"() {sym_name = "mma0", component = @acme.mainloop, placement = {id = 1, roles = {mma = {first_warp = 4, warps = 4}}, smem = {scratch = 60416}, barriers = {met = {id = 1, threads = 128}}}} : () -> ()
  "pipelink.instance"() {sym_name = "mma1", component = @acme.mainloop, placement = {id = 2, roles = {mma = {first_warp = 8, warps = 4}}, smem = {scratch = 60928}, barriers = {met = {id = 2, threads = 128}}}} : () -> ()
  "pipelink.instance"() {sym_name = "epi", component = @acme.epilogue, placement = {id = 3, states = {sum = {bytes = 16, align = 16}}, params = {scale = {field = 1}}}} : () -> ()
  "pipelink.connect"() {source = @load::@ab, target = @mma0::@ab, placement = {transfer = "ring.tma", ring = 0, stages = 2, full = 1024, empty = 1040, end = 1056, buffers = [{address = 2048, stride = 8192, bytes = 8192}, {address = 18432, stride = 16384, bytes = 16384}], bytes = 24576, producer_arrivals = 1, consumer_arrivals = 2, producer_unit = "tx", consumer_unit = "warpgroup", consumer_fence = false, producer_fence = false, producer_cursor = 0, consumer_cursor = 1}} : () -> ()
  "pipelink.connect"() {source = @load::@ab, target = @mma1::@ab, placement = {transfer = "ring.tma", ring = 0, stages = 2, full = 1024, empty = 1040, end = 1056, buffers = [{address = 2048, stride = 8192, bytes = 8192}, {address = 18432, stride = 16384, bytes = 16384}], bytes = 24576, producer_arrivals = 1, consumer_arrivals = 2, producer_unit = "tx", consumer_unit = "warpgroup", consumer_fence = false, producer_fence = false, producer_cursor = 0, consumer_cursor = 1}} : () -> ()
  "pipelink.connect"() {source = @mma0::@store, target = @epi::@store, placement = {transfer = "call"}} : () -> ()
  "pipelink.connect"() {source = @mma1::@store, target = @epi::@store, placement = {transfer = "call"}} : () -> ()
}

// The producer's acquire forwards to the transfer, with the end words and the bytes of a slot.
// TRANSFER-LABEL: module @two
// TRANSFER-DAG: llvm.func @pl_ring_acquire(!llvm.ptr, i32, i32, i32, i32, i32) -> i32
// TRANSFER: llvm.func @_ZN4acme6loader2ab10pl_acquireEiPv(%{{.*}}: i32, %[[FRAME:.*]]: !llvm.ptr) -> i32
// TRANSFER-NEXT: llvm.getelementptr inbounds %[[FRAME]]
// TRANSFER: llvm.mlir.constant(1040 : i32)
// TRANSFER: llvm.mlir.constant(24576 : i32)
// TRANSFER: llvm.call @pl_ring_acquire
// Two instances of the mainloop: one function, a switch over their ids.
// TRANSFER: llvm.func @_ZN4acme8mainloop2ab7pl_waitEiPv
// TRANSFER: llvm.switch
// TRANSFER: 1: ^{{bb[0-9]+}}
// TRANSFER: 2: ^{{bb[0-9]+}}
// TRANSFER: llvm.call @_ZN4acme8epilogue10store_port9pl_answerEiPvPc

// FOLD-LABEL: module @two
// FOLD: llvm.func @_ZN4acme8mainloop3mma15pl_first_threadEiPv
// FOLD-DAG: llvm.mlir.constant(128 : i32)
// FOLD-DAG: llvm.mlir.constant(256 : i32)
// FOLD: llvm.func @_ZN4acme8mainloop12scratch_smem10pl_addressEiPv
// FOLD-DAG: llvm.mlir.constant(60416 : i32)
// FOLD-DAG: llvm.mlir.constant(60928 : i32)
// FOLD: llvm.func @_ZN4acme8epilogue9sum_state10pl_addressEiPv(%{{.*}}: i32, %[[FRAME:.*]]: !llvm.ptr) -> !llvm.ptr
// FOLD-NEXT: llvm.getelementptr inbounds %[[FRAME]][0, 0]

// The entry: frames in the entry block, one thread sets the barriers up, registers are split with immediates.
// ENTRY-LABEL: module @two
// ENTRY-NOT: pipelink.instance
// ENTRY: llvm.func @two(%{{.*}}: !llvm.ptr {llvm.align = 128 : i64, llvm.byval = !llvm.struct<(array<256 x i8>)>, nvvm.grid_constant}) attributes {nvvm.kernel, nvvm.maxntid = array<i32: 384>, nvvm.minctasm = 1 : i32}
// ENTRY: llvm.alloca
// ENTRY: nvvm.read.ptx.sreg.tid.x
// ENTRY: mbarrier.init.shared::cta.b64
// ENTRY: st.shared.b32
// ENTRY: fence.mbarrier_init
// ENTRY: nvvm.barrier
// ENTRY: setmaxnreg.dec.sync.aligned.u32 40;
// ENTRY: llvm.call @_ZN4acme6loader4load8pl_enterEiPv
// ENTRY: setmaxnreg.inc.sync.aligned.u32 232;
// ENTRY: llvm.call @_ZN4acme8mainloop3mma8pl_enterEiPv
// ENTRY: setmaxnreg.inc.sync.aligned.u32 232;
