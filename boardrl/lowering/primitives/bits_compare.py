"""Comparisons that produce words: of constants with one number, or of memory, many elements at a time."""

from __future__ import annotations

import re

import numpy as np

from boardrl.lowering.bits import (
    BIT_COST,
    BITS,
    MOST_WORDS,
    Bits,
    Words,
    fits,
    full,
    literal,
    move_cost,
    moved,
    num_words,
    packed,
)
from boardrl.lowering.index import size_of
from boardrl.lowering.ir import Equation
from boardrl.lowering.primitives.elementwise import spread
from boardrl.lowering.values import SHORT, Buffer, Table, Value, bare, first, typed
from boardrl.lowering.word_forms import LEAST_COMPARED, MOST_LOOKED_UP, computed, readers
from boardrl.lowering.writer import Writer


def compare(writer: Writer, eqn: Equation, x: Value, y: Value) -> list[Value] | None:
    """A comparison that produces words: of constants with one number, or of memory, many elements at a time."""
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
