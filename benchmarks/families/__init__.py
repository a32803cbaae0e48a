"""The families of kernels that are linked, compared and timed: one module each, one line here."""

from benchmarks.families.attention import ATTENTION
from benchmarks.families.base import Family
from benchmarks.families.gemm import GEMM

FAMILIES: tuple[Family, ...] = (GEMM, ATTENTION)
