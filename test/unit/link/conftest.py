"""Small components, compiled once a session: a role that fills a tensor, and passive ones that say with what."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pipelink.audit.contract import device_records
from pipelink.backend import toolchain
from pipelink.objects import Image, object_bytes

FILL = """
#include <pipelink/component.cuh>
PL_COMPONENT(test::fill) {
PL_ROLE(run, pl::warps<4>);
PL_CALL(value, float(int));
PL_PARAM(out, float*);
PL_PARAM(n, int);
PL_TENSOR(out, float, "N", pl::write);
PL_BIND(n, "N");
PL_GRID("ceildiv(N, 128)");
PL_ENTRY(run) {
  int i = blockIdx.x * 128 + run::thread(self);
  if (i < n(self)) out(self)[i] = value(self, i);
}
}
"""
VALUES = """
#include <pipelink/component.cuh>
PL_COMPONENT(test::constant) {
PL_ANSWER(value, float(int));
PL_PARAM(alpha, float);
PL_DEFINE(value)(pl::self self, int) -> float { return alpha(self); }
}
PL_COMPONENT(test::ramp) {
PL_ANSWER(value, float(int));
PL_DEFINE(value)(pl::self, int i) -> float { return float(i); }
}
"""
Compile = Callable[..., Path]


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """``compiled(source, name, arch)``: the path of the object."""
    folder = tmp_path_factory.mktemp("objects")
    known: dict[tuple[str, str, str], Path] = {}

    def build(source: str, name: str, arch: str = "sm_80") -> Path:
        path = known.get((source, name, arch))
        if path is None:
            code = toolchain.compile_ltoir(source, f"{name}.cu", arch)
            image = Image(arch, "ltoir", toolchain.toolkit_version(), code)
            path = folder / f"{len(known)}-{name}.o"
            path.write_bytes(object_bytes([image], device_records(image), f"{name}.cu"))
            known[source, name, arch] = path
        return path

    return build


@pytest.fixture(scope="session")
def fill(compiled: Compile) -> Path:
    return compiled(FILL, "fill")


@pytest.fixture(scope="session")
def values(compiled: Compile) -> Path:
    return compiled(VALUES, "values")


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A folder with the components' sources."""
    (tmp_path / "fill.cu").write_text(FILL)
    (tmp_path / "values.cu").write_text(VALUES)
    return tmp_path
