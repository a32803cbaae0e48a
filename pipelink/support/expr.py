"""Launch-contract expressions: integers over named dimensions, such as ``min(m_tiles * n_tiles, sms * occupancy)``.

Text in, integer out.  The grammar is Python's expression grammar restricted to integer literals, names,
``+ - * // / %`` (both divisions are floor divisions), and the calls ``ceildiv(a, b)``, ``min``, ``max`` and
``stride(tensor, dim)`` (stride in elements).  The text is never evaluated by Python: its validated tree is walked, or
lowered to Python in which every name is the caller's.  Imported by the runtime, so it depends on the standard library
and ``support.diagnostics`` only.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache

from pipelink.support import limits
from pipelink.support.diagnostics import Location, error, nearest, shown

FUNCTIONS = ("ceildiv", "min", "max", "stride")
_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Div: "//", ast.Mod: "%",
}  # fmt: skip


def _ceildiv(a: int, b: int) -> int:
    return -(-a // b)


@lru_cache(maxsize=4096)
def parse(text: str) -> ast.expr:
    """Parse and validate.  Raises LinkError ``bad-expression``."""
    where = Location(text=text)
    if len(text) > limits.EXPRESSION_TEXT:
        raise error("bad-expression", f"expression is longer than {limits.EXPRESSION_TEXT} characters", where)
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as problem:
        raise error("bad-expression", f"cannot parse expression '{text}'", where) from problem
    _validate(tree, text, 0)
    return tree


def _validate(node: ast.expr, text: str, depth: int) -> None:
    if depth > limits.EXPRESSION_DEPTH:
        raise error(
            "bad-expression", f"expression is nested deeper than {limits.EXPRESSION_DEPTH}", Location(text=text)
        )
    match node:
        case ast.Constant(value=bool()):
            pass
        case ast.Constant(value=int() as value):
            if value > limits.LAUNCH_NUMBER:
                raise error("bad-expression", f"expected numbers of 64 bits in '{text}'", Location(text=text))
            return
        case ast.Name(id=name) if name not in FUNCTIONS:
            return
        case ast.BinOp(
            left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.FloorDiv() | ast.Div() | ast.Mod(), right=right
        ):
            _validate(left, text, depth + 1)
            _validate(right, text, depth + 1)
            return
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            _validate(operand, text, depth + 1)
            return
        case ast.Call(func=ast.Name(id="stride"), args=[ast.Name(), ast.Constant(value=int())], keywords=[]):
            return
        case ast.Call(func=ast.Name(id="ceildiv"), args=[a, b], keywords=[]):
            _validate(a, text, depth + 1)
            _validate(b, text, depth + 1)
            return
        case ast.Call(func=ast.Name(id="min" | "max"), args=[_, *_] as args, keywords=[]):
            for argument in args:
                _validate(argument, text, depth + 1)
            return
        case ast.Call(func=ast.Name(id=name)) if name not in FUNCTIONS:
            raise error(
                "bad-expression",
                f"unknown function '{name}' in '{text}'",
                Location(text=text),
                hint=nearest(name, FUNCTIONS),
            )
        case _:
            pass
    raise error("bad-expression", f"'{ast.unparse(node)}' is not allowed in expression '{text}'", Location(text=text))


@lru_cache(maxsize=1 << 10)
def names(text: str) -> tuple[str, ...]:
    """The free names of an expression, in order of appearance, ``stride``'s tensor included."""
    found = [n for n in ast.walk(parse(text)) if isinstance(n, ast.Name) and n.id not in FUNCTIONS]
    found.sort(key=lambda n: (n.lineno, n.col_offset))
    return tuple(dict.fromkeys(n.id for n in found))


def strides(text: str) -> tuple[tuple[str, int], ...]:
    """(tensor, dimension) of every ``stride()``."""
    found: dict[tuple[str, int], None] = {}
    for node in ast.walk(parse(text)):
        match node:
            case ast.Call(
                func=ast.Name(id="stride"), args=[ast.Name(id=tensor), ast.Constant(value=int() as dimension)]
            ):
                found[tensor, dimension] = None
            case _:
                pass
    return tuple(found)


def numbers(text: str) -> tuple[str, ...]:
    """The free names that stand for numbers: all but the tensors of ``stride``."""

    def walk(node: ast.AST) -> Iterator[str]:
        match node:
            case ast.Name(id=name):
                yield name
            case ast.Call(func=ast.Name(id="stride")):
                return
            case ast.Call(args=arguments):
                for argument in arguments:
                    yield from walk(argument)
            case _:
                for child in ast.iter_child_nodes(node):
                    yield from walk(child)

    return tuple(dict.fromkeys(walk(parse(text))))


def evaluate(text: str, values: Mapping[str, int], stride: Callable[[str, int], int] | None = None) -> int:
    """The value of ``text``.  ``values`` gives the names; ``stride(tensor, dim)`` gives strides in elements.

    Raises LinkError ``bad-expression`` for an unknown name, a division by zero or a value that 64 bits do not hold.
    """

    def walk(node: ast.expr) -> int:
        match node:
            case ast.Constant(value=int() as value):
                return value
            case ast.Name(id=name):
                if name not in values:
                    raise error(
                        "bad-expression",
                        f"unknown name '{name}' in '{text}'",
                        Location(text=text),
                        hint=nearest(name, values),
                    )
                return values[name]
            case ast.UnaryOp(operand=operand):
                return -walk(operand)
            case ast.BinOp(left=left, op=op, right=right):
                a, b = walk(left), walk(right)
                if isinstance(op, ast.Add):
                    return a + b
                if isinstance(op, ast.Sub):
                    return a - b
                if isinstance(op, ast.Mult):
                    return a * b
                if b == 0:
                    raise error("bad-expression", f"division by zero in '{text}'", Location(text=text))
                return a % b if isinstance(op, ast.Mod) else a // b
            case ast.Call(func=ast.Name(id="stride"), args=[ast.Name(id=tensor), ast.Constant(value=int() as dim)]):
                if stride is None:
                    raise error("bad-expression", f"stride() is not available in '{text}'", Location(text=text))
                return stride(tensor, dim)
            case ast.Call(func=ast.Name(id=name), args=args):
                numbers = [walk(a) for a in args]
                if name == "ceildiv":
                    if numbers[1] == 0:
                        raise error("bad-expression", f"division by zero in '{text}'", Location(text=text))
                    return _ceildiv(*numbers)
                return min(numbers) if name == "min" else max(numbers)
            case _:
                raise AssertionError(node)

    value = walk(parse(text))
    if type(value) is int and not abs(value) <= limits.LAUNCH_NUMBER:  # torch's symbolic values are left alone
        raise error("bad-expression", f"'{text}' is {shown(value)}, expected a value of 64 bits", Location(text=text))
    return value


def constant(text: str, values: Mapping[str, int]) -> int | None:
    """The value of ``text`` where it follows from ``values``, and else None.

    Raises LinkError ``bad-expression`` for a division by zero whatever the other names are.
    """

    def walk(node: ast.expr) -> int | None:
        match node:
            case ast.Constant(value=int() as value):
                return value
            case ast.Name(id=name):
                return values.get(name)
            case ast.UnaryOp(operand=operand):
                found = walk(operand)
                return None if found is None else -found
            case ast.BinOp(left=left, op=op, right=right):
                numbers = [walk(left), walk(right)]
                divides = not isinstance(op, ast.Add | ast.Sub | ast.Mult)
            case ast.Call(func=ast.Name(id="stride")):
                return None
            case ast.Call(func=ast.Name(id=name), args=args):
                numbers = [walk(one) for one in args]
                divides = name == "ceildiv"
            case _:
                raise AssertionError(node)
        if divides and numbers[1] == 0:
            raise error("bad-expression", f"division by zero in '{text}'", Location(text=text))
        return None if None in numbers else evaluate(ast.unparse(node), values)

    return walk(parse(text))


def lower(text: str, names: Mapping[str, str], stride: Callable[[str, int], str | None]) -> str | None:
    """Python source with the value of ``text``: a parenthesised expression over integer literals, ``min``, ``max`` and
    the variables that ``names`` and ``stride(tensor, dim)`` give.  None where one of them gives none.

    It raises ZeroDivisionError where :func:`evaluate` would report a division by zero.  Raises LinkError
    ``bad-expression`` where ``text`` is none."""

    def walk(node: ast.expr) -> str:
        match node:
            case ast.Constant(value=int() as value):
                return str(value)
            case ast.Name(id=name):
                return names[name]
            case ast.UnaryOp(operand=operand):
                return f"(-{walk(operand)})"
            case ast.BinOp(left=left, op=op, right=right):
                return f"({walk(left)} {_OPERATORS[type(op)]} {walk(right)})"
            case ast.Call(func=ast.Name(id="stride"), args=[ast.Name(id=tensor), ast.Constant(value=int() as dim)]):
                found = stride(tensor, dim)
                if found is None:
                    raise KeyError(tensor)
                return found
            case ast.Call(func=ast.Name(id="ceildiv"), args=[a, b]):
                return f"(-(-{walk(a)} // {walk(b)}))"
            case ast.Call(func=ast.Name(id=name), args=[first, *others]):
                numbers = ", ".join(walk(a) for a in (first, *others))
                return f"{name}({numbers})" if others else numbers
            case _:
                raise AssertionError(node)

    try:
        return walk(parse(text))
    except KeyError:
        return None
