"""Cumulative operations, sorting and top-k."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from boardrl.lowering.emit import Emitter
from boardrl.lowering.index import Counter, Index
from boardrl.lowering.ir import Equation
from boardrl.lowering.primitives.reduce import FOLDS
from boardrl.lowering.values import SHORT, Point, Value, bare, typed
from boardrl.lowering.writer import Writer, rule

INT = np.dtype(np.int32)
SHORT_SORT = 24  # below this, insertion is faster than merging


def each_line(
    emit: Emitter, shape: tuple[int, ...], axis: int, body: Callable[[Callable[[Index], Point]], None]
) -> None:
    """Loops over the lines along an axis; the body gets a function from a place in the line to a point."""
    others = tuple(n for a, n in enumerate(shape) if a != axis)

    def line(point: Point) -> None:
        rest = point.dims(emit)
        body(lambda k: Point(shape, dims=(*rest[:axis], k, *rest[axis:])))

    if shape[axis]:
        emit.over(others, line, shape[axis] * 8)  # a cost for which no loop is written out: a line is a loop itself


@rule("cumsum", "cumprod", "cummax", "cummin")
def _cumulative(writer: Writer, eqn: Equation, x: Value) -> list[Value]:
    emit, axis, out = writer.emit, eqn.params["axis"], eqn.outs[0]
    fold = FOLDS[eqn.name.removeprefix("cum")]
    memory = writer.memory(eqn)

    def along(at: Callable[[Index], Point]) -> None:
        total = emit.bind(typed(fold.empty(out.dtype), out.dtype), "total", f"{eqn.name}, {eqn.source}")
        with emit.loop(0, out.shape[axis]) as k:
            place = Index(out.shape[axis] - 1) - k if eqn.params["reverse"] else k
            emit.line(f"{total} = {bare(fold.join(total, x.at(emit, at(place)), out.dtype))}")
            memory.store(emit, at(place), total)

    each_line(emit, out.shape, axis, along)
    return [memory]


def _variable(name: str, size: int) -> Index:
    """A local variable that is a place in a line."""
    return Index(0, ((Counter(name, 0, size - 1), 1),))


def _before(keys: list[Value], size: int, emit: Emitter, at: Callable[[Index], Point], a: str, b: str) -> str:
    """Whether line element a comes before b: by the first key that differs; NaN comes last."""

    def element(key: Value, name: str) -> str:
        text = key.at(emit, at(_variable(name, size)))
        return f"u8({text})" if SHORT[str(key.dtype)] == "bool" else text

    tests = ""
    for key in reversed(keys):
        x, y = element(key, a), element(key, b)
        less = f"{x} < {y}"
        same = f"{x} == {y}"
        if key.dtype.kind == "f":
            less = f"({less} or ({y} != {y} and {x} == {x}))"
            same = f"({same} or ({x} != {x} and {y} != {y}))"
        tests = f"({less} or ({same} and {tests}))" if tests else f"({less})"
    return tests


@rule("sort")
def _sort(writer: Writer, eqn: Equation, *operands: Value) -> list[Value]:
    """Stable, by the first `num_keys` operands: an order of places is sorted, then all operands follow it."""
    emit, axis = writer.emit, eqn.params["dimension"]
    stored = [writer.stored(x, "unsorted") for x in operands]
    outs = [writer.memory(eqn, k) for k in range(len(operands))]
    shape = eqn.outs[0].shape
    size = shape[axis]
    order = emit.slot((size,), INT, "order")
    spare = emit.slot((size,), INT, "order_next") if size > SHORT_SORT else None
    keys = stored[: eqn.params["num_keys"]]

    def along(at: Callable[[Index], Point]) -> None:
        with emit.loop(0, size) as k:
            emit.line(f"{order.pointer}[{k}] = {k}", f"sort, {eqn.source}")
        if spare is None:
            _insertion(emit, order.pointer, size, lambda a, b: _before(keys, size, emit, at, a, b))
        else:
            _merge(emit, order.pointer, spare.pointer, size, lambda a, b: _before(keys, size, emit, at, a, b))
        with emit.loop(0, size) as k:
            place = emit.index(f"i64({order.pointer}[{k}])", 0, size - 1)
            for out, x in zip(outs, stored, strict=True):
                out.store(emit, at(k), x.at(emit, at(place)))

    each_line(emit, shape, axis, along)
    return list(outs)


Before = Callable[[str, str], str]


def _insertion(emit: Emitter, order: str, size: int, before: Before) -> None:
    if size < 2:
        return
    i, j, item, other = emit.name("i"), emit.name("j"), emit.name("item"), emit.name("other")
    with emit.block(f"for {i} in range(1, {size}):"):
        emit.line(f"{item} = i64({order}[{i}])")
        emit.line(f"{j} = {i}")
        with emit.block(f"while {j} > 0:"):
            emit.line(f"{other} = i64({order}[{j} - 1])")
            with emit.block(f"if not {before(item, other)}:"):
                emit.line("break")
            emit.line(f"{order}[{j}] = {other}")
            emit.line(f"{j} -= 1")
        emit.line(f"{order}[{j}] = {item}")


def _merge(emit: Emitter, order: str, spare: str, size: int, before: Before) -> None:
    """Runs of 1, 2, 4, … are merged in pairs, from one array of places into the other."""
    width, low, mid, high = (emit.name(n) for n in ("width", "low", "mid", "high"))
    a, b, k, first, second = (emit.name(n) for n in ("a", "b", "k", "first", "second"))
    emit.line(f"{width} = 1")
    with emit.block(f"while {width} < {size}:"):
        with emit.block(f"for {low} in range(0, {size}, 2 * {width}):"):
            emit.line(f"{mid} = min({low} + {width}, {size})")
            emit.line(f"{high} = min({low} + 2 * {width}, {size})")
            emit.line(f"{a} = {low}")
            emit.line(f"{b} = {mid}")
            with emit.block(f"for {k} in range({low}, {high}):"):
                emit.line(f"{first} = i64({order}[min({a}, {size - 1})])")
                emit.line(f"{second} = i64({order}[min({b}, {size - 1})])")
                with emit.block(f"if {b} < {high} and ({a} >= {mid} or {before(second, first)}):"):
                    emit.line(f"{spare}[{k}] = {second}")
                    emit.line(f"{b} += 1")
                with emit.block("else:"):
                    emit.line(f"{spare}[{k}] = {first}")
                    emit.line(f"{a} += 1")
        emit.line(f"{order}, {spare} = {spare}, {order}")
        emit.line(f"{width} *= 2")


@rule("top_k")
def _top_k(writer: Writer, eqn: Equation, x: Value) -> list[Value]:
    """The largest k, the earlier of equals first; floats by their bits: -0.0 is below 0.0, and NaN above all."""
    emit, count = writer.emit, eqn.params["k"]
    axis = eqn.params.get("axis", -1) % len(x.shape)
    x = writer.stored(x, "candidates")
    values, places = writer.memory(eqn, 0), writer.memory(eqn, 1)
    size = x.shape[axis]
    order = emit.slot((max(count, 1),), INT, "order")

    def along(at: Callable[[Index], Point]) -> None:
        i, j, other = emit.name("i"), emit.name("j"), emit.name("other")

        def larger(a: str, b: str) -> str:
            u, v = (x.at(emit, at(_variable(n, size))) for n in (a, b))
            if x.dtype.kind != "f":
                return f"({u} > {v})"
            return f"(ordered({u}) > ordered({v}))"

        with emit.block(f"for {i} in range({size}):", f"top_k, {eqn.source}"):
            emit.line(f"{j} = min({i}, {count})")
            with emit.block(f"while {j} > 0:"):
                emit.line(f"{other} = i64({order.pointer}[{j} - 1])")
                with emit.block(f"if not {larger(i, other)}:"):
                    emit.line("break")
                with emit.block(f"if {j} < {count}:"):
                    emit.line(f"{order.pointer}[{j}] = {other}")
                emit.line(f"{j} -= 1")
            with emit.block(f"if {j} < {count}:"):
                emit.line(f"{order.pointer}[{j}] = {i}")
        with emit.loop(0, count) as k:
            place = emit.index(f"i64({order.pointer}[{k}])", 0, size - 1)
            chosen = Point(values.shape, dims=at(k).dims(emit))
            values.store(emit, chosen, x.at(emit, at(place)))
            places.store(emit, chosen, f"{SHORT[str(eqn.outs[1].dtype)]}({place})")

    if count:
        each_line(emit, x.shape, axis, along)
    return [values, places]
