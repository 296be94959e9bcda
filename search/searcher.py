"""A searcher: a kernel compiled for one game, its memory, and iterative deepening under a budget."""

from __future__ import annotations

import functools
import itertools
import time
import types
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from boardrl import host
from boardrl.errors import UserError
from boardrl.game import CHANCE, TERMINAL
from boardrl.host import Facet
from boardrl.system import machine
from search import searchers
from search.budget import Budget
from search.declaration import SearchKernel
from search.evaluators import Evaluator, default
from search.kernel import control_block, memory, plain_key, symmetric_key
from search.kernel.transposition_table import AGES
from search.result import Result, RootMove

MOST_DEPTH = 250  # that fits an entry of the transposition table
EVALUATOR_SLOTS, KEY_SLOTS = "search.evaluators.slots", "search.kernel.key_slots"
SALT = 0x0851F42D4C957F2D  # keeps the views of two seats apart in the table


class ValuedLine(NamedTuple):
    """The value of a position and the best line from there."""

    value: np.ndarray  # [P] float64 to each player
    line: list[np.ndarray]


class Searcher:
    """Searches positions of one game; the transposition table is kept from move to move, until `reset`."""

    def __init__(
        self,
        game: Any,
        name: str,
        options: Any = None,
        *,
        budget: Budget,
        evaluator: Evaluator | None = None,
    ) -> None:
        self.game, self.budget = game, budget
        self.depth = 0  # of the current iteration
        self.spare = 0  # the row in which a single position is evaluated
        self.nodes_to: dict[int, int] = {}  # by depth, the nodes of the last search until it was finished
        self.declaration = searchers.find(name)
        self.options = self.declaration.options() if options is None else options
        searchers.refuse(name, game)
        size = f"{name} with kilobytes={budget.kilobytes}"
        machine.require(1024 * budget.kilobytes, size, "give fewer kilobytes")
        self.facet = host.of(game)
        self.evaluator = self._default_evaluator() if evaluator is None else evaluator
        self.memory = self._allocate()
        self._module = self._specialise()
        self._warm_up()

    def _default_evaluator(self) -> Evaluator:
        """The game's own evaluator or playouts; none for a search to the end, where playouts would only cost time."""
        return default(self.facet, games=self.declaration.playouts, limited=self.budget.limited)

    def _allocate(self) -> Any:
        """All memory of its searches."""
        allocated = memory.allocate(
            self.facet,
            self.evaluator,
            kilobytes=self.budget.kilobytes,
            depth=self.budget.depth,
            score_columns=self.declaration.score_columns(self.game.spec),
            use_table=getattr(self.options, "table", False),
            searcher=self.declaration.name,
        )
        flags = self.declaration.flags(self.options)
        allocated.control[control_block.OPTIONS : control_block.OPTIONS + len(flags)] = flags
        return allocated

    def _specialise(self) -> types.ModuleType:
        """The kernel compiled for this game and evaluator."""
        kernel, spec = self.declaration.module, self.game.spec
        slots = {EVALUATOR_SLOTS: self.evaluator.module, **self.declaration.fillings()}
        if KEY_SLOTS in host.slots_of(kernel):
            slots[KEY_SLOTS] = self._choose_key()
        return host.specialise(kernel, self.facet, slots=slots, **self.declaration.constants(spec))

    @property
    def _kernel(self) -> SearchKernel:
        return cast(SearchKernel, self._module)

    def _warm_up(self) -> None:
        """Compiles everything, or loads it from disk, so that no search spends its time on that."""
        row = self.memory.rows[0]
        self.facet.init(row)
        control_block.start(self.memory.control, 1, 0)
        with memory.without_table(self.memory):  # its pages are not in use yet; to clear them took longer than the rest
            self._kernel.search(self.memory.control, 1, -np.inf, np.inf)
        if self.facet.actor(row, self.memory.work) >= 0:
            self.facet.successors(row, self.memory.rows[1:], self.memory.work)
        self.evaluate(row)
        memory.clear(self.memory, table=False)

    def evaluate(self, row: np.ndarray) -> np.ndarray:
        """[P] the evaluator's values of a position."""
        values, memory = np.zeros(self.game.spec.num_players), self.memory
        memory.rows[self.spare] = row
        at, weights, scratch = self.spare, memory.weights, memory.scratch
        self.evaluator.module.evaluate_all(memory.rows, at, values, weights, scratch, memory.work)
        self.evaluator.check()
        return values

    def reset(self) -> None:
        """Clears the transposition table and the move ordering."""
        memory.clear(self.memory)

    @functools.cached_property
    def num_bytes(self) -> int:
        """Bytes of memory that it holds, parameters included."""
        return self.memory.num_bytes + self.evaluator.held_bytes

    def stop(self) -> None:
        """Makes a search in another thread end soon."""
        self.memory.control[control_block.NODE_LIMIT] = 1

    @property
    def depth_limit(self) -> int:
        """Turns that a search looks ahead at most."""
        return min(self.budget.depth or MOST_DEPTH, MOST_DEPTH, self.game.spec.max_steps)

    @property
    def stopped(self) -> bool:
        """Whether the last search has reached a limit of its budget."""
        return bool(self.memory.control[control_block.STOPPED])

    def search(self, state: Any, *, ms: float | None = None, seed: int = 0) -> Result:
        """The value of a position and the best line.

        Args:
          ms: replaces the time limit of the budget.
          seed: for searchers that sample; the others are deterministic.
        """
        return self.search_row(self.facet.row(state), ms=ms, seed=seed)

    def search_row(self, row: np.ndarray, *, ms: float | None = None, seed: int = 0) -> Result:
        began = time.monotonic_ns()
        found: Result | None = None
        for found in self.deepen(row, ms=ms, lines=False):  # noqa: B007, as only the last counts
            moves = self._best_moves()  # an unfinished depth after it would replace them
        if found is None:
            return self.first_move(row, began)
        found = found._replace(line=self._line(row, moves))
        return self.total(found, began) if self.stopped else found

    def deepen(self, row: np.ndarray, *, ms: float | None = None, lines: bool = True) -> Iterator[Result]:
        """Iterative deepening: the results at depth 1, 2, … until the budget is used up or the value is exact.

        Between two results the caller may search other positions, which counts towards the budget. Without `lines` the
        results have none, which saves a third of what is not search where searches are short.
        """
        began = time.monotonic_ns()
        ms = self.budget.ms if ms is None else ms
        control = self.memory.control
        who = int(self.facet.actor(row, self.memory.work))
        if who == TERMINAL:
            raise UserError("the game is over in this position; give one in which somebody is to move")
        if who == CHANCE and not self.declaration.dice:
            raise searchers.dice_met(self.declaration.name, self.game)
        view = max(who, 0)
        self._start(began, ms)
        control[control_block.VIEW] = view
        control[control_block.SALT] = view * SALT
        control[control_block.AGE] = (control[control_block.AGE] + 1) % AGES
        found: Result | None = None
        complete = 0  # the last depth without overflows
        self.nodes_to = {}
        for depth in range(1 if self.options.deepening else self.depth_limit, self.depth_limit + 1):
            self.memory.rows[0] = row
            overflows = control[control_block.OVERFLOWS]
            value = self._search_to(depth, None if found is None else float(found.value[view]))
            if control[control_block.CHANCE_MET]:
                raise searchers.dice_met(self.declaration.name, self.game)
            if control[control_block.STOPPED]:
                return
            exact = control[control_block.CUTS] == 0
            self.nodes_to[depth] = int(control[control_block.NODES])
            complete = depth if control[control_block.OVERFLOWS] == overflows else complete
            line = self._line(row, self._best_moves()) if lines else []
            found = self._result(value, view, line, complete, exact, began)
            yield found
            if exact:
                return

    def total(self, found: Result, began: int) -> Result:
        """The result with all nodes and all time since `began`, in ns, unfinished work included."""
        spent = (time.monotonic_ns() - began) / 1e6
        return found._replace(nodes=int(self.memory.control[control_block.NODES]), milliseconds=spent)

    def again(self, row: np.ndarray, depth: int) -> ValuedLine:
        """The value of a position to the seat of the last search, and the best line from there."""
        self._start(time.monotonic_ns(), 0.0)
        return self.search_within(row, depth)

    def search_within(self, row: np.ndarray, depth: int) -> ValuedLine:
        """The same within the budget of a search in progress (`deepen`); not valid once it is `stopped`."""
        self.memory.rows[0] = row
        view, who = int(self.memory.control[control_block.VIEW]), int(self.facet.actor(row, self.memory.work))
        value = self.declaration.to_searching_seat(self._search_to(depth, None), view, who)
        line = self._line(row, self._best_moves())
        return ValuedLine(self.declaration.vector(value, self.memory.scores, view, self.game.spec), line)

    def root_moves(self) -> list[RootMove]:
        """The successors of the position searched last, in their order, where the search has valued each of them."""
        return []

    def complete(self, result: Result) -> Result:
        """The result with its line completed to the depth of the search, where the table had cut it short."""
        line, facet, work = list(result.line), self.facet, self.memory.work
        while (left := result.depth - turns_of(facet, line)) > 0 and facet.actor(line[-1], work) >= 0:
            # The table holds what was found below, so that this costs little.
            self.memory.rows[0] = line[-1]
            self._start(time.monotonic_ns(), self.budget.ms)
            self._search_to(left, None)
            if self.memory.control[control_block.STOPPED]:
                break
            line += self._line(line[-1], self._best_moves())[1:]
        return result._replace(line=line)

    def _start(self, began: int, ms: float) -> None:
        control_block.start(self.memory.control, self.budget.nodes, began + int(ms * 1e6) if ms else 0)

    def _search_to(self, depth: int, expected: float | None) -> float:
        """The value to that depth, first within an aspiration window around the expected value."""
        control, width = self.memory.control, getattr(self.options, "aspiration", 0.0)
        self.depth = depth
        low, high = -np.inf, np.inf
        if width and expected is not None:
            low, high = expected - width, expected + width
        while True:
            control[control_block.CUTS] = 0
            value = float(self._kernel.search(control, depth, low, high))
            self.evaluator.check()
            if control[control_block.STOPPED] or low < value < high or (low, high) == (-np.inf, np.inf):
                return value
            low, high = (-np.inf, high) if value <= low else (low, np.inf)

    def _result(self, value: Any, view: int, line: list[np.ndarray], depth: int, exact: bool, began: int) -> Result:
        control = self.memory.control
        spent = (time.monotonic_ns() - began) / 1e6
        return Result(
            self.declaration.vector(value, self.memory.scores, view, self.game.spec),
            line,
            depth,
            int(control[control_block.NODES]),
            spent,
            self.num_bytes,
            bool(exact),
            int(control[control_block.OVERFLOWS]),
            self.evaluator.name,
            self.facet,
        )

    def _best_moves(self) -> list[int]:
        """The best line just found, as the places of its positions among their predecessors' successors."""
        best = self.memory.pv[0]
        moves: list[int] = best[1 : 1 + best[0]].tolist()
        return moves

    def _line(self, row: np.ndarray, moves: Sequence[int]) -> list[np.ndarray]:
        """The rows of a line."""
        rows, work = self.memory.rows, self.memory.work
        line = [row.copy()]
        for number in moves:
            self.facet.successors(line[-1], rows[1:], work)
            line.append(rows[1 + number].copy())
        return line

    def first_move(self, row: np.ndarray, began: int) -> Result:
        """The result of a search that could not finish depth 1: the first move, and the evaluation of the position."""
        line, view = [row.copy()], int(self.memory.control[control_block.VIEW])
        if self.facet.actor(row, self.memory.work) >= 0:
            self.facet.successors(row, self.memory.rows[1:], self.memory.work)
            line.append(self.memory.rows[1].copy())
        result = self._result(0.0, view, line, 0, False, began)
        return result._replace(value=self.evaluate(row))

    def _choose_key(self) -> types.ModuleType:
        """What fills the slots of the position key."""
        if not getattr(self.options, "symmetry", False):
            return host.specialise(plain_key, self.facet)
        if self.facet.module.NUM_SYMMETRIES < 2:
            raise UserError(f"{self.game.spec.name} offers no symmetries; leave out symmetry=true")
        if not self.evaluator.symmetric:
            raise UserError("a net values mirror images differently; leave out symmetry=true or weigh features")
        return host.specialise(symmetric_key, self.facet)


def turns_of(facet: Facet, line: Sequence[np.ndarray]) -> int:
    """The number of turns in a line: how much of the depth it takes."""
    work = facet.work()
    actors = [int(facet.actor(row, work)) for row in line]
    return sum(a != b for a, b in itertools.pairwise(actors))
