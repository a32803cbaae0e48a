"""How much memory a command may take: little for reading and checking, more once a compiler of the vendor works.

Both are limits of the process's address space; what passes them gets MemoryError, or its library aborts.  Only a
command confines its process.  In a library's process :func:`for_compilers` does nothing.
"""

from __future__ import annotations

import resource

from pipelink.support import limits

_confined = False


def confine(compilers: int) -> None:
    """Limit this process to what reading and checking may take, and to ``compilers`` bytes after
    :func:`for_compilers`."""
    global _confined  # as process-wide as the limit itself
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    most = compilers if hard == resource.RLIM_INFINITY else min(compilers, hard)
    resource.setrlimit(resource.RLIMIT_AS, (min(limits.READING_MEMORY, most), most))
    _confined = True


def for_compilers() -> None:
    """A compiler of the vendor is about to work in this process."""
    if _confined:
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))


def limit() -> int:
    """The bytes that this process may take now."""
    return resource.getrlimit(resource.RLIMIT_AS)[0]
