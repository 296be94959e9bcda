"""Counts how often each value of a program is read, and decides whether to store it."""

from __future__ import annotations

import dataclasses

from boardrl.lowering.index import size_of
from boardrl.lowering.ir import Block, Equation, Var

LOOP = 8  # rounds taken for granted where a loop's length is not known
# Primitives that read each element of an operand once, whatever the size of the result.
ONCE = ("reduce", "arg", "cum", "sort", "top_k", "concatenate", "stack", "pad", "scatter", "dynamic_update", "split",
        "sum_of_rows")  # fmt: skip
SAME_PLACE: set[str] = set()  # primitives that read their operands where they write; filled by their modules
STORE = 1  # what writing an element and reading it back costs, in simple operations


@dataclasses.dataclass(frozen=True)
class Reads:
    """Who reads a value: how many equations, and how many elements in all."""

    equations: int = 0
    elements: float = 0


def demand(block: Block) -> dict[Var, Reads]:
    """The reads of every variable of a program; a result counts as read by one more equation.

    Elementwise equations with the same reader are fused into one loop, in which a shared element is computed once: it
    counts once.
    """
    loops: dict[Var, dict[object, float]] = {}  # which loops read a variable, and how many elements
    counts: dict[Var, int] = {}

    def add(atom: object, loop: object, elements: float) -> None:
        if isinstance(atom, Var):
            counts[atom] = counts.get(atom, 0) + 1
            known = loops.setdefault(atom, {})
            known[loop] = max(known.get(loop, 0), elements)

    for place, atom in enumerate(block.outs):
        add(atom, place, size_of(atom.shape))
    for eqn in reversed(block.equations):
        readers = loops.get(eqn.outs[0], {})
        joins = eqn.name in SAME_PLACE and len(readers) == 1
        for position, atom in enumerate(eqn.ins):
            same_place = eqn.name in SAME_PLACE and atom.shape == eqn.outs[0].shape
            loop: object = (eqn, position)
            if same_place:
                loop = next(iter(readers)) if joins else eqn
            add(atom, loop, elements_read(eqn, position))
    return {var: Reads(counts[var], sum(known.values())) for var, known in loops.items()}


def elements_read(eqn: Equation, position: int) -> float:
    """How many elements of an operand an equation reads, counted with repetition."""
    size = size_of(eqn.ins[position].shape)
    if eqn.blocks:
        return size + sum(count * _inner(block, variable) for block, variable, count in _entries(eqn, position))
    if eqn.name == "dot_general":
        (contracting, _), _ = eqn.params["dimension_numbers"]
        depth = size_of(tuple(eqn.ins[0].shape[axis] for axis in contracting))
        return size_of(eqn.outs[0].shape) * depth
    if eqn.name.startswith(ONCE) or (eqn.name == "gather" and position == 1):
        return size
    return sum(size_of(out.shape) for out in eqn.outs)


def _inner(block: Block, variable: Var) -> float:
    return sum(
        elements_read(eqn, k) for eqn in block.equations for k, atom in enumerate(eqn.ins) if atom is variable
    ) + size_of(variable.shape) * block.outs.count(variable)


def _entries(eqn: Equation, position: int) -> list[tuple[Block, Var, float]]:
    """The nested programs that see an operand, the name it has there and how often they run."""
    params = eqn.params
    if eqn.name == "cond":
        return [(block, block.ins[position - 1], 1) for block in eqn.blocks] if position else []
    if eqn.name == "scan":
        return (
            [(eqn.blocks[0], eqn.blocks[0].ins[position], params["length"])] if position < params["num_consts"] else []
        )
    if eqn.name == "while":
        test, body = eqn.blocks
        if position < params["cond_nconsts"]:
            return [(test, test.ins[position], LOOP)]
        place = position - params["cond_nconsts"]
        return [(body, body.ins[place], LOOP)] if place < params["body_nconsts"] else []
    return []


def worth_storing(size: int, cost: float, reads: Reads) -> bool:
    """Whether storing a value and reading it back is cheaper than computing it at every read."""
    return reads.elements * cost > size * (cost + STORE) + reads.elements
