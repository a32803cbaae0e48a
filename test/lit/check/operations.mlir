// What a dispatcher cannot run, and what cannot be a page.
//
// RUN: pl-opt --pipeline=check --verify-diagnostics --split-input-file %s

// Slots in pages, of an operation whose roles have other names
module @d attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.dispatch"() {sym_name = "loads", bytes = 16, role = "load"} : () -> ()
  "pipelink.dispatch"() {sym_name = "computes", bytes = 16, role = "compute"} : () -> ()
  "pipelink.lease"() {sym_name = "pages", page_bytes = 1024, pages = [2, 4], align = 128} : () -> ()
}
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "bring", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "multiply", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", stages = [2, 4], touch = "bulk", role = "bring", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", role = "multiply", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "d", component = @d} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @a::@i, lease = @d::@pages} : () -> ()
  "pipelink.operation"() {sym_name = "run_a", dispatcher = @d, instance = @a, roles = {bring = "load", multiply = "compute"}} : () -> ()
}

// -----

// A role that nobody runs
module @d attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.dispatch"() {sym_name = "loads", bytes = 16, role = "load"} : () -> ()
  "pipelink.dispatch"() {sym_name = "computes", bytes = 16, role = "compute"} : () -> ()
  "pipelink.lease"() {sym_name = "pages", page_bytes = 1024, pages = [2, 4], align = 128} : () -> ()
}
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "store", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", stages = [2, 4], touch = "bulk", role = "load", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", role = "store", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "d", component = @d} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @a::@i} : () -> ()
  // expected-error @below {{operation '@run_a' has a role 'store', and '@d' has no role 'store' that dispatches [operation-mismatch]}}
  "pipelink.operation"() {sym_name = "run_a", dispatcher = @d, instance = @a} : () -> ()
}

// -----

// Two roles for one
module @d attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.dispatch"() {sym_name = "loads", bytes = 16, role = "load"} : () -> ()
  "pipelink.dispatch"() {sym_name = "computes", bytes = 16, role = "compute"} : () -> ()
  "pipelink.lease"() {sym_name = "pages", page_bytes = 1024, pages = [2, 4], align = 128} : () -> ()
}
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "second", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", stages = [2, 4], touch = "bulk", role = "load", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", role = "second", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "d", component = @d} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @a::@i} : () -> ()
  // expected-error @below {{operation '@run_a' has two roles for 'load': 'load' and 'second' [operation-mismatch]}}
  "pipelink.operation"() {sym_name = "run_a", dispatcher = @d, instance = @a, roles = {second = "load"}} : () -> ()
}

// -----

// Other threads
module @d attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.dispatch"() {sym_name = "loads", bytes = 16, role = "load"} : () -> ()
  "pipelink.dispatch"() {sym_name = "computes", bytes = 16, role = "compute"} : () -> ()
  "pipelink.lease"() {sym_name = "pages", page_bytes = 1024, pages = [2, 4], align = 128} : () -> ()
}
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", stages = [2, 4], touch = "bulk", role = "load", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", role = "compute", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "d", component = @d} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @a::@i, lease = @d::@pages} : () -> ()
  // expected-error @below {{operation '@run_a' has 1 warp in role 'load', 'load', which runs it, one thread [operation-mismatch]}}
  "pipelink.operation"() {sym_name = "run_a", dispatcher = @d, instance = @a} : () -> ()
}

// -----

// A dispatcher that is none
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", stages = [2, 4], touch = "bulk", role = "load", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", role = "compute", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
}
module @d attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", stages = [2, 4], touch = "bulk", role = "load", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", role = "compute", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "d", component = @d} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @a::@i} : () -> ()
  "pipelink.connect"() {source = @d::@o, target = @d::@i} : () -> ()
  // expected-error @below {{operation '@run_a' is run by '@d', which dispatches nothing [operation-mismatch]}}
  "pipelink.operation"() {sym_name = "run_a", dispatcher = @d, instance = @a} : () -> ()
}

// -----

// An operation without roles
module @d attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.dispatch"() {sym_name = "loads", bytes = 16, role = "load"} : () -> ()
  "pipelink.dispatch"() {sym_name = "computes", bytes = 16, role = "compute"} : () -> ()
  "pipelink.lease"() {sym_name = "pages", page_bytes = 1024, pages = [2, 4], align = 128} : () -> ()
}
module @a attributes {pipelink.component = {abi = 1}} {
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "d", component = @d} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  // expected-error @below {{operation '@run_a' is '@a', which has no role to run [operation-mismatch]}}
  "pipelink.operation"() {sym_name = "run_a", dispatcher = @d, instance = @a} : () -> ()
}

// -----

// A dispatcher that is run
module @d attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.dispatch"() {sym_name = "loads", bytes = 16, role = "load"} : () -> ()
  "pipelink.dispatch"() {sym_name = "computes", bytes = 16, role = "compute"} : () -> ()
  "pipelink.lease"() {sym_name = "pages", page_bytes = 1024, pages = [2, 4], align = 128} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "d", component = @d} : () -> ()
  // expected-error @below {{operation '@run_d' is '@d', which dispatches itself [operation-mismatch]}}
  "pipelink.operation"() {sym_name = "run_d", dispatcher = @d, instance = @d} : () -> ()
}

// -----

// Dispatches of no role, and two of one
module @d attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  // expected-error @below {{dispatch '@d::@any' is of no role: its component has 2 [operation-mismatch]}}
  "pipelink.dispatch"() {sym_name = "any", bytes = 16} : () -> ()
  "pipelink.dispatch"() {sym_name = "one", bytes = 16, role = "load"} : () -> ()
  // expected-error @below {{dispatch '@d::@two' is the second of role 'load', which runs operations by one [operation-mismatch]}}
  "pipelink.dispatch"() {sym_name = "two", bytes = 16, role = "load"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "d", component = @d} : () -> ()
}

// -----

// A role of an exclusive group
module @d attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.dispatch"() {sym_name = "loads", bytes = 16, role = "load"} : () -> ()
  "pipelink.dispatch"() {sym_name = "computes", bytes = 16, role = "compute"} : () -> ()
  "pipelink.lease"() {sym_name = "pages", page_bytes = 1024, pages = [2, 4], align = 128} : () -> ()
}
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", stages = [2, 4], touch = "bulk", role = "load", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", role = "compute", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", stages = [2, 4], touch = "bulk", role = "load", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", role = "compute", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "d", component = @d} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @a::@i, lease = @d::@pages} : () -> ()
  "pipelink.connect"() {source = @b::@o, target = @b::@i} : () -> ()
  "pipelink.exclusive"() {name = "g", roles = [@a::@load, @b::@load]} : () -> ()
  // expected-error @below {{operation '@run_a' has a role 'load' that an exclusive group runs [operation-mismatch]}}
  "pipelink.operation"() {sym_name = "run_a", dispatcher = @d, instance = @a} : () -> ()
}

// -----

// One opcode twice, and one instance
module @d attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.dispatch"() {sym_name = "loads", bytes = 16, role = "load"} : () -> ()
  "pipelink.dispatch"() {sym_name = "computes", bytes = 16, role = "compute"} : () -> ()
  "pipelink.lease"() {sym_name = "pages", page_bytes = 1024, pages = [2, 4], align = 128} : () -> ()
}
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", stages = [2, 4], touch = "bulk", role = "load", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", role = "compute", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "d", component = @d} : () -> ()
  "pipelink.instance"() {sym_name = "a1", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "a2", component = @a} : () -> ()
  "pipelink.connect"() {source = @a1::@o, target = @a1::@i, lease = @d::@pages} : () -> ()
  "pipelink.connect"() {source = @a2::@o, target = @a2::@i, lease = @d::@pages} : () -> ()
  "pipelink.operation"() {sym_name = "run_a1", dispatcher = @d, instance = @a1, opcode = 3} : () -> ()
  // expected-error @below {{operations '@run_a1' and '@run_a2' have opcode 3 [opcode-conflict]}}
  "pipelink.operation"() {sym_name = "run_a2", dispatcher = @d, instance = @a2, opcode = 3} : () -> ()
  // expected-error @below {{'@a1' is run as '@run_a1' and as '@run_again' [opcode-conflict]}}
  "pipelink.operation"() {sym_name = "run_again", dispatcher = @d, instance = @a1} : () -> ()
}

// -----

// Operands that an instruction has no room for
module @d attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.dispatch"() {sym_name = "loads", bytes = 16, role = "load"} : () -> ()
  "pipelink.dispatch"() {sym_name = "computes", bytes = 16, role = "compute"} : () -> ()
  "pipelink.lease"() {sym_name = "pages", page_bytes = 1024, pages = [2, 4], align = 128} : () -> ()
}
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", stages = [2, 4], touch = "bulk", role = "load", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", role = "compute", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
  "pipelink.param"() {sym_name = "x", type = "i64", bytes = 8, align = 8, operand = true} : () -> ()
  "pipelink.param"() {sym_name = "y", type = "i32", bytes = 4, align = 4, operand = true} : () -> ()
  "pipelink.param"() {sym_name = "z", type = "i64", bytes = 8, align = 8, operand = true} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "d", component = @d} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @a::@i, lease = @d::@pages} : () -> ()
  // expected-error @below {{the operands of '@run_a' take 24 bytes, 'loads' has 16 [operation-mismatch]}}
  "pipelink.operation"() {sym_name = "run_a", dispatcher = @d, instance = @a} : () -> ()
}

// -----

// An operand that is no number
module @d attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.dispatch"() {sym_name = "loads", bytes = 16, role = "load"} : () -> ()
  "pipelink.dispatch"() {sym_name = "computes", bytes = 16, role = "compute"} : () -> ()
  "pipelink.lease"() {sym_name = "pages", page_bytes = 1024, pages = [2, 4], align = 128} : () -> ()
}
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", stages = [2, 4], touch = "bulk", role = "load", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", role = "compute", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
  // expected-error @below {{operand '@a::@x' is a struct, not a number [operation-mismatch]}}
  "pipelink.param"() {sym_name = "x", type = "struct", bytes = 8, align = 4, operand = true} : () -> ()
  // expected-error @below {{operand '@a::@half' is a bf16, not a number [operation-mismatch]}}
  "pipelink.param"() {sym_name = "half", type = "bf16", bytes = 2, align = 2, operand = true} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "d", component = @d} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @a::@i, lease = @d::@pages} : () -> ()
  "pipelink.operation"() {sym_name = "run_a", dispatcher = @d, instance = @a} : () -> ()
}

// -----

// An operand without an instruction
module @d attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.dispatch"() {sym_name = "loads", bytes = 16, role = "load"} : () -> ()
  "pipelink.dispatch"() {sym_name = "computes", bytes = 16, role = "compute"} : () -> ()
  "pipelink.lease"() {sym_name = "pages", page_bytes = 1024, pages = [2, 4], align = 128} : () -> ()
}
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", stages = [2, 4], touch = "bulk", role = "load", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", role = "compute", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
}
module @p attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  // expected-error @below {{operand '@p::@x' comes with no instruction: no operation runs '@p' alone [unbound-parameter]}}
  "pipelink.param"() {sym_name = "x", type = "i32", bytes = 4, align = 4, operand = true} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "d", component = @d} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "p", component = @p} : () -> ()
  "pipelink.connect"() {source = @a::@o, target = @a::@i, lease = @d::@pages} : () -> ()
  "pipelink.operation"() {sym_name = "run_a", dispatcher = @d, instance = @a} : () -> ()
}

// -----

// A stream between two operations
module @d attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.dispatch"() {sym_name = "loads", bytes = 16, role = "load"} : () -> ()
  "pipelink.dispatch"() {sym_name = "computes", bytes = 16, role = "compute"} : () -> ()
  "pipelink.lease"() {sym_name = "pages", page_bytes = 1024, pages = [2, 4], align = 128} : () -> ()
}
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", stages = [2, 4], touch = "bulk", role = "load", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", role = "compute", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "d", component = @d} : () -> ()
  "pipelink.instance"() {sym_name = "a1", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "a2", component = @a} : () -> ()
  // expected-error @below {{'@a1::@o' to '@a2::@i' leads out of an operation, whose roles run now and then [operation-mismatch]}}
  "pipelink.connect"() {source = @a1::@o, target = @a2::@i} : () -> ()
  // expected-error @below {{'@a2::@o' to '@a1::@i' leads out of an operation, whose roles run now and then [operation-mismatch]}}
  "pipelink.connect"() {source = @a2::@o, target = @a1::@i} : () -> ()
  "pipelink.operation"() {sym_name = "run_a1", dispatcher = @d, instance = @a1} : () -> ()
  "pipelink.operation"() {sym_name = "run_a2", dispatcher = @d, instance = @a2} : () -> ()
}

// -----

// A slot that is larger than a page
module @d attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.dispatch"() {sym_name = "loads", bytes = 16, role = "load"} : () -> ()
  "pipelink.dispatch"() {sym_name = "computes", bytes = 16, role = "compute"} : () -> ()
  "pipelink.lease"() {sym_name = "pages", page_bytes = 1024, pages = [2, 4], align = 128} : () -> ()
}
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", stages = [2, 4], touch = "bulk", role = "load", tiles = [{element = "bf16", shape = [1, 1024], layout = "row_major", bytes = 2048, align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", role = "compute", tiles = [{element = "bf16", shape = [1, 1024], layout = "row_major", bytes = 2048, align = 128}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "d", component = @d} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  // expected-error @below {{a slot of '@a::@o' takes 2048 bytes, a page of '@d::@pages' has 1024 [lease-mismatch]}}
  "pipelink.connect"() {source = @a::@o, target = @a::@i, lease = @d::@pages} : () -> ()
  "pipelink.operation"() {sym_name = "run_a", dispatcher = @d, instance = @a} : () -> ()
}

// -----

// A stream that ends
module @d attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.dispatch"() {sym_name = "loads", bytes = 16, role = "load"} : () -> ()
  "pipelink.dispatch"() {sym_name = "computes", bytes = 16, role = "compute"} : () -> ()
  "pipelink.lease"() {sym_name = "pages", page_bytes = 1024, pages = [2, 4], align = 128} : () -> ()
}
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", stages = [2, 4], touch = "bulk", role = "load", ends = true, tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", role = "compute", ends = true, tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "d", component = @d} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  // expected-error @below {{'@a::@o' may end, and pages have no end marks [lease-mismatch]}}
  "pipelink.connect"() {source = @a::@o, target = @a::@i, lease = @d::@pages} : () -> ()
  "pipelink.operation"() {sym_name = "run_a", dispatcher = @d, instance = @a} : () -> ()
}

// -----

// A stream between roles that nobody dispatches
module @d attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.dispatch"() {sym_name = "loads", bytes = 16, role = "load"} : () -> ()
  "pipelink.dispatch"() {sym_name = "computes", bytes = 16, role = "compute"} : () -> ()
  "pipelink.lease"() {sym_name = "pages", page_bytes = 1024, pages = [2, 4], align = 128} : () -> ()
}
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", stages = [2, 4], touch = "bulk", role = "load", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", role = "compute", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "d", component = @d} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  // expected-error @below {{'@a::@o' to '@a::@i' is no stream between two roles of an operation [lease-mismatch]}}
  "pipelink.connect"() {source = @a::@o, target = @a::@i, lease = @d::@pages} : () -> ()
}

// -----

// Pages that are filled by one role here and by the other there
module @d attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 4} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.dispatch"() {sym_name = "loads", bytes = 16, role = "load"} : () -> ()
  "pipelink.dispatch"() {sym_name = "computes", bytes = 16, role = "compute"} : () -> ()
  "pipelink.lease"() {sym_name = "pages", page_bytes = 1024, pages = [2, 4], align = 128} : () -> ()
}
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 4} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "stream", stages = [2, 4], touch = "bulk", role = "load", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "stream", stages = [2, 4], touch = "threads", role = "compute", tiles = [{element = "bf16", shape = [1, 512], layout = "row_major", bytes = 1024, align = 128}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "d", component = @d} : () -> ()
  "pipelink.instance"() {sym_name = "a1", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "a2", component = @a} : () -> ()
  "pipelink.connect"() {source = @a1::@o, target = @a1::@i, lease = @d::@pages} : () -> ()
  // expected-error @below {{pages of '@d::@pages' are filled and read by d::compute and d::load here, by d::load and d::compute for '@a1::@o' [lease-mismatch]}}
  "pipelink.connect"() {source = @a2::@o, target = @a2::@i, lease = @d::@pages} : () -> ()
  "pipelink.operation"() {sym_name = "run_a1", dispatcher = @d, instance = @a1} : () -> ()
  "pipelink.operation"() {sym_name = "run_a2", dispatcher = @d, instance = @a2, roles = {load = "compute", compute = "load"}} : () -> ()
}

// -----

// A token in pages
module @d attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.dispatch"() {sym_name = "loads", bytes = 16, role = "load"} : () -> ()
  "pipelink.dispatch"() {sym_name = "computes", bytes = 16, role = "compute"} : () -> ()
  "pipelink.lease"() {sym_name = "pages", page_bytes = 1024, pages = [2, 4], align = 128} : () -> ()
}
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "load", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "compute", warps = 4} : () -> ()
  "pipelink.port"() {sym_name = "o", direction = "out", kind = "token", role = "load"} : () -> ()
  "pipelink.port"() {sym_name = "i", direction = "in", kind = "token", role = "compute"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "d", component = @d} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  // expected-error @+2 {{'@a::@o' and '@a::@i' do not fit: no transfer carries one to the other [no-transfer]}}
  // expected-error @below {{'@a::@o' is a token port, pages hold the slots of streams [lease-mismatch]}}
  "pipelink.connect"() {source = @a::@o, target = @a::@i, lease = @d::@pages} : () -> ()
  "pipelink.operation"() {sym_name = "run_a", dispatcher = @d, instance = @a} : () -> ()
}
