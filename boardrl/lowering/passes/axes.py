"""Takes a batch axis out of an equation: the inverse of what `jax.vmap` does to it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from jax.lax import GatherDimensionNumbers, ScatterDimensionNumbers

from boardrl.lowering.ir import Equation
from boardrl.lowering.passes import fuse


class Unbatched(NamedTuple):
    """An equation on one entry of the axis: where each operand has the axis, or None, and the parameters then."""

    operands: tuple[int | None, ...]
    params: dict[str, Any]


Rule = Callable[[Equation, int], Unbatched | None]
RULES: dict[str, Rule] = {}


def unbatched(eqn: Equation, axis: int) -> Unbatched | None:
    """The equation without one axis of its result; None where the entries of that axis depend on each other."""
    if len(eqn.outs) != 1 or eqn.blocks:
        return None
    if eqn.name in fuse.SAME_PLACE or eqn.name == "select_n":
        return _elementwise(eqn, axis)
    return RULES[eqn.name](eqn, axis) if eqn.name in RULES else None


def _rule(*names: str) -> Callable[[Rule], Rule]:
    def enter(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return enter


def _without(numbers: Sequence[int], gone: int) -> tuple[int, ...]:
    """Numbers of axes after one axis is gone."""
    return tuple(n - (n > gone) for n in numbers if n != gone)


def _elementwise(eqn: Equation, axis: int) -> Unbatched | None:
    shape = eqn.outs[0].shape
    operands: list[int | None] = []
    for atom in eqn.ins:
        if atom.shape == ():
            operands.append(None)
        elif len(atom.shape) == len(shape) and atom.shape[axis] == shape[axis]:  # other axes may be broadcast
            operands.append(axis)
        else:
            return None
    return Unbatched(tuple(operands), eqn.params)


@_rule("broadcast_in_dim")
def _broadcast(eqn: Equation, axis: int) -> Unbatched | None:
    shape, dims = eqn.params["shape"], eqn.params["broadcast_dimensions"]
    params = {**eqn.params, "shape": _drop(shape, axis), "broadcast_dimensions": _without(dims, axis)}
    if axis not in dims:
        return Unbatched((None,), params)
    place = dims.index(axis)
    if eqn.ins[0].shape[place] != shape[axis]:
        return None
    return Unbatched((place,), params)


def _drop(shape: Sequence[int], axis: int) -> tuple[int, ...]:
    return (*shape[:axis], *shape[axis + 1 :])


@_rule("reshape")
def _reshape(eqn: Equation, axis: int) -> Unbatched | None:
    before, after = eqn.ins[0].shape, eqn.outs[0].shape
    ahead = math.prod(after[:axis])
    for place, size in enumerate(before):
        if size == after[axis] and math.prod(before[:place]) == ahead:
            return Unbatched((place,), {**eqn.params, "new_sizes": _drop(after, axis)})
    return None


@_rule("squeeze")
def _squeeze(eqn: Equation, axis: int) -> Unbatched | None:
    gone = {d % len(eqn.ins[0].shape) for d in eqn.params["dimensions"]}
    kept = [a for a in range(len(eqn.ins[0].shape)) if a not in gone]
    return Unbatched((kept[axis],), {**eqn.params, "dimensions": _without(sorted(gone), kept[axis])})


@_rule("transpose")
def _transpose(eqn: Equation, axis: int) -> Unbatched | None:
    order = eqn.params["permutation"]
    place = order[axis]
    return Unbatched((place,), {**eqn.params, "permutation": tuple(p - (p > place) for p in _drop(order, axis))})


@_rule("reduce_sum", "reduce_max", "reduce_min", "reduce_or", "reduce_and", "reduce_xor", "reduce_prod")
def _reduce(eqn: Equation, axis: int) -> Unbatched | None:
    place = _kept(eqn, eqn.params["axes"])[axis]
    return Unbatched((place,), {**eqn.params, "axes": _without(eqn.params["axes"], place)})


@_rule("argmax", "argmin")
def _arg(eqn: Equation, axis: int) -> Unbatched | None:
    return _reduce(eqn, axis)


def _kept(eqn: Equation, gone: Sequence[int]) -> list[int]:
    return [a for a in range(len(eqn.ins[0].shape)) if a not in gone]


@_rule("slice")
def _slice(eqn: Equation, axis: int) -> Unbatched | None:
    start, limit, strides = (eqn.params[k] for k in ("start_indices", "limit_indices", "strides"))
    whole = start[axis] == 0 and limit[axis] == eqn.ins[0].shape[axis] and (strides is None or strides[axis] == 1)
    if not whole:
        return None
    params = {**eqn.params, "start_indices": _drop(start, axis), "limit_indices": _drop(limit, axis)}
    params["strides"] = None if strides is None else _drop(strides, axis)
    return Unbatched((axis,), params)


@_rule("pad")
def _pad(eqn: Equation, axis: int) -> Unbatched | None:
    padding = eqn.params["padding_config"]
    if tuple(padding[axis]) != (0, 0, 0):
        return None
    return Unbatched((axis, None), {**eqn.params, "padding_config": _drop(padding, axis)})


@_rule("concatenate")
def _concatenate(eqn: Equation, axis: int) -> Unbatched | None:
    dimension = eqn.params["dimension"]
    if dimension == axis:
        return None
    return Unbatched((axis,) * len(eqn.ins), {**eqn.params, "dimension": dimension - (dimension > axis)})


@_rule("rev")
def _rev(eqn: Equation, axis: int) -> Unbatched | None:
    if axis in eqn.params["dimensions"]:
        return None
    return Unbatched((axis,), {**eqn.params, "dimensions": _without(eqn.params["dimensions"], axis)})


@_rule("cumsum", "cumprod", "cummax", "cummin")
def _cumulative(eqn: Equation, axis: int) -> Unbatched | None:
    along = eqn.params["axis"]
    return None if along == axis else Unbatched((axis,), {**eqn.params, "axis": along - (along > axis)})


@_rule("gather")
def _gather(eqn: Equation, axis: int) -> Unbatched | None:
    x, places = eqn.ins
    numbers, sizes = eqn.params["dimension_numbers"], eqn.params["slice_sizes"]
    gone = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    if axis in numbers.offset_dims:  # a slice that spans the whole axis of x
        place = [a for a in range(len(x.shape)) if a not in gone][numbers.offset_dims.index(axis)]
        if sizes[place] != x.shape[place] or place in numbers.start_index_map:
            return None
        operand, index = place, None
    else:
        batch = [a for a in range(len(eqn.outs[0].shape)) if a not in numbers.offset_dims]
        index = batch.index(axis)
        operand = None
        if index in numbers.start_indices_batching_dims:
            operand = numbers.operand_batching_dims[numbers.start_indices_batching_dims.index(index)]
    out = axis
    far = len(x.shape) + len(places.shape)  # no axis is there
    taken, read = far if operand is None else operand, far if index is None else index
    renewed = GatherDimensionNumbers(
        offset_dims=_without(numbers.offset_dims, out),
        collapsed_slice_dims=_without(numbers.collapsed_slice_dims, taken),
        start_index_map=_moved(numbers.start_index_map, taken),
        operand_batching_dims=_without(numbers.operand_batching_dims, taken),
        start_indices_batching_dims=_without(numbers.start_indices_batching_dims, read),
    )
    sizes = sizes if operand is None else _drop(sizes, operand)
    return Unbatched((operand, index), {**eqn.params, "dimension_numbers": renewed, "slice_sizes": sizes})


def _moved(numbers: Sequence[int], gone: int) -> tuple[int, ...]:
    return tuple(n - (n > gone) for n in numbers)


@_rule("scatter", "scatter-add", "scatter-sub", "scatter-mul", "scatter-min", "scatter-max")
def _scatter(eqn: Equation, axis: int) -> Unbatched | None:
    x, places, update = eqn.ins
    numbers = eqn.params["dimension_numbers"]
    windows = numbers.update_window_dims
    gone = {*numbers.inserted_window_dims, *numbers.operand_batching_dims}
    if axis in numbers.operand_batching_dims:
        index = numbers.scatter_indices_batching_dims[numbers.operand_batching_dims.index(axis)]
        batch = [a for a in range(len(update.shape)) if a not in windows]
        updated = batch[index]
    elif axis in numbers.inserted_window_dims or axis in numbers.scatter_dims_to_operand_dims:
        return None
    else:
        updated = windows[[a for a in range(len(x.shape)) if a not in gone].index(axis)]
        if update.shape[updated] != x.shape[axis]:
            return None
        index = None
    read = len(places.shape) + 1 if index is None else index
    renewed = ScatterDimensionNumbers(
        update_window_dims=_without(windows, updated),
        inserted_window_dims=_without(numbers.inserted_window_dims, axis),
        scatter_dims_to_operand_dims=_moved(numbers.scatter_dims_to_operand_dims, axis),
        operand_batching_dims=_without(numbers.operand_batching_dims, axis),
        scatter_indices_batching_dims=_without(numbers.scatter_indices_batching_dims, read),
    )
    return Unbatched((axis, index, updated), {**eqn.params, "dimension_numbers": renewed})
