// Tokens and named barriers: who is to begin, who passes twice, who meets whom.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s -o -

// Two roles take turns
module @t attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "mine", direction = "in", kind = "token"} : () -> ()
  "pipelink.port"() {sym_name = "other", direction = "out", kind = "token"} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { mine.take; other.pass; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @t} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @t} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.derive"() {name = "n", value = "4 * sms"} : () -> ()
  "pipelink.connect"() {source = @a::@other, target = @b::@mine, credit = 0} : () -> ()
  "pipelink.connect"() {source = @b::@other, target = @a::@mine, credit = 1} : () -> ()
}

// -----

// Nobody can begin
module @t attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "mine", direction = "in", kind = "token"} : () -> ()
  "pipelink.port"() {sym_name = "other", direction = "out", kind = "token"} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{'@a::@run' waits for token '@a::@mine' and '@b::@run' waits for token '@b::@mine' [deadlock]}}
  "pipelink.protocol"() {of = "run", text = "repeat n { mine.take; other.pass; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @t} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @t} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.derive"() {name = "n", value = "4 * sms"} : () -> ()
  "pipelink.connect"() {source = @a::@other, target = @b::@mine, credit = 0} : () -> ()
  "pipelink.connect"() {source = @b::@other, target = @a::@mine, credit = 0} : () -> ()
}

// -----

// Both may begin, and then a second phase can complete before the first was seen
module @t attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "mine", direction = "in", kind = "token"} : () -> ()
  "pipelink.port"() {sym_name = "other", direction = "out", kind = "token"} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{'@a::@run': pass other completes another phase of '@b::@mine', which '@b::@run' may not have taken yet [arrival-count]}}
  "pipelink.protocol"() {of = "run", text = "repeat n { mine.take; other.pass; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @t} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @t} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.derive"() {name = "n", value = "4 * sms"} : () -> ()
  "pipelink.connect"() {source = @a::@other, target = @b::@mine, credit = 1} : () -> ()
  "pipelink.connect"() {source = @b::@other, target = @a::@mine, credit = 1} : () -> ()
}

// -----

// Passes that nobody waits for in between
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "go", direction = "out", kind = "token"} : () -> ()
  // expected-error @below {{'@a::@run': pass go completes another phase of '@b::@go', which '@b::@run' may not have taken yet [arrival-count]}}
  "pipelink.protocol"() {of = "run", text = "repeat 2 { go.pass; }"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "go", direction = "in", kind = "token"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat 2 { go.take; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @a::@go, target = @b::@go} : () -> ()
}

// -----

// Fewer passes than takes
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "go", direction = "out", kind = "token"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "go.pass;"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.port"() {sym_name = "go", direction = "in", kind = "token"} : () -> ()
  // expected-error @below {{'@b::@run' waits for ever for token '@b::@go': '@a::@run' has finished [rate-mismatch]}}
  "pipelink.protocol"() {of = "run", text = "repeat 2 { go.take; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
  "pipelink.connect"() {source = @a::@go, target = @b::@go} : () -> ()
}

// -----

// All meet, one warp reads, all meet
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 128} : () -> ()
  "pipelink.smem"() {sym_name = "scratch", bytes = 512, align = 16} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat 3 { scratch.write; met.sync; scratch.read by 1 warp; met.sync; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}

// -----

// Read before the others have met
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 128} : () -> ()
  "pipelink.smem"() {sym_name = "scratch", bytes = 512, align = 16} : () -> ()
  // expected-error @below {{'@a::@run, threads 32-127': write scratch, while '@a::@run, threads 0-31' may still read scratch [slot-race]}}
  "pipelink.protocol"() {of = "run", text = "repeat 3 { scratch.write; scratch.read by 1 warp; met.sync; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}

// -----

// Written while the one warp still reads
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 128} : () -> ()
  "pipelink.smem"() {sym_name = "scratch", bytes = 512, align = 16} : () -> ()
  // expected-error @below {{'@a::@run, threads 0-31': read scratch, while '@a::@run, threads 32-127' may still write scratch [slot-race]}}
  "pipelink.protocol"() {of = "run", text = "repeat 3 { scratch.write; met.sync; scratch.read by 1 warp; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}

// -----

// One warp does not come
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 128} : () -> ()
  "pipelink.smem"() {sym_name = "scratch", bytes = 512, align = 16} : () -> ()
  // expected-error @below {{'@a::@run, threads 0-95' waits for ever at named barrier 1 (@a::@met), where 96 of 128 threads are, and no others come [barrier-participation]}}
  "pipelink.protocol"() {of = "run", text = "met.sync by 3 warps;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}

// -----

// An aligned barrier is reached by part of a warp
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 128} : () -> ()
  "pipelink.smem"() {sym_name = "scratch", bytes = 512, align = 16} : () -> ()
  // expected-error @below {{'@a::@run, thread 0': sync met is reached by part of a warp, and the barrier is aligned [barrier-participation]}}
  "pipelink.protocol"() {of = "run", text = "met.sync by 1 thread; met.sync;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}

// -----

// Arriving twice without waiting
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 128} : () -> ()
  "pipelink.smem"() {sym_name = "scratch", bytes = 512, align = 16} : () -> ()
  // expected-error @below {{'@a::@run, threads 0-63': arrive met arrives twice in one round of the barrier [barrier-participation]}}
  "pipelink.protocol"() {of = "run", text = "met.arrive by 2 warps; met.arrive by 2 warps;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}

// -----

// A component's own mbarriers, two in turn: one thread answers for a role that has met
module @c attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "a", warps = 1} : () -> ()
  "pipelink.role"() {sym_name = "b", warps = 4} : () -> ()
  "pipelink.mbarrier"() {sym_name = "done", arrivals = 32, count = 2} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 128, role = "b"} : () -> ()
  "pipelink.mbarrier"() {sym_name = "back", arrivals = 1, count = 2} : () -> ()
  "pipelink.protocol"() {of = "a", text = "repeat 5 { done.arrive; back.wait; }"} : () -> ()
  "pipelink.protocol"() {of = "b", text = "repeat 5 { done.wait; met.sync; back.arrive by 1 thread; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "c", component = @c} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}

// -----

// For one that has not, it answers too early
module @c attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "a", warps = 1} : () -> ()
  "pipelink.role"() {sym_name = "b", warps = 4} : () -> ()
  "pipelink.mbarrier"() {sym_name = "done", arrivals = 32, count = 2} : () -> ()
  "pipelink.mbarrier"() {sym_name = "back", arrivals = 1, count = 2} : () -> ()
  // expected-error @below {{'@c::@a': arrive done[0] completes another phase of '@c::@done', which '@c::@b, threads 1-127' may not have taken yet [arrival-count]}}
  "pipelink.protocol"() {of = "a", text = "repeat 5 { done.arrive; back.wait; }"} : () -> ()
  "pipelink.protocol"() {of = "b", text = "repeat 5 { done.wait; back.arrive by 1 thread; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "c", component = @c} : () -> ()
  "pipelink.grid"() {value = ["1", "1", "1"]} : () -> ()
}
