// Threads write a buffer and bulk copies read it: a fence on every way from the one to the other, and a wait on every
// way back.
// RUN: pl-opt --pipeline=check,place,prove -split-input-file -verify-diagnostics %s

// As it should be: by one role, and by two.
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.smem"() {sym_name = "tile", bytes = 1024, align = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 128} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { tile.stored; met.sync; tile.write; fence async; met.sync; tile.store by 1 thread; }"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "fill", warps = 1} : () -> ()
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.smem"() {sym_name = "tile", bytes = 1024, align = 128} : () -> ()
  "pipelink.mbarrier"() {sym_name = "full", arrivals = 32} : () -> ()
  "pipelink.mbarrier"() {sym_name = "empty", arrivals = 1} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "fill", text = "repeat n { tile.write; full.arrive; empty.wait; }"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { full.wait; fence async; tile.store; tile.stored; empty.arrive; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
}

// -----

// No fence, and one that a loop of no rounds leaves out.
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.smem"() {sym_name = "tile", bytes = 1024, align = 128} : () -> ()
  // expected-error @below {{'@a::@run' stores 'tile' without a fence.proxy.async between on every way [missing-fence]}}
  "pipelink.protocol"() {of = "run", text = "tile.write; tile.store;"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.smem"() {sym_name = "tile", bytes = 1024, align = 128} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{'@b::@run' stores 'tile' without a fence.proxy.async between on every way [missing-fence]}}
  "pipelink.protocol"() {of = "run", text = "tile.write; repeat n { fence async; } tile.store;"} : () -> ()
}
module @c attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.smem"() {sym_name = "tile", bytes = 1024, align = 128} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "run", text = "tile.write; repeat n+ { fence async; } tile.store;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.instance"() {sym_name = "c", component = @c} : () -> ()
}

// -----

// One role writes and another stores, and neither fences; and the one that stores lets the other write too early.
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "fill", warps = 1} : () -> ()
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.smem"() {sym_name = "tile", bytes = 1024, align = 128} : () -> ()
  "pipelink.mbarrier"() {sym_name = "full", arrivals = 32} : () -> ()
  "pipelink.mbarrier"() {sym_name = "empty", arrivals = 1} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.protocol"() {of = "fill", text = "repeat n { tile.write; full.arrive; empty.wait; }"} : () -> ()
  // expected-error @+2 {{'@b::@run' lets others write 'tile' while a bulk copy of its own may still read it [async-read]}}
  // expected-error @below {{'@b::@run' stores 'tile', which 'fill' writes, without a fence.proxy.async between on every way [missing-fence]}}
  "pipelink.protocol"() {of = "run", text = "repeat n { full.wait; tile.store; empty.arrive; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
}

// -----

// It writes again before it has waited.
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.smem"() {sym_name = "tile", bytes = 1024, align = 128} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{'@a::@run' writes 'tile' while a bulk copy of its own may still read it [async-read]}}
  "pipelink.protocol"() {of = "run", text = "repeat n { tile.write; fence async; tile.store; } tile.stored;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}

// -----

// What lies over a buffer waits for the copies out of it, all of them: another buffer of the role's, one that another
// role writes, and one of the next role on the same warps.
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.smem"() {sym_name = "early", bytes = 1024, align = 128, live = [0, 1]} : () -> ()
  "pipelink.smem"() {sym_name = "late", bytes = 1024, align = 128, live = [1, 2]} : () -> ()
  // expected-error @below {{'@a::@run' writes 'late' over 'early' while a bulk copy of its own may still read it [async-read]}}
  "pipelink.protocol"() {of = "run", text = "early.write; fence async; early.store; early.stored keep 1; late.write; early.stored;"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.role"() {sym_name = "next", warps = 1} : () -> ()
  "pipelink.smem"() {sym_name = "early", bytes = 1024, align = 128, live = [0, 1]} : () -> ()
  "pipelink.smem"() {sym_name = "late", bytes = 1024, align = 128, live = [1, 2]} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 64} : () -> ()
  // expected-error @+2 {{'@b::@run' touches '@b::@early' (early) while '@b::@next' may still write '@b::@late' (late), which shares its memory [slot-race]}}
  // expected-error @below {{'@b::@run' lets others write 'late' over 'early' while a bulk copy of its own may still read it [async-read]}}
  "pipelink.protocol"() {of = "run", text = "early.write; fence async; early.store; met.sync; early.stored;"} : () -> ()
  "pipelink.protocol"() {of = "next", text = "met.sync; late.write;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
}

// -----

module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.smem"() {sym_name = "tile", bytes = 1024, align = 128} : () -> ()
  // expected-error @below {{'@a::@run' ends its turn before '@b::@tile' lies over 'tile' while a bulk copy of its own may still read it [async-read]}}
  "pipelink.protocol"() {of = "run", text = "tile.write; fence async; tile.store;"} : () -> ()
}
module @b attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.smem"() {sym_name = "tile", bytes = 1024, align = 128} : () -> ()
  "pipelink.protocol"() {of = "run", text = "tile.write; fence async; tile.store;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @b} : () -> ()
  "pipelink.exclusive"() {name = "g", roles = [@a::@run, @b::@run]} : () -> ()
}

// -----

// One thread waits for its copies, and the others write before they know of it.
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 2} : () -> ()
  "pipelink.smem"() {sym_name = "tile", bytes = 1024, align = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 64} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{'@a::@run, thread 0': stored tile, while '@a::@run, threads 1-63' may still write tile [slot-race]}}
  "pipelink.protocol"() {of = "run", text = "repeat n { met.sync; tile.stored by 1 thread; tile.write; fence async; met.sync; tile.store by 1 thread; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}

// -----

// A thread waits for its own copies, not for those of others.
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 2} : () -> ()
  "pipelink.smem"() {sym_name = "tile", bytes = 1024, align = 128} : () -> ()
  "pipelink.barrier"() {sym_name = "met", threads = 64} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  // expected-error @below {{'@a::@run' writes 'tile' while a bulk copy of its own may still read it [async-read]}}
  "pipelink.protocol"() {of = "run", text = "repeat n { tile.stored by 1 thread; met.sync; tile.write; fence async; met.sync; tile.store; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}
