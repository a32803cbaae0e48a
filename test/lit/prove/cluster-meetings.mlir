// CTAs of a cluster reach into each other's shared memory, and meet in between.
// RUN: pl-opt --pipeline=check,place,prove -verify-diagnostics -split-input-file %s -o -

// What each wrote, the others read; then it is written again.
module @reads attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.smem"() {sym_name = "part", bytes = 512, align = 16} : () -> ()
  "pipelink.cluster_barrier"() {sym_name = "met"} : () -> ()
  "pipelink.param"() {sym_name = "n", type = "i32", bytes = 4, align = 4} : () -> ()
  "pipelink.tensor"() {name = "x", element = "f32", shape = ["N"], access = "read"} : () -> ()
  "pipelink.bind"() {param = "n", to = "N"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat n { part.write; met.sync; part.peer_read; met.sync; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @reads} : () -> ()
  "pipelink.cluster"() {value = [4, 1, 1]} : () -> ()
  "pipelink.grid"() {value = ["4 * N", "1", "1"]} : () -> ()
}

// -----

// Each writes into the memory of the others, which read it as their own; two roles, and only one of them meets.
module @writes attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1, threads = "one"} : () -> ()
  "pipelink.role"() {sym_name = "other", warps = 1} : () -> ()
  "pipelink.smem"() {sym_name = "part", bytes = 512, align = 16, role = "run"} : () -> ()
  "pipelink.cluster_barrier"() {sym_name = "met", role = "run"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat 3 { part.peer_write; met.sync; part.read; met.sync; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @writes} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}

// -----

// One CTA writes, all read it there; and without a cluster the CTA meets itself.
module @broadcast attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.smem"() {sym_name = "part", bytes = 512, align = 16} : () -> ()
  "pipelink.cluster_barrier"() {sym_name = "met"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat 3 { rank 0 { part.write; } met.sync; part.peer_read; met.sync; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @broadcast} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}
module @alone attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @broadcast} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}

// -----

// A read of what the other may not have written yet
module @early attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.smem"() {sym_name = "part", bytes = 512, align = 16} : () -> ()
  "pipelink.cluster_barrier"() {sym_name = "met"} : () -> ()
  // expected-error @below {{'@a::@run, CTA 1': write part, and peer_read part of '@a::@run, CTA 0' may not be over: they do not meet between [missing-meeting]}}
  "pipelink.protocol"() {of = "run", text = "part.write; part.peer_read; met.sync;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @early} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}

// -----

// The same, of a role whose warps have not met either
module @early_warps attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.smem"() {sym_name = "part", bytes = 512, align = 16} : () -> ()
  "pipelink.cluster_barrier"() {sym_name = "met"} : () -> ()
  // expected-error @below {{'@a::@run, CTA 0': peer_read part, and write part of other warps of the role may not be over: they do not meet between [missing-meeting]}}
  "pipelink.protocol"() {of = "run", text = "part.write; part.peer_read; met.sync;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @early_warps} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}

// -----

// The next write while the other may still read
module @again attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.smem"() {sym_name = "part", bytes = 512, align = 16} : () -> ()
  "pipelink.cluster_barrier"() {sym_name = "met"} : () -> ()
  // expected-error @below {{'@a::@run, CTA 0': peer_read part, and write part of '@a::@run, CTA 1' may not be over: they do not meet between [missing-meeting]}}
  "pipelink.protocol"() {of = "run", text = "repeat 3 { part.write; met.sync; part.peer_read; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @again} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}

// -----

// A write into the memory of another that may still read it
module @over attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.smem"() {sym_name = "part", bytes = 512, align = 16} : () -> ()
  "pipelink.cluster_barrier"() {sym_name = "met"} : () -> ()
  // expected-error @below {{'@a::@run, CTA 0': read part, and peer_write part of '@a::@run, CTA 1' may not be over: they do not meet between [missing-meeting]}}
  "pipelink.protocol"() {of = "run", text = "repeat 3 { part.peer_write; met.sync; part.read; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @over} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}

// -----

// A read of its own memory that the others may still write into
module @own attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.smem"() {sym_name = "part", bytes = 512, align = 16} : () -> ()
  "pipelink.cluster_barrier"() {sym_name = "met"} : () -> ()
  // expected-error @below {{'@a::@run, CTA 1': peer_write part, and read part of '@a::@run, CTA 0' may not be over: they do not meet between [missing-meeting]}}
  "pipelink.protocol"() {of = "run", text = "part.peer_write; part.read; met.sync;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @own} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}

// -----

// Nobody writes what is read
module @empty attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.smem"() {sym_name = "part", bytes = 512, align = 16} : () -> ()
  "pipelink.cluster_barrier"() {sym_name = "met"} : () -> ()
  // expected-error @below {{'@a::@run, CTA 1': peer_read part, which holds nothing that was written [slot-race]}}
  "pipelink.protocol"() {of = "run", text = "met.sync; part.peer_read; met.sync;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @empty} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}

// -----

// Nothing lets the CTAs meet, at the beginning, between, or at the end
module @never attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.smem"() {sym_name = "part", bytes = 512, align = 16} : () -> ()
  // expected-error @+2 {{'@a::@run': peer_read part, in a CTA which may not have begun yet, or have ended: nothing lets the CTAs of the cluster meet [peer-lifetime]}}
  // expected-error @below {{'@a::@run, CTA 1': write part, and peer_read part of '@a::@run, CTA 0' may not be over: they do not meet between [missing-meeting]}}
  "pipelink.protocol"() {of = "run", text = "part.write; part.peer_read;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @never} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}

// -----

// One CTA goes where another does not
module @ways attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.smem"() {sym_name = "part", bytes = 512, align = 16} : () -> ()
  "pipelink.cluster_barrier"() {sym_name = "met"} : () -> ()
  // expected-error @below {{'@a::@run, CTA 0' waits for ever at cluster barrier (@a::@met), where 32 of 64 threads are: '@a::@run, CTA 1' has finished [barrier-participation]}}
  "pipelink.protocol"() {of = "run", text = "choose { met.sync; } or { }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @ways} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}

// -----

// A part of the role meets
module @part attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 2} : () -> ()
  "pipelink.smem"() {sym_name = "part", bytes = 512, align = 16} : () -> ()
  "pipelink.cluster_barrier"() {sym_name = "met"} : () -> ()
  // expected-error @below {{'@a::@run, CTA 0, threads 0-31' waits for ever at cluster barrier (@a::@met), where 64 of 128 threads are, and no others come [barrier-participation]}}
  "pipelink.protocol"() {of = "run", text = "met.sync by 1 warp;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @part} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}

// -----

// One meets once more than the others
module @more attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.smem"() {sym_name = "part", bytes = 512, align = 16} : () -> ()
  "pipelink.cluster_barrier"() {sym_name = "met"} : () -> ()
  // expected-error @below {{'@a::@run, CTA 0' waits for ever at cluster barrier (@a::@met), where 32 of 64 threads are: '@a::@run, CTA 1' has finished [barrier-participation]}}
  "pipelink.protocol"() {of = "run", text = "met.sync; rank 0 { met.sync; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @more} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}

// -----

// A CTA that has finished
module @rank attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.smem"() {sym_name = "part", bytes = 512, align = 16} : () -> ()
  "pipelink.cluster_barrier"() {sym_name = "met"} : () -> ()
  // expected-error @below {{'@a::@run, CTA 1': peer_read part, and write part of '@a::@run, CTA 0' may not be over: they do not meet between [missing-meeting]}}
  "pipelink.protocol"() {of = "run", text = "rank 0 { part.write; met.sync; } rank 1 { part.peer_read; met.sync; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @rank} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}

// -----

// A bulk copy out of what another CTA wrote: the CTA whose memory it is fences
module @stored attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.smem"() {sym_name = "part", bytes = 512, align = 16} : () -> ()
  "pipelink.cluster_barrier"() {sym_name = "met"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat 3 { part.peer_write; met.sync; fence async; part.store; part.stored; met.sync; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @stored} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}

// -----

// A fence of the other CTA is none
module @unfenced attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.smem"() {sym_name = "part", bytes = 512, align = 16} : () -> ()
  "pipelink.cluster_barrier"() {sym_name = "met"} : () -> ()
  // expected-error @below {{'@a::@run' stores 'part', which 'run' writes, without a fence.proxy.async between on every way [missing-fence]}}
  "pipelink.protocol"() {of = "run", text = "repeat 3 { part.peer_write; fence async; met.sync; part.store; part.stored; met.sync; }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @unfenced} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}

// -----

// A write into another CTA whose bulk copy may still read
module @reading attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.smem"() {sym_name = "part", bytes = 512, align = 16} : () -> ()
  "pipelink.cluster_barrier"() {sym_name = "met"} : () -> ()
  // expected-error @+2 {{'@a::@run' writes 'part' while a bulk copy of its own may still read it [async-read]}}
  // expected-error @below {{'@a::@run, CTA 1': peer_write part, and stored part of '@a::@run, CTA 0' may not be over: they do not meet between [missing-meeting]}}
  "pipelink.protocol"() {of = "run", text = "part.peer_write; met.sync; fence async; part.store; met.sync; part.peer_write; part.stored;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @reading} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}

// -----

// As often as a call says, which may tell each CTA otherwise
module @asked attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.smem"() {sym_name = "part", bytes = 512, align = 16} : () -> ()
  "pipelink.cluster_barrier"() {sym_name = "met"} : () -> ()
  "pipelink.port"() {sym_name = "more", direction = "calls", kind = "call", signature = "bool()"} : () -> ()
  // expected-error @below {{'@a::@run, CTA 1' waits for ever at cluster barrier (@a::@met), where 32 of 64 threads are: '@a::@run, CTA 0' has finished [barrier-participation]}}
  "pipelink.protocol"() {of = "run", text = "repeat more { part.write; met.sync; part.peer_read; met.sync; }"} : () -> ()
}
module @answer attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "more", direction = "answers", kind = "call", signature = "bool()"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @asked} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @answer} : () -> ()
  "pipelink.connect"() {source = @a::@more, target = @b::@more} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}

// -----

// The same, where somebody promises that it tells all CTAs the same
module @promised attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.smem"() {sym_name = "part", bytes = 512, align = 16} : () -> ()
  "pipelink.cluster_barrier"() {sym_name = "met"} : () -> ()
  "pipelink.port"() {sym_name = "more", direction = "calls", kind = "call", signature = "bool()"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat more { part.write; met.sync; part.peer_read; met.sync; }"} : () -> ()
}
module @answer attributes {pipelink.component = {abi = 1}} {
  "pipelink.port"() {sym_name = "more", direction = "answers", kind = "call", signature = "bool()"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @promised} : () -> ()
  "pipelink.instance"() {sym_name = "b", component = @answer} : () -> ()
  "pipelink.connect"() {source = @a::@more, target = @b::@more} : () -> ()
  "pipelink.promise"() {name = "cluster_lockstep", value = 2} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}

// -----

// A choice by a name, likewise
module @named attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 1} : () -> ()
  "pipelink.smem"() {sym_name = "part", bytes = 512, align = 16} : () -> ()
  "pipelink.cluster_barrier"() {sym_name = "met"} : () -> ()
  // expected-error @below {{'@a::@run, CTA 0' waits for ever at cluster barrier (@a::@met), where 32 of 64 threads are: '@a::@run, CTA 1' has finished [barrier-participation]}}
  "pipelink.protocol"() {of = "run", text = "choose some { part.write; met.sync; part.peer_read; met.sync; } or { }"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @named} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}

// -----

// CTAs that hold columns of one SM wait for those of their clusters, which wait for columns of another
module @columns attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.tmem"() {sym_name = "kept", columns = 512} : () -> ()
  "pipelink.cluster_barrier"() {sym_name = "met"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "kept.write; met.sync; kept.read;"} : () -> ()
}
// expected-error @below {{16 CTAs of kernel 'k' may be on an SM and wait for others of their clusters; they allocate 512 columns of tensor memory each, and sm_100a has 512: one waits for columns, the others for it [tensor-memory-order]}}
module @k attributes {pipelink.kernel = {target = "sm_100a"}} {
  "pipelink.instance"() {sym_name = "a", component = @columns} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.tensor"() {name = "x", element = "f32", shape = ["N"], access = "read"} : () -> ()
  "pipelink.grid"() {value = ["2 * N", "1", "1"]} : () -> ()
}

// -----

// As many as the SM has columns for
module @columns attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.tmem"() {sym_name = "kept", columns = 512} : () -> ()
  "pipelink.cluster_barrier"() {sym_name = "met"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "kept.write; met.sync; kept.read;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_100a"}} {
  "pipelink.instance"() {sym_name = "a", component = @columns} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.grid"() {value = ["sms", "1", "1"]} : () -> ()
}
