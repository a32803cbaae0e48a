"""``python large.py FROM TO``: a package with the code of its first target made 80 MiB long, and stored as it is."""

import hashlib
import json
import sys
import zipfile

code = bytes(80 << 20)
with zipfile.ZipFile(sys.argv[1]) as given:
    manifest = json.loads(given.read("manifest.json"))
    members = {name: given.read(name) for name in given.namelist() if name != "manifest.json"}
target = manifest["kernels"][0]["targets"][0]
members[target["cubin"]] = code
target["sha256"] = hashlib.sha256(code).hexdigest()
with zipfile.ZipFile(sys.argv[2], "w") as made:
    made.writestr("manifest.json", json.dumps(manifest))
    for name, data in members.items():
        made.writestr(name, data)
