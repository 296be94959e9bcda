"""Reductions: loops with the running result in a local variable."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from boardrl.lowering.emit import Emitter, unrolled
from boardrl.lowering.index import Index, size_of
from boardrl.lowering.ir import Equation
from boardrl.lowering.primitives.elementwise import narrow
from boardrl.lowering.values import SHORT, Point, Value, bare, literal, typed
from boardrl.lowering.writer import Writer, rule


class Fold(NamedTuple):
    """A reduction: how two partial results are joined, and its neutral element."""

    join: Callable[[str, str, np.dtype], str]
    empty: Callable[[np.dtype], str]
    end: str = ""  # with booleans, the result that no further element can change
    sign: str = ""  # of an operator, if that is what joins

    def join_all(self, terms: list[str], dtype: np.dtype) -> str:
        """Several terms from left to right; integers may wrap around once, at the end."""
        if self.sign and len(terms) > 1:
            return narrow(f"({f' {self.sign} '.join(terms)})", dtype)
        text = terms[0]
        for term in terms[1:]:
            text = self.join(text, term, dtype)
        return text


def least(dtype: np.dtype) -> str:
    if dtype == np.bool_:
        return "False"
    return literal(-np.inf if dtype.kind == "f" else np.iinfo(dtype).min, dtype)


def greatest(dtype: np.dtype) -> str:
    if dtype == np.bool_:
        return "True"
    return literal(np.inf if dtype.kind == "f" else np.iinfo(dtype).max, dtype)


def _bits(value: int) -> Callable[[np.dtype], str]:
    return lambda dtype: literal(bool(value) if dtype == np.bool_ else np.array(value).astype(dtype), dtype)


def _infix(sign: str) -> Callable[[str, str, np.dtype], str]:
    return lambda a, b, dtype: narrow(f"({a} {sign} {b})", dtype)


def larger(a: str, b: str, dtype: np.dtype) -> str:
    return f"({a} | {b})" if dtype == np.bool_ else f"maximum({typed(a, dtype)}, {typed(b, dtype)})"


def smaller(a: str, b: str, dtype: np.dtype) -> str:
    return f"({a} & {b})" if dtype == np.bool_ else f"minimum({typed(a, dtype)}, {typed(b, dtype)})"


FOLDS = {
    "sum": Fold(_infix("+"), lambda dtype: literal(0, dtype), sign="+"),
    "prod": Fold(_infix("*"), lambda dtype: literal(1, dtype), sign="*"),
    "max": Fold(larger, least, "True"),
    "min": Fold(smaller, greatest, "False"),
    "or": Fold(_infix("|"), _bits(0), "True", "|"),
    "and": Fold(_infix("&"), _bits(-1), "False", "&"),
    "xor": Fold(_infix("^"), _bits(0), sign="^"),
}


def _reduce(writer: Writer, eqn: Equation, x: Value) -> list[Value]:
    fold = FOLDS[eqn.name.removeprefix("reduce_")]
    axes, out = tuple(eqn.params["axes"]), eqn.outs[0]
    count = size_of(tuple(x.shape[a] for a in axes))
    # A result that cannot change any more ends the loop, unless the loop is so plain that it becomes vector code.
    short = unrolled(count, x.cost) and count > 0
    stops = out.dtype == np.bool_ and fold.end != "" and (x.branchy or x.cost > 4)

    def read(emit: Emitter, point: Point) -> str:
        fixed = point.dims(emit)
        if short:
            terms: list[str] = []
            emit.each(x, lambda place: terms.append(x.at(emit, place)), axes, fixed)
            return fold.join_all(terms, out.dtype)
        total = emit.bind(typed(fold.empty(out.dtype), out.dtype), value.hint, value.note)
        depth = emit.depth

        def body(place: Point) -> None:
            element = x.at(emit, place)
            if not stops:
                emit.line(f"{total} = {bare(fold.join(total, element, out.dtype))}")
                return
            emit.line(f"if {bare(element) if fold.end == 'True' else f'not {element}'}:")
            emit.depth += 1
            emit.line(f"{total} = {fold.end}")
            if emit.depth > depth + 1:
                emit.line("break")
            emit.depth -= 1

        # The loop over one axis can be left; over several, the outer ones run on.
        emit.each(x, body, None if len(axes) == len(x.shape) else axes, fixed)
        return total

    value = Value(out.shape, out.dtype, read, cost=count * (x.cost + 1) + 1, branchy=x.branchy or not short)
    return [value]


for _name in FOLDS:
    rule(f"reduce_{_name}")(_reduce)


class _Best(NamedTuple):
    place: str
    value: str


@rule("argmax", "argmin")
def _arg(writer: Writer, eqn: Equation, x: Value) -> list[Value]:
    """The first index of the largest or the smallest element; the first NaN counts as both."""
    out = eqn.outs[0]
    (axis,) = eqn.params["axes"]
    sign = ">" if eqn.name == "argmax" else "<"

    def read(emit: Emitter, point: Point) -> str:
        fixed = point.dims(emit)

        def element(k: Index) -> str:
            dims = (*fixed[:axis], k, *fixed[axis:])
            text = x.at(emit, Point(x.shape, dims=dims))
            return f"u8({text})" if x.dtype == np.bool_ else typed(text, x.dtype)

        best = _Best(emit.bind("i64(0)", "best"), emit.bind(element(Index()), "best_value"))
        with emit.loop(1, x.shape[axis], "i") as k:
            value = emit.bind(element(k), "value")
            better = f"{value} {sign} {best.value}"
            if x.dtype.kind == "f":
                better = f"({better} or {value} != {value}) and {best.value} == {best.value}"
            with emit.block(f"if {better}:"):
                emit.line(f"{best.place} = {k}")
                emit.line(f"{best.value} = {value}")
        return f"{SHORT[str(out.dtype)]}({best.place})"

    return [Value(out.shape, out.dtype, read, cost=x.shape[axis] * (x.cost + 2), branchy=True)]
