"""The source of one lowered function, and of the one that makes all successors of a position."""

from __future__ import annotations

import builtins
import dataclasses
import keyword
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from boardrl.lowering import index, intrinsics, ir, primitives, sparse
from boardrl.lowering.bits import Bits, bits_of, num_words
from boardrl.lowering.emit import Emitter, flattened
from boardrl.lowering.layout import WORD, Layout, Leaf
from boardrl.lowering.passes.fold import fold
from boardrl.lowering.passes.lazy import lazily
from boardrl.lowering.passes.roll import roll
from boardrl.lowering.passes.segments import scatter_sums
from boardrl.lowering.values import ORIGIN, SHORT, Buffer, Value, bare, kind, scalar, typed
from boardrl.lowering.writer import Writer

# A search that may need few successors makes them one by one (`LAZY` of boardrl.host.slots) if a step computes at least
# so many elements, and so many times what all steps from a position share. Where it needs all of them, that computes
# what they share again and again, half as much more at the most; where one is enough, the others are saved.
LEAST_ELEMENTS, SHARED_SHARE = 64, 2
# If it is so many times what they share, nothing is gained by a program of their own, which takes as long to compile as
# one more `act`.
NOT_WORTH_SHARING = 16


@dataclasses.dataclass(frozen=True)
class Argument:
    """One argument of a function: its name, and an example pytree of arrays."""

    name: str
    example: Any
    in_memory: bool = False  # whether it is an array even if it is one number


@dataclasses.dataclass(frozen=True)
class Function:
    """A function to lower: each argument, and the result, becomes one flat array (numbers stay numbers)."""

    call: Callable[..., Any]
    arguments: Sequence[Argument]
    result: str = "out"
    title: str = ""  # how messages call it
    interleaved: bool = False  # whether it is several programs that are best written side by side (`ir.interleave`)


@dataclasses.dataclass(frozen=True)
class Successors:
    """An additional function to emit: the rows after each legal action.

    What does not depend on the action, and what `legal` and `act` have in common, is computed once.
    """

    legal: Callable[[Any], Any]  # (state) -> [A] bool
    act: Callable[[Any, Any], Any]  # (state, action) -> state
    state: Any  # an example
    first: Callable[[Any], Sequence[Any]] | None = None  # (state) -> some [A] bool: successors of these come first
    title: str = ""


def is_number(layout: Layout) -> bool:
    """Whether a pytree is one array without axes, which is passed as a number."""
    return len(layout.leaves) == 1 and layout.leaves[0].shape == ()


def emit_function(
    label: str,
    function: Function,
    block: ir.Block,
    layouts: Sequence[Layout],
    tables: dict[str, np.ndarray],
    taken: set[str],
) -> tuple[str, int]:
    """One function's source, and how many bytes of workspace it needs."""
    title = function.title or label
    primitives.load()
    emit = Emitter(tables, {*taken, *RESERVED, "work", function.result, *(a.name for a in function.arguments)})
    writer = Writer(emit, title)
    fold(block)
    sparse.rewrite(block)
    scatter_sums(block)
    roll(block)
    lazily(block)
    if function.interleaved:
        ir.interleave(block)
    writer.check(block)
    used = {a for eqn in ir.walk(block) for a in eqn.ins} | set(block.outs)
    operands = []
    ins = iter(block.ins)
    for argument, layout in zip(function.arguments, layouts, strict=False):
        for leaf in layout.leaves:
            var = next(ins)
            number = is_number(layout) and not argument.in_memory
            operands.append(_incoming(emit, argument.name, leaf, number, var in used))
    *_, result = layouts
    parameters = [a.name for a in function.arguments]
    if is_number(result):
        (value,) = writer.run(block, operands)
        emit.line(f"return {bare(typed(value.at(emit, ORIGIN), value.dtype))}")
    else:
        parameters.append(function.result)
        targets = [_outgoing(emit, function.result, leaf) for leaf in result.leaves]
        values = writer.run(block, operands, [target if isinstance(target, Buffer) else None for target in targets])
        _store(emit, targets, values)
        if len(result.leaves) > 1:
            for offset, size in result.gaps():
                emit.line(f"pointer({function.result}, {offset}, u{8 * size})[0] = 0", "gap")
    shown = ", ".join(kind(leaf) + (f" {leaf.name}" if len(layout.leaves) > 1 else "")
                      for layout in layouts[:-1] for leaf in layout.leaves)  # fmt: skip
    doc = f"{title}: {shown or 'nothing'} to {', '.join(map(kind, result.leaves))}."
    return _source(label, parameters, doc, emit)


def trace_successors(successors: Successors) -> ir.Block:
    """The program of `legal` and `act` together; the action is the last input, masks of actions the first outputs."""

    def both(state: Any, action: Any) -> Any:
        left, groups = successors.legal(state), []
        for group in successors.first(state) if successors.first is not None else ():
            groups.append(left & group)
            left = left & ~group
        return [*groups, left], successors.act(state, action)

    block, _ = ir.trace(both, [successors.state, np.int32(0)], name=successors.title)
    return block


def emit_successors(
    successors: Successors, block: ir.Block, tables: dict[str, np.ndarray], taken: set[str]
) -> tuple[str, int]:
    """The source of `successors`, and how many bytes of workspace it needs."""
    primitives.load()
    layout = Layout(successors.state, "row")
    emit = Emitter(tables, {*taken, *RESERVED, "row", "buffer", "work", "count", "action", "group"})
    writer = Writer(emit, successors.title)
    fold(block)
    sparse.rewrite(block)
    scatter_sums(block)
    roll(block)
    lazily(block)
    writer.check(block)
    num_groups = len(block.outs) - len(layout.leaves)
    ahead, behind = ir.split(block, block.ins[-1], first_outs=num_groups)
    once, each = num_elements(ahead), num_elements(behind)
    lazy = num_groups == 1 and each >= max(LEAST_ELEMENTS, SHARED_SHARE * once)
    if lazy and each >= NOT_WORTH_SHARING * once:
        return "LAZY = True\n", 0
    used = {a for eqn in ir.walk(block) for a in eqn.ins} | set(block.outs)
    rows = [
        _incoming(emit, "row", leaf, False, var in used) for leaf, var in zip(layout.leaves, block.ins, strict=False)
    ]
    values = writer.run(ahead, rows)
    known = dict(zip(ahead.outs[num_groups:], values[num_groups:], strict=True))
    groups = [bits_of(emit, value).words(emit) for value in values[:num_groups]]
    chosen = [(k, text) for words in groups for k, text in enumerate(words) if text != "u64(0)"]
    memory = emit.slot((len(chosen),), np.dtype(np.uint64), "moves").pointer
    for place, (_, text) in enumerate(chosen):
        emit.line(f"{memory}[{place}] = {bare(text)}")
    word = emit.name("word")
    most = (1 << (64 * max(k for k, _ in chosen) + 63).bit_length()) - 1 if chosen else 0
    emit.line("count = 0")
    with emit.block(f"for group in range({len(chosen)}):"):
        emit.line(f"{word} = {memory}[group]")
        base = (
            "64 * group" if len(groups) == 1 else f"{emit.table(np.array([64 * k for k, _ in chosen]), 'bases')}[group]"
        )
        with emit.block(f"while {word} != u64(0):"):
            # The mask changes nothing; it tells LLVM that actions are not negative, so that // and % need no care.
            emit.line(f"action = i32({base} + i64(cttz({word})) & {most})")
            emit.line(f"{word} &= {word} - u64(1)")
            inner = emit.head
            emit.head = []
            targets = [_outgoing(emit, "buffer", leaf) for leaf in layout.leaves]
            for line in emit.head:
                at = f"{WORD * layout.num_words} * count + "
                emit.line(line.strip().replace("pointer(buffer, ", f"pointer(buffer, {at}", 1))
            emit.head = inner
            operands = [*(known[var] for var in behind.ins[:-1]), scalar("action", (), np.dtype(np.int32))]
            memories = [target if isinstance(target, Buffer) else None for target in targets]
            _store(emit, targets, writer.run(behind, operands, memories))
            for offset, size in layout.gaps():
                emit.line(f"pointer(buffer, {WORD * layout.num_words} * count + {offset}, u{8 * size})[0] = 0", "gap")
            emit.line("count += 1")
    emit.line("return count")
    doc = f"{successors.title}: rows after each legal action."
    source, work_bytes = _source("successors", ["row", "buffer"], doc, emit)
    return f"LAZY = {lazy}\n\n\n{source}", work_bytes


def num_elements(block: ir.Block) -> int:
    """An estimate of a program's time: elements that its equations compute, where 64 booleans count as one."""
    total = 0
    for eqn in block.equations:
        inner = [num_elements(nested) for nested in eqn.blocks]
        if inner:
            total += max(inner) * eqn.params.get("length", 1)
        else:
            total += sum(-(-math.prod(out.shape) // (64 if out.dtype == bool else 1)) for out in eqn.outs)
    return total


def _store(emit: Emitter, targets: Sequence[Buffer | str], values: Sequence[Value]) -> None:
    """Writes results to their places, unless they are already there."""
    for target, value in zip(targets, values, strict=True):
        if isinstance(target, str):
            for k, word in enumerate(bits_of(emit, value).words(emit)):
                emit.line(f"{target}[{k}] = {bare(word)}", value.note if k == 0 else "")
        elif value is not target:
            emit.fill(target, value)


def _source(label: str, parameters: list[str], doc: str, emit: Emitter) -> tuple[str, int]:
    """A function's source, and how many bytes of workspace it needs."""
    body = flattened(emit.lines)
    words = set(re.findall(r"\w+", "\n".join(body)))
    head = [line for line in emit.head if line.split()[0] in words]  # a pointer may have found no reader
    start = f"@njit(**OPTIONS)\ndef {label}({', '.join([*parameters, 'work'])}):"
    return "\n".join([start, f'    """{doc}"""', "    apart()", *head, *body]) + "\n", emit.work_bytes


VECTOR_NAMES = ("dot_rows", "exp32", "exp_each", "sum_rows", "tanh32", "tanh_each")
RESERVED = {
    *dir(intrinsics),
    *dir(builtins),
    *keyword.kwlist,
    *VECTOR_NAMES,
    "math",
    "np",
    "njit",
    "OPTIONS",
    "WORK_WORDS",
    "REFUSED",
}


def _incoming(emit: Emitter, name: str, leaf: Leaf, number: bool, used: bool) -> Value:
    """A leaf of an argument: a number in a variable, or an array behind a pointer."""
    if not used:
        return scalar("unused", leaf.shape, leaf.dtype)
    if number:
        emit.line(f"{name} = {name} != 0" if leaf.dtype == np.bool_ else f"{name} = {SHORT[str(leaf.dtype)]}({name})")
        return scalar(name, leaf.shape, leaf.dtype)
    pointer = _leaf_pointer(emit, name, leaf, "")
    if leaf.is_bits:
        return _incoming_bits(emit, pointer, leaf)
    buffer = Buffer(pointer, leaf.shape, leaf.dtype)
    if index.size_of(leaf.shape) != 1:
        return buffer
    emit.head[-1] = emit.head[-1].replace(")  #", ")[0]  #")
    text = f"({buffer.pointer} != 0)" if leaf.dtype == np.bool_ else buffer.pointer
    return scalar(text, leaf.shape, leaf.dtype)


def _incoming_bits(emit: Emitter, pointer: str, leaf: Leaf) -> Value:
    """Booleans of an argument: its words; many are read one by one."""
    value = Bits(emit, leaf.shape)
    value.memory, value.hint = pointer, pointer
    count = num_words(index.size_of(leaf.shape))
    if count == 1:
        emit.head[-1] = emit.head[-1].replace(")  #", ")[0]  #")
        value.compute, value.memory = lambda: [pointer], ""
    else:
        value.compute = lambda: [f"{pointer}[{k}]" for k in range(count)]
    return value


def _outgoing(emit: Emitter, name: str, leaf: Leaf) -> Buffer | str:
    """Where a leaf of the result is written: memory, or the name of a pointer to words."""
    pointer = _leaf_pointer(emit, name, leaf, "_out")
    return pointer if leaf.is_bits else Buffer(pointer, leaf.shape, leaf.dtype)


def _leaf_pointer(emit: Emitter, name: str, leaf: Leaf, suffix: str) -> str:
    """A pointer named after its leaf, or after its argument if that is a single array."""
    pointer = name if leaf.name == name else emit.name(leaf.name + suffix)
    emit.point(pointer, name, leaf.offset, leaf.shape, leaf.dtype, words=leaf.is_bits)
    return pointer
