# KIND: a key that misses an input (contract, toolkit, arch suffix, option)
# DECIDED: prevented
"""Everything that can change a link is in its key; test/unit/link/test_link.py adds the objects and the sources."""

from dataclasses import replace

import pytest

from pipelink.link import Request, key, key_of
from pipelink.objects import Contract, Object, from_ltoir

KERNEL = b'module @k attributes {pipelink.kernel = {target = "sm_90a"}} {}'


def made(bytes_: bytes = b"code", arch: str = "sm_80", type_: str = "f32") -> Object:
    contract = Contract("lib::scale").answers("apply", "void(f32[4]&)").param("factor", type_)
    return from_ltoir({arch: bytes_}, contract)


REQUEST = Request(KERNEL, (made(),), target="sm_90a")


@pytest.mark.parametrize(
    "changed",
    [
        replace(REQUEST, objects=(made(type_="i32"),)),
        replace(REQUEST, objects=(made(b"cod3"),)),
        replace(REQUEST, objects=(made(arch="sm_90"),)),
        replace(REQUEST, target="sm_90"),
        replace(REQUEST, options=("-ftz=true",)),
        replace(REQUEST, passes="check,place{objective=min-smem},fuse"),
        replace(REQUEST, text=KERNEL + b" "),
    ],
    ids=["contract", "code", "architecture", "suffix", "option", "pass option", "kernel"],
)
def test_another_input_is_another_key(changed: Request) -> None:
    assert key_of(REQUEST) == key_of(replace(REQUEST, objects=(made(),)))
    assert key_of(changed) != key_of(REQUEST)


def test_another_toolkit_is_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    before = key_of(REQUEST)
    versions = dict(key.tool_versions())
    for tool in versions:
        monkeypatch.setattr(key, "tool_versions", lambda tool=tool: tuple({**versions, tool: "0.0"}.items()))
        assert key_of(REQUEST) != before
