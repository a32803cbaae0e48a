// The sum of each segment: one role sends the values, one adds, one writes.
module @segment_sums attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "send", component = @acme.segments} : () -> ()
  "pipelink.instance"() {sym_name = "add", component = @acme.segment_sum} : () -> ()
  "pipelink.instance"() {sym_name = "write", component = @acme.sum_writer} : () -> ()
  "pipelink.connect"() {source = @send::@items, target = @add::@items} : () -> ()
  "pipelink.connect"() {source = @add::@sums, target = @write::@sums} : () -> ()
}
