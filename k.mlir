module @pages attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "writer", component = @acme.page_writer} : () -> ()
  "pipelink.instance"() {sym_name = "loader", component = @acme.page_loader} : () -> ()
  "pipelink.instance"() {sym_name = "reader", component = @acme.page_sum} : () -> ()
  "pipelink.connect"() {source = @writer::@written, target = @loader::@written} : () -> ()
  "pipelink.connect"() {source = @loader::@x, target = @reader::@x} : () -> ()
}
