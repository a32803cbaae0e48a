"""Target facts: which images link where, and the figures that placement computes from."""

import pytest

from pipelink.support.diagnostics import LinkError
from pipelink.target import TARGETS, require_image_arch, split_that_fits, target


@pytest.mark.parametrize(
    ("name", "image", "accepted"),
    [
        ("sm_90a", "sm_90a", True),
        ("sm_90a", "sm_80", True),
        ("sm_90a", "sm_90", True),
        ("sm_90a", "sm_100", False),
        ("sm_90a", "sm_100a", False),
        ("sm_100a", "sm_90a", False),
        ("sm_100a", "sm_90", True),
        ("sm_103a", "sm_100a", False),
        ("sm_103a", "sm_100f", True),
        ("sm_100a", "sm_103f", False),
        ("sm_120a", "sm_100f", False),
        ("sm_110a", "sm_110f", True),
        ("sm_110a", "sm_100f", False),
        ("sm_110", "sm_110f", False),
        ("sm_121a", "sm_120f", True),
        ("sm_121a", "sm_120a", False),
        ("sm_121", "sm_120", True),
        ("sm_87", "sm_86", True),
        ("sm_86", "sm_87", False),
        ("sm_90", "sm_90a", False),
        ("sm_90a", "compute_80", True),
        ("sm_90a", "gfx942", False),
    ],
)
def test_accepts(name: str, image: str, accepted: bool) -> None:
    assert target(name).accepts(image) is accepted


def test_choose_prefers_the_exact_image_then_the_newest_plain_one() -> None:
    assert target("sm_90a").choose(["sm_80", "sm_90", "sm_90a"]) == "sm_90a"
    assert target("sm_90a").choose(["sm_80", "sm_89", "sm_100a"]) == "sm_89"
    assert target("sm_90a").choose(["sm_100a"]) is None


@pytest.mark.parametrize(("warpgroups", "registers"), [(1, 255), (2, 255), (3, 168), (4, 128), (5, 96)])
def test_entry_registers(warpgroups: int, registers: int) -> None:
    assert target("sm_90a").entry_registers(4 * warpgroups) == registers


@pytest.mark.parametrize(
    ("warps", "min_ctas", "registers"),
    [(17, 1, 96), (9, 1, 168), (13, 1, 128), (5, 2, 168), (5, 4, 96), (3, 4, 168), (3, 8, 80), (6, 3, 96)],
)
def test_entry_registers_of_warps_that_quarters_of_an_sm_do_not_share_evenly(
    warps: int, min_ctas: int, registers: int
) -> None:
    """What ptxas 13.0 gives kernels that would take more, by __launch_bounds__(32 * warps, min_ctas)."""
    assert target("sm_90a").entry_registers(warps, min_ctas) == registers


def test_shared_memory_of_several_ctas() -> None:
    assert target("sm_90a").smem_for(1) == 232448
    assert target("sm_90a").smem_for(2) == 228 * 1024 // 2 - 1024
    assert target("sm_80").smem_for(1) == 166912


def test_unknown_target_suggests_the_nearest() -> None:
    with pytest.raises(LinkError) as caught:
        target("sm_9Oa")
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.id == "unknown-target"
    assert diagnostic.hint == "did you mean 'sm_90a'?"


def test_every_target_names_itself() -> None:
    assert all(target(name).name == name for name in TARGETS)


def test_an_image_may_be_for_a_family() -> None:
    require_image_arch("sm_100f")
    require_image_arch("sm_110f")
    require_image_arch("sm_120f")
    require_image_arch("sm_80")
    with pytest.raises(LinkError, match="unknown target 'sm_90f'"):
        require_image_arch("sm_90f")
    with pytest.raises(LinkError, match="unknown target 'sm_100f'"):
        target("sm_100f")


def test_a_split_that_fits_takes_from_who_asks_for_most() -> None:
    assert split_that_fits([(32, 1), (240, 2)], 504) == [32, 232]
    assert split_that_fits([(128, 1), (168, 2), (128, 1)], 512) == [128, 128, 128]
    assert split_that_fits([(0, 1), (24, 1)], 48) == [24, 24]
    assert split_that_fits([(24, 3)], 71) is None
