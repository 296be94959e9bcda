"""Rolls programs that `jax.vmap` has spread over a batch back into loops over one entry at a time.

Rules like "a move is legal if the king is not attacked after it" are written for one move and vmapped over all. As
JAX gives them, every equation works on all moves at once, on copies of the board for each of them: far more memory
than the processor holds close by, and nothing can be left out. One move at a time, a board stays in the cache, and
what a move does not need is not computed (`passes.lazy`).

Only programs that change an array for each entry, or reduce what they look up for each entry, are rolled: elementwise
ones are fused anyway, and booleans are worked at many at a time as bits.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from boardrl.lowering.index import size_of
from boardrl.lowering.ir import Atom, Block, Const, Equation, Source, Var
from boardrl.lowering.passes.axes import Unbatched, unbatched

FEWEST = 4  # entries of a batch worth a loop
LOOKED_UP = 64  # elements of an array that are looked up at places known only at run time
SCATTERS = ("scatter", "scatter-add", "scatter-sub", "scatter-mul", "scatter-min", "scatter-max")


def roll(block: Block) -> None:
    """Rolls every vmapped program that changes arrays, in nested programs too (in place)."""
    for eqn in block.equations:
        for inner in eqn.blocks:
            roll(inner)
    given_up: set[Equation] = set()
    while (seed := _seed(block, given_up)) is not None:
        eqn, axis = seed
        region = _Region(block, eqn, axis)
        if eqn in region.axes and region.is_worth_it():
            region.replace()
        else:
            given_up.add(eqn)


def _seed(block: Block, given_up: set[Equation]) -> tuple[Equation, int] | None:
    """The first equation that changes an array for each entry of a batch, or looks up much; the axis of the batch."""
    for eqn in block.equations:
        if eqn in given_up:
            continue
        axes: Iterable[int] = ()
        if eqn.name in SCATTERS:
            axes = eqn.params["dimension_numbers"].operand_batching_dims
        elif eqn.name == "gather" and isinstance(eqn.ins[1], Var) and size_of(eqn.outs[0].shape) >= LOOKED_UP:
            offsets = eqn.params["dimension_numbers"].offset_dims
            axes = [axis for axis in range(len(eqn.outs[0].shape)) if axis not in offsets]
        for axis in axes:
            if eqn.outs[0].shape[axis] >= FEWEST:
                return eqn, axis
    return None


class _Region:
    """The equations around a seed that share its batch axis."""

    def __init__(self, block: Block, seed: Equation, axis: int) -> None:
        self.block = block
        self.length = seed.outs[0].shape[axis]
        self.producers = {out: eqn for eqn in block.equations for out in eqn.outs}
        self.readers: dict[Atom, list[Equation]] = {}
        for eqn in block.equations:
            for atom in set(eqn.ins):
                self.readers.setdefault(atom, []).append(eqn)
        self.axes: dict[Equation, int] = {seed: axis}
        self.rules: dict[Equation, Unbatched] = {}
        rule = unbatched(seed, axis)
        if rule is None:
            self.axes = {}
            return
        self.rules[seed] = rule
        self._grow()
        self._leave_out_what_comes_late()

    def is_worth_it(self) -> bool:
        """Whether the loop has work for each entry."""
        return any(eqn.name in SCATTERS or eqn.name.startswith(("reduce_", "arg")) for eqn in self.axes)

    def _axis(self, atom: Atom) -> int | None:
        """The axis of a value that the region computes; None for others."""
        eqn = self.producers.get(atom) if isinstance(atom, Var) else None
        return self.axes.get(eqn) if eqn is not None else None

    def _fits(self, eqn: Equation, rule: Unbatched) -> bool:
        """Whether an equation can join: it reads what the region computes along the region's axis."""
        for atom, place in zip(eqn.ins, rule.operands, strict=True):
            axis = self._axis(atom)
            if axis is not None and axis != place:
                return False
        return True

    def _join(self, eqn: Equation, axis: int) -> bool:
        if eqn in self.axes or eqn.outs[0].shape[axis] != self.length:
            return False
        rule = unbatched(eqn, axis)
        if rule is None or not self._fits(eqn, rule):
            return False
        for reader in self.readers.get(eqn.outs[0], ()):
            if reader in self.axes:
                places = [p for a, p in zip(reader.ins, self.rules[reader].operands, strict=True) if a is eqn.outs[0]]
                if any(place != axis for place in places):
                    return False
        self.axes[eqn], self.rules[eqn] = axis, rule
        return True

    def _grow(self) -> None:
        results = set(self.block.outs)
        changed = True
        while changed:
            changed = False
            for eqn in list(self.axes):
                for reader in self.readers.get(eqn.outs[0], ()):
                    changed |= any(self._join(reader, axis) for axis in range(len(reader.outs[0].shape)))
                for atom, place in zip(eqn.ins, self.rules[eqn].operands, strict=True):
                    maker = self.producers.get(atom) if isinstance(atom, Var) else None
                    if maker is None or place is None or atom in results or maker in self.axes:
                        continue
                    if size_of(atom.shape) == self.length:  # a number for each entry: what the loop runs over
                        continue
                    if all(reader in self.axes for reader in self.readers[atom]):
                        changed |= self._join(maker, place)

    def _leave_out_what_comes_late(self) -> None:
        """A loop runs at one place: what needs results of the loop by way of other equations stays outside."""
        while True:
            after: set[Atom] = set()
            late = []
            for eqn in self.block.equations:
                waits = any(atom in after for atom in eqn.ins)
                if eqn in self.axes:
                    if waits:
                        late.append(eqn)
                elif waits or any(self._axis(atom) is not None for atom in eqn.ins):
                    after.update(eqn.outs)
            for eqn in late:
                del self.axes[eqn], self.rules[eqn]
            if not late:
                return

    def replace(self) -> None:
        """Puts the loop in the region's place."""
        inside = [eqn for eqn in self.block.equations if eqn in self.axes]
        known: dict[tuple[Atom, int | None], Atom] = {}
        consts: list[Atom] = []
        rows: list[Atom] = []
        const_vars: list[Var] = []
        row_vars: list[Var] = []
        before: list[Equation] = []

        def entry(atom: Atom, axis: int | None) -> Atom:
            """The loop's name for an operand, or for its entry along an axis."""
            if isinstance(atom, Const) and axis is None:
                return atom
            key = (atom, axis)
            if key in known:
                return known[key]
            if axis is None:
                known[key] = inner = Var(atom.shape, atom.dtype)
                consts.append(atom)
                const_vars.append(inner)
                return inner
            if isinstance(atom, Const):
                table = np.moveaxis(atom.value, axis, 0)
                if (table == table[:1]).all():
                    known[key] = Const(np.array(table[0]))
                    return known[key]
            known[key] = inner = Var((*atom.shape[:axis], *atom.shape[axis + 1 :]), atom.dtype)
            rows.append(_in_front(atom, axis, before))
            row_vars.append(inner)
            return inner

        body: list[Equation] = []
        for eqn in inside:
            rule = self.rules[eqn]
            ins = [entry(atom, axis) for atom, axis in zip(eqn.ins, rule.operands, strict=True)]
            out, axis = eqn.outs[0], self.axes[eqn]
            inner = Var((*out.shape[:axis], *out.shape[axis + 1 :]), out.dtype)
            known[out, axis] = inner
            body.append(Equation(eqn.name, rule.params, ins, [inner], eqn.source, (), _unbound))
        results = set(self.block.outs)
        given = [
            eqn
            for eqn in inside
            if eqn.outs[0] in results or any(reader not in self.axes for reader in self.readers.get(eqn.outs[0], ()))
        ]
        program = Block([*const_vars, *row_vars], body, [known[eqn.outs[0], self.axes[eqn]] for eqn in given])
        stacked: list[Var] = []
        behind: list[Equation] = []
        for eqn in given:
            out, axis = eqn.outs[0], self.axes[eqn]
            if axis == 0:
                stacked.append(out)
                continue
            front = Var((out.shape[axis], *out.shape[:axis], *out.shape[axis + 1 :]), out.dtype)
            order = (*range(1, axis + 1), 0, *range(axis + 1, len(out.shape)))
            stacked.append(front)
            behind.append(Equation("transpose", {"permutation": order}, [front], [out], eqn.source, (), _unbound))
        params = {"num_consts": len(consts), "num_carry": 0, "length": self.length, "reverse": False}
        loop = Equation("scan", params, [*consts, *rows], stacked, _source(inside), (program,), _unbound)
        roll(program)
        outside = [eqn for eqn in self.block.equations if eqn not in self.axes]
        self.block.equations = ordered([*outside, *before, loop, *behind])


def _in_front(atom: Atom, axis: int, before: list[Equation]) -> Atom:
    """The operand with an axis moved to the front."""
    if axis == 0:
        return atom
    if isinstance(atom, Const):
        return Const(np.ascontiguousarray(np.moveaxis(atom.value, axis, 0)))
    order = (axis, *(a for a in range(len(atom.shape)) if a != axis))
    moved = Var(tuple(atom.shape[a] for a in order), atom.dtype)
    before.append(Equation("transpose", {"permutation": order}, [atom], [moved], None, (), _unbound))
    return moved


def _source(equations: Iterable[Equation]) -> Source | None:
    return next((eqn.source for eqn in equations if eqn.source is not None), None)


def _unbound(*values: object) -> object:
    raise NotImplementedError("constants are folded before loops are rolled")


def ordered(equations: list[Equation]) -> list[Equation]:
    """The equations in an order in which each stands behind those that it reads, and else as they are."""
    producers = {out: eqn for eqn in equations for out in eqn.outs}
    done: set[Equation] = set()
    result: list[Equation] = []
    for first in equations:
        stack = [first]
        while stack:
            eqn = stack[-1]
            waiting = [
                maker
                for atom in eqn.ins
                if isinstance(atom, Var) and (maker := producers.get(atom)) is not None and maker not in done
            ]
            if eqn in done or not waiting:
                stack.pop()
                if eqn not in done:
                    done.add(eqn)
                    result.append(eqn)
            else:
                stack += waiting
    return result
