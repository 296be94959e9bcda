"""Booleans in words rearranged, gathered, and changed at one place."""

from __future__ import annotations

from collections.abc import Sequence

import jax
import numpy as np

from boardrl.lowering.bits import (
    BIT_COST,
    BITS,
    BOOL,
    MOST_MOVED,
    Words,
    bits_of,
    fits,
    full,
    literal,
    move_cost,
    moved,
    num_words,
    packed,
)
from boardrl.lowering.index import Index, size_of
from boardrl.lowering.ir import Equation
from boardrl.lowering.values import Buffer, Point, Table, Value, bare, first, typed
from boardrl.lowering.word_forms import EVEN, FEW_OPERANDS, MOST_LOOKED_UP, computed, in_words, readers
from boardrl.lowering.writer import RULES, Writer, word_rule


def places(eqn: Equation, shapes: Sequence[tuple[int, ...]]) -> np.ndarray | None:
    """For each element of the result its place in the concatenated operands, -1 for padding, or None."""
    params, out = eqn.params, eqn.outs[0]
    ids, start = [], 0
    for shape in shapes:
        ids.append(np.arange(start, start + size_of(shape), dtype=np.int32).reshape(shape))
        start += size_of(shape)
    x = ids[0] if ids else np.zeros(0, np.int32)
    match eqn.name:
        case "reshape" | "squeeze" | "expand_dims":
            order = params.get("dimensions") if eqn.name == "reshape" else None
            return (x if order is None else x.transpose(order)).reshape(out.shape)
        case "broadcast_in_dim":
            spread_shape = [1] * len(out.shape)
            for axis, size in zip(params["broadcast_dimensions"], x.shape, strict=True):
                spread_shape[axis] = size
            return np.broadcast_to(x.reshape(spread_shape), out.shape)
        case "transpose":
            return x.transpose(params["permutation"])
        case "slice":
            steps = params["strides"] or (1,) * x.ndim
            cut = zip(params["start_indices"], params["limit_indices"], steps, strict=True)
            return x[tuple(slice(a, b, s) for a, b, s in cut)]
        case "rev":
            return np.flip(x, params["dimensions"])
        case "concatenate":
            return np.concatenate(ids, params["dimension"])
        case "stack":
            return np.stack(ids, params["axis"])
        case "tile":
            return np.tile(x, params["reps"])
        case "pad":
            return _padded(x, params["padding_config"])
    return None


def _padded(x: np.ndarray, config: Sequence[tuple[int, int, int]]) -> np.ndarray:
    for axis, (low, high, inner) in enumerate(config):
        if inner and x.shape[axis] > 1:
            shape = list(x.shape)
            shape[axis] += (shape[axis] - 1) * inner
            wide = np.full(shape, -1, np.int32)
            wide[tuple(slice(None, None, inner + 1) if a == axis else slice(None) for a in range(x.ndim))] = x
            x = wide
        ends = [(max(low, 0), max(high, 0)) if a == axis else (0, 0) for a in range(x.ndim)]
        x = np.pad(x, ends, constant_values=-1)
        start, end = max(-low, 0), x.shape[axis] - max(-high, 0)
        x = x[tuple(slice(start, max(start, end)) if a == axis else slice(None) for a in range(x.ndim))]
    return x


REARRANGE = ("reshape", "squeeze", "expand_dims", "transpose", "slice", "rev", "concatenate", "stack", "tile")


@word_rule(*REARRANGE)
def _rearrange(writer: Writer, eqn: Equation, *operands: Value) -> list[Value] | None:
    moving = operands[:1] if eqn.name in ("reshape", "tile") else operands
    return rearranged(writer, eqn, moving, places(eqn, [x.shape for x in moving]), operands)


def rearranged(
    writer: Writer, eqn: Equation, operands: Sequence[Value], ids: np.ndarray | None, given: Sequence[Value] = ()
) -> list[Value] | None:
    """The rearrangement in words, if an operand is in words and all booleans can be.

    Args:
      given: the equation's operands, if more than are rearranged.
    """
    out = eqn.outs[0]
    size = size_of(out.shape)
    if ids is None or not 1 < size <= MOST_MOVED:
        return None
    if out.dtype != BOOL:
        return _with_origins(writer, eqn, operands, ids, given or operands)
    if not any(map(in_words, operands)) and not all(x.size == 1 for x in operands):
        return None
    forms = [bits_of(writer.emit, x) for x in operands]
    result = moved(writer.emit, forms, out.shape, ids, readers(writer, eqn))
    cost = move_cost(result)
    if cost > BIT_COST * size:
        return None
    if cost > EVEN * size and len(operands) <= FEW_OPERANDS:  # who reads elements had better not ask for words
        result.read_by(RULES[eqn.name](writer, eqn, *(given or operands))[0])
    return [result]


def _with_origins(
    writer: Writer, eqn: Equation, operands: Sequence[Value], ids: np.ndarray, given: Sequence[Value]
) -> list[Value] | None:
    """A rearrangement of numbers that remembers where its elements come from."""
    if len(operands) != 1 or (ids < 0).any():
        return None
    x = operands[0]
    if isinstance(x, Table) or (x.origins is None and not isinstance(x, Buffer)):
        return None
    values = RULES[eqn.name](writer, eqn, *given)
    base, places_in = x.origins if x.origins is not None else (x, np.arange(x.size))
    values[0].origins = base, places_in[ids.reshape(-1)]
    return values


@word_rule("broadcast_in_dim")
def _broadcast(writer: Writer, eqn: Equation, x: Value, *rest: Value) -> list[Value] | None:
    if size_of(eqn.outs[0].shape) < 2:
        return None
    if x.size == 1:
        (value,) = RULES[eqn.name](writer, eqn, x, *rest)
        value.uniform = x
        return [value]
    return rearranged(writer, eqn, (x,), places(eqn, [x.shape]))


@word_rule("pad")
def _pad(writer: Writer, eqn: Equation, x: Value, filler: Value) -> list[Value] | None:
    if x.dtype != BOOL or not isinstance(filler, Table):
        return None
    ids = places(eqn, [x.shape])
    assert ids is not None
    return rearranged(writer, eqn, (x,), np.where(ids < 0, -2, ids) if bool(filler.array) else ids, (x, filler))


@word_rule("split")
def _split(writer: Writer, eqn: Equation, x: Value) -> list[Value] | None:
    sizes, axis = eqn.params["sizes"], eqn.params["axis"]
    ids = np.arange(x.size, dtype=np.int32).reshape(x.shape)
    return _pieces(writer, x, np.split(ids, np.cumsum(sizes)[:-1], axis))


@word_rule("unstack")
def _unstack(writer: Writer, eqn: Equation, x: Value) -> list[Value] | None:
    axis = eqn.params["axis"]
    ids = np.moveaxis(np.arange(x.size, dtype=np.int32).reshape(x.shape), axis, 0)
    return _pieces(writer, x, list(ids))


def _pieces(writer: Writer, x: Value, ids: Sequence[np.ndarray]) -> list[Value] | None:
    if x.dtype != BOOL or not in_words(x) or any(piece.size < 2 for piece in ids):
        return None
    form = bits_of(writer.emit, x)
    return [moved(writer.emit, [form], piece.shape, piece) for piece in ids]


# Gathers and updates


@word_rule("gather")
def _gather(writer: Writer, eqn: Equation, x: Value, index: Value) -> list[Value] | None:
    """Booleans at known places are rearranged; a row of a table of booleans is looked up as words."""
    out = eqn.outs[0]
    if isinstance(index, Table):
        if out.dtype == BOOL and not in_words(x):
            return None
        size = size_of(out.shape)
        if not 1 < size <= MOST_MOVED or isinstance(x, Table):
            return None
        ids = _gathered(eqn, np.arange(x.size, dtype=np.int32).reshape(x.shape), index.array)
        return rearranged(writer, eqn, (x,), ids, (x, index))
    if out.dtype == BOOL and fits(size_of(out.shape)) and index.size == 1:
        return _row_of(writer, eqn, x, index)
    return None


def _gathered(eqn: Equation, ids: np.ndarray, index: np.ndarray) -> np.ndarray:
    """The gather applied to a table of places; -2 where it fills in True."""
    params = {**eqn.params, "fill_value": -2}
    filler = eqn.params["fill_value"]
    if filler is not None and not filler:
        params["fill_value"] = -1
    with jax.enable_x64(True):
        return np.asarray(jax.lax.gather_p.bind(jax.numpy.asarray(ids), jax.numpy.asarray(index), **params))


def _row_of(writer: Writer, eqn: Equation, x: Value, index: Value) -> list[Value] | None:
    """x[k] for one traced k: a row of words, of a table or chosen among a few."""
    numbers, sizes = eqn.params["dimension_numbers"], eqn.params["slice_sizes"]
    if len(numbers.start_index_map) != 1 or numbers.operand_batching_dims:
        return None
    (axis,) = numbers.start_index_map
    limit = x.shape[axis] - sizes[axis]
    starts = np.arange(limit + 1)
    mode = eqn.params["mode"].name
    if not (isinstance(x, Table) or (in_words(x) and limit < 8)) or limit >= MOST_LOOKED_UP or limit < 1:
        return None
    emit, out = writer.emit, eqn.outs[0]
    ids = np.arange(x.size, dtype=np.int32).reshape(x.shape)
    # An index of one element: the places of the slice that begins at each start.
    slices = [np.take(ids, np.arange(s, s + sizes[axis]), axis).reshape(out.shape) for s in starts]
    if any(sizes[a] != x.shape[a] for a in range(len(x.shape)) if a != axis):
        return None
    kept = [a for a in range(len(x.shape)) if a not in numbers.collapsed_slice_dims]
    if len(out.shape) != len(kept) or tuple(numbers.offset_dims) != tuple(range(len(kept))):
        return None
    where = first(index.shape)
    text = f"i64({bare(index.at(emit, where))})"
    inside = ""
    if mode == "FILL_OR_DROP":
        name = emit.bind(text, "k")
        inside, text = f"0 <= {name} <= {limit}", name
    place = emit.bind(f"minimum(maximum({text}, i64(0)), i64({limit}))", "k")
    filler = eqn.params["fill_value"]
    fill = full(size_of(out.shape)) if filler is None or filler else [0] * num_words(size_of(out.shape))

    if isinstance(x, Table):
        rows = np.array([packed(x.array.reshape(-1)[s.reshape(-1)]) for s in slices], np.uint64)
        width = rows.shape[1]

        def look_up() -> Words:
            table = emit.table(rows, x.table_hint)
            found = [f"{table}[{place} * {width} + {w}]" if width > 1 else f"{table}[{place}]" for w in range(width)]
            return [_filled(inside, text, one) for text, one in zip(found, fill, strict=True)]

        return [computed(writer, eqn, look_up)]
    forms = [moved(emit, [bits_of(emit, x)], out.shape, s, 1) for s in slices]

    def choose() -> Words:
        *others, result = [form.words(emit) for form in forms]
        for k in range(len(others) - 1, -1, -1):
            result = [f"where({place} == {k}, {bare(a)}, {bare(b)})" for a, b in zip(others[k], result, strict=True)]
        return [_filled(inside, text, one) for text, one in zip(result, fill, strict=True)]

    return [computed(writer, eqn, choose)]


def _filled(inside: str, text: str, fill: int) -> str:
    return f"where({inside}, {bare(text)}, {literal(fill)})" if inside else text


@word_rule("dynamic_slice")
def _dynamic_slice(writer: Writer, eqn: Equation, x: Value, *starts: Value) -> list[Value] | None:
    """A slice at one traced place along the first axis, where there are few: chosen among them."""
    out = eqn.outs[0]
    if out.dtype != BOOL or not fits(size_of(out.shape)) or not (in_words(x) or isinstance(x, Table)):
        return None
    free = [a for a in range(len(x.shape)) if out.shape[a] != x.shape[a]]
    if len(free) != 1 or x.shape[free[0]] - out.shape[free[0]] >= (MOST_LOOKED_UP if isinstance(x, Table) else 8):
        return None
    (axis,) = free
    limit = x.shape[axis] - out.shape[axis]
    emit = writer.emit
    ids = np.arange(x.size, dtype=np.int32).reshape(x.shape)
    slices = [np.take(ids, np.arange(s, s + out.shape[axis]), axis) for s in range(limit + 1)]
    start = starts[axis]
    text = f"i64({bare(start.at(emit, first(start.shape)))})"
    place = emit.bind(f"minimum(maximum({text}, i64(0)), i64({limit}))", "k")
    if isinstance(x, Table):
        rows = np.array([packed(x.array.reshape(-1)[s.reshape(-1)]) for s in slices], np.uint64)
        width = rows.shape[1]

        def look_up() -> Words:
            table = emit.table(rows, x.table_hint)
            return [f"{table}[{place} * {width} + {w}]" if width > 1 else f"{table}[{place}]" for w in range(width)]

        return [computed(writer, eqn, look_up)]
    forms = [moved(emit, [bits_of(emit, x)], out.shape, s, 1) for s in slices]

    def choose() -> Words:
        *others, result = [form.words(emit) for form in forms]
        for k in range(len(others) - 1, -1, -1):
            result = [f"where({place} == {k}, {bare(a)}, {bare(b)})" for a, b in zip(others[k], result, strict=True)]
        return result

    return [computed(writer, eqn, choose)]


@word_rule("scatter")
def _scatter(writer: Writer, eqn: Equation, x: Value, index: Value, update: Value) -> list[Value] | None:
    """Sets one bit to a given value, at one traced place."""
    numbers = eqn.params["dimension_numbers"]
    if x.dtype != BOOL or not in_words(x) or not fits(x.size) or update.size != 1 or index.size != len(x.shape):
        return None
    if eqn.params["update_jaxpr"] is not None or numbers.operand_batching_dims:
        return None
    emit, form = writer.emit, bits_of(writer.emit, x)
    names, tests = [], []
    for k, axis in enumerate(numbers.scatter_dims_to_operand_dims):
        point = Point(index.shape, flat=Index(k))
        name = emit.bind(f"i64({bare(index.at(emit, point))})", "k")
        limit = x.shape[axis] - 1
        if eqn.params["mode"].name == "CLIP":
            name = emit.bind(f"minimum(maximum({name}, i64(0)), i64({limit}))", "k")
        else:
            tests.append(f"0 <= {name} <= {limit}")
        names.append((axis, name))
    text = " + ".join(f"{size_of(x.shape[axis + 1 :])} * {name}" for axis, name in names)
    inside = " and ".join(tests)
    place = emit.bind(f"({text}) if {inside} else -1" if inside else text, "k")
    flag = emit.bind(bare(typed(update.at(emit, first(update.shape)), BOOL)), "flag")

    def compute() -> Words:
        result = []
        for k, word in enumerate(form.words(emit)):
            bit = emit.bind(f"one_bit({place}{f' - {BITS * k}' if k else ''})", "bit")
            result.append(f"where({flag}, {word} | {bit}, {word} & ~{bit})")
        return result

    return [computed(writer, eqn, compute)]
