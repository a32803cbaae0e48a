"""A bar for what takes minutes."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field

_WIDTH = 30  # columns of the bar


@dataclass
class Progress:
    """A bar on stderr; one line of text for each step where stderr is no terminal."""

    total: int
    done: int = 0
    start: float = field(default_factory=time.monotonic)

    @property
    def spent(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.start

    def step(self, text: str) -> None:
        self.done += 1
        line = f"{self.done}/{self.total} {self.spent:4.0f} s  {text}"
        if not sys.stderr.isatty():
            print(line, file=sys.stderr, flush=True)
            return
        filled = _WIDTH * self.done // max(self.total, 1)
        end = "\n" if self.done == self.total else ""
        print(f"\r\033[K[{'#' * filled}{'.' * (_WIDTH - filled)}] {line}", end=end, file=sys.stderr, flush=True)
