"""Rearrangements: they cost nothing but a different index."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from boardrl.lowering import index
from boardrl.lowering.emit import Emitter
from boardrl.lowering.index import Index
from boardrl.lowering.ir import Equation
from boardrl.lowering.values import ORIGIN, SHORT, Point, Value, first, scalar, typed
from boardrl.lowering.writer import Writer, rule

Dims = tuple[Index, ...]


def moved(eqn: Equation, x: Value, where: Callable[[Dims], Dims], *, out: int = 0, cost: float = 0) -> Value:
    """The value whose element at some indices is the operand's element at others."""

    def read(emit: Emitter, point: Point) -> str:
        return x.at(emit, Point(x.shape, dims=where(point.dims(emit))))

    return Value(eqn.outs[out].shape, x.dtype, read, cost=x.cost + cost, branchy=x.branchy)


@rule("reshape", "squeeze", "expand_dims")
def _reshape(writer: Writer, eqn: Equation, x: Value, *_: Value) -> list[Value]:
    shape = eqn.outs[0].shape
    order = eqn.params.get("dimensions") if eqn.name == "reshape" else None
    if order is not None and tuple(order) != tuple(range(len(order))):
        x = _reordered(x, tuple(order))

    def read(emit: Emitter, point: Point) -> str:
        return x.at(emit, point.reshaped(x.shape))

    # Without its ones, the shape is the same: cuts of an axis stay cuts of that axis.
    def axes(s: tuple[int, ...]) -> list[int]:
        return [axis for axis, size in enumerate(s) if size != 1]

    splits: Mapping[int, tuple[int, ...]] = {}
    if [shape[a] for a in axes(shape)] == [x.shape[a] for a in axes(x.shape)]:
        place = dict(zip(axes(x.shape), axes(shape), strict=True))
        splits = {place[axis]: cuts for axis, cuts in x.splits.items() if axis in place}
    return [Value(shape, x.dtype, read, cost=x.cost, plain=x.plain, splits=splits, branchy=x.branchy)]


@rule("broadcast_in_dim")
def _broadcast(writer: Writer, eqn: Equation, x: Value, *_: Value) -> list[Value]:
    shape, axes = eqn.outs[0].shape, eqn.params["broadcast_dimensions"]
    if x.size == 1:
        value = Value(shape, x.dtype, lambda emit, point: x.at(emit, first(x.shape)), cost=x.cost, plain=True)
        return [value if value.size != 1 or x.cost else scalar(x.at(writer.emit, first(x.shape)), shape, x.dtype)]

    def where(dims: Dims) -> Dims:
        return tuple(dims[axis] if size > 1 else Index() for axis, size in zip(axes, x.shape, strict=True))

    return [moved(eqn, x, where)]


@rule("transpose")
def _transpose(writer: Writer, eqn: Equation, x: Value) -> list[Value]:
    return [_reordered(x, tuple(eqn.params["permutation"]))]


def _reordered(x: Value, order: tuple[int, ...]) -> Value:
    """Axis k is the operand's axis order[k]."""

    def read(emit: Emitter, point: Point) -> str:
        back = dict(zip(order, point.dims(emit), strict=True))
        return x.at(emit, Point(x.shape, dims=tuple(back[axis] for axis in range(len(order)))))

    return Value(tuple(x.shape[a] for a in order), x.dtype, read, cost=x.cost, branchy=x.branchy)


@rule("slice")
def _slice(writer: Writer, eqn: Equation, x: Value) -> list[Value]:
    starts = eqn.params["start_indices"]
    steps = eqn.params["strides"] or (1,) * len(starts)
    return [moved(eqn, x, lambda dims: tuple(d * s + a for d, s, a in zip(dims, steps, starts, strict=True)))]


@rule("rev")
def _reverse(writer: Writer, eqn: Equation, x: Value) -> list[Value]:
    axes = eqn.params["dimensions"]
    return [moved(eqn, x, lambda dims: tuple(
        Index(x.shape[a] - 1) - d if a in axes else d for a, d in enumerate(dims)))]  # fmt: skip


@rule("split")
def _split(writer: Writer, eqn: Equation, x: Value) -> list[Value]:
    axis, start, parts = eqn.params["axis"], 0, []
    for k, size in enumerate(eqn.params["sizes"]):
        parts.append(moved(eqn, x, lambda dims, start=start: tuple(  # type: ignore[misc]
            d + start if a == axis else d for a, d in enumerate(dims)), out=k))  # fmt: skip
        start += size
    return parts


@rule("unstack")
def _unstack(writer: Writer, eqn: Equation, x: Value) -> list[Value]:
    axis = eqn.params["axis"]
    return [
        moved(eqn, x, lambda dims, k=k: (*dims[:axis], Index(k), *dims[axis:]), out=k)  # type: ignore[misc]
        for k in range(len(eqn.outs))
    ]


@rule("tile")
def _tile(writer: Writer, eqn: Equation, x: Value) -> list[Value]:
    def read(emit: Emitter, point: Point) -> str:
        dims = tuple(emit.divide(d, size)[1] for d, size in zip(point.dims(emit), x.shape, strict=True))
        return x.at(emit, Point(x.shape, dims=dims))

    return [Value(eqn.outs[0].shape, x.dtype, read, cost=x.cost + 2)]


@rule("iota")
def _iota(writer: Writer, eqn: Equation) -> list[Value]:
    axis, out = eqn.params["dimension"], eqn.outs[0]

    def read(emit: Emitter, point: Point) -> str:
        place = point.dims(emit)[axis]
        return typed(str(place), out.dtype) if not place.terms else f"{SHORT[str(out.dtype)]}({place})"

    return [Value(out.shape, out.dtype, read, cost=1, plain=len(out.shape) == 1)]


@rule("concatenate")
def _concatenate(writer: Writer, eqn: Equation, *parts: Value) -> list[Value]:
    return [
        joined(writer, eqn, parts, eqn.params["dimension"], [part.shape[eqn.params["dimension"]] for part in parts])
    ]


@rule("stack")
def _stack(writer: Writer, eqn: Equation, *parts: Value) -> list[Value]:
    axis = eqn.params["axis"]
    widened = []
    for part in parts:
        shape = (*part.shape[:axis], 1, *part.shape[axis:])

        def read(emit: Emitter, point: Point, part: Value = part) -> str:
            return part.at(emit, point.reshaped(part.shape))

        widened.append(Value(shape, part.dtype, read, cost=part.cost, plain=part.plain, branchy=part.branchy))
    return [joined(writer, eqn, tuple(widened), axis, [1] * len(parts))]


MANY = 8  # with more parts than this, an index that is not fixed is looked up in memory


def joined(writer: Writer, eqn: Equation, parts: tuple[Value, ...], axis: int, sizes: list[int]) -> Value:
    """Parts one after another along an axis."""
    out = eqn.outs[0]
    starts = [sum(sizes[:k]) for k in range(len(sizes))]

    def within(point: Point, emit: Emitter, k: int, place: Index) -> str:
        dims = point.dims(emit)
        moved_dims = (*dims[:axis], place, *dims[axis + 1 :])
        part = parts[k]
        return part.at(emit, Point(part.shape, dims=moved_dims) if part.shape else ORIGIN)

    if len(parts) > MANY:
        buffer = writer.memory(eqn)
        for start, part in zip(starts, parts, strict=True):

            def store(point: Point, start: int = start, part: Value = part) -> None:
                dims = point.dims(writer.emit)
                place = Point(out.shape, dims=(*dims[:axis], dims[axis] + start, *dims[axis + 1 :]))
                buffer.store(writer.emit, place, part.at(writer.emit, point))

            writer.emit.each(part, store)
        return buffer

    repeated = all(part is parts[0] for part in parts)

    def read(emit: Emitter, point: Point) -> str:
        place = point.dims(emit)[axis]
        nonempty = [k for k, size in enumerate(sizes) if size]
        inside = [k for k in nonempty if place.high >= starts[k] and place.low < starts[k] + sizes[k]]
        if len(inside) > 1 and repeated and len(parts) == 2:  # jnp.roll joins an array to itself
            size = sizes[0]
            wrapped = emit.index(f"{place} if {place} < {size} else {place - size}", 0, size - 1)
            return within(point, emit, 0, wrapped)

        def choose(candidates: list[int]) -> str:
            k = candidates[0]
            if len(candidates) == 1:
                return typed(within(point, emit, k, place - starts[k]), out.dtype)
            return emit.either(
                f"({place} < {starts[k] + sizes[k]})",
                lambda: within(point, emit, k, place - starts[k]),
                lambda: choose(candidates[1:]),
                out,
            )

        return choose(inside)

    cuts = tuple(s for s in starts[1:] if 0 < s < out.shape[axis])
    return Value(
        out.shape,
        out.dtype,
        read,
        cost=max(p.cost for p in parts) + 1,
        splits={axis: cuts} if cuts else {},
        branchy=any(p.branchy for p in parts) or len(parts) > 1,
    )


@rule("pad")
def _pad(writer: Writer, eqn: Equation, x: Value, filler: Value) -> list[Value]:
    out, config = eqn.outs[0], eqn.params["padding_config"]
    splits = {}
    for axis, (low, high, inner) in enumerate(config):
        if inner == 0:
            end = out.shape[axis] - high
            splits[axis] = tuple(sorted({c for c in (low, end) if 0 < c < out.shape[axis]}))

    def read(emit: Emitter, point: Point) -> str:
        fill = typed(filler.at(emit, ORIGIN), out.dtype)
        tests, dims = [], []
        for place, size, (low, _, inner) in zip(point.dims(emit), x.shape, config, strict=True):
            shifted = place - low
            if shifted.high < 0 or shifted.low > (size - 1) * (inner + 1):
                return fill
            if shifted.low < 0:
                tests.append(f"({shifted} >= 0)")
            if shifted.high > (size - 1) * (inner + 1):
                tests.append(f"({shifted} <= {(size - 1) * (inner + 1)})")
            if inner:
                name = emit.index(str(shifted), shifted.low, shifted.high)
                shifted, rest = emit.divide(name, inner + 1)
                if not rest.terms and rest.constant:
                    return fill
                if rest.terms:
                    tests.append(f"({rest} == 0)")
            dims.append(shifted)
        if any(size == 0 for size in x.shape):
            return fill
        element = Point(x.shape, dims=tuple(_clipped(d, size) for d, size in zip(dims, x.shape, strict=True)))
        if not tests:
            return x.at(emit, element)
        return emit.either(" and ".join(tests), lambda: x.at(emit, element), lambda: fill, out)

    return [
        Value(out.shape, out.dtype, read, cost=x.cost + 2, splits={a: c for a, c in splits.items() if c}, branchy=True)
    ]


def _clipped(place: Index, size: int) -> Index:
    """The same index with its counter known to lie inside, where a test has made sure of that."""
    if len(place.terms) != 1 or place.terms[0][1] != 1:
        return place
    (counter, _), constant = place.terms[0], place.constant
    low, high = max(counter.low, -constant), min(counter.high, size - 1 - constant)
    return Index(constant, ((index.Counter(counter.name, low, high), 1),)) if low <= high else place
