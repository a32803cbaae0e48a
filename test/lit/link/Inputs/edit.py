"""``python edit.py IN.o OUT.o OP KEY=VALUE``: changes one kind of record and leaves the code as it is."""

import json
import sys
from pathlib import Path

from pipelink.objects import Image, object_bytes, read_objects

source, output, op, change = sys.argv[1:]
(item,) = read_objects(source)
key, value = change.split("=")
texts: list[bytes] = []
for component in item.components:
    for record in component.records:
        values = json.loads(record.text)
        texts.append(json.dumps({**values, key: value} if values["op"] == op else values).encode())
images = item.images
if op == "code":
    images = tuple(Image(i.arch, i.kind, i.toolkit, i.data[:64] + bytes(400)) for i in item.images)
Path(output).write_bytes(object_bytes(images, texts, "edited"))
