// Two places where the CTAs of a cluster meet, of two roles: four warps, and one thread.
module @meets attributes {pipelink.component = {abi = 1}} {
  "pipelink.role"() {sym_name = "run", warps = 4} : () -> ()
  "pipelink.role"() {sym_name = "one", warps = 1, threads = "one"} : () -> ()
  "pipelink.cluster_barrier"() {sym_name = "met", role = "run"} : () -> ()
  "pipelink.cluster_barrier"() {sym_name = "again", role = "run"} : () -> ()
  "pipelink.cluster_barrier"() {sym_name = "alone", role = "one"} : () -> ()
  "pipelink.mbarrier"() {sym_name = "own", arrivals = 8, count = 2, role = "run"} : () -> ()
  "pipelink.protocol"() {of = "run", text = "repeat 3 { met.sync; again.sync; }"} : () -> ()
  "pipelink.protocol"() {of = "one", text = "alone.sync;"} : () -> ()
}
module @k attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "a", component = @meets} : () -> ()
  "pipelink.cluster"() {value = [2, 1, 1]} : () -> ()
  "pipelink.grid"() {value = ["2", "1", "1"]} : () -> ()
}
