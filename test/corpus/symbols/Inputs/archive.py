"""``python archive.py OUT.a MEMBER.o ...``: an archive as ``ar`` writes it, where there is no ``ar``."""

import sys
from pathlib import Path

out, *members = map(Path, sys.argv[1:])
data = b"!<arch>\n"
for member in members:
    content = member.read_bytes()
    data += f"{member.name + '/':<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(content):<10}`\n".encode() + content
    data += b"\n" * (len(content) % 2)
out.write_bytes(data)
