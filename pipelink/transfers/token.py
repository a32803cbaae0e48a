"""Tokens: order and credit without a payload, such as the ping-pong of two warpgroups (``ring.cu``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pipelink.ir.placement import ConnectionPlacement, TokenPlacement
from pipelink.ir.views import Connect, Port
from pipelink.model.binding import Const, CursorPointer, Invoke, Return, SharedAddress
from pipelink.model.demand import Mbarriers
from pipelink.model.graph import ConnectionGraph, Edge, first_credit
from pipelink.support.diagnostics import Diagnostics
from pipelink.transfers import touch
from pipelink.transfers.base import (
    Arrival,
    Arrivals,
    Plan,
    Site,
    Solved,
    Transfer,
    declared,
    report_disagreement,
)
from pipelink.transfers.binder import Binder


@dataclass(kw_only=True)
class TokenPlan(Plan):
    """The plan of a token, with who passes it."""

    producer: Arrivals


class Token(Transfer):
    """One mbarrier; the taker's cursor starts with parity 1 where it has a first credit."""

    name: ClassVar[str] = "token"
    kind: ClassVar[str] = "token"
    sources: ClassVar[tuple[str, ...] | None] = ("ring.cu",)
    min_arch: ClassVar[str] = "sm_90"
    form: ClassVar[type[ConnectionPlacement]] = TokenPlacement
    consumer_waits: ClassVar[tuple[str, ...]] = ("take",)

    def agree(self, graph: ConnectionGraph, edge: Edge, diagnostics: Diagnostics) -> None:
        source, target = edge.source.port, edge.target.port
        stated = edge.connect.credit is None and "credit" in source.data and "credit" in target.data
        if stated and source.credit != target.credit:
            report_disagreement(edge, "the token's credit", source.credit, target.credit, diagnostics)
        for port in (source, target):
            if port.credit > 1:
                message = f"token port '{port.name}' starts with credit {port.credit}, a token carries 0 or 1"
                diagnostics.error("protocol-mismatch", message, edge.connect.location, notes=declared(port))

    def demand(self, site: Site) -> Plan | None:
        end = site.find_end(site.connects[0].source)
        if end is None:
            return None
        arrivals = touch.threads(end, site.elect)
        mbarriers = Mbarriers(site.key, 1, arrivals.count, end.port.location)
        return TokenPlan(self, site, mbarriers=(mbarriers,), producer=arrivals)

    def place(self, plan: Plan, connect: Connect, solved: Solved) -> TokenPlacement:
        assert isinstance(plan, TokenPlan)
        site = plan.site
        credit = first_credit(site.connects, [site.source, *(site.port(other.target) for other in site.connects)])
        return TokenPlacement(
            transfer=self.name,
            full=solved.solution.mbarrier[site.key],
            producer_arrivals=plan.producer.count,
            producer_unit=plan.producer.unit,
            consumer_cursor=solved.cursor(site.key, connect.name),
            initial=credit % 2,
        )

    def incomplete(self, placed: ConnectionPlacement, source: Port, target: Port) -> str | None:
        assert isinstance(placed, TokenPlacement)
        return f"starts with parity {placed.initial}, a phase is 0 or 1" if placed.initial > 1 else None

    def contradiction(self, placed: ConnectionPlacement, connects: Sequence[Connect], ports: Sequence[Port]) -> str:
        assert isinstance(placed, TokenPlacement)
        credit = first_credit(connects, ports)
        agrees = placed.initial == credit % 2
        return "" if agrees else f"has credit {credit}, and is placed with initial parity {placed.initial}"

    def bind(self, binder: Binder, connect: Connect) -> None:
        placed = connect.placed(TokenPlacement)
        assert placed is not None, connect.name
        full, unit = SharedAddress(placed.full), Const(touch.UNITS[placed.producer_unit])
        giver, taker = binder.port(connect.source), binder.port(connect.target)
        given = Invoke("pl_token_pass", (full, unit))
        binder.function(binder.instance(connect.source), giver, "pl_pass", given, Return())
        take = Invoke("pl_token_take", (CursorPointer(placed.consumer_cursor), full), waits=True)
        binder.waiting(binder.instance(connect.target), taker, "pl_take", take, then=(Return(),))
        binder.parities[placed.consumer_cursor] = placed.initial

    def watched(self, placed: ConnectionPlacement, producer: bool) -> int | None:
        assert isinstance(placed, TokenPlacement)
        return None if producer else placed.full

    def arrivals(
        self, verb: str, producer: bool, connect: Connect, placed: ConnectionPlacement, port: Port, cta: int, ctas: int
    ) -> tuple[Arrival, ...]:
        assert isinstance(placed, TokenPlacement)
        return (Arrival(cta, placed.full, placed.producer_unit),)
