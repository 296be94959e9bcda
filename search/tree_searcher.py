"""A searcher by simulations: runs Monte Carlo tree search under the same budgets, with the same kind of result."""

from __future__ import annotations

import time
from typing import cast

import numpy as np

from boardrl.errors import UserError
from boardrl.game import TERMINAL
from search.declaration import TreeKernel
from search.evaluators import Evaluator, default
from search.kernel import control_block, tree
from search.kernel.tree import CHILDREN, FIRST, NUM_NODES, SOLVED, VALUES, VISITS, WHO
from search.result import Result, RootMove
from search.searcher import Searcher, turns_of

NO_LIMIT = 1 << 62  # turns


class TreeSearcher(Searcher):
    """Grows one tree; the subtree of the current position is kept from move to move, until `reset`."""

    memory: tree.Tree

    def _default_evaluator(self) -> Evaluator:
        return default(self.facet, games=self.declaration.playouts, simulates=True)

    def _allocate(self) -> tree.Tree:
        allocated = tree.allocate(
            self.facet, self.evaluator, kilobytes=self.budget.kilobytes, searcher=self.declaration.name
        )
        self.spare = len(allocated.rows) - 1
        return allocated

    def _warm_up(self) -> None:
        row = self.facet.rows()
        self.facet.init(row)
        if self.facet.actor(row, self.memory.work) != TERMINAL:
            self._grow(row, time.monotonic_ns(), 0.0, nodes=2, seed=0)
            tree.find(self.memory.rows, self.memory.arrays.scores, 1, row)
            self._keep(0)
        self.evaluate(row)
        self.reset()

    def reset(self) -> None:
        tree.clear(self.memory)

    def search_row(self, row: np.ndarray, *, ms: float | None = None, seed: int = 0) -> Result:
        """Simulates within the budget; `ms` replaces the budget's."""
        began = time.monotonic_ns()
        if not (self.budget.ms if ms is None else ms) and not self.budget.nodes:
            raise UserError(
                f"{self.declaration.name} has no end of its own; give it a limit, like ms=100 or nodes=10000"
            )
        if self.facet.actor(row, self.memory.work) == TERMINAL:
            raise UserError("the game is over in this position; give one in which somebody is to move")
        self._grow(row, began, self.budget.ms if ms is None else ms, nodes=self.budget.nodes, seed=seed)
        self.evaluator.check()
        return self._found(began)

    def root_moves(self) -> list[RootMove]:
        """The successors of the position searched last, in their order."""
        arrays = self.memory.arrays
        first, count = arrays.links[0, FIRST], arrays.links[0, CHILDREN]
        return [
            RootMove(
                arrays.rows[node].copy(),
                arrays.scores[node, VALUES:].copy(),
                int(arrays.scores[node, VISITS]),
                bool(arrays.links[node, SOLVED]),
            )
            for node in range(first, first + count)
        ]

    def complete(self, result: Result) -> Result:
        """The result as it is: the line is as long as the tree is deep."""
        return result

    def _grow(self, row: np.ndarray, began: int, ms: float, *, nodes: int, seed: int) -> None:
        control, arrays = self.memory.control, self.memory.arrays
        known = int(tree.find(arrays.rows, arrays.scores, control[NUM_NODES], row)) if self.options.reuse else tree.NONE
        room = max(self.facet.module.ROOM, self.game.spec.num_outcomes)
        if known == tree.NONE or self._keep(known) + room > len(arrays.links):
            tree.plant(self.memory, row, int(self.facet.actor(row, self.memory.work)))
        control_block.start(control, nodes, began + int(ms * 1e6) if ms else 0)
        depth = self.budget.depth or NO_LIMIT
        kernel = cast(TreeKernel, self._module)
        kernel.search(control, arrays, depth, self.options.exploration, np.uint64(seed))

    def _keep(self, root: int) -> int:
        """Keeps the subtree of a node and removes all others."""
        arrays, control = self.memory.arrays, self.memory.control
        count = tree.keep(arrays.rows, arrays.scores, arrays.links, self.memory.moved, control[NUM_NODES], root)
        control[NUM_NODES] = count
        return int(count)

    def _found(self, began: int) -> Result:
        arrays, control = self.memory.arrays, self.memory.control
        line, node = [arrays.rows[0].copy()], 0
        while (node := self._best_child(node)) != tree.NONE:
            line.append(arrays.rows[node].copy())
        first, count = arrays.links[0, FIRST], arrays.links[0, CHILDREN]
        visits = arrays.scores[first : first + count, VISITS].astype(np.int64)
        exact = bool(arrays.links[0, SOLVED])
        return Result(
            value=arrays.scores[0, VALUES:].copy() if exact or arrays.scores[0, VISITS] else self.evaluate(line[0]),
            line=line,
            depth=turns_of(self.facet, line),
            nodes=int(control[control_block.NODES]),
            milliseconds=(time.monotonic_ns() - began) / 1e6,
            bytes=self.num_bytes,
            exact=exact,
            overflows=int(control[control_block.OVERFLOWS]),
            evaluation=self.evaluator.name,
            facet=self.facet,
            visits=visits,
        )

    def _best_child(self, node: int) -> int:
        """The most visited child of a decision; one of proven value if none is better on average."""
        arrays = self.memory.arrays
        first, count, who = (int(arrays.links[node, column]) for column in (FIRST, CHILDREN, WHO))
        if who < 0 or count == 0 or (node > 0 and not arrays.scores[node, VISITS]):
            return tree.NONE
        scores, certain = arrays.scores[first : first + count], arrays.links[first : first + count, SOLVED] != 0
        visits = np.where(certain, -1.0, scores[:, VISITS])
        best = int(visits.argmax())
        if certain.any():
            sure = int(np.where(certain, scores[:, VALUES + who], -np.inf).argmax())
            if certain.all() or visits[best] == 0 or scores[sure, VALUES + who] >= scores[best, VALUES + who]:
                best = sure
        return first + best
