"""Writes programs as code; each value becomes a variable, an expression in its readers' loops, or memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from boardrl.lowering.bits import Bits, bits_of
from boardrl.lowering.emit import Emitter
from boardrl.lowering.ir import Atom, Block, Const, Equation, LoweringError, Var, unknown
from boardrl.lowering.passes import fuse
from boardrl.lowering.values import Buffer, Table, Value, first, kind, scalar, typed

Rule = Callable[..., list[Value]]  # (writer, equation, *operands) -> one value for each result
RULES: dict[str, Rule] = {}  # by primitive; filled by the modules in `primitives`
# (writer, equation, *operands) -> the results in words, or None where words do not pay; asked before `RULES`.
WordRule = Callable[..., list[Value] | None]
WORD_RULES: dict[str, WordRule] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Registers a function in the table of primitives."""

    def enter(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, function))
        return function

    return enter


def word_rule(*names: str) -> Callable[[WordRule], WordRule]:
    """Registers a function in the table of primitives on booleans in words."""

    def enter(function: WordRule) -> WordRule:
        WORD_RULES.update(dict.fromkeys(names, function))
        return function

    return enter


class Frame(NamedTuple):
    """What is known about the program being written."""

    reads: dict[Var, fuse.Reads]
    targets: dict[Var, Buffer]  # memory that the caller has for results


class Writer:
    """Writes the body of one function."""

    def __init__(self, emit: Emitter, name: str) -> None:
        self.emit = emit
        self.name = name
        self.frame = Frame({}, {})
        self.owners: dict[Buffer, Var] = {}  # memory that holds a variable and may be overwritten after its last use

    def refuse(self, eqn: Equation, what: str = "") -> LoweringError:
        """The error for an equation that has no host code."""
        return unknown(self.name, eqn.name, eqn.source, what)

    def check(self, block: Block) -> None:
        """Refuses a program with unknown primitives before anything is written."""
        for eqn in block.equations:
            if eqn.name not in RULES:
                raise self.refuse(eqn)
            for inner in eqn.blocks:
                self.check(inner)

    def run(self, block: Block, operands: Sequence[Value], targets: Sequence[Buffer | None] = ()) -> list[Value]:
        """Writes a program and returns its results.

        Args:
          targets: memory that the caller has for some of the results; whoever needs memory for a result may
            take it, so results may or may not be there.
        """
        values: dict[Var, Value] = dict(zip(block.ins, operands, strict=True))
        outer, reads = self.frame, fuse.demand(block)
        offered = dict(zip(block.outs, targets, strict=True)) if targets else {}
        made_here = {out for eqn in block.equations for out in eqn.outs}
        self.frame = Frame(reads, {v: t for v, t in offered.items() if t is not None and v in made_here})
        for eqn in block.equations:
            ins = [self._value(a, values) for a in eqn.ins]
            results = WORD_RULES[eqn.name](self, eqn, *ins) if eqn.name in WORD_RULES else None
            if results is None:
                results = RULES[eqn.name](self, eqn, *ins)
            for out, result in zip(eqn.outs, results, strict=True):
                values[out] = self._place(eqn, out, result)
        self.frame = outer
        return [self._value(a, values) for a in block.outs]

    def memory(self, eqn: Equation, out: int = 0) -> Buffer:
        """Memory for a result of an equation: the caller's if there is some, else a slot of the workspace."""
        var = eqn.outs[out]
        hint = eqn.source.assigned if eqn.source else ""
        buffer = self.frame.targets.pop(var, None) or self.emit.slot(var.shape, var.dtype, hint or eqn.name)
        self.owners[buffer] = var
        return buffer

    def own(self, eqn: Equation, position: int, value: Value) -> Buffer:
        """Memory for the result that starts as a copy of an operand.

        A slot that only this equation reads is taken as it is, so that a loop which changes one element of a board
        at a time does not copy the board.
        """
        if self._is_spare(eqn, position, value):
            assert isinstance(value, Buffer)
            self.owners[value] = eqn.outs[0]
            return value
        buffer = self.memory(eqn)
        self.emit.fill(buffer, value)
        return buffer

    def taken(self, eqn: Equation, position: int, value: Value) -> Buffer:
        """A slot of the workspace that starts as a copy of an operand; the operand's own if no one else reads it."""
        if self._is_spare(eqn, position, value):
            assert isinstance(value, Buffer)
            return value
        buffer = self.emit.slot(value.shape, value.dtype, value.hint or eqn.name)
        self.emit.fill(buffer, value)
        return buffer

    def _is_spare(self, eqn: Equation, position: int, value: Value) -> bool:
        """Whether an operand is memory that only this equation reads."""
        atom = eqn.ins[position]
        return (
            isinstance(value, Buffer)
            and isinstance(atom, Var)
            and self.owners.get(value) is atom
            and self.frame.reads[atom].equations == 1
        )

    def stored(self, value: Value, hint: str = "array") -> Value:
        """The value, in memory unless computing an element costs no more than reading it."""
        if value.cost <= 1:
            return value
        buffer = self.emit.slot(value.shape, value.dtype, value.hint or hint)
        self.emit.fill(buffer, value)
        return buffer

    def named(self, value: Value) -> Value:
        """The value with a name for each element that is read, for readers that write it more than once."""
        value.shared = value.shared or value.cost > 0
        return value

    def _value(self, atom: Atom, values: dict[Var, Value]) -> Value:
        return Table(atom.value) if isinstance(atom, Const) else values[atom]

    def _place(self, eqn: Equation, out: Var, value: Value) -> Value:
        """Decides where a value lives: in a variable, in its readers' loops or in memory."""
        value.note = value.note or f"{eqn.name} {kind(out)}" + (f", {eqn.source}" if eqn.source else "")
        value.hint = value.hint or (eqn.source.assigned if eqn.source else "")
        placed = self._placed(eqn, out, value)
        if isinstance(placed, Buffer):
            placed.packed = None  # it may hold another variable now, whose words were worked out
        if out.dtype == np.bool_ and value.size > 1 and not isinstance(placed, Bits) and placed.packed is None:
            placed.packed = bits_of(self.emit, placed)  # in case that words are asked for
        return placed

    def _placed(self, eqn: Equation, out: Var, value: Value) -> Value:
        if isinstance(value, (Buffer, Table, Bits)) or value.cost == 0:
            return value
        if value.size == 1:
            text = typed(value.at(self.emit, first(value.shape)), value.dtype)
            if not text.isidentifier():
                text = self.emit.bind(text, value.hint, value.note)
            return scalar(text, value.shape, value.dtype)
        reads = self.frame.reads.get(out, fuse.Reads())
        if fuse.worth_storing(value.size, value.cost, reads):
            buffer = self.memory(eqn, eqn.outs.index(out))
            self.emit.fill(buffer, value)
            buffer.origins = value.origins
            return buffer
        value.shared = value.shared or reads.equations > 1
        return value
