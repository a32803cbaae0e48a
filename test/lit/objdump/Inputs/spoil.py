"""Makes bad objects: ``python spoil.py GOOD.o PREFIX`` writes PREFIX.KIND for every kind of badness."""

import json
import struct
import sys
from pathlib import Path

from pipelink.objects import Image, object_bytes, read_objects
from pipelink.support import limits

good, prefix = sys.argv[1:]
data = Path(good).read_bytes()
(item,) = read_objects(good)
texts = [record.text for component in item.components for record in component.records]


def rebuild(changed: list[bytes]) -> bytes:
    return object_bytes(item.images, changed, "bad")


def change(op: str, **values: object) -> bytes:
    loaded = [json.loads(text) for text in texts]
    return rebuild([json.dumps({**r, **values} if r["op"] == op else r).encode() for r in loaded])


def archive(*members: bytes) -> bytes:
    out = b"!<arch>\n"
    for number, member in enumerate(members):
        out += f"{f'm{number}.o/':<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(member):<10}`\n".encode() + member
        out += b"\n" * (len(member) % 2)
    return out


def not_ltoir() -> bytes:
    """The fatbin's entries become cubins."""
    changed = data
    for image in item.images:
        start = changed.rindex(struct.pack("<HH", 8, 0x101), 0, changed.index(image.data))
        changed = changed[:start] + struct.pack("<H", 2) + changed[start + 2 :]
    return changed


def broken_code() -> bytes:
    images = [Image(image.arch, image.kind, image.toolkit, image.data[:64] + bytes(400)) for image in item.images]
    return object_bytes(images, texts, "bad")


magic = data.index(b"\x50\xed\x55\xba")
RESULTS = {
    "text": b"int main() {}\n",
    "empty": b"",
    "shared": data[:16] + struct.pack("<H", 3) + data[18:],
    "truncated": data[: len(data) // 2],
    "corrupt": data[:magic] + bytes(4) + data[magic + 4 :],
    "oversized": rebuild([b"x" * (limits.CONTRACT_BYTES + 1)]),
    "no-contract": object_bytes([], [], "bad"),
    "no-ltoir": not_ltoir(),
    "code": broken_code(),
    "archive": archive(data),
    "twice": archive(data, data),
    "corrupt-contract": change("param", bytes="four"),
    "truncated-contract": data.replace(b"}\0{", b"}}{", 1),
    "future": change("component", pipelink=2),
    "required": change("param", shade="dark", required=True),
    "unknown": change("param", shade="dark"),
    "no-entry": rebuild([text for text in texts if b'"op":"entry"' not in text]),
    "changed": change("param", type="i32"),  # no longer what the device code says
}
for kind, result in RESULTS.items():
    Path(f"{prefix}.{kind}").write_bytes(result)
