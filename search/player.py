"""Searchers as players: `negascout(ms=50,kilobytes=1024)`, `alphabeta(depth=5)`, `expectimax(depth=2)`."""

from __future__ import annotations

import dataclasses
import functools
import pathlib
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from boardrl import options, registry
from boardrl.game import CHANCE, Game
from boardrl.play.players import Learned, Makers, Player
from boardrl.runs.learned import load_run
from search import evaluation, random_step, searchers
from search.analysis import turns
from search.budget import Budget, GameClock
from search.declaration import Declaration
from search.evaluation import Evaluation
from search.searcher import Searcher

DEFAULT_MS = 100.0  # for a player who is given no limit
FORGET = 0.9  # decay of the expected overhead from move to move


class SearchPlayer:
    """A host player (boardrl.play.players) that searches at every turn.

    Its time limit is that of the whole move: the overhead of a move is subtracted from the time of the next search.
    """

    def __init__(self, searcher: Searcher) -> None:
        self.searcher = searcher
        self._overhead_ms = 0.0
        self._warm_up()
        self.reset()

    def reset(self) -> None:
        self.searcher.reset()
        budget, spec = self.searcher.budget, self.searcher.game.spec
        self._clock = GameClock(budget.game_ms, -(-spec.max_steps // spec.num_players)) if budget.game_ms else None
        self._plan: list[tuple[np.ndarray, int]] = []  # the rest of the turn: actions, and the row in which each is due

    def choose(self, game: Game[Any], state: Any, rng: np.random.Generator) -> int:
        began = time.monotonic()
        row = self.searcher.facet.row(state)
        searched_ms = 0.0
        known = self._plan and (self._plan[0][0] == row).all()
        if not known and len(legal := self.searcher.facet.actions(row)) == 1:
            self._plan = [(row, int(legal[0]))]  # there is nothing to decide
        elif not known:
            seed = int(rng.integers(1 << 63)) if self.searcher.declaration.samples else 0
            result = self.searcher.search_row(row, ms=self._milliseconds(), seed=seed)
            searched_ms = result.milliseconds
            # The rest of a turn is played as it was searched; of a tree it has few visits, and is searched again.
            planned = result.line[:2] if self.searcher.declaration.samples else result.line
            self._plan = self._follow(turns.turns(self.searcher.facet, planned)[0])
        _, action = self._plan.pop(0)
        spent_ms = (time.monotonic() - began) * 1e3
        if searched_ms:
            self._overhead_ms = max(spent_ms - searched_ms, FORGET * self._overhead_ms)
        if self._clock:
            self._clock.spend(spent_ms, move=not self._plan)
        return action

    def stop(self) -> None:
        """Makes a search in another thread end soon."""
        self.searcher.stop()

    def _milliseconds(self) -> float | None:
        """Time for the next search: the budget's limit or the game clock's share, minus the overhead."""
        limits = [self._clock.share()] if self._clock else []
        limits += [self.searcher.budget.ms] if self.searcher.budget.ms else []
        if not limits:
            return None
        return max(min(limits) - self._overhead_ms, min(limits) / 2, 1e-3)  # 0 would be no limit

    def _warm_up(self) -> None:
        """Compiles what a move needs in addition to the search."""
        facet, work = self.searcher.facet, self.searcher.memory.work
        row, rng = facet.rows(), np.random.default_rng(0)
        facet.init(row)
        while facet.actor(row, work) == CHANCE:  # at random: one face alone may never let anybody move
            row = random_step.step(facet, row, rng)
        if facet.actor(row, work) >= 0:
            self._follow(turns.turns(facet, self.searcher.search_row(row, ms=1.0).line[:2])[0])

    def _follow(self, turn: turns.Turn) -> list[tuple[np.ndarray, int]]:
        facet, row, plan = self.searcher.facet, turn.row, []
        work = facet.work()
        for action in turn.actions:
            plan.append((row, action))
            row, before = facet.rows(), row
            facet.step(before, action, row, work)
        return plan


def make(text: str, game: Any, *, load: evaluation.Load) -> Player | None:
    """A maker (boardrl.play.players.Makers): the player of a text, if it names a searcher.

    Args:
      load: loads what was learned in a run directory, for the option `net`.
    """
    name, rest = options.split_call(text)
    if name not in MAKERS:
        return None
    request = read_options(name, rest, f"player {name!r}")
    budget = request.budget if request.limited else dataclasses.replace(request.budget, ms=DEFAULT_MS)
    searchers.refuse(name, game)
    others: list[str] = []  # other games that the net was trained on

    def noted(path: pathlib.Path) -> Learned:
        found = load(path)
        others.extend([registry.describe(found.game)] if found.game != game else [])
        return found

    net = request.evaluation.net
    evaluator = evaluation.choose(game, request.evaluation, request.declaration, budget, load=noted)
    if net and not others and pathlib.Path(net).is_file():
        from boardrl.values import net_file

        trained_on = net_file.trained_on(pathlib.Path(net))
        others += [trained_on] if trained_on != registry.describe(game) else []
    searcher = searchers.make(game, name, request.options, budget=budget, evaluator=evaluator)
    return Player(text, host=SearchPlayer(searcher), trained_on=", ".join(others))


class Request(NamedTuple):
    """What a text such as `depth=2,net=runs/<run>` asks of a searcher."""

    declaration: Declaration
    budget: Budget
    options: Any  # of the type that the searcher declares
    evaluation: Evaluation

    @property
    def limited(self) -> bool:
        """Whether the budget ends a search: by depth too, unless the searcher samples."""
        return self.budget.timed if self.declaration.samples else self.budget.limited


def read_options(name: str, text: str, title: str) -> Request:
    """The options of a searcher that a text gives, separated by commas; the title names it in messages."""
    declaration = searchers.find(name)
    sections = (Budget, declaration.options, Evaluation)
    known = [option for section in sections for option in options.of_dataclass(section)]
    given = options.parse(text, known, title)
    return Request(declaration, *(_fill(section, given) for section in sections))


def _fill(section: type, given: Mapping[str, Any]) -> Any:
    """A dataclass of those options that are its fields."""
    return section(**{field.name: given[field.name] for field in dataclasses.fields(section) if field.name in given})


# Registered in the entry point group `boardrl.players`: all registered searchers, other packages' too.
MAKERS: Makers = dict.fromkeys(searchers.names(), functools.partial(make, load=load_run))
