"""Shared by the rules for booleans in words: when words are used, and how their results are made."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from boardrl.lowering.bits import (
    Bits,
    Words,
)
from boardrl.lowering.ir import Equation
from boardrl.lowering.values import Value
from boardrl.lowering.writer import RULES, Writer

MOST_LOOKED_UP = 4096  # rows of a table of words
LEAST_COMPARED = 8  # numbers; comparisons of fewer are read one by one as often as not
EVEN = 1.0  # machine operations an element beyond which bits are read one by one by who wants them so
FEW_OPERANDS = 8  # that can be joined without memory


def in_words(value: Value) -> bool:
    """Whether a value is computed in words."""
    return isinstance(value, Bits)


def readers(writer: Writer, eqn: Equation) -> int:
    """How many equations read the result."""
    found = writer.frame.reads.get(eqn.outs[0])
    return found.equations if found is not None else 2


def element_form(writer: Writer, eqn: Equation, *operands: Value) -> Value | None:
    """The result element by element, for readers of single elements, if reading it emits no lines."""
    if any(isinstance(x, Bits) and x.element is None for x in operands) or eqn.name not in RULES:
        return None
    return RULES[eqn.name](writer, eqn, *operands)[0]


def computed(writer: Writer, eqn: Equation, compute: Callable[[], Words], operands: Sequence[Value] = ()) -> Bits:
    """The result of an equation in words."""
    element = element_form(writer, eqn, *operands) if operands else None
    return Bits(writer.emit, eqn.outs[0].shape, compute, element=element, readers=readers(writer, eqn))
