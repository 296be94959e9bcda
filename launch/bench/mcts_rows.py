"""Rows of suite `search`: our Monte Carlo tree search compared with OpenSpiel's, which is written in C++.

Both run UCT with one random playout per simulation, and prove wins and losses where possible. Rates are simulations per
second from the initial position; for strength both have the same wall-clock time per move and swap seats. OpenSpiel's
exploration constant is 2 as in its examples, ours is our default.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from boardrl import host, registry
from boardrl.game import TERMINAL
from launch.bench.row import Row, missing, processor_seconds
from search import evaluators, searchers
from search.budget import Budget
from search.searcher import Searcher

GAMES = ("tic_tac_toe", "connect_four")
SIMULATIONS = 5000  # per search
MATCH_MS = 20.0  # per move
MATCH_GAMES = 20  # per round, an even number
UCT_C = 2.0
MEGABYTES = 64
NO_LIMIT = 1 << 30  # simulations


def rows() -> Sequence[Row]:
    result = []
    for name in GAMES:
        work = f"{name}, MCTS with random playouts"
        result.append(Row(work, "playouts/s", our_rate(name), "OpenSpiel (C++)", open_spiel_rate(name)))
        work = f"{name}, MCTS, {MATCH_MS:.0f} ms a move, {MATCH_GAMES} games: points"
        match = Match(name)
        result.append(Row(work, "of 100", match.ours, "OpenSpiel (C++)", match.theirs))
    return result


def our_searcher(name: str, budget: Budget) -> Searcher:
    game = registry.make(name)
    facet = host.of(game)
    return searchers.make(game, "mcts", budget=budget, evaluator=evaluators.playouts(facet, games=1))


def our_rate(name: str) -> Callable[[], float]:
    searcher = our_searcher(name, Budget(nodes=SIMULATIONS))
    state = searcher.game.init()

    def run() -> float:
        searcher.reset()
        return SIMULATIONS / processor_seconds(functools.partial(searcher.search, state))

    return run


def open_spiel_bot(name: str, *, simulations: int = NO_LIMIT, seconds: float = -1.0, seed: int = 0) -> Any:
    try:
        import pyspiel
    except ImportError:
        raise missing("open_spiel") from None
    evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
    return pyspiel.MCTSBot(
        pyspiel.load_game(name),
        evaluator,
        UCT_C,
        simulations,
        MEGABYTES,
        solve=True,
        seed=seed,
        verbose=False,
        max_wall_clock_time=seconds,
    )


def open_spiel_rate(name: str) -> Callable[[], float]:
    bot = open_spiel_bot(name, simulations=SIMULATIONS)
    import pyspiel

    state = pyspiel.load_game(name).new_initial_state()

    def run() -> float:
        return SIMULATIONS / processor_seconds(lambda: bot.mcts_search(state))

    return run


class Match:
    """Ours against OpenSpiel's with equal time per move; both number the game's actions in the same way."""

    def __init__(self, name: str) -> None:
        self.name, self.round = name, 0
        self.searcher = our_searcher(name, Budget(ms=MATCH_MS))
        self._ours = 0.0

    def ours(self) -> float:
        """Plays a new round and returns our points, a draw being half a point."""
        scores = [self._play(seat=number % 2, seed=MATCH_GAMES * self.round + number) for number in range(MATCH_GAMES)]
        self.round += 1
        self._ours = 100 * float(np.mean(scores))
        return max(self._ours, 1e-9)

    def theirs(self) -> float:
        """The peer's points in the round just played."""
        return max(100 - self._ours, 1e-9)

    def _play(self, seat: int, seed: int) -> float:
        import pyspiel

        bot = open_spiel_bot(self.name, seconds=MATCH_MS / 1e3, seed=seed)
        theirs = pyspiel.load_game(self.name).new_initial_state()
        facet, work, rng = self.searcher.facet, self.searcher.facet.work(), np.random.default_rng(seed)
        row, after = facet.rows(), facet.rows()
        facet.init(row)
        self.searcher.reset()
        while (who := int(facet.actor(row, work))) != TERMINAL:
            if who == seat:
                result = self.searcher.search_row(row, seed=int(rng.integers(1 << 62)))
                action = facet.action(row, result.line[1])
            else:
                action = bot.step(theirs)
            theirs.apply_action(action)
            facet.step(row, action, after, work)
            row, after = after, row
        returns = np.zeros(2, np.float32)
        facet.returns(row, returns, work)
        assert theirs.is_terminal()
        assert theirs.returns()[seat] == returns[seat]
        return float(returns[seat] + 1) / 2
