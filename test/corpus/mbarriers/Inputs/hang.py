"""``python hang.py PACKAGE ROLE=OPERATION=SLOT ...``: what a launch raises whose waits were found like that.

A debug link's kernel leaves a record of every wait that took too long; here they are written by hand, so that no device
is needed.
"""

import sys

from pipelink import runtime
from pipelink.runtime import hangs

path, *waits = sys.argv[1:]
contract = runtime.load(path).contract
debug = contract.debug
assert debug is not None
data = b""
for wait in waits:
    role, operation, slot = wait.split("=")
    site = next(n for n, s in enumerate(debug.sites) if role in s.users and s.operation == operation)
    thread = next(known.first for known in debug.roles if known.role == role)
    late = 1000 * debug.limit_ms + 1
    data += hangs.RECORD.pack(site + 1, 0, thread, int(slot), 0, 1, late, 1)
records = hangs.parse(data, len(debug.sites))
print(hangs.explain(contract.kernel, debug, records, 1, "left"))
