"""Hardware facts per GPU architecture, and which LTO-IR images link into which target.

A :class:`Target` is data only: passes read fields and never compare architecture names.  Figures are CUDA's own
architecture traits (CUDA C++ Programming Guide, compute capabilities table) and the PTX ISA's limits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pipelink.support.diagnostics import UNKNOWN, Location, error, nearest
from pipelink.support.protocol import UNIT_THREADS

WARP_THREADS = UNIT_THREADS["warp"]
WARPGROUP_WARPS = 4
MAX_CTA_THREADS = 1024
MAX_CTA_WARPS = MAX_CTA_THREADS // WARP_THREADS
MAX_THREAD_REGISTERS = 255
REGISTERS_PER_SM = 65536  # and at most for one CTA, on every architecture here
NAMED_BARRIERS = 16  # id 0 is __syncthreads and belongs to the entry
SMEM_BASE = 1024  # bytes at address 0 that the driver reserves in every CTA
MBARRIER_BYTES = 8
MAX_CLUSTER = 16  # CTAs, non-portable size on Hopper and Blackwell; 8 is portable
PARAMETER_BYTES = 32764  # kernel parameter space from sm_70, CUDA 12.1
ADDRESS_BYTES = 8
SETMAXNREG_STEP = 8  # PTX ISA, setmaxnreg: an immediate, 24 to 256, a multiple of 8
SETMAXNREG_MIN = 24
SETMAXNREG_MAX = 248  # the largest multiple of 8 that a thread's 255 registers can use
SMEM_GRANULE = 128  # bytes in which an SM hands out shared memory


@dataclass(frozen=True)
class Target:
    """Facts of one architecture; sizes in bytes, register counts in 32-bit registers."""

    name: str
    smem_per_sm: int
    smem_per_cta: int  # opt-in limit, which excludes the reserved SMEM_BASE bytes
    warps_per_sm: int
    ctas_per_sm: int
    registers_per_sm: int = REGISTERS_PER_SM
    setmaxnreg: bool = False
    wgmma: bool = False
    tma: bool = False
    clusters: bool = False
    tmem_columns: int = 0
    family: str = ""  # the name of what all chips of its kind have, where there is one

    def has(self, feature: Literal["tma", "clusters", "wgmma", "tensor memory"]) -> bool:
        """Whether the architecture has what some touch of a slot needs."""
        return {
            "tma": self.tma, "clusters": self.clusters, "wgmma": self.wgmma, "tensor memory": self.tmem_columns > 0,
        }[feature]  # fmt: skip

    @property
    def capability(self) -> tuple[int, str]:
        """(compute capability as one number, feature suffix): ``(90, "a")``."""
        return parse_arch(self.name) or (0, "")

    def accepts(self, image_arch: str) -> bool:
        """Whether LTO-IR made for ``image_arch`` links into this target: the very same architecture, a plain one
        that is not newer, or, unless the target itself is a plain one, (suffix ``f``) an older member of its family."""
        if image_arch == self.name:
            return True
        image = parse_arch(image_arch)
        if image is None:
            return False
        number, suffix = image
        own = self.capability[0]
        if suffix == "":
            return number <= own
        return suffix == "f" and bool(self.family) and number <= own and number // 10 == own // 10

    def choose(self, image_archs: Iterable[str]) -> str | None:
        """The image to link: an exact match, else the newest acceptable architecture; None if there is none."""
        accepted = [arch for arch in image_archs if self.accepts(arch)]
        if self.name in accepted:
            return self.name
        return max(accepted, key=lambda arch: parse_arch(arch) or (0, ""), default=None)

    def smem_for(self, min_ctas: int) -> int:
        """Bytes each of ``min_ctas`` CTAs of one SM may ask for."""
        share = self.smem_per_sm // min_ctas // SMEM_GRANULE * SMEM_GRANULE - SMEM_BASE
        return max(0, min(self.smem_per_cta, share))

    def entry_registers(self, warps: int, min_ctas: int = 1) -> int:
        """Registers a thread holds at entry when ``warps`` warps are launched and ``min_ctas`` CTAs must fit, as ptxas
        allots them under launch bounds (CUDA programming guide, compute capabilities).  Each quarter of an SM has a
        quarter of the registers, and warps count as if all quarters had as many."""
        quarter = -(-max(min_ctas * warps, 1) // 4)
        share = self.registers_per_sm // (quarter * 4 * WARP_THREADS)
        return min(MAX_THREAD_REGISTERS, share // SETMAXNREG_STEP * SETMAXNREG_STEP)


_KIB = 1024
_SM80 = Target("sm_80", smem_per_sm=164 * _KIB, smem_per_cta=166912, warps_per_sm=64, ctas_per_sm=32)
_SM86 = Target("sm_86", smem_per_sm=100 * _KIB, smem_per_cta=101376, warps_per_sm=48, ctas_per_sm=16)
_SM87 = replace(_SM80, name="sm_87", warps_per_sm=48, ctas_per_sm=16)
_SM89 = replace(_SM86, name="sm_89", ctas_per_sm=24)
_SM90 = Target(
    "sm_90", smem_per_sm=228 * _KIB, smem_per_cta=232448, warps_per_sm=64, ctas_per_sm=32, tma=True, clusters=True
)
_SM110 = replace(_SM90, name="sm_110", warps_per_sm=48, ctas_per_sm=24)
_SM120 = replace(_SM89, name="sm_120", tma=True, clusters=True)


_SM100 = replace(_SM90, name="sm_100")
_SM103 = replace(_SM90, name="sm_103")
_SM121 = replace(_SM120, name="sm_121")


def _specific(plain: Target, family: str, *, tmem_columns: int = 0) -> Target:
    """The same chip, with what its ``a`` name adds to the plain one from Blackwell on."""
    return replace(plain, name=f"{plain.name}a", family=family, setmaxnreg=True, tmem_columns=tmem_columns)


TARGETS: dict[str, Target] = {
    t.name: t
    for t in (
        _SM80,
        _SM86,
        _SM87,
        _SM89,
        _SM90,
        replace(_SM90, name="sm_90a", setmaxnreg=True, wgmma=True),
        _SM100,
        _specific(_SM100, "sm_100f", tmem_columns=512),
        _SM103,
        _specific(_SM103, "sm_100f", tmem_columns=512),
        _SM110,
        _specific(_SM110, "sm_110f", tmem_columns=512),
        _SM120,
        _specific(_SM120, "sm_120f"),
        _SM121,
        _specific(_SM121, "sm_120f"),
    )
}


def split_that_fits(needs: Sequence[tuple[int, int]], pool: int) -> list[int] | None:
    """Registers a thread of each of several (registers a thread, warpgroups) that fit into ``pool``, registers a thread
    summed over warpgroups: those that ask for most give up first.  None if the least that setmaxnreg takes is too
    much."""
    for most in range(SETMAXNREG_MAX, SETMAXNREG_MIN - 1, -SETMAXNREG_STEP):
        split = [max(SETMAXNREG_MIN, min(registers, most)) for registers, _ in needs]
        if sum(own * groups for own, (_, groups) in zip(split, needs, strict=True)) <= pool:
            return split
    return None


#: Architectures that images are made for beside the targets: what every member of a family has.  nvJitLink makes no
#: cubins for them.
FAMILIES = tuple(dict.fromkeys(t.family for t in TARGETS.values() if t.family))


def require_image_arch(name: str) -> None:
    """Raises LinkError ``unknown-target`` if no image can be made for architecture ``name``."""
    if name not in FAMILIES:
        target(name)


def parse_arch(name: str) -> tuple[int, str] | None:
    """``sm_90a`` or ``compute_90a`` as ``(90, "a")``; None if it is neither."""
    match = re.fullmatch(r"(?:sm|compute|lto)_(\d{2,3})([af]?)", name)
    return (int(match[1]), match[2]) if match else None


def target(name: str, location: Location = UNKNOWN) -> Target:
    """The facts of architecture ``name``.  Raises LinkError ``unknown-target``."""
    found = TARGETS.get(name)
    if found is None:
        raise error(
            "unknown-target",
            f"unknown target '{name}'; known targets are {', '.join(TARGETS)}",
            location,
            hint=nearest(name, TARGETS),
        )
    return found
