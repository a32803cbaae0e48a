"""Part of ``check``: each port by itself, how often it is connected, and what may carry each connection."""

from __future__ import annotations

from collections.abc import Sequence

from pipelink.contract.vocabulary import CACHE_POLICIES, ELEMENT_BITS, SOURCES, SWIZZLES, TARGETS, TOUCHES
from pipelink.ir.views import Port, Tile
from pipelink.model.graph import ConnectionGraph, Edge, End
from pipelink.support.diagnostics import Diagnostics, Location, Note, nearest
from pipelink.target import Target
from pipelink.transfers import BY_NAME, Refusal, legal

#: Instances of one component whose answers call each other, and of several: what nvJitLink 13.0 inlines without a call
#: left, measured in seconds; one more takes minutes, or ends with a stack.
MAX_CHAIN, MAX_MIXED_CHAIN = 7, 5
_BOX = "pl::box<…>, and fill the tile with several copies"
TMA_BOX = 256  # elements along a dimension of a box, same source
TMA_STEP = 16  # bytes of a box's row, same source
TMA_ALIGN = 128  # bytes, of a shared-memory buffer that a tensor map's box goes to or comes from


def check_ports(graph: ConnectionGraph, target: Target, diagnostics: Diagnostics) -> None:
    """Each port of each instance: connected as often as its kind asks, and consistent in itself."""
    fits = _Fits(list(graph.ends()))
    for end in fits.ends:
        _check_cardinality(graph, end, fits, diagnostics)
    seen: set[str] = set()
    for instance, component in graph.components.items():
        if component.name in seen:
            continue
        seen.add(component.name)
        for port in component.ports.values():
            _check_port(End(graph.kernel.instances[instance], component, port), target, diagnostics)
    cycle = graph.call_cycle()
    if cycle:
        message = f"instances call each other in a circle: {' -> '.join([*cycle, cycle[0]])}"
        diagnostics.error("call-cycle", message, graph.kernel.instances[cycle[0]].location)
    for chain in graph.self_callers():
        _check_chain(graph, chain, diagnostics)


def _check_chain(graph: ConnectionGraph, instances: Sequence[str], diagnostics: Diagnostics) -> None:
    """How many instances may answer in a chain of one component, or of some that alternate."""
    names = list(dict.fromkeys(graph.components[instance].name for instance in instances))
    most = MAX_CHAIN if len(names) == 1 else MAX_MIXED_CHAIN
    if len(instances) <= most:
        return
    what = f"'{names[0]}' calls itself" if len(names) == 1 else f"{', '.join(map(repr, names))} call each other"
    message = (
        f"{what} through {len(instances)} instances; the compiler dissolves calls of at most {most}: all instances "
    )
    message += "of a component have one function, which it has to inline into itself"
    hint = "compile the component under several names: instances of different components are not limited"
    where = graph.kernel.instances[instances[most]].location
    notes = [Note("the component is declared here", graph.components[instances[most]].location)]
    diagnostics.error("call-chain", message, where, notes=notes, hint=hint)


def _check_cardinality(graph: ConnectionGraph, end: End, fits: _Fits, diagnostics: Diagnostics) -> None:
    port = end.port
    if port.direction == "local":
        return
    is_source = port.direction in SOURCES
    edges = (graph.by_source if is_source else graph.by_target).get(end.key, [])
    if not edges:
        _report_unconnected(graph, end, fits, diagnostics)
        return
    if len(edges) == 1:
        return
    first, second = edges[0], edges[1]
    notes = [Note("first connected here", first.connect.location)]
    where = second.connect.location
    if port.kind == "stream" and not is_source:
        message = f"port {end} has two producers: {first.source} and {second.source}"
        diagnostics.error("two-producers", message, where, notes=notes)
    elif (port.kind, port.direction) == ("call", "calls"):
        message = f"port {end} ({port.kind}, {port.direction}) is connected {len(edges)} times, it has one other end"
        diagnostics.error("connected-twice", message, where, notes=notes)
    elif port.kind == "token":
        message = f"token port {end} is connected {len(edges)} times, a token has one other end"
        diagnostics.error("connected-twice", message, where, notes=notes)
    elif len({edge.target.key if is_source else edge.source.key for edge in edges}) < len(edges):
        diagnostics.error("connected-twice", f"port {end} is connected twice to one port", where, notes=notes)


def _report_unconnected(graph: ConnectionGraph, end: End, fits: _Fits, diagnostics: Diagnostics) -> None:
    """One error a missing connection: where both its ends are known, it is reported at the source alone."""
    port = end.port
    is_source = port.direction in SOURCES
    what = f"port {end} ({port.kind}, {port.direction}) of component '{end.component.name}' is not connected"
    notes = [Note("the port is declared here", port.location)]
    hint = None
    if (other := fits.only(end)) is not None:
        source, target = (end, other) if is_source else (other, end)
        connect = f'"pipelink.connect"() {{source = {source.reference}, target = {target.reference}}} : () -> ()'
        hint = f"connect it: {connect}"
        back = fits.only(other)
        connected = (graph.by_target if is_source else graph.by_source).get(other.key)
        if not connected and back is not None and back.key == end.key:
            if not is_source:
                return
            notes.append(Note(f"nor is port {other}, the only one that fits", other.port.location))
    diagnostics.error("unconnected-port", what, end.instance.location, notes=notes, hint=hint)


class _Fits:
    """Which ports could be each other's ends; all instances of a component have the same."""

    def __init__(self, ends: list[End]) -> None:
        self.ends = ends
        self._sides = {
            source: [e for e in ends if (e.port.direction in (SOURCES if source else TARGETS))]
            for source in (True, False)
        }
        self._legal: dict[tuple[int, int], bool] = {}

    def only(self, end: End) -> End | None:
        """The only port that could be the other end."""
        is_source = end.port.direction in SOURCES
        found: End | None = None
        for other in self._sides[not is_source]:
            first, second = (end.port, other.port) if is_source else (other.port, end.port)
            key = (id(first), id(second))
            if key not in self._legal:
                self._legal[key] = bool(legal(first, second)[0])
            if self._legal[key]:
                if found is not None:
                    return None
                found = other
        return found


def _has_policies(port: Port) -> bool:
    """Whether each tile of a stream has a cache policy, for the copies that fill it."""
    copied = port.touch in TOUCHES and TOUCHES[port.touch].copies
    return (
        copied and port.direction == "out" and len(port.cache) == len(port.tiles) and {*port.cache} <= {*CACHE_POLICIES}
    )


def _check_port(end: End, target: Target, diagnostics: Diagnostics) -> None:
    port = end.port
    what = f"port '{port.name}' of component '{end.component.name}'"
    if len(end.component.roles) > 1 and port.role is None and port.kind in ("stream", "token"):
        message = f"{what} names no role, the component has {', '.join(end.component.roles)}"
        diagnostics.error("role-unstated", message, port.location)
    if port.may_be_empty and not port.ends:
        diagnostics.error("ends-mismatch", f"{what} may be empty but does not end", port.location)
    if port.per_warp and port.touch != "wgmma":
        message = f"{what} is given back warp by warp, which is said of ports that wgmma reads"
        diagnostics.error("bad-touch", message, port.location)
    if port.kind != "stream":
        return
    known = [name for name, touch in TOUCHES.items() if port.direction in touch.directions]
    if port.touch not in known:
        verb = "filled" if port.direction == "out" else "read" if port.direction == "in" else "filled and read"
        message = f"{what} is {verb} by {port.touch}, not by {', '.join(known)}"
        diagnostics.error("bad-touch", message, port.location)
    if port.cache and not _has_policies(port):
        message = (
            f"{what} has cache policies {', '.join(port.cache)}: each of its {len(port.tiles)} tiles takes one of "
        )
        message += f"{', '.join(CACHE_POLICIES)}, where copies fill it"
        diagnostics.error("bad-touch", message, port.location)
    needs = TOUCHES[port.touch].needs
    if needs and not target.has(needs):
        message = f"{what} needs {port.touch}, which {target.name} does not have"
        diagnostics.error("unsupported-by-target", message, end.instance.location, notes=_declared(port))
    for index in range(len(port.tiles)):
        _check_tile(port, index, f"tile {index} of {what}", target, end, diagnostics)
    in_tmem = any(tile.space == "tmem" for tile in port.tiles)
    if port.touch == "wgmma":
        _check_warpgroups(end, what, "wgmma, which whole warpgroups issue", diagnostics)
    elif in_tmem and port.direction == "in":
        _check_warpgroups(end, what, "tcgen05.ld, a warp a quarter of the lanes", diagnostics)
    elif port.touch == "tcgen05" and end.role is not None and not end.role.one_thread:
        message = (
            f"{what} is touched by tcgen05, which arrives for the thread that issues it; "
            f"role '{end.role.name}' runs in all of its threads"
        )
        notes = [Note("the role is declared here", end.role.location)]
        diagnostics.error("bad-touch", message, port.location, notes=notes, hint="declare the role pl::one_thread")


def _declared(*ports: Port) -> list[Note]:
    return [Note(f"port '{port.name}' is declared here", port.location) for port in ports]


def _check_tile(port: Port, index: int, what: str, target: Target, end: End, diagnostics: Diagnostics) -> None:
    tile = port.tiles[index]
    if tile.space == "tmem" and target.tmem_columns == 0:
        message = f"{what} is in tensor memory, which {target.name} does not have"
        diagnostics.error("unsupported-by-target", message, end.instance.location, notes=_declared(port))
    if tile.space != "smem":
        return
    swizzle = SWIZZLES.get(tile.layout)
    needed = swizzle.repeat_bytes if swizzle else 1
    touch = TOUCHES[port.touch]
    if tile.layout != "item":
        needed = max(needed, touch.align)
    if tile.align % needed:
        why = f"{tile.layout} repeats from {needed} bytes" if needed > TMA_ALIGN else f"TMA needs {needed}"
        diagnostics.error("bad-alignment", f"{what} is aligned to {tile.align} bytes, {why}", port.location)
    bits = ELEMENT_BITS.get(tile.element)
    if not touch.boxes or bits is None:
        return
    for copied, where, extents in _copied(end, port, index, what):
        row = extents[-1] * bits // 8
        span = swizzle.row_bytes if swizzle else row
        message = ""
        if row > span:
            message = f"{copied} has rows of {row} bytes, TMA copies {span} at once into {tile.layout}"
        elif max(extents) > TMA_BOX:
            shown = "×".join(map(str, extents))
            message = f"{copied} is {shown}, TMA copies at most {TMA_BOX} elements along a dimension"
        elif row % TMA_STEP:
            message = f"{copied} has rows of {row} bytes, TMA copies multiples of {TMA_STEP}"
        if message:
            hint = None if where != port.location or row % TMA_STEP else f"give its tensor map a {_BOX}"
            diagnostics.error("bad-touch", message, where, hint=hint)


def _copied(end: End, port: Port, index: int, what: str) -> Sequence[tuple[str, Location, Sequence[int]]]:
    """What copies bring at once: the boxes of the tile's maps, or the tile itself where a map has none."""
    maps = [
        p for p in end.component.params.values() if p.type == "tensor_map" and (p.port, p.part) == (port.name, index)
    ]
    found = [(f"the box of '{p.name}'", p.location, tuple(p.box)) for p in maps if p.box]
    if len(found) < len(maps) or not maps:
        return [(what, port.location, port.tiles[index].shape)]
    return found


def _check_warpgroups(end: End, what: str, by: str, diagnostics: Diagnostics) -> None:
    role = end.role
    if role is not None and (role.warps % 4 or role.align % 4):
        message = f"{what} is read by {by}; role '{role.name}' has {role.warps} warps aligned to {role.align}"
        notes = [Note("the role is declared here", role.location)]
        diagnostics.error("unaligned-warpgroup", message, end.port.location, notes=notes)


def check_connections(graph: ConnectionGraph, target: Target, diagnostics: Diagnostics) -> None:
    """What may carry each connection (``legal`` is set), and the ring depths of all consumers of a port."""
    for edge in graph.edges:
        if _check_ends(edge, diagnostics):
            _check_transfer(edge, target, diagnostics)
    for edges in graph.by_source.values():
        streams = [e for e in edges if e.source.port.kind == e.target.port.kind == "stream"]
        if streams:
            _check_stages(streams, diagnostics)


def _check_ends(edge: Edge, diagnostics: Diagnostics) -> bool:
    source, target = edge.source, edge.target
    for end, known, side in ((source, SOURCES, "source"), (target, TARGETS, "target")):
        if end.port.direction not in known:
            message = f"{end} is the {side} of a connection, but its direction is '{end.port.direction}'"
            swapped = source.port.direction in TARGETS and target.port.direction in SOURCES
            hint = "source and target are swapped" if swapped else None
            diagnostics.error("wrong-direction", message, edge.connect.location, notes=_declared(end.port), hint=hint)
            return False
    if source.port.kind != target.port.kind:
        message = f"{source} is a {source.port.kind} port and {target} a {target.port.kind} port"
        notes = _declared(source.port, target.port)
        diagnostics.error("kind-mismatch", message, edge.connect.location, notes=notes)
        return False
    return True


def _check_transfer(edge: Edge, target: Target, diagnostics: Diagnostics) -> None:
    source, sink, connect = edge.source, edge.target, edge.connect
    names, refused = legal(source.port, sink.port)
    for name in list(names):
        if (why := BY_NAME[name].unrequested(connect, source.port)) is not None:
            names.remove(name)
            refused[name] = Refusal(why)
    fitting = list(names)
    for name in fitting:
        if BY_NAME[name].arch_for(target) is None:
            names.remove(name)
            refused[name] = Refusal(f"it needs {BY_NAME[name].min_arch} or newer")
    where = connect.location
    if fitting and not names:
        needs = ", ".join(f"{name} needs {BY_NAME[name].min_arch} or newer" for name in fitting)
        message = f"{target.name} has no transfer from {source} to {sink}: {needs}"
        diagnostics.error("unsupported-by-target", message, where, notes=_declared(source.port, sink.port))
        return
    if not names:
        id, message = difference(source.port, sink.port)
        notes = _declared(source.port, sink.port)
        if id == "no-transfer":
            notes = [Note(f"{name}: {why.reason}") for name, why in refused.items() if why.near] + notes
        diagnostics.error(id, f"{source} and {sink} do not fit: {message}", where, notes=notes)
        return
    chosen = connect.transfer
    if chosen is not None and chosen not in names:
        why = refused[chosen].reason if chosen in refused else "there is no transfer of that name"
        hint = None if chosen in BY_NAME else nearest(chosen, BY_NAME)
        message = f"transfer '{chosen}' cannot carry {source} to {sink}: {why}; legal are {', '.join(names)}"
        diagnostics.error("transfer-refused", message, where, notes=_declared(source.port, sink.port), hint=hint)
        return
    connect.set("legal", names)


def difference(source: Port, target: Port) -> tuple[str, str]:
    """The diagnostic id and the difference between two ports that nothing carries."""
    if source.kind == "call" and source.signature != target.signature:
        return "signature-mismatch", f"'{source.signature}' is called, '{target.signature}' answers"
    if source.kind == "stream" and len(source.tiles) != len(target.tiles):
        return "tile-mismatch", f"{len(source.tiles)} tiles are written, {len(target.tiles)} are read"
    for index, (written, read) in enumerate(zip(source.tiles, target.tiles, strict=False)):
        tile = f"tile {index} is written as"
        if written.element != read.element:
            return "element-mismatch", f"{tile} {written.element}, read as {read.element}"
        if written.shape != read.shape:
            return "shape-mismatch", f"{tile} {_shape(written)}, read as {_shape(read)}"
        if written.space != read.space:
            return "space-mismatch", f"{tile} {written.space}, read from {read.space}"
        if written.layout_key != read.layout_key:
            return "layout-mismatch", f"{tile} {_layout(written)}, read as {_layout(read)}, and nothing converts it"
        if written.bytes != read.bytes:
            return "shape-mismatch", f"{tile} {written.bytes} bytes, read as {read.bytes}"
    return "no-transfer", "no transfer carries one to the other"


def _shape(tile: Tile) -> str:
    return "×".join(str(extent) for extent in tile.shape)


def _layout(tile: Tile) -> str:
    if tile.layout != "cute":
        return tile.layout
    return f"cute stride {list(tile.stride)} swizzle {list(tile.swizzle)}"


def _check_stages(edges: Sequence[Edge], diagnostics: Diagnostics) -> None:
    source = edges[0].source
    low, high = source.port.stages
    given: tuple[int, Location] | None = None
    for edge in edges:
        where = edge.connect.location
        other = edge.target.port.stages
        if max(low, other[0]) > min(high, other[1]):
            wide = (low, high) == source.port.stages
            whose = f"{source} accepts" if wide else f"{source} and its other consumers accept"
            message = f"{whose} rings of {_range(low, high)} stages, {edge.target} of {_range(*other)}"
            notes = _declared(source.port, edge.target.port)
            diagnostics.error("ring-range-disjoint", message, where, notes=notes)
            return
        low, high = max(low, other[0]), min(high, other[1])
    for edge in edges:
        stages, where = edge.connect.stages, edge.connect.location
        if stages is None:
            continue
        if not low <= stages <= high:
            message = f"{stages} stages are asked of {source} to {edge.target}, the ports accept {_range(low, high)}"
            diagnostics.error("stages-refused", message, where, notes=_declared(source.port, edge.target.port))
        elif given is not None and given[0] != stages:
            message = f"{stages} stages are asked of {source} to {edge.target}, its other connection asks {given[0]}"
            diagnostics.error("stages-refused", message, where, notes=[Note("asked here", given[1])])
        given = given or (stages, where)


def _range(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} … {high}"
