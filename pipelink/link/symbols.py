"""What a link says of symbols: that a name means the same in every object, who uses one that nobody defines, and where
it is defined after all.

Begun in a thread beside the rest of the link, because nothing before the cubin needs it.  What was found good of these
objects for these components and this target is kept in the cache.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from pipelink.link import key
from pipelink.link.objects import begin, linkable
from pipelink.support.diagnostics import Diagnostics, LinkError, Location, Note, error

if TYPE_CHECKING:
    from pipelink.audit.symbols import Input
    from pipelink.audit.undefined import Undefined, Users
    from pipelink.backend.cache import Cache
    from pipelink.link.read import Source


class Symbols:
    """The comparison of one link's objects, which runs meanwhile."""

    def __init__(self, source: Source, cache: Cache | None, diagnostics: Diagnostics) -> None:
        self._source = source
        self._undefined: list[Undefined] = []
        self._join: Callable[[], None] | None = begin(lambda found: self._work(cache, found), diagnostics)

    @cached_property
    def _inputs(self) -> list[Input]:
        """The LTO-IR that is linked, in that order, each once."""
        from pipelink.audit.claims import Claims
        from pipelink.audit.symbols import Input

        found: dict[str, Input] = {}
        for item, images in linkable(self._source, helpers=True):
            roots: dict[str, str] = {}
            for component in item.components:
                if component.symbol in self._source.components:
                    claims = Claims(component)
                    roots |= {claims.symbol(code): f"{code.title} of '{component.name}'" for code in claims.code}
            for image in images:
                name = f"{item.name}#{image.unit}" if image.unit else item.name
                found.setdefault(image.sha256, Input(name, item.path, image.data, image.arch, roots))
        return list(found.values())

    def undefined(self) -> Undefined:
        """Wait for it.  Raises LinkError ``two-bodies`` and ``symbol-mismatch``."""
        if self._join is not None:
            join, self._join = self._join, None
            join()
        return self._undefined[0]

    def refuse(self, refused: LinkError) -> LinkError:
        """The error to raise where nvJitLink refuses: what the comparison says, or who uses what is not defined; of
        functions that no object could define, the audit of its users has more to say."""
        from pipelink.audit.code import is_of_driver
        from pipelink.backend.nvjitlink import UnresolvedSymbol

        try:
            undefined = self.undefined()
        except LinkError as found:
            return found
        if isinstance(refused, UnresolvedSymbol) and not is_of_driver(refused.symbol):
            symbol, notes = refused.symbol, refused.diagnostics[0].notes
            if symbol in undefined.variables:
                return self._unresolved(symbol, undefined.variables[symbol], "used", notes)
            return self._unresolved(symbol, undefined.functions.get(symbol, ()), "called", notes)
        return refused

    def require_variables(self, cubin: bytes, undefined: Undefined) -> None:
        """Refuse a cubin that holds variables which no object defines: nvJitLink makes them zero.
        Raises LinkError ``unresolved-symbol``."""
        if not undefined.variables:
            return
        from pipelink.backend.cubin import variables

        held = variables(cubin)
        found = [
            self._unresolved(name, users, "used", ()) for name, users in undefined.variables.items() if name in held
        ]
        if found:
            raise LinkError(diagnostic for problem in found for diagnostic in problem.diagnostics)

    def _work(self, cache: Cache | None, found: Diagnostics) -> None:
        from pipelink.audit.undefined import Undefined

        arch = self._source.arch
        wanted = key.key_of_symbols(arch, self._source.components, linkable(self._source, helpers=True))
        kept = cache.load(wanted) if cache is not None else None
        if kept is not None:
            try:
                self._undefined.append(Undefined.from_json(json.loads(kept["undefined.json"])))
                return
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                pass  # an entry of other content
        from pipelink.audit import symbols

        if not self._inputs:
            self._undefined.append(Undefined({}, {}))
            return
        try:
            undefined = symbols.apart(self._inputs, arch, found)
        except symbols.NotCompared as problem:
            names = ", ".join(f"'{item.name}'" for item in self._inputs)
            message = f"the symbols of {names}, printed without optimising, are not compared: {problem}"
            found.warning("unproven", message, Location(self._inputs[0].path))
            undefined = Undefined({}, {})
        else:
            if cache is not None and not found.items:
                cache.store(wanted, {"undefined.json": json.dumps(undefined.to_json()).encode()})
        self._undefined.append(undefined)

    def _unresolved(self, symbol: str, users: Sequence[Users], verb: str, notes: Sequence[Note]) -> LinkError:
        from pipelink.audit.symbols import title
        from pipelink.backend.nvjitlink import demangle

        places = [(self._inputs[one.number], user) for one in users for user in one.functions]
        who = [(item, f"{title(item, user)} of '{item.name}'") for item, user in places]
        by = f" by {who[0][1]}" if who else ""
        where = Location(who[0][0].path if who else "")
        notes = [*(Note(f"{verb} by {text} too", Location(item.path)) for item, text in who[1:]), *notes]
        name = demangle(symbol)
        message = f"'{name}' is {verb}{by}, but no linked object defines it"
        other = self._elsewhere(symbol)
        if other is None:
            return error("unresolved-symbol", message, where, notes=notes)
        path, object_name, components = other
        notes.insert(0, Note(f"'{object_name}' defines it, but is not linked: the kernel has no instance of "
                             f"{components}", Location(path)))  # fmt: skip
        hint = "give the kernel an instance, or compile the definition into an object of its own with pl-cc --helper"
        return error("unresolved-symbol", message, where, notes=notes, hint=hint)

    def _elsewhere(self, symbol: str) -> tuple[str, str, str] | None:
        """An object that was given and defines the symbol, but is not linked."""
        from pipelink.audit.symbols import defines_apart

        source = self._source
        for item in source.objects:
            if not item.components or any(component.symbol in source.components for component in item.components):
                continue
            if any(defines_apart(image.data, symbol, source.arch) for image in item.reachable(source.arch)):
                return item.path, item.name, ", ".join(f"'{component.name}'" for component in item.components)
        return None
