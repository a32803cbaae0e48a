// Operations are followed one at a time, in the roles that run them.
//
// RUN: pl-opt --pipeline=check,place,prove --verify-diagnostics --split-input-file %s

module @plc.control attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "fetch", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "instructions", direction = "out", kind = "stream", stages = [2, 4], touch = "bulk", ends = true, may_be_empty = true, tiles = [{element = "word", shape = [1], layout = "item", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "fetch", text = "repeat n { instructions.acquire; instructions.copy; } instructions.end;"} : () -> ()
  "pipelink.grid"() {value = ["sms", "1", "1"]} : () -> ()
}
module @plc.run attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "to_load", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", ends = true, may_be_empty = true, role = "load", tiles = [{element = "word", shape = [1], layout = "item", bytes = 128, align = 16}]} : () -> ()
  "pipelink.port"() {sym_name = "to_compute", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", ends = true, may_be_empty = true, role = "compute", tiles = [{element = "word", shape = [1], layout = "item", bytes = 128, align = 16}]} : () -> ()
  "pipelink.dispatch"() {sym_name = "loads", bytes = 112, role = "load"} : () -> ()
  "pipelink.dispatch"() {sym_name = "computes", bytes = 112, role = "compute"} : () -> ()
  "pipelink.lease"() {sym_name = "pages", page_bytes = 1024, pages = [4, 4], align = 128} : () -> ()
  "pipelink.protocol"() {of = "load", text = "until to_load { to_load.wait; loads.run; to_load.release; }"} : () -> ()
  "pipelink.protocol"() {of = "compute", text = "until to_compute { to_compute.wait; computes.run; to_compute.release; }"} : () -> ()
}
// A sum over a number of pages that comes with the instruction, by scratch that threads share.
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", stages = [2, 4], touch = "bulk", role = "load", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", role = "compute", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
  "pipelink.param"() {sym_name = "count", type = "i32", bytes = 4, align = 4, operand = true} : () -> ()
  "pipelink.smem"() {sym_name = "sums", bytes = 512, align = 16, role = "compute"} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 128, role = "compute"} : () -> ()
  "pipelink.protocol"() {of = "load", text = "repeat count { o.acquire; o.copy; }"} : () -> ()
  "pipelink.protocol"() {of = "compute", text = "repeat count { i.wait; i.release; } sums.write; met.sync; sums.read;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "c", component = @plc.control} : () -> ()
  "pipelink.instance"() {sym_name = "r", component = @plc.run} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @a} : () -> ()
  "pipelink.connect"() {source = @c::@instructions, target = @r::@to_load} : () -> ()
  "pipelink.connect"() {source = @c::@instructions, target = @r::@to_compute} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @a::@i, lease = @r::@pages} : () -> ()
  "pipelink.connect"() {source = @b::@o, target = @b::@i, lease = @r::@pages} : () -> ()
  "pipelink.operation"() {sym_name = "run_a", dispatcher = @r, instance = @a} : () -> ()
  "pipelink.operation"() {sym_name = "run_b", dispatcher = @r, instance = @b} : () -> ()
}

// -----

// An operation that reads fewer pages than it fills
module @plc.control attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "fetch", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "instructions", direction = "out", kind = "stream", stages = [2, 4], touch = "bulk", ends = true, may_be_empty = true, tiles = [{element = "word", shape = [1], layout = "item", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "fetch", text = "repeat n { instructions.acquire; instructions.copy; } instructions.end;"} : () -> ()
  "pipelink.grid"() {value = ["sms", "1", "1"]} : () -> ()
}
module @plc.run attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "to_load", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", ends = true, may_be_empty = true, role = "load", tiles = [{element = "word", shape = [1], layout = "item", bytes = 128, align = 16}]} : () -> ()
  "pipelink.port"() {sym_name = "to_compute", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", ends = true, may_be_empty = true, role = "compute", tiles = [{element = "word", shape = [1], layout = "item", bytes = 128, align = 16}]} : () -> ()
  "pipelink.dispatch"() {sym_name = "loads", bytes = 112, role = "load"} : () -> ()
  "pipelink.dispatch"() {sym_name = "computes", bytes = 112, role = "compute"} : () -> ()
  "pipelink.lease"() {sym_name = "pages", page_bytes = 1024, pages = [4, 4], align = 128} : () -> ()
  "pipelink.protocol"() {of = "load", text = "until to_load { to_load.wait; loads.run; to_load.release; }"} : () -> ()
  "pipelink.protocol"() {of = "compute", text = "until to_compute { to_compute.wait; computes.run; to_compute.release; }"} : () -> ()
}
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", stages = [2, 4], touch = "bulk", role = "load", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", role = "compute", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
  "pipelink.smem"() {sym_name = "sums", bytes = 512, align = 16, role = "compute"} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 128, role = "compute"} : () -> ()
  "pipelink.protocol"() {of = "load", text = "o.acquire; o.copy; o.acquire; o.copy;"} : () -> ()
  // expected-error @below {{'@r::@compute' has finished, and slot 1 of '@a::@i' is left that '@r::@load' gave [rate-mismatch]}}
  "pipelink.protocol"() {of = "compute", text = "i.wait; i.release;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "c", component = @plc.control} : () -> ()
  "pipelink.instance"() {sym_name = "r", component = @plc.run} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.connect"() {source = @c::@instructions, target = @r::@to_load} : () -> ()
  "pipelink.connect"() {source = @c::@instructions, target = @r::@to_compute} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @a::@i, lease = @r::@pages} : () -> ()
  "pipelink.operation"() {sym_name = "run_a", dispatcher = @r, instance = @a} : () -> ()
}

// -----

// Scratch that is read before all have written it
module @plc.control attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "fetch", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "instructions", direction = "out", kind = "stream", stages = [2, 4], touch = "bulk", ends = true, may_be_empty = true, tiles = [{element = "word", shape = [1], layout = "item", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "fetch", text = "repeat n { instructions.acquire; instructions.copy; } instructions.end;"} : () -> ()
  "pipelink.grid"() {value = ["sms", "1", "1"]} : () -> ()
}
module @plc.run attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "to_load", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", ends = true, may_be_empty = true, role = "load", tiles = [{element = "word", shape = [1], layout = "item", bytes = 128, align = 16}]} : () -> ()
  "pipelink.port"() {sym_name = "to_compute", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", ends = true, may_be_empty = true, role = "compute", tiles = [{element = "word", shape = [1], layout = "item", bytes = 128, align = 16}]} : () -> ()
  "pipelink.dispatch"() {sym_name = "loads", bytes = 112, role = "load"} : () -> ()
  "pipelink.dispatch"() {sym_name = "computes", bytes = 112, role = "compute"} : () -> ()
  "pipelink.lease"() {sym_name = "pages", page_bytes = 1024, pages = [4, 4], align = 128} : () -> ()
  "pipelink.protocol"() {of = "load", text = "until to_load { to_load.wait; loads.run; to_load.release; }"} : () -> ()
  "pipelink.protocol"() {of = "compute", text = "until to_compute { to_compute.wait; computes.run; to_compute.release; }"} : () -> ()
}
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", stages = [2, 4], touch = "bulk", role = "load", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", role = "compute", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
  "pipelink.smem"() {sym_name = "sums", bytes = 512, align = 16, role = "compute"} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 128, role = "compute"} : () -> ()
  "pipelink.protocol"() {of = "load", text = "o.acquire; o.copy;"} : () -> ()
  // expected-error @below {{'@r::@compute': read a.sums, while other warps of the role may still write sums [slot-race]}}
  "pipelink.protocol"() {of = "compute", text = "i.wait; i.release; sums.write; sums.read;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "c", component = @plc.control} : () -> ()
  "pipelink.instance"() {sym_name = "r", component = @plc.run} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.connect"() {source = @c::@instructions, target = @r::@to_load} : () -> ()
  "pipelink.connect"() {source = @c::@instructions, target = @r::@to_compute} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @a::@i, lease = @r::@pages} : () -> ()
  "pipelink.operation"() {sym_name = "run_a", dispatcher = @r, instance = @a} : () -> ()
}

// -----

// Two streams in pages
module @plc.control attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "fetch", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "instructions", direction = "out", kind = "stream", stages = [2, 4], touch = "bulk", ends = true, may_be_empty = true, tiles = [{element = "word", shape = [1], layout = "item", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "fetch", text = "repeat n { instructions.acquire; instructions.copy; } instructions.end;"} : () -> ()
  "pipelink.grid"() {value = ["sms", "1", "1"]} : () -> ()
}
module @plc.run attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "to_load", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", ends = true, may_be_empty = true, role = "load", tiles = [{element = "word", shape = [1], layout = "item", bytes = 128, align = 16}]} : () -> ()
  "pipelink.port"() {sym_name = "to_compute", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", ends = true, may_be_empty = true, role = "compute", tiles = [{element = "word", shape = [1], layout = "item", bytes = 128, align = 16}]} : () -> ()
  "pipelink.dispatch"() {sym_name = "loads", bytes = 112, role = "load"} : () -> ()
  "pipelink.dispatch"() {sym_name = "computes", bytes = 112, role = "compute"} : () -> ()
  "pipelink.lease"() {sym_name = "pages", page_bytes = 1024, pages = [4, 4], align = 128} : () -> ()
  "pipelink.protocol"() {of = "load", text = "until to_load { to_load.wait; loads.run; to_load.release; }"} : () -> ()
  "pipelink.protocol"() {of = "compute", text = "until to_compute { to_compute.wait; computes.run; to_compute.release; }"} : () -> ()
}
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", stages = [2, 4], touch = "bulk", role = "load", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", role = "compute", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "p", direction = "out", kind = "stream", stages = [2, 4], touch = "bulk", role = "load", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "j", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", role = "compute", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
  "pipelink.smem"() {sym_name = "sums", bytes = 512, align = 16, role = "compute"} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 128, role = "compute"} : () -> ()
  "pipelink.protocol"() {of = "load", text = "o.acquire; o.copy; p.acquire; p.copy;"} : () -> ()
  "pipelink.protocol"() {of = "compute", text = "i.wait; i.release; j.wait; j.release;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "c", component = @plc.control} : () -> ()
  "pipelink.instance"() {sym_name = "r", component = @plc.run} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.connect"() {source = @c::@instructions, target = @r::@to_load} : () -> ()
  "pipelink.connect"() {source = @c::@instructions, target = @r::@to_compute} : () -> ()
  // expected-warning @below {{that '@a' reads the pages of '@a::@o', '@a::@p' in the order in which they are filled is not proved [unproven]}}
  "pipelink.connect"() {source = @a::@o, target = @a::@i, lease = @r::@pages} : () -> ()
  "pipelink.connect"() {source = @a::@p, target = @a::@j, lease = @r::@pages} : () -> ()
  "pipelink.operation"() {sym_name = "run_a", dispatcher = @r, instance = @a} : () -> ()
}

// -----

// An operation that states nothing of a role
module @plc.control attributes {pipelink.component = {abi = 1}} {
  // expected-warning @below {{what '@c::@fetch' does is not proved: it meets '@r::@compute', which is not followed [unproven]}}
  "pipelink.role"() {sym_name = "fetch", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "instructions", direction = "out", kind = "stream", stages = [2, 4], touch = "bulk", ends = true, may_be_empty = true, tiles = [{element = "word", shape = [1], layout = "item", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "fetch", text = "repeat n { instructions.acquire; instructions.copy; } instructions.end;"} : () -> ()
  "pipelink.grid"() {value = ["sms", "1", "1"]} : () -> ()
}
module @plc.run attributes {pipelink.component = {abi = 1}} {
  // expected-warning @below {{what '@r::@load' does is not proved: it meets '@r::@compute', which is not followed [unproven]}}
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  // expected-warning @below {{what '@r::@compute' does is not proved: it runs '@a::@compute', which states no protocol [unproven]}}
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "to_load", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", ends = true, may_be_empty = true, role = "load", tiles = [{element = "word", shape = [1], layout = "item", bytes = 128, align = 16}]} : () -> ()
  "pipelink.port"() {sym_name = "to_compute", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", ends = true, may_be_empty = true, role = "compute", tiles = [{element = "word", shape = [1], layout = "item", bytes = 128, align = 16}]} : () -> ()
  "pipelink.dispatch"() {sym_name = "loads", bytes = 112, role = "load"} : () -> ()
  "pipelink.dispatch"() {sym_name = "computes", bytes = 112, role = "compute"} : () -> ()
  "pipelink.lease"() {sym_name = "pages", page_bytes = 1024, pages = [4, 4], align = 128} : () -> ()
  "pipelink.protocol"() {of = "load", text = "until to_load { to_load.wait; loads.run; to_load.release; }"} : () -> ()
  "pipelink.protocol"() {of = "compute", text = "until to_compute { to_compute.wait; computes.run; to_compute.release; }"} : () -> ()
}
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", stages = [2, 4], touch = "bulk", role = "load", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", role = "compute", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
  "pipelink.smem"() {sym_name = "sums", bytes = 512, align = 16, role = "compute"} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 128, role = "compute"} : () -> ()
  "pipelink.protocol"() {of = "load", text = "o.acquire; o.copy;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "c", component = @plc.control} : () -> ()
  "pipelink.instance"() {sym_name = "r", component = @plc.run} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.connect"() {source = @c::@instructions, target = @r::@to_load} : () -> ()
  "pipelink.connect"() {source = @c::@instructions, target = @r::@to_compute} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @a::@i, lease = @r::@pages} : () -> ()
  "pipelink.operation"() {sym_name = "run_a", dispatcher = @r, instance = @a} : () -> ()
}

// -----

// A dispatcher that does more than run instructions
module @plc.control attributes {pipelink.component = {abi = 1}} {
  // expected-warning @below {{what '@c::@fetch' does is not proved: it meets '@r::@compute', which is not followed [unproven]}}
  "pipelink.role"() {sym_name = "fetch", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "instructions", direction = "out", kind = "stream", stages = [2, 4], touch = "bulk", ends = true, may_be_empty = true, tiles = [{element = "word", shape = [1], layout = "item", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "fetch", text = "repeat n { instructions.acquire; instructions.copy; } instructions.end;"} : () -> ()
  "pipelink.grid"() {value = ["sms", "1", "1"]} : () -> ()
}
module @plc.run attributes {pipelink.component = {abi = 1}} {
  // expected-warning @below {{what '@r::@load' does is not proved: it meets '@r::@compute', which is not followed [unproven]}}
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  // expected-warning @below {{what '@r::@compute' does is not proved: its protocol is not `until x { x.wait; d.run; x.release; }`, so that all run one sequence is not known [unproven]}}
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "to_load", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", ends = true, may_be_empty = true, role = "load", tiles = [{element = "word", shape = [1], layout = "item", bytes = 128, align = 16}]} : () -> ()
  "pipelink.port"() {sym_name = "to_compute", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", ends = true, may_be_empty = true, role = "compute", tiles = [{element = "word", shape = [1], layout = "item", bytes = 128, align = 16}]} : () -> ()
  "pipelink.dispatch"() {sym_name = "loads", bytes = 112, role = "load"} : () -> ()
  "pipelink.dispatch"() {sym_name = "computes", bytes = 112, role = "compute"} : () -> ()
  "pipelink.lease"() {sym_name = "pages", page_bytes = 1024, pages = [4, 4], align = 128} : () -> ()
  "pipelink.protocol"() {of = "load", text = "until to_load { to_load.wait; loads.run; to_load.release; }"} : () -> ()
  "pipelink.protocol"() {of = "compute", text = "until to_compute { to_compute.wait; computes.run; computes.run; to_compute.release; }"} : () -> ()
}
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", stages = [2, 4], touch = "bulk", role = "load", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", role = "compute", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
  "pipelink.smem"() {sym_name = "sums", bytes = 512, align = 16, role = "compute"} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 128, role = "compute"} : () -> ()
  "pipelink.protocol"() {of = "load", text = "o.acquire; o.copy;"} : () -> ()
  "pipelink.protocol"() {of = "compute", text = "i.wait; i.release;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "c", component = @plc.control} : () -> ()
  "pipelink.instance"() {sym_name = "r", component = @plc.run} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.connect"() {source = @c::@instructions, target = @r::@to_load} : () -> ()
  "pipelink.connect"() {source = @c::@instructions, target = @r::@to_compute} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @a::@i, lease = @r::@pages} : () -> ()
  "pipelink.operation"() {sym_name = "run_a", dispatcher = @r, instance = @a} : () -> ()
}
// -----

// Roles that read their instructions from two streams
module @plc.control attributes {pipelink.component = {abi = 1}} {
  // expected-warning @+2 {{what '@c::@fetch' does is not proved: it meets '@r::@load', which is not followed [unproven]}}
  // expected-warning @below {{what '@d::@fetch' does is not proved: it meets '@r::@compute', which is not followed [unproven]}}
  "pipelink.role"() {sym_name = "fetch", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "instructions", direction = "out", kind = "stream", stages = [2, 4], touch = "bulk", ends = true, may_be_empty = true, tiles = [{element = "word", shape = [1], layout = "item", bytes = 128, align = 16}]} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "fetch", text = "repeat n { instructions.acquire; instructions.copy; } instructions.end;"} : () -> ()
  "pipelink.grid"() {value = ["sms", "1", "1"]} : () -> ()
}
module @plc.run attributes {pipelink.component = {abi = 1}} {
  // expected-warning @below {{what '@r::@load' does is not proved: its dispatcher's roles read their instructions from several streams [unproven]}}
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  // expected-warning @below {{what '@r::@compute' does is not proved: its dispatcher's roles read their instructions from several streams [unproven]}}
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "to_load", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", ends = true, may_be_empty = true, role = "load", tiles = [{element = "word", shape = [1], layout = "item", bytes = 128, align = 16}]} : () -> ()
  "pipelink.port"() {sym_name = "to_compute", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", ends = true, may_be_empty = true, role = "compute", tiles = [{element = "word", shape = [1], layout = "item", bytes = 128, align = 16}]} : () -> ()
  "pipelink.dispatch"() {sym_name = "loads", bytes = 112, role = "load"} : () -> ()
  "pipelink.dispatch"() {sym_name = "computes", bytes = 112, role = "compute"} : () -> ()
  "pipelink.lease"() {sym_name = "pages", page_bytes = 1024, pages = [4, 4], align = 128} : () -> ()
  "pipelink.protocol"() {of = "load", text = "until to_load { to_load.wait; loads.run; to_load.release; }"} : () -> ()
  "pipelink.protocol"() {of = "compute", text = "until to_compute { to_compute.wait; computes.run; to_compute.release; }"} : () -> ()
}
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", stages = [2, 4], touch = "bulk", role = "load", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", role = "compute", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
  "pipelink.smem"() {sym_name = "sums", bytes = 512, align = 16, role = "compute"} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 128, role = "compute"} : () -> ()
  "pipelink.protocol"() {of = "load", text = "o.acquire; o.copy;"} : () -> ()
  "pipelink.protocol"() {of = "compute", text = "i.wait; i.release;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "c", component = @plc.control} : () -> ()
  "pipelink.instance"() {sym_name = "d", component = @plc.control} : () -> ()
  "pipelink.instance"() {sym_name = "r", component = @plc.run} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.connect"() {source = @c::@instructions, target = @r::@to_load} : () -> ()
  "pipelink.connect"() {source = @d::@instructions, target = @r::@to_compute} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @a::@i, lease = @r::@pages} : () -> ()
  "pipelink.operation"() {sym_name = "run_a", dispatcher = @r, instance = @a} : () -> ()
}
