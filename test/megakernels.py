"""Kernels of an interpreter and the operations that it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipelink.components.gemm import Composer

if TYPE_CHECKING:
    from pipelink.api import Instance


def add_interpreter(c: Composer) -> Instance:
    """The interpreter and its controller."""
    control, run = c.add("interpreter", "controller"), c.add("interpreter", "interpreter")
    c.kernel.connect(control.instructions, run.to_load)
    c.kernel.connect(control.instructions, run.to_compute)
    return run


def add_products(c: Composer, run: Instance) -> None:
    """Products of matrices with a vector, of two lengths."""
    products = {k: c.add("megakernel", "stream", f"matvec_{k}") for k in (2048, 8192)}
    for k, product in products.items():
        c.kernel.bind(product.k, k)
        c.kernel.operation(run, product)
        c.kernel.connect(product.w, product.tiles, lease=run.pages)
    for one in products.values():
        for other in products.values():
            c.kernel.connect(one.done, other.ready)


def streaming(c: Composer) -> None:
    """Products one behind the other, whose weights go through one ring of pages."""
    add_products(c, add_interpreter(c))
