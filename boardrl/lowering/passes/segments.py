"""Sums by key: `jnp.where(keys == x, numbers, 0).sum()` for each x, as a vmapped rule writes it, becomes a scatter.

Written for one x and vmapped over n of them, such a sum reads all keys n times: "the liberties of the chain with this
number, for all numbers" of go takes 361 × 361 steps. Adding each number to the sum of its key takes 361. Only sums of
integers are rewritten: those of floats would be rounded in another order.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from boardrl.lowering import ir
from boardrl.lowering.index import size_of
from boardrl.lowering.ir import Atom, Block, Const, Equation, Var
from boardrl.lowering.passes.fold import fold

FEWEST = 1024  # elements of keys times sums; fewer are compared faster than they are scattered


class Sums(NamedTuple):
    """What a sum by key is made of: the sum for key `first + k` is element k of [num_sums]."""

    keys: Atom  # [n]
    numbers: Atom  # [n]
    first: int
    num_sums: int


def scatter_sums(block: Block) -> None:
    """Replaces sums by key, in nested programs too (in place)."""
    producers = {out: eqn for eqn in block.equations for out in eqn.outs}
    renewed: list[Equation] = []
    for eqn in block.equations:
        for inner in eqn.blocks:
            scatter_sums(inner)
        sums = _matched(eqn, producers)
        renewed += [eqn] if sums is None else _scattered(eqn, sums)
    if len(renewed) != len(block.equations):
        block.equations = renewed
        ir.unify(block)
        ir.prune(block)


def _matched(eqn: Equation, producers: dict[Var, Equation]) -> Sums | None:
    """The sum by key that an equation computes, if it does."""
    if eqn.name != "reduce_sum" or eqn.outs[0].dtype.kind not in "iu" or len(eqn.ins[0].shape) != 2:
        return None
    if len(eqn.params["axes"]) != 1:
        return None
    along = int(eqn.params["axes"][0])
    chosen = _producer(eqn.ins[0], producers, "select_n")
    if size_of(eqn.ins[0].shape) < FEWEST or chosen is None or len(chosen.ins) != 3:
        return None
    which, otherwise, numbers = chosen.ins
    equal = _producer(which, producers, "eq")
    if equal is None or not isinstance(otherwise, Const) or otherwise.value.any():
        return None
    vector = _along(numbers, along, producers)
    for keys, wanted in (equal.ins, equal.ins[::-1]):
        column, listed = _along(keys, along, producers), _along(wanted, 1 - along, producers)
        if vector is None or column is None or not isinstance(listed, Const) or column.dtype.kind not in "iu":
            continue
        first, count = int(listed.value[0]), len(listed.value)
        if (listed.value == np.arange(first, first + count)).all():
            return Sums(column, vector, first, count)
    return None


def _producer(atom: Atom, producers: dict[Var, Equation], name: str) -> Equation | None:
    eqn = producers.get(atom) if isinstance(atom, Var) else None
    return eqn if eqn is not None and eqn.name == name else None


def _along(atom: Atom, axis: int, producers: dict[Var, Equation]) -> Atom | None:
    """The vector that an array of two axes repeats along the other axis, if it does."""
    if isinstance(atom, Const):
        table = np.moveaxis(atom.value, axis, 0) if atom.value.ndim == 2 else None
        return Const(np.array(table[:, 0])) if table is not None and (table == table[:, :1]).all() else None
    eqn = producers.get(atom)
    if eqn is None or eqn.name not in ("broadcast_in_dim", "reshape") or len(eqn.ins) != 1:
        return None
    source, length = eqn.ins[0], atom.shape[axis]
    if source.shape == (length,):
        repeats = eqn.name == "broadcast_in_dim" and tuple(eqn.params["broadcast_dimensions"]) == (axis,)
        return source if repeats or size_of(atom.shape) == length else None
    column = (length, 1) if axis == 0 else (1, length)
    in_place = eqn.name == "broadcast_in_dim" and tuple(eqn.params["broadcast_dimensions"]) == (0, 1)
    return _along(source, axis, producers) if source.shape == column and in_place else None


def _scattered(eqn: Equation, sums: Sums) -> list[Equation]:
    """The equations that add each number to the sum of its key."""
    out = eqn.outs[0]

    def add(keys: jax.Array, numbers: jax.Array) -> jax.Array:
        known = (keys >= sums.first) & (keys <= sums.first + sums.num_sums - 1)
        places = jnp.where(known, keys - jnp.asarray(sums.first, keys.dtype), sums.num_sums).astype(jnp.int32)
        return jnp.zeros(sums.num_sums, out.dtype).at[places].add(numbers.astype(out.dtype), mode="drop")

    examples = [jax.ShapeDtypeStruct(atom.shape, atom.dtype) for atom in (sums.keys, sums.numbers)]
    program, _ = ir.trace(add, examples, name="sums by key")
    fold(program)
    names: dict[Atom, Atom] = dict(zip(program.ins, (sums.keys, sums.numbers), strict=True))
    for made in program.equations:
        made.ins = [names.get(atom, atom) for atom in made.ins]
        made.outs = [out if result is program.outs[0] else result for result in made.outs]
        made.source = eqn.source
    return program.equations
