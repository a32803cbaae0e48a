module @pages attributes {pipelink.kernel = {target = "sm_90a"}} {
  "pipelink.instance"() {sym_name = "loader", component = @acme.page_loader} : () -> ()
  "pipelink.instance"() {sym_name = "reader", component = @acme.page_sum} : () -> ()
  "pipelink.connect"() {source = @loader::@x, target = @reader::@x} : () -> ()
}
