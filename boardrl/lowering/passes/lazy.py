"""Computes what is needed only: `a & b` with an expensive b becomes a branch, and so does a selection of two cases.

In JAX both sides of `&` and of `jnp.where` are always computed, and `jax.vmap` turns `lax.cond` into `jnp.where`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from boardrl.lowering.index import size_of
from boardrl.lowering.ir import Atom, Block, Const, Equation, Var
from boardrl.lowering.passes.roll import ordered

BRANCH = 24  # simple operations that a branch must save at least
ROUNDS = 8  # of a loop whose length is not known
COSTS = {"gather": 3, "dynamic_slice": 1, "rem": 4, "div": 4, "argmax": 2, "argmin": 2, "sort": 16}
FREE = ("reshape", "squeeze", "broadcast_in_dim", "transpose", "slice", "concatenate", "convert_element_type")


def lazily(block: Block, *, loops_only: bool = True) -> None:
    """Moves expensive operands of `and`, `or` and `select_n` on single values into branches (in place).

    Args:
      loops_only: moves only what holds a loop; else whatever costs enough, as within a loop.
    """
    place = len(block.equations) - 1
    while place >= 0:
        eqn = block.equations[place]
        if size_of(eqn.outs[0].shape) and (branch := _branch(block, eqn, loops_only)) is not None:
            new, cone = branch
            gone = {eqn, *cone}
            kept = block.equations[place + 1 :]
            block.equations = [*(e for e in block.equations[:place] if e not in gone), *new, *kept]
            place -= len(cone) - len(new) + 1
        else:
            place -= 1
    block.equations = ordered(block.equations)
    for eqn in block.equations:
        for inner in eqn.blocks:
            lazily(inner, loops_only=loops_only and eqn.name != "scan")


def cost(equations: Sequence[Equation]) -> float:
    """About how many simple operations some equations take."""
    total = 0.0
    for eqn in equations:
        inner = [cost(block.equations) for block in eqn.blocks]
        if eqn.name == "scan":
            total += eqn.params["length"] * inner[0]
        elif eqn.name == "while":
            total += ROUNDS * sum(inner)
        elif eqn.name == "cond":
            total += max(inner)
        elif eqn.name not in FREE:
            sizes = [size_of(out.shape) for out in eqn.outs]
            if eqn.name.startswith(("reduce", "arg", "cum", "sort")):
                sizes = [size_of(eqn.ins[0].shape)]
            elif eqn.outs[0].dtype == np.bool_ and eqn.name != "gather":
                sizes = [-(-size // 8) for size in sizes]  # bits
            total += COSTS.get(eqn.name, 1) * sum(sizes)
    return total


def _branch(block: Block, eqn: Equation, loops_only: bool) -> tuple[list[Equation], set[Equation]] | None:
    """The equations in place of one whose operand is moved into a branch, and those that are moved."""
    out = eqn.outs[0]
    if eqn.name in ("and", "or") and out.dtype == np.bool_ and size_of(out.shape) == 1:
        cones = [_cone(block, eqn, k) for k in (0, 1)]
        late = 0 if cost(cones[0]) > cost(cones[1]) else 1
        if not _worth(cones[late], 1, loops_only):
            return None
        guard, other = eqn.ins[1 - late], eqn.ins[late]
        known = Const(np.full(out.shape, eqn.name == "or"))
        cases: list[tuple[list[Equation], Atom]] = [([], known), (cones[late], other)]
        if eqn.name == "or":
            cases.reverse()
        return _conditional(eqn, guard, cases), set(cones[late])
    if eqn.name == "select_n" and len(eqn.ins) == 3 and size_of(eqn.ins[0].shape) == 1 and eqn.ins[0].dtype == np.bool_:
        cones = [_cone(block, eqn, k) for k in (1, 2)]
        if eqn.ins[0].shape != () or not any(_worth(cone, size_of(out.shape), loops_only) for cone in cones):
            return None
        cases = [(cone, atom) for cone, atom in zip(cones, eqn.ins[1:], strict=True)]
        return _conditional(eqn, eqn.ins[0], cases), {e for cone in cones for e in cone}
    return None


def _worth(cone: Sequence[Equation], size: int, loops_only: bool) -> bool:
    if loops_only and not any(eqn.name in ("scan", "while") for eqn in cone):
        return False
    return cost(cone) > BRANCH + 2 * (size - 1)


def _cone(block: Block, eqn: Equation, position: int) -> list[Equation]:
    """The equations that only one operand of an equation needs, in order."""
    top = eqn.ins[position]
    if not isinstance(top, Var) or sum(atom is top for atom in eqn.ins) > 1:
        return []
    results, cone = set(block.outs), []
    inside: set[Atom] = {top}  # what only the operand needs
    outside: set[Atom] = {*results, *(a for a in eqn.ins if a is not top)}
    for other in block.equations[block.equations.index(eqn) + 1 :]:
        outside.update(other.ins)
    for other in reversed(block.equations[: block.equations.index(eqn)]):
        if any(out in inside for out in other.outs) and not any(out in outside for out in other.outs):
            cone.append(other)
            inside.update(other.ins)
        else:
            outside.update(other.ins)
    return cone[::-1]


def _conditional(eqn: Equation, guard: Atom, cases: list[tuple[list[Equation], Atom]]) -> list[Equation]:
    """The branch as equations: `cases[0]` where the guard is false, `cases[1]` where it is true."""
    made = {out for cone, _ in cases for e in cone for out in e.outs}
    read = [a for cone, last in cases for a in (*(atom for e in cone for atom in e.ins), last)]
    operands = list(dict.fromkeys(a for a in read if isinstance(a, Var) and a not in made))
    blocks = []
    for cone, last in cases:
        names: dict[Atom, Atom] = {atom: Var(atom.shape, atom.dtype) for atom in operands}
        for e in cone:
            e.ins = [names.get(a, a) for a in e.ins]
        ins = [name for name in names.values() if isinstance(name, Var)]
        blocks.append(Block(ins, list(cone), [names.get(last, last)]))
    new: list[Equation] = []
    if guard.shape != ():
        flat = Var((), guard.dtype)
        new.append(
            Equation("reshape", {"new_sizes": (), "dimensions": None}, [guard], [flat], eqn.source, (), eqn.bind)
        )
        guard = flat
    number = Var((), np.dtype(np.int32))
    params = {"new_dtype": number.dtype, "weak_type": False, "sharding": None}
    new.append(Equation("convert_element_type", params, [guard], [number], eqn.source, (), eqn.bind))
    new.append(Equation("cond", {}, [number, *operands], eqn.outs, eqn.source, tuple(blocks), eqn.bind))
    return new
