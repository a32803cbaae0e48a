"""Declarations of the launch contract: what a caller passes and what is derived from it, as components or the kernel
say.

A part of the vocabulary (:mod:`pipelink.contract.vocabulary`), which has them beside those of components.
"""

from __future__ import annotations

from typing import Any, Final

from pipelink.contract.fields import AS_ARGUMENT, Declaration, Field, Written, listed, number, optional, other, string

BOTH: Final = ("component", "kernel")
NAME: Final = string("name, unique among the operations of its kind")


class Tensor(Declaration, op="tensor", about="a tensor argument of the launch contract", parents=BOTH):
    """``align``: bytes that every row starts on and is a multiple of; 0 makes no demand beyond the element's."""

    label = NAME.named("name")
    element = string("element type").by(AS_ARGUMENT)
    shape = listed("dimension names, expressions over them, or extents; row-major", str).by(
        Written(form="dimension", length=(1, 8))
    )
    access = string("how it is used", "read", "write", "readwrite").by(AS_ARGUMENT)
    align = optional(number("bytes that every row starts on and is a multiple of, a power of two"), 0).by(
        Written(("pl::align<n>",), "alignment in bytes of the base, of every row and of its length", form="align")
    )


class Bind(
    Declaration, op="bind", about="binds a parameter to an expression, a tensor, a workspace or a value", parents=BOTH
):
    param: Field[Any] = other("ref", "component: the parameter; kernel: @instance::@parameter", lambda ref: ref).by(
        Written(form="name")
    )
    to = optional(other("expr", "expression, tensor or workspace", str)).by(Written(needed=True))
    value: Field[int | float | str | bool | None] = optional(
        other("scalar", "value known at link time", lambda value: value)
    )


class Derive(Declaration, op="derive", about="a named expression of the launch contract", parents=BOTH):
    label = NAME.named("name")
    value = other("expr", "expression", str).by(AS_ARGUMENT)


class Grid(Declaration, op="grid", about="grid of the launch", parents=BOTH):
    value = listed("three expressions", str).by(Written(form="expression", length=(3, 3)))


class Cluster(Declaration, op="cluster", about="cluster of the launch", parents=BOTH):
    value = listed("three extents", int).by(Written(form="int", most=16, length=(3, 3)))


class Resident(Declaration, op="resident", about="all CTAs of the grid must be resident at once", parents=BOTH):
    pass


class Programmatic(
    Declaration,
    op="programmatic",
    about="the kernel may begin before the one in front of it on its stream has ended",
    parents=BOTH,
):
    pass


class Workspace(Declaration, op="workspace", about="global memory allocated by the runtime", parents=BOTH):
    label = NAME.named("name")
    bytes = other("expr", "size", str).by(AS_ARGUMENT)
    init = string(
        "content before the launch: zeros, zeros before the first launch alone, or anything", "zero", "once", "none"
    ).by(AS_ARGUMENT)


class Peer(Declaration, op="peer", about="a tensor's buffers on several GPUs", parents=BOTH):
    label = NAME.named("name")
    tensor = string("the local tensor").by(AS_ARGUMENT)
    count = number("number of GPUs").by(AS_ARGUMENT)


class Require(
    Declaration,
    op="require",
    about="something that another component or the kernel must promise",
    parents=BOTH,
):
    label = string("what").named("name")
    value: Field[int | str | bool] = other("scalar", "expected value", lambda value: value).by(AS_ARGUMENT)
    port = optional(string("the component's port: who is beyond it must promise, directly or through others")).by(
        AS_ARGUMENT
    )


class Promise(Declaration, op="promise", about="something that holds", parents=BOTH):
    label = string("what").named("name")
    value: Field[int | str | bool] = other("scalar", "value", lambda value: value).by(AS_ARGUMENT)
