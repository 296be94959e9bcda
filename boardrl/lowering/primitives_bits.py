"""Primitives on booleans in words: logic, rearrangement, reduction, one-hots and comparisons."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import jax
import numpy as np

from boardrl.lowering.bits import (
    BIT_COST,
    BITS,
    BOOL,
    MOST_MOVED,
    MOST_WORDS,
    SHIFT_COST,
    Bits,
    Words,
    any_over,
    bits_of,
    fits,
    full,
    literal,
    masked,
    move_cost,
    moved,
    num_words,
    packed,
)
from boardrl.lowering.emit import SHORT, Buffer, Emitter, Point, Table, Value, bare, first, typed
from boardrl.lowering.index import Index, size_of
from boardrl.lowering.ir import Equation
from boardrl.lowering.primitives_elementwise import spread
from boardrl.lowering.writer import RULES, Writer, word_rule

MOST_LOOKED_UP = 4096  # rows of a table of words
LEAST_COMPARED = 8  # numbers; comparisons of fewer are read one by one as often as not
EVEN = 1.0  # machine operations an element beyond which bits are read one by one by who wants them so
FEW_OPERANDS = 8  # that can be joined without memory


def in_words(value: Value) -> bool:
    """Whether words are how a value is computed."""
    return isinstance(value, Bits)


def readers(writer: Writer, eqn: Equation) -> int:
    """How many equations read the result."""
    found = writer.frame.reads.get(eqn.outs[0])
    return found.equations if found is not None else 2


def element_form(writer: Writer, eqn: Equation, *operands: Value) -> Value | None:
    """The result element by element, for who reads it so, if that writes no lines by itself."""
    if any(isinstance(x, Bits) and x.element is None for x in operands) or eqn.name not in RULES:
        return None
    return RULES[eqn.name](writer, eqn, *operands)[0]


def computed(writer: Writer, eqn: Equation, compute: Callable[[], Words], operands: Sequence[Value] = ()) -> Bits:
    """The result of an equation in words."""
    element = element_form(writer, eqn, *operands) if operands else None
    return Bits(writer.emit, eqn.outs[0].shape, compute, element=element, readers=readers(writer, eqn))


# Logic

NEUTRAL = (("and", True), ("or", False), ("xor", False), ("eq", True))  # operations and constants that change nothing


def logical(writer: Writer, eqn: Equation, operands: Sequence[Value]) -> bool:
    """Whether an operation on booleans is done in words: if one operand is in words, and it is not too large."""
    return fits(size_of(eqn.outs[0].shape)) and all(x.dtype == BOOL for x in operands) and any(map(in_words, operands))


def operand_words(emit: Emitter, x: Value, size: int) -> Words:
    """The words of an operand; one element stands for all."""
    if x.size == size:
        return bits_of(emit, x).words(emit)
    flag = bare(x.at(emit, first(x.shape)))
    if flag in ("True", "False"):
        return [literal(word if flag == "True" else 0) for word in full(size)]
    return [f"where({flag}, {literal(word)}, u64(0))" for word in full(size)]


def _spread_out(writer: Writer, x: Value, shape: tuple[int, ...]) -> Value:
    """An operand whose axes of length 1 stand for any length, in full; one element stays one."""
    if x.size in (1, size_of(shape)):
        return x
    ids = np.broadcast_to(np.arange(x.size, dtype=np.int32).reshape(x.shape), shape)
    return moved(writer.emit, [bits_of(writer.emit, x)], shape, ids, 1)


@word_rule("and", "or", "xor", "max", "min", "mul", "eq", "ne", "lt", "le", "gt", "ge")
def _logic(writer: Writer, eqn: Equation, x: Value, y: Value) -> list[Value] | None:
    if x.dtype != BOOL:
        return _compare(writer, eqn, x, y) if eqn.outs[0].dtype == BOOL else None
    if masked_by := _constant_mask(writer, eqn, x, y):
        return [masked_by]
    if not logical(writer, eqn, (x, y)):
        return _uniform_logic(writer, eqn, x, y)
    x, y = (_spread_out(writer, v, eqn.outs[0].shape) for v in (x, y))
    emit, size = writer.emit, size_of(eqn.outs[0].shape)
    name = {"max": "or", "min": "and", "mul": "and", "ne": "xor"}.get(eqn.name, eqn.name)
    for value, other in ((x, y), (y, x)):  # a constant mask only leaves bits out, or nothing
        constant = isinstance(other, Table) and other.array.all() == other.array.any() and value.size == size
        if constant and (name, bool(other.array.all())) in NEUTRAL:  # type: ignore[attr-defined]
            return [bits_of(emit, value)]
    a, b = bits_of_lazily(emit, x), bits_of_lazily(emit, y)
    if in_place := _aligned(writer, eqn, name, a, b):
        return [in_place]

    def compute() -> Words:
        return _joined(name, _words_in(emit, a, size), _words_in(emit, b, size), size)

    return [computed(writer, eqn, compute, (x, y))]


def _joined(name: str, left: Words, right: Words, size: int) -> Words:
    """An operation on words."""
    signs, result = {"and": "&", "or": "|", "xor": "^"}, []
    for u, v, one in zip(left, right, map(literal, full(size)), strict=True):
        if name in signs:
            result.append(f"({u} {signs[name]} {v})")
        elif name == "eq":
            result.append(f"({u} ^ {v} ^ {one})")
        elif name == "lt":
            result.append(f"(~{u} & {v})")
        elif name == "gt":
            result.append(f"({u} & ~{v})")
        elif name == "le":
            result.append(f"((~{u} & {one}) | {v})")
        else:
            result.append(f"({u} | (~{v} & {one}))")
    return result


def _aligned(writer: Writer, eqn: Equation, name: str, x: Value, y: Value) -> Bits | None:
    """Two rearrangements joined where their bits lie, if one is the other moved by a fixed distance.

    So slices of a board, as in four in a row, are joined by one shift, and are not packed together first.
    """
    if not (isinstance(x, Bits) and isinstance(y, Bits)) or size_of(eqn.outs[0].shape) != x.size:
        return None
    if not (x.lone and y.lone) or x.size != y.size:
        return None
    (source, (left,)), (other, (right,)) = x.parts[0], y.parts[0]
    distance = int(right[0] - left[0])
    if not (right - left == distance).all():
        return None
    if min(move_cost(x), move_cost(y)) <= SHIFT_COST * num_words(source.size):
        return None
    emit = writer.emit
    ids = np.arange(source.size) + distance
    beside = moved(emit, [other], (source.size,), np.where((ids >= 0) & (ids < other.size), ids, -1), 1)

    def compute() -> Words:
        return _joined(name, source.words(emit), beside.words(emit), source.size)

    whole = Bits(emit, (source.size,), compute)
    whole.hint = eqn.source.assigned if eqn.source else ""
    return moved(emit, [whole], eqn.outs[0].shape, left, readers(writer, eqn))


def _constant_mask(writer: Writer, eqn: Equation, x: Value, y: Value) -> Bits | None:
    """Booleans and a constant: fewer bits of the same rearrangement, however large it is, as nothing is written."""
    shape = eqn.outs[0].shape
    if eqn.name not in ("and", "mul", "min") or not 1 < size_of(shape) <= MOST_MOVED:
        return None
    for value, other in ((x, y), (y, x)):
        if isinstance(other, Table) and in_words(value):
            mask = np.broadcast_to(other.array, shape)
            if mask.all() and value.size == size_of(shape):
                return bits_of(writer.emit, value)
            whole = _spread_out(writer, value, shape)
            return masked(writer.emit, bits_of(writer.emit, whole), mask, readers(writer, eqn))
    return None


def bits_of_lazily(emit: Emitter, x: Value) -> Value:
    """A value in words where it has more than one element; its gap is left now."""
    return bits_of(emit, x) if x.size > 1 and x.uniform is None else x.uniform if x.uniform is not None else x


def _words_in(emit: Emitter, x: Value, size: int) -> Words:
    return x.words(emit) if isinstance(x, Bits) and x.size == size else operand_words(emit, x, size)


def _uniform_logic(writer: Writer, eqn: Equation, x: Value, y: Value) -> list[Value] | None:
    """Both operands have one value for all elements: so has the result."""
    if not fits(size_of(eqn.outs[0].shape)) or any(v.size > 1 and v.uniform is None for v in (x, y)):
        return None
    (value,) = RULES[eqn.name](writer, eqn, x, y)
    return [value]


@word_rule("not")
def _not(writer: Writer, eqn: Equation, x: Value) -> list[Value] | None:
    if not logical(writer, eqn, (x,)):
        return None
    emit, form = writer.emit, bits_of(writer.emit, x)

    def compute() -> Words:
        return [f"({word} ^ {literal(one)})" for word, one in zip(form.words(emit), full(form.size), strict=True)]

    return [computed(writer, eqn, compute, (x,))]


@word_rule("select_n")
def _select(writer: Writer, eqn: Equation, which: Value, *given: Value) -> list[Value] | None:
    size = size_of(eqn.outs[0].shape)
    if which.dtype != BOOL or len(given) != 2 or not logical(writer, eqn, given):
        return None
    which, *cases = (_spread_out(writer, x, eqn.outs[0].shape) for x in (which, *given))
    emit = writer.emit
    chosen = which.uniform if which.uniform is not None else which
    forms = [bits_of_lazily(emit, x) for x in cases]
    if chosen.size == 1:
        flag = bare(chosen.at(emit, first(chosen.shape)))

        def blend() -> Words:
            no, yes = (_words_in(emit, x, size) for x in forms)
            return [f"where({flag}, {bare(b)}, {bare(a)})" for a, b in zip(no, yes, strict=True)]

        return [computed(writer, eqn, blend)]
    mask = bits_of(emit, which)

    def compute() -> Words:
        no, yes = (_words_in(emit, x, size) for x in forms)
        return [f"(({m} & {b}) | (~{m} & {a}))" for m, a, b in zip(mask.words(emit), no, yes, strict=True)]

    return [computed(writer, eqn, compute, (which, *cases))]


# Rearrangement


def places(eqn: Equation, shapes: Sequence[tuple[int, ...]]) -> np.ndarray | None:
    """For each element of the result its place in the operands laid end to end, -1 for what pads, or None."""
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
    """The rearrangement in words, if some operand is, and all booleans can be.

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
    """What the gather makes of a table of places; -2 where it fills in True."""
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
    """One bit set to what is given, at one traced place."""
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


# Reductions


@word_rule("reduce_or", "reduce_and", "reduce_max", "reduce_min")
def _reduce(writer: Writer, eqn: Equation, x: Value) -> list[Value] | None:
    if x.dtype != BOOL or not in_words(x) or x.size > MOST_MOVED:
        return None
    axes, out = tuple(eqn.params["axes"]), eqn.outs[0]
    emit, form = writer.emit, bits_of(writer.emit, x)
    ors = eqn.name in ("reduce_or", "reduce_max")
    if size_of(out.shape) == 1:
        if x.size > MOST_WORDS * BITS:
            return None

        def read(emit: Emitter, point: Point) -> str:
            masks_of = form.where_it_lies(emit)
            if masks_of is None:
                masks_of = list(zip(form.words(emit), full(form.size), full(form.size), strict=True))
            if ors:
                terms = [word if mask == valid else f"({word} & {literal(mask)})" for word, mask, valid in masks_of]
                return f"({bare(terms[0]) if len(terms) == 1 else '(' + ' | '.join(terms) + ')'} != u64(0))"
            tests = [
                f"({word if mask == valid else f'({word} & {literal(mask)})'} == {literal(mask)})"
                for word, mask, valid in masks_of
            ]
            return f"({' & '.join(tests)})" if len(tests) > 1 else tests[0]

        return [Value(out.shape, BOOL, read, cost=2)]
    if not fits(size_of(out.shape)):
        return None
    if ors:
        return [any_over(emit, form, axes, readers(writer, eqn))]
    inner = any_over(emit, _negated(emit, form), axes, 1)

    def compute() -> Words:
        return [f"({word} ^ {literal(one)})" for word, one in zip(inner.words(emit), full(inner.size), strict=True)]

    return [computed(writer, eqn, compute)]


def _negated(emit: Emitter, x: Bits) -> Bits:
    """Not x; of a simple rearrangement, the rearrangement of what is negated."""
    simple = x.rearranged and sum((part.origins >= 0).sum(0) for part in x.parts).max(initial=0) <= 1
    if not simple:
        return Bits(emit, x.shape, lambda: [
            f"({word} ^ {literal(one)})" for word, one in zip(x.words(emit), full(x.size), strict=True)
        ], readers=1)  # fmt: skip
    covered = x.ones.copy()
    parts = []
    for part in x.parts:
        parts.append(part._replace(source=_negated_source(emit, part.source)))
        covered |= (part.origins >= 0).any(0)
    for place, part in enumerate(parts):  # a bit that is 1 and comes from somewhere too is 1
        parts[place] = part._replace(origins=np.where(x.ones[None], -1, part.origins))
    return Bits(emit, x.shape, parts=parts, ones=~covered, readers=1)


def _negated_source(emit: Emitter, source: Bits) -> Bits:
    return Bits(emit, source.shape, lambda: [
        f"({word} ^ {literal(one)})" for word, one in zip(source.words(emit), full(source.size), strict=True)
    ])  # fmt: skip


@word_rule("convert_element_type")
def _convert(writer: Writer, eqn: Equation, x: Value) -> list[Value] | None:
    """Booleans as numbers keep their words, which sums count."""
    if x.dtype != BOOL or eqn.outs[0].dtype == BOOL or x.size < 2 or not in_words(x):
        return None
    (value,) = RULES[eqn.name](writer, eqn, x)
    value.packed = bits_of(writer.emit, x)
    return [value]


@word_rule("reduce_sum")
def _sum(writer: Writer, eqn: Equation, x: Value) -> list[Value] | None:
    """How many bits are set."""
    form, out = x.packed, eqn.outs[0]
    if not isinstance(form, Bits) or out.dtype.kind not in "iuf" or num_words(x.size) > MOST_WORDS:
        return None
    if size_of(out.shape) > 1 and isinstance(x, Buffer):
        return None
    axes = tuple(eqn.params["axes"])
    kept = [a for a in range(len(x.shape)) if a not in axes]
    order = np.arange(x.size).reshape(x.shape).transpose(*kept, *axes).reshape(size_of(out.shape), -1)
    chosen = np.zeros((len(order), x.size), bool)
    np.put_along_axis(chosen, order, True, 1)
    masks = np.array([packed(row) for row in chosen], np.uint64)  # [size of the result, words]
    short = SHORT[str(out.dtype)]

    def read(emit: Emitter, point: Point) -> str:
        flat, terms = point.flat(), []
        lies = form.where_it_lies(emit) if len(masks) == 1 else None
        if lies is not None and form.distinct:
            terms = [f"popcount({bare(w) if mask == valid else f'{w} & {literal(mask)}'})" for w, mask, valid in lies]
            return f"{short}({' + '.join(terms)})"
        words = form.words(emit)
        for w, word in enumerate(words):
            if not flat.terms:
                mask = int(masks[flat.constant, w])
                if mask:
                    whole = mask == full(form.size)[w]
                    terms.append(f"popcount({bare(word)})" if whole else f"popcount({word} & {literal(mask)})")
            else:
                table = emit.table(masks[:, w].copy(), "masks")
                terms.append(f"popcount({word} & {table}[{flat}])")
        return f"{short}({' + '.join(terms) if terms else 'u64(0)'})"

    return [Value(out.shape, out.dtype, read, cost=2 * num_words(x.size) + 1, plain=True)]


@word_rule("argmax", "argmin")
def _arg(writer: Writer, eqn: Equation, x: Value) -> list[Value] | None:
    """The first bit that is set, or not set; 0 if there is none."""
    out = eqn.outs[0]
    if x.dtype != BOOL or not in_words(x) or not fits(x.size) or len(x.shape) != 1:
        return None
    emit, form = writer.emit, bits_of(writer.emit, x)

    def read(emit: Emitter, point: Point) -> str:
        words = form.words(emit)
        if eqn.name == "argmin":
            words = [f"({word} ^ {literal(one)})" for word, one in zip(words, full(form.size), strict=True)]
        place = "i64(0)"
        for k in range(len(words) - 1, -1, -1):
            name = emit.bind(bare(words[k]), "word")
            place = emit.bind(f"where({name} != u64(0), i64(cttz({name})) + {BITS * k}, {place})", "place")
        return f"{SHORT[str(out.dtype)]}({place})"

    del emit
    return [Value(out.shape, out.dtype, read, cost=4)]


# Comparisons of numbers


def _compare(writer: Writer, eqn: Equation, x: Value, y: Value) -> list[Value] | None:
    """A comparison that gives words by itself: of constants with one number, or of memory, many elements at a time."""
    size = size_of(eqn.outs[0].shape)
    if not fits(size):
        return None
    sign = eqn.name
    if _one_number(x) and not _one_number(y):
        x, y = y, x
        sign = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}.get(sign, sign)
    number = y.uniform if y.uniform is not None else y
    if isinstance(x, Table) and x.size == size and number.size == 1 and not isinstance(number, Table):
        return _constants_with_number(writer, eqn, x, number, sign)
    if size < LEAST_COMPARED:
        return None
    base, ids = (x, None) if x.origins is None else x.origins
    if not isinstance(base, Buffer) or base.dtype.kind not in "iu" or number.size != 1:
        return None
    if num_words(base.size) > MOST_WORDS:
        return None
    emit = writer.emit
    text = bare(typed(number.at(emit, first(number.shape)), number.dtype))
    short = SHORT[str(base.dtype)]

    def compute() -> Words:
        return [
            f"{sign}_bits({base.pointer}, {BITS * k}, {min(BITS, base.size - BITS * k)}, {short}({text}))"
            for k in range(num_words(base.size))
        ]

    element = spread_compare(eqn, x, number, sign)
    if ids is None:
        form = Bits(emit, eqn.outs[0].shape, compute, element=element, readers=readers(writer, eqn))
        return [form]
    whole = Bits(emit, base.shape, compute)
    whole.hint = eqn.source.assigned if eqn.source else ""
    result = moved(emit, [whole], eqn.outs[0].shape, ids, readers(writer, eqn))
    if move_cost(result) > BIT_COST * size:
        return None
    return [result]


def _one_number(x: Value) -> bool:
    return x.size == 1 or x.uniform is not None


def spread_compare(eqn: Equation, x: Value, number: Value, sign: str) -> Value:
    """The comparison element by element."""
    text = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}[sign]
    return spread(eqn, (x, number), lambda eqn, a, b: f"({a} {text} {b})", 1)


def _constants_with_number(writer: Writer, eqn: Equation, x: Table, number: Value, sign: str) -> list[Value] | None:
    """Constants compared with one number: a shifted bit or a run of bits for 0, 1, 2, …; else a row of a table."""
    if x.dtype.kind not in "iu" or x.dtype == np.uint64:
        return None
    emit, size = writer.emit, x.size
    values = x.array.reshape(-1).astype(np.int64)
    low, high = int(values.min()), int(values.max())
    text = f"i64({bare(number.at(emit, first(number.shape)))})"
    small = number.dtype.itemsize < 8
    if small and sign == "eq" and np.array_equal(values, np.arange(low, low + size)):

        def one_hot() -> Words:
            shift = f" - {low}" if low > 0 else f" + {-low}" if low else ""
            place = emit.bind(text + shift, "place") if not re.fullmatch(r"\w+", text) else text + shift
            result = []
            for k, one in enumerate(full(size)):
                bit = f"one_bit({place}{f' - {BITS * k}' if k else ''})"
                result.append(bit if one == 2**BITS - 1 else f"({bit} & {literal(one)})")
            return result

        return [computed(writer, eqn, one_hot)]
    if high - low + 3 > MOST_LOOKED_UP:
        return None
    compare = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
               "gt": np.greater, "ge": np.greater_equal}[sign]  # fmt: skip
    rows = np.array([packed(compare(values, n)) for n in range(low - 1, high + 2)], np.uint64)
    width = rows.shape[1]

    def look_up() -> Words:
        place = emit.bind(f"minimum(maximum({text}, i64({low - 1})), i64({high + 1})) - {low - 1}", "row")
        table = emit.table(rows, "compared")
        return [f"{table}[{place} * {width} + {w}]" if width > 1 else f"{table}[{place}]" for w in range(width)]

    return [computed(writer, eqn, look_up)]
