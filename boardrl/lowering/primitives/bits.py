"""Primitives on booleans in words: logic and selection."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from boardrl.lowering.bits import (
    BOOL,
    MOST_MOVED,
    SHIFT_COST,
    Bits,
    Words,
    bits_of,
    fits,
    full,
    literal,
    masked,
    move_cost,
    moved,
    num_words,
)
from boardrl.lowering.emit import Emitter
from boardrl.lowering.index import size_of
from boardrl.lowering.ir import Equation
from boardrl.lowering.primitives.bits_compare import compare
from boardrl.lowering.values import Table, Value, bare, first
from boardrl.lowering.word_forms import computed, in_words, readers
from boardrl.lowering.writer import RULES, Writer, word_rule

NEUTRAL = (("and", True), ("or", False), ("xor", False), ("eq", True))  # operations and constants that change nothing


def logical(writer: Writer, eqn: Equation, operands: Sequence[Value]) -> bool:
    """Whether an operation on booleans is done in words: an operand is in words, and the result is not too large."""
    return fits(size_of(eqn.outs[0].shape)) and all(x.dtype == BOOL for x in operands) and any(map(in_words, operands))


def operand_words(emit: Emitter, x: Value, size: int) -> Words:
    """The words of an operand; a single element is broadcast."""
    if x.size == size:
        return bits_of(emit, x).words(emit)
    flag = bare(x.at(emit, first(x.shape)))
    if flag in ("True", "False"):
        return [literal(word if flag == "True" else 0) for word in full(size)]
    return [f"where({flag}, {literal(word)}, u64(0))" for word in full(size)]


def _spread_out(writer: Writer, x: Value, shape: tuple[int, ...]) -> Value:
    """An operand with its axes of length 1 broadcast; a single element stays as it is."""
    if x.size in (1, size_of(shape)):
        return x
    ids = np.broadcast_to(np.arange(x.size, dtype=np.int32).reshape(x.shape), shape)
    return moved(writer.emit, [bits_of(writer.emit, x)], shape, ids, 1)


@word_rule("and", "or", "xor", "max", "min", "mul", "eq", "ne", "lt", "le", "gt", "ge")
def _logic(writer: Writer, eqn: Equation, x: Value, y: Value) -> list[Value] | None:
    if x.dtype != BOOL:
        return compare(writer, eqn, x, y) if eqn.outs[0].dtype == BOOL else None
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
    """Joins two rearrangements in place, if one is the other shifted by a fixed distance.

    Slices of a board, as in four in a row, are then joined by one shift, without packing them first.
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
    """Booleans and a constant: the same rearrangement with fewer bits, of any size, as no code is emitted for it."""
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
    """A value in words if it has more than one element; the gap for its code is left now."""
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
        parts = zip(mask.words(emit), no, yes, full(size), strict=True)
        return [_blended(m, a, b, literal(one)) for m, a, b, one in parts]

    return [computed(writer, eqn, compute, (which, *cases))]


def _blended(mask: str, no: str, yes: str, ones: str) -> str:
    """A word with the bits of `yes` where the mask is set and those of `no` elsewhere."""
    if yes == ones:
        return f"({mask} | {no})"
    if no == literal(0):
        return f"({mask} & {yes})"
    if yes == literal(0):
        return f"(~{mask} & {no})"
    return f"(({mask} & {yes}) | (~{mask} & {no}))"
