"""A searcher: a kernel made for one game, its memory, and iterative deepening under a budget."""

from __future__ import annotations

import itertools
import time
from typing import Any, NamedTuple

import numpy as np

from boardrl import host
from boardrl.errors import UserError
from boardrl.game import TERMINAL
from boardrl.host import Facet
from search import clock, identity_plain, identity_symmetric, kinds, memory
from search.budget import Budget
from search.evaluators import Evaluator, default
from search.table import AGES

MOST_DEPTH = 250  # that the table can tell apart
SALT = 0x0851F42D4C957F2D  # keeps the views of two seats apart in the table


class Result(NamedTuple):
    """What a search found."""

    value: np.ndarray  # [P] float64 to each player
    line: list[np.ndarray]  # rows of the best line, the position searched being the first
    depth: int  # turns looked ahead in all lines
    nodes: int  # positions visited, the root and leaves included
    milliseconds: float
    bytes: int  # of memory that the search held
    exact: bool  # no better search could change the value
    overflows: int  # positions left out for want of memory

    @property
    def nodes_per_second(self) -> float:
        return self.nodes / max(self.milliseconds, 1e-6) * 1e3


class Again(NamedTuple):
    value: np.ndarray  # [P] float64 to each player
    line: list[np.ndarray]


class Searcher:
    """Searches positions of one game; what it learned of one move helps with the next, until `reset`."""

    def __init__(
        self,
        game: Any,
        kind: str,
        options: Any = None,
        *,
        budget: Budget,
        evaluator: Evaluator | None = None,
        facet: Facet | None = None,
    ) -> None:
        self.game, self.budget = game, budget
        self.depth = 0  # that is searched to just now
        self.nodes_to: dict[int, int] = {}  # by depth, all nodes of the last search until it was reached
        self.kind = kinds.find(kind)
        self.options = self.kind.options() if options is None else options
        self.kind.refuse(self.kind.name, game)
        self.facet = host.of(game) if facet is None else facet
        self.evaluator = default(self.facet) if evaluator is None else evaluator
        self.memory = memory.allocate(
            self.facet,
            self.evaluator,
            kilobytes=budget.kilobytes,
            depth=budget.depth,
            score_columns=self.kind.score_columns(game),
            use_table=getattr(self.options, "table", False),
            searcher=self.kind.name,
        )
        flags = self.kind.flags(self.options)
        self.memory.control[clock.OPTIONS : clock.OPTIONS + len(flags)] = flags
        parts = {"search.evaluator": self.evaluator.module, "search.identity": self._choose_identity()}
        spec = game.spec
        bounds: dict[str, Any] = {"LEAST": float(spec.min_return), "MOST": float(spec.max_return)}
        bounds = {name: value for name, value in bounds.items() if hasattr(self.kind.kernel, name)}
        self._kernel = host.specialise(self.kind.kernel, self.facet, parts=parts, **bounds)
        self._warm_up()

    def _warm_up(self) -> None:
        """Compiles everything, or finds it on disk, so that no search pays for it out of its time."""
        row = self.memory.rows[0]
        self.facet.init(row)
        clock.start(self.memory.control, 1, 0)
        self._kernel.search(self.memory.control, 1, -np.inf, np.inf)
        if self.facet.actor(row, self.memory.work) >= 0:
            self.facet.successors(row, self.memory.rows[1:], self.memory.work)
        self.evaluate(row)
        self.reset()

    def evaluate(self, row: np.ndarray) -> np.ndarray:
        """[P] what the evaluator says of a position."""
        values, memory = np.zeros(self.game.spec.num_players), self.memory
        memory.rows[0] = row
        self.evaluator.module.evaluate_all(memory.rows, 0, values, memory.weights, memory.scratch, memory.work)
        self.evaluator.check()
        return values

    def reset(self) -> None:
        """Forgets all positions."""
        memory.clear(self.memory)

    @property
    def num_bytes(self) -> int:
        """Of memory that it holds, parameters included."""
        return self.memory.num_bytes + self.evaluator.held_bytes

    def stop(self) -> None:
        """Ends a search that another thread is at, soon."""
        self.memory.control[clock.NODE_LIMIT] = 1

    def search(self, state: Any, *, ms: float | None = None) -> Result:
        """The value of a position and the best line; `ms` replaces the budget's."""
        return self.search_row(self.facet.row(state), ms=ms)

    def search_row(self, row: np.ndarray, *, ms: float | None = None) -> Result:
        began = time.monotonic_ns()
        ms = self.budget.ms if ms is None else ms
        control, spec = self.memory.control, self.game.spec
        self.memory.rows[0] = row
        who = int(self.facet.actor(row, self.memory.work))
        if who == TERMINAL:
            raise UserError("the game is over in this position; give one in which somebody is to move")
        view = max(who, 0)
        self._start(began, ms)
        control[clock.VIEW] = view
        control[clock.SALT] = view * SALT
        control[clock.AGE] = (control[clock.AGE] + 1) % AGES
        depth_limit = min(self.budget.depth or MOST_DEPTH, MOST_DEPTH, spec.max_steps)
        found: Result | None = None
        self.nodes_to = {}
        for depth in range(1 if self.options.deepening else depth_limit, depth_limit + 1):
            value = self._search_to(depth, None if found is None else float(found.value[view]))
            if control[clock.CHANCE_MET]:
                raise kinds.dice_met(self.kind.name, self.game)
            if control[clock.STOPPED]:
                break
            exact = control[clock.CUTS] == 0
            self.nodes_to[depth] = int(control[clock.NODES])
            found = self._result(value, view, self._line(), depth, exact, began)
            if exact:
                break
        if found is None:
            return self._first_move(row, view, began)
        return found._replace(nodes=int(control[clock.NODES]), milliseconds=(time.monotonic_ns() - began) / 1e6)

    def again(self, row: np.ndarray, depth: int) -> Again:
        """What a position is worth in the view of the last search, and the best line from there."""
        self.memory.rows[0] = row
        self._start(time.monotonic_ns(), 0.0)
        view, who = int(self.memory.control[clock.VIEW]), int(self.facet.actor(row, self.memory.work))
        value = self.kind.to_view(self._search_to(depth, None), view, who)
        return Again(self.kind.vector(value, self.memory.scores, view, self.game), self._line())

    def complete(self, result: Result) -> Result:
        """The result with its line followed on, where the table had cut it short, as far as it was searched."""
        line = list(result.line)
        while (left := result.depth - self._turns(line)) > 0 and self.facet.actor(line[-1], self.memory.work) >= 0:
            # The table holds what was found below, so that this costs little.
            self.memory.rows[0] = line[-1]
            self._start(time.monotonic_ns(), self.budget.ms)
            self._search_to(left, None)
            if self.memory.control[clock.STOPPED]:
                break
            line += self._line()[1:]
        return result._replace(line=line)

    def _turns(self, line: list[np.ndarray]) -> int:
        """How much of the depth a line takes."""
        actors = [int(self.facet.actor(row, self.memory.work)) for row in line]
        return sum(a != b for a, b in itertools.pairwise(actors))

    def _start(self, began: int, ms: float) -> None:
        clock.start(self.memory.control, self.budget.nodes, began + int(ms * 1e6) if ms else 0)

    def _search_to(self, depth: int, expected: float | None) -> float:
        """The value to that depth, first within a window about what is expected."""
        control, width = self.memory.control, getattr(self.options, "aspiration", 0.0)
        self.depth = depth
        low, high = -np.inf, np.inf
        if width and expected is not None:
            low, high = expected - width, expected + width
        while True:
            control[clock.CUTS] = 0
            value = float(self._kernel.search(control, depth, low, high))
            self.evaluator.check()
            if control[clock.STOPPED] or low < value < high or (low, high) == (-np.inf, np.inf):
                return value
            low, high = (-np.inf, high) if value <= low else (low, np.inf)

    def _result(self, value: Any, view: int, line: list[np.ndarray], depth: int, exact: bool, began: int) -> Result:
        control = self.memory.control
        spent = (time.monotonic_ns() - began) / 1e6
        return Result(
            self.kind.vector(value, self.memory.scores, view, self.game),
            line,
            depth,
            int(control[clock.NODES]),
            spent,
            self.num_bytes,
            bool(exact),
            int(control[clock.OVERFLOWS]),
        )

    def _line(self) -> list[np.ndarray]:
        """The rows of the best line just found."""
        rows, pv, work = self.memory.rows, self.memory.pv, self.memory.work
        line = [rows[0].copy()]
        for number in pv[0, 1 : 1 + pv[0, 0]]:
            self.facet.successors(line[-1], rows[1:], work)
            line.append(rows[1 + number].copy())
        return line

    def _first_move(self, row: np.ndarray, view: int, began: int) -> Result:
        """What there is when not even one turn could be looked ahead: any move, valued as the position stands."""
        line = [row.copy()]
        if self.facet.actor(row, self.memory.work) >= 0:
            self.facet.successors(row, self.memory.rows[1:], self.memory.work)
            line.append(self.memory.rows[1].copy())
        result = self._result(0.0, view, line, 0, False, began)
        return result._replace(value=self.evaluate(row))

    def _choose_identity(self) -> Any:
        if not getattr(self.options, "symmetry", False):
            return host.specialise(identity_plain, self.facet)
        if self.facet.module.NUM_SYMMETRIES < 2:
            raise UserError(f"{self.game.spec.name} offers no symmetries; leave out symmetry=true")
        if not self.evaluator.symmetric:
            raise UserError("a net values mirror images differently; leave out symmetry=true or weigh features")
        return host.specialise(identity_symmetric, self.facet)
