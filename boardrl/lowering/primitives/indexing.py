"""Gather, scatter and slices at places that are known only at run time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from boardrl.lowering import index
from boardrl.lowering.emit import Emitter
from boardrl.lowering.index import Index
from boardrl.lowering.ir import Equation
from boardrl.lowering.primitives.elementwise import narrow
from boardrl.lowering.primitives.reduce import larger, smaller
from boardrl.lowering.values import ORIGIN, Point, Table, Value, bare, literal
from boardrl.lowering.writer import Writer, rule


def whole(text: str, dtype: np.dtype) -> str:
    """An index as a signed 64-bit number; one too large for that stays too large."""
    if dtype == np.uint64:
        return f"i64(minimum({text}, u64({2**62})))"
    return f"i64({bare(text)})"


def clamped(emit: Emitter, value: Value, point: Point, limit: int) -> Index:
    """An element as an index, moved into [0, limit]."""
    if isinstance(value, Table):
        place = value.place(emit, point)
        if place is not None and place.low >= 0 and place.high <= limit:
            return place
        low, high = value.bounds()
        if place is None and low >= 0 and high <= limit:
            return emit.index(whole(value.at(emit, point), value.dtype), low, high)
    if limit == 0:
        return Index()
    text = whole(value.at(emit, point), value.dtype)
    return emit.index(f"minimum(maximum({text}, i64(0)), i64({limit}))", 0, limit)


def tested(emit: Emitter, value: Value, point: Point, limit: int) -> tuple[Index, list[str]]:
    """An element as an index, and the tests that it lies in [0, limit], where that is not known in advance."""
    if isinstance(value, Table):
        low, high = value.bounds()
        place = value.place(emit, point)
        if place is not None:
            low, high = place.low, place.high
        if low >= 0 and high <= limit:
            return clamped(emit, value, point, limit), []
    name = emit.bind(whole(value.at(emit, point), value.dtype), "k")
    if limit < 0:
        return Index(), ["False"]
    # Past the tests, the index is known to lie inside.
    place = index.counter(name, 0, limit)
    if limit == 0:
        return Index(), [f"{name} == 0"]
    return place, [f"0 <= {name} <= {limit}"]


@rule("dynamic_slice")
def _dynamic_slice(writer: Writer, eqn: Equation, x: Value, *starts: Value) -> list[Value]:
    emit, out = writer.emit, eqn.outs[0]
    places = _starts(emit, starts, x.shape, out.shape)
    if x.splits:  # as in jnp.roll: adjacent elements of one array are read faster than parts told apart
        x = writer.stored(x, "joined")

    def read(emit: Emitter, point: Point) -> str:
        return x.at(emit, Point(x.shape, dims=tuple(d + s for d, s in zip(point.dims(emit), places, strict=True))))

    return [Value(out.shape, out.dtype, read, cost=x.cost + (1 if x.cost > 1 else 0), branchy=x.branchy)]


def _starts(emit: Emitter, starts: tuple[Value, ...], shape: tuple[int, ...], sizes: tuple[int, ...]) -> list[Index]:
    return [clamped(emit, s, ORIGIN, n - size) for s, n, size in zip(starts, shape, sizes, strict=True)]


@rule("dynamic_update_slice")
def _dynamic_update_slice(writer: Writer, eqn: Equation, x: Value, update: Value, *starts: Value) -> list[Value]:
    emit, out = writer.emit, eqn.outs[0]
    places = _starts(emit, starts, x.shape, update.shape)
    buffer = writer.own(eqn, 0, x)

    def store(point: Point) -> None:
        dims = tuple(d + s for d, s in zip(point.dims(emit), places, strict=True))
        buffer.store(emit, Point(out.shape, dims=dims), update.at(emit, point), f"{eqn.name}, {eqn.source}")

    emit.each(update, store)
    return [buffer]


@rule("gather")
def _gather(writer: Writer, eqn: Equation, x: Value, places: Value) -> list[Value]:
    """Slices of x, one for each row of indices, in every mode and with batch axes."""
    out, numbers, sizes = eqn.outs[0], eqn.params["dimension_numbers"], eqn.params["slice_sizes"]
    offset_axes = numbers.offset_dims
    batch_axes = [a for a in range(len(out.shape)) if a not in offset_axes]
    gone = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    kept = [a for a in range(len(x.shape)) if a not in gone]
    mode = eqn.params["mode"].name
    filler = eqn.params["fill_value"]
    fill = literal(_fill(out.dtype) if filler is None else filler, out.dtype)
    if any(n == 0 for n in x.shape) and mode != "FILL_OR_DROP":
        raise writer.refuse(eqn, "from an empty array")

    def read(emit: Emitter, point: Point) -> str:
        dims = point.dims(emit)
        batch = tuple(dims[a] for a in batch_axes)
        position = [Index()] * len(x.shape)
        for axis, other in zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims, strict=True):
            position[axis] = batch[other]
        tests: list[str] = []
        for k, axis in enumerate(numbers.start_index_map):
            start = Point(places.shape, dims=(*batch, Index(k)))
            limit = x.shape[axis] - sizes[axis]
            if mode == "FILL_OR_DROP":
                position[axis], new = tested(emit, places, start, limit)
                tests += new
            else:  # promised to be in bounds, and XLA clips what breaks the promise
                position[axis] = clamped(emit, places, start, limit)
        for axis, place in zip(kept, (dims[a] for a in offset_axes), strict=True):
            position[axis] = position[axis] + place
        element = Point(x.shape, dims=tuple(position))
        if not tests:
            return x.at(emit, element)
        return emit.either(" and ".join(tests), lambda: x.at(emit, element), lambda: fill, out)

    safe = isinstance(places, Table) or mode != "FILL_OR_DROP"
    return [Value(out.shape, out.dtype, read, cost=x.cost + places.cost + 2, branchy=x.branchy or not safe)]


def _fill(dtype: np.dtype) -> object:
    if dtype == np.bool_:
        return True
    if dtype.kind == "f":
        return np.nan
    info = np.iinfo(dtype)
    return info.min if dtype.kind == "i" else info.max


Combine = Callable[[str, str, np.dtype], str]
COMBINE: dict[str, Combine | None] = {
    "scatter": None,
    "scatter-add": lambda a, b, dtype: narrow(f"({a} + {b})", dtype),
    "scatter-sub": lambda a, b, dtype: narrow(f"({a} - {b})", dtype),
    "scatter-mul": lambda a, b, dtype: narrow(f"({a} * {b})", dtype),
    "scatter-min": smaller,
    "scatter-max": larger,
}


@rule(*COMBINE)
def _scatter(writer: Writer, eqn: Equation, x: Value, places: Value, update: Value) -> list[Value]:
    """x with slices written or combined, in the order of the updates; in every mode and with batch axes."""
    emit, out, numbers = writer.emit, eqn.outs[0], eqn.params["dimension_numbers"]
    window_axes = numbers.update_window_dims
    batch_axes = [a for a in range(len(update.shape)) if a not in window_axes]
    gone = {*numbers.inserted_window_dims, *numbers.operand_batching_dims}
    kept = [a for a in range(len(x.shape)) if a not in gone]
    extent = [1] * len(x.shape)
    for axis, window in zip(kept, window_axes, strict=True):
        extent[axis] = update.shape[window]
    mode, combine = eqn.params["mode"].name, COMBINE[eqn.name]
    if combine is None and eqn.params["update_jaxpr"] is not None:
        raise writer.refuse(eqn, "of a function of the old value, as .at[].apply gives it")
    buffer = writer.own(eqn, 0, x)

    # Where slices overlap, the later row of indices wins: rows are run over first, then what lies in a slice.
    axes = (*batch_axes, *window_axes)

    def store(place: Point) -> None:
        by_axis = dict(zip(axes, place.dims(emit), strict=True))
        dims = tuple(by_axis[a] for a in range(len(update.shape)))
        point = Point(update.shape, dims=dims)
        batch = tuple(dims[a] for a in batch_axes)
        position = [Index()] * len(x.shape)
        for axis, other in zip(numbers.operand_batching_dims, numbers.scatter_indices_batching_dims, strict=True):
            position[axis] = batch[other]
        tests: list[str] = []
        for k, axis in enumerate(numbers.scatter_dims_to_operand_dims):
            start = Point(places.shape, dims=(*batch, Index(k)))
            limit = x.shape[axis] - extent[axis]
            if mode == "CLIP":
                position[axis] = clamped(emit, places, start, limit)
            else:  # XLA drops what is out of bounds, promised or not
                position[axis], new = tested(emit, places, start, limit)
                tests += new
        for axis, offset in zip(kept, (dims[a] for a in window_axes), strict=True):
            position[axis] = position[axis] + offset
        target = Point(out.shape, dims=tuple(position))

        def write() -> None:
            text = update.at(emit, point)
            if combine is not None:
                text = combine(buffer.at(emit, target), text, out.dtype)
            buffer.store(emit, target, text, f"{eqn.name}, {eqn.source}")

        if tests:
            with emit.block(f"if {' and '.join(tests)}:"):
                write()
        else:
            write()

    if all(x.shape):
        emit.over(tuple(update.shape[a] for a in axes), store, update.cost + 2)
    return [buffer]
