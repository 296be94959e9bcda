"""Constant folding: equations on constants are computed once, by JAX itself."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import numpy as np

from boardrl.lowering.index import size_of
from boardrl.lowering.ir import Atom, Block, Const, Equation, Var, prune

LARGEST = 1 << 22  # elements; beyond it an expression is better than a table


def fold(block: Block) -> None:
    """Replaces equations on constants by their results, in nested programs too (in place)."""
    same: dict[Atom, Atom] = {}  # a nested program's name for an operand -> the operand
    known: list[Equation] = []
    _collect(block, same, set(), known)
    constants = _evaluate(known)
    _substitute(block, {**{v: constants.get(a, a) for v, a in same.items()}, **constants})
    prune(block)


def _collect(block: Block, same: dict[Atom, Atom], constant: set[Atom], known: list[Equation]) -> None:
    """Gathers the equations whose operands are all constants, in an order in which they can be computed."""
    for eqn in block.equations:
        eqn.ins = [same.get(a, a) for a in eqn.ins]
        if (
            all(isinstance(a, Const) or a in constant for a in eqn.ins)
            and sum(size_of(out.shape) for out in eqn.outs) <= LARGEST
        ):
            constant.update(eqn.outs)
            known.append(eqn)
            continue
        for operand, variable in _passed_in(eqn):
            if isinstance(operand, Const) or operand in constant:
                same[variable] = operand
        for inner in eqn.blocks:
            _collect(inner, same, constant, known)


def _passed_in(eqn: Equation) -> Iterator[tuple[Atom, Var]]:
    """Operands of control flow that are the same in every iteration, with their names in the nested program."""
    if eqn.name == "cond":
        for block in eqn.blocks:
            yield from zip(eqn.ins[1:], block.ins, strict=True)
    elif eqn.name == "scan":
        count = eqn.params["num_consts"]
        yield from zip(eqn.ins[:count], eqn.blocks[0].ins[:count], strict=True)
    elif eqn.name == "while":
        test, body = eqn.blocks
        first, second = eqn.params["cond_nconsts"], eqn.params["body_nconsts"]
        yield from zip(eqn.ins[:first], test.ins[:first], strict=True)
        yield from zip(eqn.ins[first : first + second], body.ins[:second], strict=True)


def _evaluate(known: list[Equation]) -> dict[Atom, Atom]:
    """Computes all constants by one compiled program; 64-bit types are kept."""

    def compute() -> list[jax.Array]:
        values: dict[Atom, jax.Array] = {}
        for eqn in known:
            operands = [jax.numpy.asarray(a.value) if isinstance(a, Const) else values[a] for a in eqn.ins]
            values.update(zip(eqn.outs, eqn.bind(*operands), strict=True))
        return list(values.values())

    outs = [out for eqn in known for out in eqn.outs]
    if not outs:
        return {}
    with jax.enable_x64(True):
        return {out: Const(np.asarray(value)) for out, value in zip(outs, jax.jit(compute)(), strict=True)}


def _substitute(block: Block, constants: dict[Atom, Atom]) -> None:
    block.equations = [eqn for eqn in block.equations if not constants.keys() >= set(eqn.outs)]
    for eqn in block.equations:
        eqn.ins = [constants.get(a, a) for a in eqn.ins]
        for inner in eqn.blocks:
            _substitute(inner, constants)
    block.outs = [constants.get(a, a) for a in block.outs]
