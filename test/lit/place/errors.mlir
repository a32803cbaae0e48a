// RUN: pl-opt --pipeline=check,place -split-input-file -verify-diagnostics %s

// One byte more than an SM gives one CTA.

module @x.big attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 4 : i64, align = 4 : i64} : () -> ()
  // expected-error @+1 {{shared memory of kernel 'k' overflows: '@a::@table' does not fit; it needs 232449 bytes, 1 over 232448 of sm_90a}}
  "pipelink.smem"() {sym_name = "table", bytes = 232449 : i64, align = 16 : i64} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @x.big} : () -> ()
}

// -----

// The shallowest ring and a table collide; with two CTAs on the SM each has half.

module @x.fill attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 1 : i64} : () -> ()
  // expected-error @+1 {{overflows: '@fill::@t' and '@work::@table' collide; it needs 148496 bytes, 32784 over 115712 of sm_90a with 2 CTAs on an SM}}
  "pipelink.port"() {sym_name = "t", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [
      {element = "f32", shape = [64, 192], layout = "row_major", bytes = 49152 : i64, align = 128 : i64}]} : () -> ()
}
module @x.work attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.port"() {sym_name = "t", direction = "in", kind = "stream", touch = "threads", stages = [1, 8], tiles = [
      {element = "f32", shape = [64, 192], layout = "row_major", bytes = 49152 : i64, align = 128 : i64}]} : () -> ()
  "pipelink.smem"() {sym_name = "table", bytes = 50064 : i64, align = 16 : i64} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a", min_ctas = 2 : i64}} {
  "pipelink.instance"() {sym_name = "fill", component = @x.fill} : () -> ()
  "pipelink.instance"() {sym_name = "work", component = @x.work} : () -> ()
  "pipelink.connect"() {source = @fill::@t, target = @work::@t} : () -> ()
}

// -----

// Roles of an exclusive group do not share ids with a role outside it, nor with the barrier at which they take turns.

module @x.op attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.barrier"() {sym_name = "b1", threads = 128 : i64} : () -> ()
  "pipelink.barrier"() {sym_name = "b2", threads = 128 : i64} : () -> ()
  "pipelink.barrier"() {sym_name = "b3", threads = 128 : i64} : () -> ()
  "pipelink.barrier"() {sym_name = "b4", threads = 128 : i64} : () -> ()
  "pipelink.barrier"() {sym_name = "b5", threads = 128 : i64} : () -> ()
  "pipelink.barrier"() {sym_name = "b6", threads = 128 : i64} : () -> ()
  // expected-error @+1 {{kernel 'k' needs 17 named barriers at once, 2 over 15 (id 0 belongs to the entry)}}
  "pipelink.barrier"() {sym_name = "b7", threads = 128 : i64} : () -> ()
  "pipelink.barrier"() {sym_name = "b8", threads = 128 : i64} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @x.op} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @x.op} : () -> ()
  "pipelink.instance"() {sym_name = "c", component = @x.op} : () -> ()
  "pipelink.exclusive"() {name = "ops", roles = [@b::@run, @c::@run]} : () -> ()
}

// -----

// Seven warpgroups and roles that cannot share one.

module @x.heavy attributes {pipelink.component = {abi = 1 : i64}} {
  // expected-error @+1 {{kernel 'k': the roles need 36 warps, 4 over 32}}
  "pipelink.role"() {sym_name = "run", warps = 28 : i64, align = 4 : i64, registers = [56, 64]} : () -> ()
}
module @x.low attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 1 : i64, registers = [24, 24]} : () -> ()
}
module @x.high attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 1 : i64, registers = [80, 80]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @x.heavy} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @x.low} : () -> ()
  "pipelink.instance"() {sym_name = "c", component = @x.high} : () -> ()
}

// -----

// Within the register file, but over what three warpgroups start with.

module @x.light attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 1 : i64, registers = [32, 40]} : () -> ()
}
module @x.mma attributes {pipelink.component = {abi = 1 : i64}} {
  // expected-error @+1 {{kernel 'k': 3 warpgroups need at least 32 + 240 + 240 = 512 registers a thread, 8 over the pool of 3 x 168 = 504}}
  "pipelink.role"() {sym_name = "run", warps = 8 : i64, align = 4 : i64, registers = [240, 240]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "load", component = @x.light} : () -> ()
  "pipelink.instance"() {sym_name = "mma", component = @x.mma} : () -> ()
}

// -----

// No setmaxnreg on this target, and launch bounds leave too few.

module @x.wide attributes {pipelink.component = {abi = 1 : i64}} {
  // expected-error @+1 {{'@a::@run' needs 144 registers a thread, 16 over the 128 that 16 warps leave}}
  "pipelink.role"() {sym_name = "run", warps = 12 : i64, align = 4 : i64, registers = [144, 160]} : () -> ()
}
module @x.rest attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 4 : i64, align = 4 : i64, registers = [32, 64]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_80"}} {
  "pipelink.instance"() {sym_name = "a", component = @x.wide} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @x.rest} : () -> ()
}

// -----

// The fifth warp of one quarter of the SM takes from all: by 65536 / (17 x 32) = 120 it would be enough.

module @x.wide attributes {pipelink.component = {abi = 1 : i64}} {
  // expected-error @+1 {{'@a::@run' needs 112 registers a thread, 16 over the 96 that 17 warps leave}}
  "pipelink.role"() {sym_name = "run", warps = 16 : i64, align = 4 : i64, registers = [112, 120]} : () -> ()
}
module @x.rest attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 1 : i64, registers = [32, 64]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_80"}} {
  "pipelink.instance"() {sym_name = "a", component = @x.wide} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @x.rest} : () -> ()
}

// -----

// Exclusive roles run on the same warps, which hold one register count.

module @x.few attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 4 : i64, align = 4 : i64, registers = [24, 64]} : () -> ()
}
module @x.many attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 4 : i64, align = 4 : i64, registers = [128, 200]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @x.few} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @x.many} : () -> ()
  // expected-error @+1 {{roles of 'ops' share warps but no register count: '@a::@run' wants 24 to 64, '@b::@run' wants 128 to 200 [register-disagreement]}}
  "pipelink.exclusive"() {name = "ops", roles = [@a::@run, @b::@run]} : () -> ()
}

// -----

module @x.acc attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 4 : i64, align = 4 : i64} : () -> ()
  // expected-error @+1 {{tensor memory of kernel 'k' overflows: '@a::@acc' and '@b::@acc' need 520 columns, 8 over 512 of sm_100a}}
  "pipelink.tmem"() {sym_name = "acc", columns = 260 : i64} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_100a"}} {
  "pipelink.instance"() {sym_name = "a", component = @x.acc} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @x.acc} : () -> ()
}

// -----

// Nobody calls the passive component whose port is filled.

module @x.passive attributes {pipelink.component = {abi = 1 : i64}} {
  // expected-error @+1 {{port '@fill::@t' is used by no role; it needs exactly one [ambiguous-role]}}
  "pipelink.port"() {sym_name = "t", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [
      {element = "f32", shape = [64], layout = "row_major", bytes = 256 : i64, align = 16 : i64}]} : () -> ()
}
module @x.reader attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.port"() {sym_name = "t", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [
      {element = "f32", shape = [64], layout = "row_major", bytes = 256 : i64, align = 16 : i64}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "fill", component = @x.passive} : () -> ()
  "pipelink.instance"() {sym_name = "read", component = @x.reader} : () -> ()
  "pipelink.connect"() {source = @fill::@t, target = @read::@t} : () -> ()
}

// -----

// Two alternatives of one consumer would release a slot with different counts.

module @x.fill attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 1 : i64} : () -> ()
  "pipelink.port"() {sym_name = "t", direction = "out", kind = "stream", touch = "threads", stages = [2, 4], tiles = [
      {element = "f32", shape = [64], layout = "row_major", bytes = 256 : i64, align = 16 : i64}]} : () -> ()
}
module @x.four attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 4 : i64, align = 4 : i64} : () -> ()
  "pipelink.port"() {sym_name = "t", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [
      {element = "f32", shape = [64], layout = "row_major", bytes = 256 : i64, align = 16 : i64}]} : () -> ()
}
module @x.two attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 2 : i64} : () -> ()
  // expected-error @+1 {{consumers in exclusive group 'ops' release a slot differently: '@a::@t' with 4 arrivals, one a warp, '@b::@t' with 2 arrivals, one a warp [arrival-disagreement]}}
  "pipelink.port"() {sym_name = "t", direction = "in", kind = "stream", touch = "threads", stages = [2, 4], tiles = [
      {element = "f32", shape = [64], layout = "row_major", bytes = 256 : i64, align = 16 : i64}]} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "fill", component = @x.fill} : () -> ()
  "pipelink.instance"() {sym_name = "a", component = @x.four} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @x.two} : () -> ()
  "pipelink.connect"() {source = @fill::@t, target = @a::@t} : () -> ()
  "pipelink.connect"() {source = @fill::@t, target = @b::@t} : () -> ()
  "pipelink.exclusive"() {name = "ops", roles = [@a::@run, @b::@run]} : () -> ()
}

// -----

// Six warps, but seven with the gap that alignment leaves.

module @x.half attributes {pipelink.component = {abi = 1 : i64}} {
  "pipelink.role"() {sym_name = "run", warps = 3 : i64, align = 4 : i64} : () -> ()
}
// expected-error @+1 {{kernel 'k': 10 CTAs of 7 warps need 70, 6 over the 64 of an SM of sm_90a}}
module @k attributes {pipelink.kernel = {target = "sm_90a", min_ctas = 10 : i64}} {
  "pipelink.instance"() {sym_name = "a", component = @x.half} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @x.half} : () -> ()
}

// -----

// An alignment that nothing can have
module @a attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  // expected-error @below {{shared memory of kernel 'k' overflows: alignment does not fit; it needs 1099511627776 bytes}}
  "pipelink.smem"() {sym_name = "tile", bytes = 1024, align = 1099511627776} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @a} : () -> ()
}
