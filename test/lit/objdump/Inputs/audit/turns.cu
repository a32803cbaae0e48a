#include <pipelink/component.cuh>
// Components whose warpgroups take turns.
#define IN_TURN(NAME, PROTOCOL)                 \
  PL_COMPONENT(NAME) {                          \
    PL_ROLE(run, pl::warps<8>);                 \
    PL_TURNS(turn);                             \
    PL_PARAM(out, float*);                      \
    PL_PARAM(n, int);                           \
    PL_PROTOCOL(run, PROTOCOL);                 \
  }                                             \
  namespace NAME
IN_TURN(lit::honest, "repeat n { turn.take; turn.pass; }") {
PL_ENTRY(run) {
  for (int i = 0; i < n(self); ++i) {
    turn::take(self);
    out(self)[i * 256 + run::thread(self)] = 1;
    turn::pass(self);
  }
}
}
IN_TURN(lit::never_passed, "turn.take; turn.pass;") {
PL_ENTRY(run) {
  turn::take(self);
  out(self)[run::thread(self)] = 1;
}
}
IN_TURN(lit::other_way_round, "turn.take; turn.pass;") {
PL_ENTRY(run) {
  turn::pass(self);
  out(self)[run::thread(self)] = 1;
  turn::take(self);
}
}
IN_TURN(lit::once_more, "turn.take; turn.pass;") {
PL_ENTRY(run) {
  turn::take(self);
  turn::pass(self);
  out(self)[run::thread(self)] = 1;
  turn::pass(self);
}
}
IN_TURN(lit::one_of_them, "turn.take; turn.pass;") {
PL_ENTRY(run) {
  if (run::warpgroup(self) == 0) turn::take(self);
  out(self)[run::thread(self)] = 1;
  turn::pass(self);
}
}
IN_TURN(lit::on_some_ways, "repeat n { turn.take; turn.pass; }") {
PL_ENTRY(run) {
  for (int i = 0; i < n(self); ++i) {
    turn::take(self);
    if (out(self)[i] > 0) turn::pass(self);
  }
}
}
PL_COMPONENT(lit::unsaid) {
PL_ROLE(run, pl::warps<8>);
PL_TURNS(turn);
PL_ENTRY(run) {
  turn::take(self);
  turn::pass(self);
}
}
PL_COMPONENT(lit::unused) {
PL_ROLE(run, pl::warps<8>);
PL_TURNS(turn);
PL_ENTRY(run) {}
}
PL_COMPONENT(lit::not_mine) {
PL_ROLE(first, pl::warps<8>);
PL_ROLE(second, pl::warps<8>);
PL_TURNS(turn, pl::in_role<first>);
PL_ENTRY(first) {}
PL_ENTRY(second) {
  turn::take(self);
  turn::pass(self);
}
}
