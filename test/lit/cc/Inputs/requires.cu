#include <pipelink/component.cuh>
PL_COMPONENT(lit::asks) {
PL_ROLE(run, pl::warps<1>);
PL_TOKEN_OUT(first);
PL_REQUIRE(columns, "plain", "first");
PL_REQUIRE(rows, 3);
PL_ENTRY(run) { for (;;) first::pass(self); }
}
