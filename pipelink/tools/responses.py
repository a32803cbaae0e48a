"""``@file`` on a command line: the arguments in the file, bounded in depth, bytes and words."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field

from pipelink.support import limits
from pipelink.support.diagnostics import Location, error
from pipelink.support.inputs import read_input


@dataclass
class Responses:
    """The words of a command line with every ``@file`` replaced; ``files`` are those that were read."""

    files: list[str] = field(default_factory=list[str])
    _bytes: int = 0
    _words: int = 0

    def expand(self, arguments: Sequence[str], depth: int = 0) -> list[str]:
        """Replace each ``@file`` by the arguments in the file, split as a shell does (``#`` starts a comment).

        Raises LinkError ``usage``, ``unreadable-input`` or ``oversized-input``."""
        found: list[str] = []
        for argument in arguments:
            if not argument.startswith("@") or len(argument) == 1:
                self._words += 1
                if self._words > limits.ARGUMENTS:
                    raise error("usage", f"the command line has more than {limits.ARGUMENTS} words")
                found.append(argument)
                continue
            path = argument[1:]
            if depth >= limits.RESPONSE_DEPTH:
                raise error("usage", f"response files are nested deeper than {limits.RESPONSE_DEPTH}", Location(path))
            found.extend(self.expand(self._read(path), depth + 1))
        return found

    def _read(self, path: str) -> list[str]:
        data = read_input(path, limits.RESPONSE_BYTES)
        self.files.append(path)
        if len(self.files) > limits.RESPONSE_FILES:
            message = f"the command line names more than {limits.RESPONSE_FILES} response files"
            raise error("usage", message, Location(path))
        self._bytes += len(data) + 1
        if self._bytes > limits.RESPONSE_BYTES:
            message = f"the response files together have more than {limits.RESPONSE_BYTES} bytes"
            raise error("usage", message, Location(path))
        if b"\0" in data:
            raise error("usage", f"response file '{path}' is no text", Location(path))
        try:
            return shlex.split(data.decode("utf-8", "surrogateescape"), comments=True)
        except ValueError as problem:
            raise error("usage", f"response file '{path}': {problem}".lower(), Location(path)) from problem
