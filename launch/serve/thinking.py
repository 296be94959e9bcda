"""What a player thinks of a position: its best moves with values and lines, at depth 1, 2, … while somebody looks."""

from __future__ import annotations

import dataclasses
import itertools
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from boardrl import options
from boardrl.errors import UserError
from boardrl.game import CHANCE, TERMINAL, Game
from boardrl.host import Facet
from boardrl.matches import luck
from boardrl.play import players
from launch.console import human
from launch.serve.permitted import Permitted
from search import evaluators, searchers
from search.analysis import multi_pv, turns
from search.analysis.multi_pv import Move
from search.budget import Budget
from search.player import SearchPlayer
from search.result import Result
from search.searcher import Searcher

MULTI = 5  # moves that are told
MOST_MS = 60_000.0  # that one position is thought about
SLICE_MS = 400.0  # between two answers of a searcher by simulations
KILOBYTES = 65536
AGAIN_SECONDS = 0.05  # between two requests to stop


class Analysis:
    """One position under thought; `run` works on a thread of its own, `stop` ends it from another."""

    def __init__(self, permitted: Permitted, game: Game[Any], text: str, state: Any) -> None:
        self._permitted, self._game, self._text, self._state = permitted, game, text, state
        self._searcher: Searcher | None = None
        self._stopped, self._done = threading.Event(), threading.Event()

    def run(self) -> Iterator[dict[str, Any]]:
        """What is known after every depth."""
        try:
            self._searcher = searcher = make(self._permitted, self._game, self._text)
            row = searcher.facet.row(self._state)
            who = int(searcher.facet.actor(row, searcher.memory.work))
            if who == TERMINAL or self._stopped.is_set():
                return
            if who == CHANCE:  # no moves, but a value
                for found in searcher.deepen(row) if not searcher.declaration.samples else [searcher.search_row(row)]:
                    if self._stopped.is_set():
                        return
                    yield content(searcher, found, [])
                return
            for ranked in multi_pv.rankings(searcher, self._state, MULTI, slice_ms=SLICE_MS):
                if self._stopped.is_set():
                    return
                yield content(searcher, ranked.result, ranked.moves)
        finally:
            self._done.set()

    def stop(self) -> None:
        """Ends the search soon; a search begins anew at every depth, so that one request may come too early."""
        self._stopped.set()

        def insist() -> None:
            while not self._done.wait(AGAIN_SECONDS):
                if self._searcher is not None:
                    self._searcher.stop()

        if not self._done.is_set():
            threading.Thread(target=insist, daemon=True).start()


def make(permitted: Permitted, game: Game[Any], text: str) -> Searcher:
    """A searcher that thinks like a player: a searcher with its own evaluation, or one with a run's value net."""
    player = players.make(permitted.player_text(text, game), game)
    if isinstance(player.host, SearchPlayer):
        old = player.host.searcher
        # Its depth is a limit that the user gave, its time one for a move.
        kilobytes = min(old.budget.kilobytes, KILOBYTES)
        budget = Budget(ms=MOST_MS, depth=old.budget.depth, kilobytes=kilobytes)
        chosen = dataclasses.replace(old.options, deepening=True) if hasattr(old.options, "deepening") else old.options
        return searchers.make(game, old.declaration.name, chosen, budget=budget, evaluator=old.evaluator)
    control = luck.of_player(player)
    if control is None:
        raise UserError(f"player {text!r} has no values of positions; choose a searcher, or a run that learned values")
    evaluator = evaluators.learned(game, control.value, control.params)
    return searchers.make(
        game, searchers.by_depth(game), budget=Budget(ms=MOST_MS, kilobytes=KILOBYTES), evaluator=evaluator
    )


def default(game: Game[Any]) -> str:
    """A searcher that fits the game, as written by its name."""
    return options.split_call(human.default_hinter(game))[0]


def content(searcher: Searcher, result: Result, moves: list[Move]) -> dict[str, Any]:
    """A result for the page."""
    return {
        "value": _numbers(result.value),
        "depth": result.depth,
        "nodes": result.nodes,
        "milliseconds": round(result.milliseconds),
        "exact": result.exact,
        "evaluation": result.evaluation,
        "searcher": searcher.declaration.name,
        "moves": [
            {
                "value": _numbers(move.value),
                "text": turns.text(searcher.facet, move.line),
                "actions": _actions(searcher.facet, move.line),
            }
            for move in moves
        ],
    }


def _actions(facet: Facet, line: list[np.ndarray]) -> list[int]:
    """The moves of a line, up to the first dice."""
    work, found = facet.work(), []
    for row, after in itertools.pairwise(line):
        if facet.actor(row, work) < 0:
            break
        found.append(int(facet.action(row, after)))
    return found


def _numbers(values: np.ndarray) -> list[float]:
    return [round(float(value), 4) for value in values]
