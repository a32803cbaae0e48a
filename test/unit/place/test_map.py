"""The placement map: well-formed, complete, and the same data in both forms."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from pipelink import ir
from pipelink.ir import Program
from pipelink.ir.views import Kernel
from pipelink.map import render_svg, render_text
from pipelink.passes.pipeline import parse_pipeline, run_pipeline
from pipelink.support.diagnostics import LinkError

SCENARIOS = Path(__file__).resolve().parents[2] / "lit" / "scenarios"
KERNELS = [Path(__file__).with_name("gemm.mlir"), *sorted(SCENARIOS.glob("*.mlir"))]


def placed(path: Path) -> tuple[Program, Kernel]:
    module = ir.parse(path)
    run_pipeline(parse_pipeline("check,place"), module)
    program = ir.program(module)
    return program, program.kernels[0]


@pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)
def test_every_resource_is_named_in_both(path: Path) -> None:
    program, kernel = placed(path)
    svg, text = render_svg(program, kernel), render_text(program, kernel)
    said = "\n".join(ET.fromstring(svg).itertext())
    for instance in kernel.instances.values():
        assert instance.placement is not None
        for role in instance.placement.roles:
            assert f"{instance.name}::{role}" in said
            assert f"{instance.name}::{role}" in text
        for name, address in instance.placement.smem.items():
            assert f"{instance.name}::{name}" in said
            assert f"{address}" in text
    assert kernel.placement is not None
    assert all(str(m.address) in said for m in kernel.placement.mbarriers)
    assert all(len(line) <= 140 for line in text.splitlines() if line.startswith("  |"))


def test_the_picture_follows_the_viewer_unless_told() -> None:
    program, kernel = placed(KERNELS[0])
    assert "prefers-color-scheme:dark" in render_svg(program, kernel)
    light, dark = (render_svg(program, kernel, scheme) for scheme in ("light", "dark"))
    assert "prefers-color-scheme" not in light + dark
    assert light != dark


def test_an_unplaced_kernel_is_refused() -> None:
    program = ir.program(ir.parse(KERNELS[0]))
    with pytest.raises(LinkError) as caught:
        render_text(program, program.kernels[0])
    assert caught.value.diagnostics[0].id == "not-placed"
