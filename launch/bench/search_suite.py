"""Suite `search`: positions per second and milliseconds per move, ours and those of OpenSpiel and easyAI.

A node is a visited position, including the root and the leaves, for all libraries: for the peers we count every state
that their search makes. Times are processor time of the searching thread, which other load on the machine hardly
affects. All searches of a row start from the same positions, with the same evaluation and depth.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from boardrl import host, registry
from boardrl.host import Facet
from launch.bench import mcts_rows
from launch.bench.row import Row, missing, processor_seconds
from search import evaluators, searchers
from search.budget import Budget
from search.searcher import Searcher

BOARDS = 12  # random positions of Jumper
FILLED = (6, 20)  # range of the number of random turns before them
SEED = 2013
LEAST_SECONDS = 0.05  # least time of a measurement of ours
PLAIN = {"deepening": False}


def rows(batch: int) -> Sequence[Row]:
    """All rows; searches run one at a time, whatever the batch."""
    return [
        *shared_games(),
        *mcts_rows.rows(),
        *jumper_rates(),
        *jumper_moves(),
        *against_hand_written(),
        *other_games(),
    ]


# Games that all share


def shared_games() -> Sequence[Row]:
    """Plain alpha-beta to a fixed depth, without evaluation."""
    result = []
    for name, depth in (("tic_tac_toe", 9), ("connect_four", 7)):
        ours = node_rate(registry.make(name), "alphabeta", depth, PLAIN)
        work = f"{name}, alpha-beta to depth {depth}"
        result.append(Row(work, "nodes/s", ours, "OpenSpiel (Python)", open_spiel_rate(name, depth)))
        result.append(Row(work, "nodes/s", ours, "easyAI Negamax", easy_ai_rate(name, depth)))
    return result


def node_rate(game: Any, kind: str, depth: int, options: Any, *, facet: Facet | None = None) -> Callable[[], float]:
    """Nodes per second from the initial position, or from random boards of Jumper."""
    search = make(game, kind, depth, options, facet=facet)
    starts = jumper_boards(search.facet) if game.spec.name == "jumper" else first_rows(search.facet)

    def run() -> float:
        nodes, seconds = 0, 0.0
        while seconds < LEAST_SECONDS:
            for row in starts:
                began = time.thread_time()
                nodes += search.search_row(row).nodes
                seconds += time.thread_time() - began
        return nodes / seconds

    return run


def open_spiel_rate(name: str, depth: int) -> Callable[[], float]:
    """Nodes per second of OpenSpiel's alpha-beta in Python."""
    try:
        import pyspiel
        from open_spiel.python.algorithms import minimax
    except ImportError:
        raise missing("open_spiel") from None
    game = pyspiel.load_game(name)

    def search(state: Any) -> None:
        minimax.alpha_beta_search(game, state, lambda state: 0.0, depth, maximizing_player_id=0)

    counted = CountingState(game.new_initial_state())
    search(counted)

    def run() -> float:
        return counted.count[0] / processor_seconds(lambda: search(game.new_initial_state()))

    return run


class CountingState:
    """An OpenSpiel state that counts its copies, one per node; not used while timing."""

    def __init__(self, state: Any, count: list[int] | None = None) -> None:
        self._state = state
        self.count = [0] if count is None else count

    def clone(self) -> CountingState:
        self.count[0] += 1
        return CountingState(self._state.clone(), self.count)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._state, name)


def easy_ai_rate(name: str, depth: int) -> Callable[[], float]:
    """Nodes per second of easyAI's Negamax on a game written in the style of its examples."""
    try:
        from easyAI import AI_Player, Negamax

        from launch.bench import easy_ai
    except ImportError:
        raise missing("easyAI") from None

    def run() -> float:
        game = easy_ai.GAMES[name]([AI_Player(None), AI_Player(None)])
        negamax = Negamax(depth)
        seconds = processor_seconds(lambda: negamax(game))
        return (game.count[0] + 1) / seconds

    return run


def against_hand_written() -> Sequence[Row]:
    """The same searches with rules lowered from JAX and with hand-written ones, from the same positions."""
    result = []
    for size, kind, depth, options in (
        *((6, "negascout", depth, {}) for depth in (5, 6, 7)),
        *((8, "negascout", depth, {}) for depth in (5, 6)),
        *((size, "alphabeta", 5, PLAIN) for size in (6, 8)),
    ):
        game: Any = registry.make(f"jumper:size={size}")
        boards = 3 if depth > 5 else BOARDS
        rates = [searches(game, kind, depth, options, boards=boards, facet=f(game)) for f in (host.lowered, host.of)]
        result.append(
            Row(f"jumper {size}x{size} to depth {depth}, {kind}", "searches/s", rates[0], "by hand", rates[1])
        )
    return result


def other_games() -> Sequence[Row]:
    """Nodes per second of games that have only lowered rules."""
    result = []
    for name, depth in (("ataxx", 5), ("kalah", 8), ("jumper:size=12", 3)):
        game: Any = registry.make(name)
        rate = node_rate(game, "alphabeta", depth, PLAIN, facet=host.lowered(game))
        result.append(Row(f"{name}, alpha-beta to depth {depth}, lowered", "nodes/s", rate))
    return result


# Jumper


def jumper_rates() -> Sequence[Row]:
    """Nodes per second on 6x6 boards."""
    game: Any = registry.make("jumper:size=6")
    lowered = host.lowered(game)
    return [
        Row("jumper 6x6, alpha-beta to depth 5", "nodes/s", node_rate(game, "alphabeta", 5, PLAIN)),
        Row(
            "jumper 6x6, alpha-beta to depth 3, lowered rules",
            "nodes/s",
            node_rate(game, "alphabeta", 3, PLAIN, facet=lowered),
        ),
    ]


def jumper_moves() -> Sequence[Row]:
    """Searches per second on random 6x6 boards, as in figure 2 of Brunton and Cohney 2013, against plain alpha-beta."""
    game: Any = registry.make("jumper:size=6")
    plain = searches(game, "alphabeta", 5, PLAIN)
    deep = searches(game, "alphabeta", 7, PLAIN, boards=3)
    return [
        Row("jumper 6x6 to depth 4, minimax", "searches/s", searches(game, "minimax", 4, PLAIN, boards=3)),
        Row("jumper 6x6 to depth 5, alpha-beta, jumps first", "searches/s", plain),
        Row(
            "jumper 6x6 to depth 5, alpha-beta, places first",
            "searches/s",
            searches(game, "alphabeta", 5, {**PLAIN, "reverse": True}, boards=3),
        ),
        Row("jumper 6x6 to depth 5, Negascout", "searches/s", searches(game, "negascout", 5, {}), "alpha-beta", plain),
        Row(
            "jumper 6x6 to depth 7, Negascout",
            "searches/s",
            searches(game, "negascout", 7, {}, boards=3),
            "alpha-beta",
            deep,
        ),
        Row("jumper 6x6, a random move", "moves/s", random_moves(game)),
    ]


def searches(
    game: Any, kind: str, depth: int, options: Any, *, boards: int = BOARDS, facet: Facet | None = None
) -> Callable[[], float]:
    """Searches per second of random boards, each with an empty table."""
    search = make(game, kind, depth, options, facet=facet)
    starts = jumper_boards(search.facet)[:boards]

    def run() -> float:
        seconds = 0.0
        for row in starts:
            search.reset()
            seconds += processor_seconds(functools.partial(search.search_row, row))
        return len(starts) / seconds

    return run


def random_moves(game: Any) -> Callable[[], float]:
    """Moves per second of a player that chooses a random successor."""
    facet, rng = host.of(game), np.random.default_rng(SEED)
    starts, buffer, work = jumper_boards(facet), facet.rows(4096), facet.work()

    def run() -> float:
        seconds = processor_seconds(lambda: [rng.integers(facet.successors(row, buffer, work)) for row in starts])
        return len(starts) / seconds

    return run


def make(game: Any, kind: str, depth: int, options: Any, *, facet: Facet | None = None) -> Searcher:
    facet = host.of(game) if facet is None else facet
    chosen = searchers.find(kind).options(**options)
    evaluator = evaluators.default(facet, limited=False)
    return Searcher(game, kind, chosen, budget=Budget(depth=depth), evaluator=evaluator, facet=facet)


def first_rows(facet: Facet) -> list[np.ndarray]:
    row = facet.rows()
    facet.init(row)
    return [row]


def jumper_boards(facet: Facet, number: int = BOARDS, seed: int = SEED) -> list[np.ndarray]:
    """Boards after some random turns, the same for every facet."""
    game: Any = facet.game
    own = host.of(game)
    rng, buffer, work = np.random.default_rng(seed), own.rows(4096), own.work()
    boards: list[np.ndarray] = []
    while len(boards) < number:
        row = first_rows(own)[0]
        for _ in range(rng.integers(*FILLED)):
            if own.actor(row, work) >= 0:
                row = buffer[rng.integers(own.successors(row, buffer, work))].copy()
        if own.actor(row, work) >= 0:
            boards.append(facet.row(own.state(row)))
    return boards
