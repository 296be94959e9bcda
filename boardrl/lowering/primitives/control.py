"""Branches and loops: loop carries are kept in variables and slots of the workspace."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from boardrl.lowering.bits import Bits, bits_of, fits, full
from boardrl.lowering.emit import Emitter
from boardrl.lowering.index import Index, size_of
from boardrl.lowering.ir import Block, Equation
from boardrl.lowering.passes.lazy import cost
from boardrl.lowering.values import ORIGIN, Buffer, Point, Table, Value, bare, first, scalar, typed
from boardrl.lowering.writer import Writer, rule

REPEAT = 64  # simple operations of a loop's body from which on repeated entries are looked for


@rule("cond")
def _cond(writer: Writer, eqn: Equation, which: Value, *operands: Value) -> list[Value]:
    """One of several programs; all write their results to the same places."""
    emit = writer.emit
    results = [_place(writer, eqn, k) for k in range(len(eqn.outs))]
    chosen = which.at(emit, ORIGIN)
    for k, block in enumerate(eqn.blocks):
        # A number below 0 takes the first program, one too large the last.
        header = "else:" if k == len(eqn.blocks) - 1 else f"{'el' if k else ''}if {chosen} <= {k}:"
        with emit.block(header, f"cond, {eqn.source}" if k == 0 else ""):
            targets = [r if isinstance(r, Buffer) else None for r in results]
            for result, value in zip(results, writer.run(block, operands, targets), strict=True):
                _assign(emit, result, value)
    return [_renewed(emit, result) for result in results]


def _place(writer: Writer, eqn: Equation, k: int) -> Value:
    """Where a result of control flow is stored: a new variable, words, or memory."""
    out = eqn.outs[k]
    if out.dtype == np.bool_ and fits(size_of(out.shape)):
        hint = eqn.source.assigned if eqn.source else ""
        return _in_variables(writer.emit, out.shape, [writer.emit.name(hint) for _ in full(size_of(out.shape))])
    if Value(out.shape, out.dtype, lambda emit, point: "").size != 1:
        return writer.memory(eqn, k)
    return scalar(writer.emit.name(eqn.source.assigned if eqn.source else ""), out.shape, out.dtype)


def _name(value: Value) -> str:
    """The name of a variable that `_place` or a loop made."""
    return value.read(None, ORIGIN)  # type: ignore[arg-type]


def _in_variables(emit: Emitter, shape: tuple[int, ...], names: list[str]) -> Bits:
    """Booleans whose words are variables."""
    return Bits(emit, shape, lambda: names)


def _renewed(emit: Emitter, value: Value) -> Value:
    """The value as it is here, after its variables were written."""
    return _in_variables(emit, value.shape, value.words(emit)) if isinstance(value, Bits) else value


def _assign(emit: Emitter, result: Value, value: Value) -> None:
    if isinstance(result, Bits):
        for name, word in zip(result.words(emit), bits_of(emit, value).words(emit), strict=True):
            emit.line(f"{name} = {bare(word)}")
    elif isinstance(result, Buffer):
        if value is not result:
            emit.fill(result, value)
    else:
        emit.line(f"{_name(result)} = {typed(value.at(emit, first(value.shape)), result.dtype)}")


class Carry:
    """The carry of a loop: variables, words, and pairs of slots that swap after each iteration."""

    def __init__(self, writer: Writer, eqn: Equation, start: int, values: Sequence[Value], body: Block, offset: int):
        """Takes the first operand's position, the first values, and where the body's arguments for them begin."""
        self.writer = writer
        self.body_ins = body.ins[offset : offset + len(values)]
        self.values: list[Value] = []
        self.spares: list[Buffer | None] = []
        emit = writer.emit
        for k, value in enumerate(values):
            hint = eqn.source.assigned if eqn.source else ""
            if value.dtype == np.bool_ and fits(value.size):
                words = bits_of(emit, value).words(emit)
                self.values.append(_in_variables(emit, value.shape, [emit.bind(word, hint) for word in words]))
                self.spares.append(None)
            elif value.size == 1:
                name = emit.bind(typed(value.at(emit, first(value.shape)), value.dtype), hint)
                self.values.append(scalar(name, value.shape, value.dtype))
                self.spares.append(None)
            else:
                slot = writer.taken(eqn, start + k, value)
                self.values.append(slot)
                self.spares.append(emit.slot(value.shape, value.dtype, "next"))

    def renew(self) -> list[Value]:
        """The values as they are here; what was derived from words before is no longer valid."""
        self.values = [_renewed(self.writer.emit, value) for value in self.values]
        return self.values

    def run(
        self, body: Block, constants: Sequence[Value], more: Sequence[Value] = (), running: Value | None = None
    ) -> list[Value]:
        """Writes one iteration; returns the body's further results.

        Under vmap a loop continues while any of its games does; `running` says which, and the others keep their
        values.
        """
        writer, emit = self.writer, self.writer.emit
        for slot, var in zip(self.values, self.body_ins, strict=True):
            if isinstance(slot, Buffer):
                writer.owners.pop(slot, None)
                if running is None:  # the body may write over what it alone reads
                    writer.owners[slot] = var
        count = len(self.values)
        targets = [*self.spares, *[None] * (len(body.outs) - count)]
        results = writer.run(body, [*constants, *self.renew(), *more], targets)
        new: list[list[str]] = []
        for value, spare, result in zip(self.values, self.spares, results[:count], strict=True):
            if running is not None and value.size > 1:
                result = _kept(running, result, value)
            if spare is not None:
                if result is not value and result is not spare:
                    emit.fill(spare, result)
                new.append([])
            elif isinstance(value, Bits):
                new.append(bits_of(emit, result).words(emit))
            else:
                new.append([typed(result.at(emit, first(result.shape)), result.dtype)])
        self.pending = list(zip(self.values, self.spares, results[:count], new, strict=True))
        return results[count:]

    def advance(self) -> None:
        """Makes the results of this iteration the values of the next."""
        emit = self.writer.emit
        left, right = [], []
        for value, spare, result, texts in self.pending:
            if isinstance(value, Buffer):
                assert spare is not None
                if result is not value:
                    left += [value.pointer, spare.pointer]
                    right += [spare.pointer, value.pointer]
                continue
            names = value.words(emit) if isinstance(value, Bits) else [_name(value)]
            for name, text in zip(names, texts, strict=True):
                if text != name:
                    left.append(name)
                    right.append(bare(text))
        if left:
            emit.line(f"{', '.join(left)} = {', '.join(right)}")


@rule("while")
def _while(writer: Writer, eqn: Equation, *operands: Value) -> list[Value]:
    emit = writer.emit
    test, body = eqn.blocks
    num_test, num_body = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
    start = num_test + num_body
    carry = Carry(writer, eqn, start, operands[start:], body, num_body)
    with emit.block("while True:", f"while, {eqn.source}"):
        (go_on,) = writer.run(test, [*operands[:num_test], *carry.renew()])
        running = None
        if go_on.size == 1:
            text = go_on.at(emit, first(go_on.shape))
        else:
            running = emit.slot(go_on.shape, go_on.dtype, "running")
            text = emit.bind("False", "any_running")
            emit.fill(running, go_on)
            emit.each(running, lambda point: emit.line(f"{text} = {text} | {running.at(emit, point)}"))
        with emit.block(f"if not {text}:"):
            emit.line("break")
        carry.run(body, operands[num_test:start], running=running)
        carry.advance()
    return carry.renew()


def _kept(running: Value, new: Value, old: Value) -> Value:
    """The new value where the game is still running, else the old one."""

    def read(emit: Emitter, point: Point) -> str:
        lead = Point(running.shape, dims=point.dims(emit)[: len(running.shape)])
        return f"where({running.at(emit, lead)}, {new.at(emit, point)}, {old.at(emit, point)})"

    return Value(new.shape, new.dtype, read, cost=new.cost + 3, splits=new.splits, branchy=new.branchy)


@rule("scan")
def _scan(writer: Writer, eqn: Equation, *operands: Value) -> list[Value]:
    emit, (body,) = writer.emit, eqn.blocks
    num_consts, num_carry, length = (eqn.params[k] for k in ("num_consts", "num_carry", "length"))
    start, end = num_consts, num_consts + num_carry
    stacked = [writer.memory(eqn, k) for k in range(num_carry, len(eqn.outs))]
    carry = Carry(writer, eqn, start, operands[start:end], body, num_consts)
    xs = [x if x.size == length else writer.stored(x, "rows") for x in operands[end:]]
    repeats = num_carry == 0 and not eqn.params["reverse"] and _may_repeat(xs, stacked, length, body)
    last = [emit.bind(typed("0", x.dtype), "last") for x in xs] if repeats else []
    if length:
        with emit.loop(0, length) as k:
            place = Index(length - 1) - k if eqn.params["reverse"] else k
            rows = [_row(emit, x, place) for x in xs]
            if repeats:
                _skip_if_repeated(emit, k, last, rows, stacked)
            for memory, row in zip(stacked, carry.run(body, operands[:num_consts], rows), strict=True):
                _store_row(emit, memory, row, place)
            carry.advance()
    return [*carry.renew(), *stacked]


def _may_repeat(xs: Sequence[Value], stacked: Sequence[Buffer], length: int, body: Block) -> bool:
    """Whether to look for entries that repeat the one before, as those do that `jnp.nonzero` pads a list with."""
    numbers = all(x.size == length and x.dtype.kind in "iu" and not isinstance(x, Table) for x in xs)
    few = all(memory.size == length for memory in stacked)
    return length > 1 and 1 <= len(xs) <= 2 and numbers and few and cost(body.equations) > REPEAT


def _skip_if_repeated(
    emit: Emitter, k: Index, last: list[str], rows: Sequence[Value], stacked: Sequence[Buffer]
) -> None:
    """Takes the results of the entry before if this one is the same."""
    texts = [row.at(emit, first(row.shape)) for row in rows]
    same = " and ".join(f"{text} == {name}" for text, name in zip(texts, last, strict=True))
    with emit.block(f"if {k} > 0 and {same}:"):
        for memory in stacked:
            emit.line(f"{memory.pointer}[{k}] = {memory.pointer}[{k - 1}]")
        emit.line("continue")
    for text, name in zip(texts, last, strict=True):
        emit.line(f"{name} = {text}")


def _row(emit: Emitter, x: Value, place: Index) -> Value:
    """Entry `place` of an operand's first axis."""
    shape = x.shape[1:]

    def read(emit: Emitter, point: Point) -> str:
        return x.at(emit, Point(x.shape, dims=(place, *point.dims(emit))))

    value = Value(shape, x.dtype, read, cost=x.cost, branchy=x.branchy)
    if value.size == 1:
        return scalar(emit.bind(typed(value.at(emit, first(shape)), x.dtype), "x"), shape, x.dtype)
    return value


def _store_row(emit: Emitter, memory: Buffer, row: Value, place: Index) -> None:
    def store(point: Point) -> None:
        memory.store(emit, Point(memory.shape, dims=(place, *point.dims(emit))), row.at(emit, point))

    emit.each(row, store)
