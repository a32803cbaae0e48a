"""How much of everything an input may ask for: what is beyond is refused with one located error.

Whoever reads something that others wrote bounds it by a constant of this module; docs/limits.md is made of its lines.
The values leave room above what real compositions need, and keep reading and checking within seconds and 2 GiB.
Facts of the hardware are no limits of this kind: they are in :mod:`pipelink.target`.
"""

from __future__ import annotations

from typing import Final

# Commands
TIME: Final = 900.0  # seconds that a command may work; `--time-limit`
READING_MEMORY: Final = 2 << 30  # bytes of address space for reading and checking inputs
COMPILER_MEMORY: Final = 8 << 30  # bytes of address space once a compiler of the vendor works; `--memory-limit`
REPRODUCER: Final = 256 << 20  # bytes of inputs that are kept after a crash
RESPONSE_BYTES: Final = 1 << 20  # bytes of all `@file`s of a command line together
ARGUMENTS: Final = 100_000  # words of a command line, those of its `@file`s included
RESPONSE_FILES: Final = 1000  # `@file`s of a command line, each as often as it is named
RESPONSE_DEPTH: Final = 8  # `@file`s that name `@file`s
HEADERS: Final = 20_000  # files that a dependency file names
PIPELINE_TEXT: Final = 10_000  # characters of a pass pipeline

# Files
OBJECT_BYTES: Final = 1 << 30  # bytes of an object or archive
TEXT_BYTES: Final = 64 << 20  # bytes of a source, or of a kernel's IR
STREAM_BYTES: Final = 256 << 20  # bytes of an input that is no regular file: a pipe, a device
WRITER: Final = 5  # seconds that a named pipe may be without anybody who writes to it
SHOWN_BYTES: Final = 16 << 20  # bytes of a file beside an input of which a diagnostic shows a line

# Objects
NAME: Final = 1024  # bytes of the name of a section or of an archive's member
RELOCATIONS: Final = 1_000_000  # relocations of an object's fat binaries
UNITS: Final = 4096  # translation units of an object that `ld -r` merged
IMAGES: Final = 256  # code images of one translation unit
MEMBERS: Final = 65_536  # members of an archive
CONTRACT_BYTES: Final = 4 << 20  # bytes of one object's contract
RECORDS: Final = 20_000  # records of one object's contract
RECORD_BYTES: Final = 64 << 10  # bytes of one record
RECORD_DEPTH: Final = 8  # lists and objects within each other in a record
RECORD_TEXT: Final = 4096  # characters of one string in a record
HINTS: Final = 200  # warnings about an object that hint at a name

# IR
PARTS: Final = 500  # parts between `// -----` lines
ALIASES: Final = 4 << 20  # bytes of text that aliases stand for, each written out wherever it is used
OPERATIONS: Final = 50_000  # operations of a component or kernel
SYMBOL: Final = 255  # characters of a name; of a component's, each part between dots
IR_NESTING: Final = 256  # brackets within each other; MLIR's parser recurses once for each
IR_ATTRIBUTE_DEPTH: Final = 64  # attributes within each other
LOCATION_DEPTH: Final = 16  # locations within each other that are followed
WEIGHT: Final = 1_000_000  # the weight of a connection, beside others' 1

# Expressions and protocols
EXPRESSION_TEXT: Final = 500  # characters of an expression of the launch contract
EXPRESSION_DEPTH: Final = 60  # brackets and operators within each other in it
PROTOCOL_TEXT: Final = 4096  # characters of a stated protocol
PROTOCOL_NESTING: Final = 32  # blocks within each other in it
PROTOCOL_STEPS: Final = 512  # steps of it
PROTOCOL_NUMBER: Final = 1 << 20  # slots kept, threads and ranks that it names

# Proofs of a kernel
STATES: Final = 200_000  # states that are explored; `prove{states=…}` allows more
STEPS: Final = 20_000_000  # steps that are explored; `prove{steps=…}`
SECONDS: Final = 60.0  # seconds of processor time; `prove{seconds=…}`
MEGABYTES: Final = 1024  # megabytes for the states of a part of it; `prove{megabytes=…}`
STEPS_IN_A_ROW: Final = 2_000_000  # steps of a role in a row without waiting for anything
CALLS: Final = 64  # calls within each other
ROLE_STEPS: Final = 20_000  # steps of a role's protocol, those of the answers to its calls included

# The cache
ENTRY_BYTES: Final = 1 << 30  # bytes of an entry

# Packages
PACKAGE_BYTES: Final = 512 << 20  # bytes of a .plk file
PACKAGE_CODE: Final = 512 << 20  # bytes of all its cubins, unpacked
PACKAGE_DIRECTORY: Final = 1 << 20  # bytes of the directory of its zip
MANIFEST_BYTES: Final = 8 << 20  # bytes of its manifest, unpacked
MANIFEST_ITEMS: Final = 4096  # items of a list in the manifest

# Component tests
BENCH_BYTES: Final = 520 << 20  # bytes of a saved bench: a package, and what the component's ports are
BENCH_PLAN: Final = 1 << 20  # bytes of what the ports are
BENCH_ITEMS: Final = 1024  # items of a list in it
BENCH_VALUE: Final = 1 << 30  # bytes of one value, such as a tile

# Launches
WORKSPACE_BYTES: Final = 1 << 40  # bytes of one workspace
LAUNCH_NUMBER: Final = 2**63 - 1  # extents, strides, counts and values of expressions, of either sign
