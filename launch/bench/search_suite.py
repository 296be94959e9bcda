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

import jax
import numpy as np

from boardrl import host, registry
from boardrl.game import TERMINAL
from boardrl.host import Facet, random_games
from boardrl.values import nets
from launch.bench import mcts_rows
from launch.bench.row import Row, missing, processor_seconds
from search import evaluators, random_step, searchers
from search.budget import Budget
from search.searcher import Searcher

BOARDS = 12  # random positions of Jumper
PLAYED = (40, 200)  # steps of random games of Ludo, dice included, before a position is searched
FILLED = (6, 20)  # turns that were played at random before
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
        *other_games(),
        *nets_in_search(),
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


def node_rate(game: Any, kind: str, depth: int, options: Any) -> Callable[[], float]:
    """Nodes per second from the initial position, or from random boards of Jumper."""
    search = make(game, kind, depth, options)
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
        nodes, seconds = 0, 0.0
        while seconds < LEAST_SECONDS:
            seconds += processor_seconds(lambda: search(game.new_initial_state()))
            nodes += counted.count[0]
        return nodes / seconds

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


def other_games() -> Sequence[Row]:
    """Nodes a second of games that no peer has."""
    return [
        Row(
            f"{name}, alpha-beta to depth {depth}", "nodes/s", node_rate(registry.make(name), "alphabeta", depth, PLAIN)
        )
        for name, depth in (("ataxx", 5), ("kalah", 8), ("jumper:size=12", 3))
    ]


# Nets


def nets_in_search() -> Sequence[Row]:
    """Nodes a second of maxn with a value net of the size that is trained by default; its weights are drawn."""
    game: Any = registry.make("ludo")
    net = nets.ValueNet(game, nets.MLP(game.defaults["td_lambda"]["hidden"], game.spec.num_players))
    units = ", ".join(map(str, net.module.hidden))
    return [
        Row(f"ludo, maxn to depth {depth}, net of {units} units", "nodes/s", net_rate(net, "maxn", depth))
        for depth in (2, 4)
    ]


def net_rate(net: nets.ValueNet, kind: str, depth: int) -> Callable[[], float]:
    """Nodes a second on positions of random games."""
    facet: Facet = host.of(net.game)
    evaluator = evaluators.net(facet, net, net.init(jax.random.key(SEED)), batched=False)
    options = searchers.find(kind).options(**PLAIN)
    search = Searcher(net.game, kind, options, budget=Budget(depth=depth), evaluator=evaluator)
    starts = positions(facet, BOARDS, PLAYED)

    def run() -> float:
        nodes = 0
        began = time.thread_time()
        while time.thread_time() - began < LEAST_SECONDS:
            nodes += sum(search.search_row(row).nodes for row in starts)
        return nodes / (time.thread_time() - began)

    return run


def positions(facet: Facet, number: int, played: tuple[int, int]) -> list[np.ndarray]:
    """Positions of random games, after so many steps, in which somebody is to act."""
    rng, work = np.random.default_rng(SEED), facet.work()
    found: list[np.ndarray] = []
    while len(found) < number:
        row = first_rows(facet)[0]
        for _ in range(rng.integers(*played)):
            if facet.actor(row, work) != TERMINAL:
                row = random_step.step(facet, row, rng)
        if facet.actor(row, work) >= 0:
            found.append(row)
    return found


# Jumper


def jumper_rates() -> Sequence[Row]:
    """Nodes per second on 6x6 boards."""
    rate = node_rate(registry.make("jumper:size=6"), "alphabeta", 5, PLAIN)
    return [Row("jumper 6x6, alpha-beta to depth 5", "nodes/s", rate)]


def jumper_moves() -> Sequence[Row]:
    """Searches a second on random boards, as in figure 2 of Brunton and Cohney 2013, some against plain alpha-beta.

    Those of Negascout and alpha-beta are the rows by which docs/search.md compares the compiled rules with bitboards
    written by hand.
    """
    small: Any = registry.make("jumper:size=6")
    large: Any = registry.make("jumper:size=8")
    rows = [
        ("jumper 6x6 to depth 4, minimax", small, "minimax", 4, PLAIN, 3, False),
        ("jumper 6x6 to depth 5, alpha-beta, jumps first", small, "alphabeta", 5, PLAIN, BOARDS, False),
        (
            "jumper 6x6 to depth 5, alpha-beta, places first",
            small,
            "alphabeta",
            5,
            {**PLAIN, "reverse": True},
            3,
            False,
        ),
        ("jumper 6x6 to depth 5, Negascout", small, "negascout", 5, {}, BOARDS, True),
        ("jumper 6x6 to depth 6, Negascout", small, "negascout", 6, {}, 3, False),
        ("jumper 6x6 to depth 7, Negascout", small, "negascout", 7, {}, 3, True),
        ("jumper 8x8 to depth 5, alpha-beta, jumps first", large, "alphabeta", 5, PLAIN, BOARDS, False),
        ("jumper 8x8 to depth 5, Negascout", large, "negascout", 5, {}, BOARDS, False),
        ("jumper 8x8 to depth 6, Negascout", large, "negascout", 6, {}, 3, False),
        ("jumper 8x8 to depth 7, Negascout", large, "negascout", 7, {}, 3, False),
    ]
    result = []
    for name, game, kind, depth, options, boards, compared in rows:
        rate = searches(game, kind, depth, options, boards=boards)
        plain = ("alpha-beta", searches(game, "alphabeta", depth, PLAIN, boards=boards)) if compared else ("", None)
        result.append(Row(name, "searches/s", rate, *plain))
    return [*result, Row("jumper 6x6, a random turn", "turns/s", random_turns(small))]


def searches(game: Any, kind: str, depth: int, options: Any, *, boards: int) -> Callable[[], float]:
    """Searches per second of random boards, each with an empty table."""
    search = make(game, kind, depth, options)
    starts = jumper_boards(search.facet)[:boards]

    def run() -> float:
        seconds = 0.0
        for row in starts:
            search.reset()
            seconds += processor_seconds(functools.partial(search.search_row, row))
        return len(starts) / seconds

    return run


def random_turns(game: Any) -> Callable[[], float]:
    """Turns a second of a player who takes any of the positions that a turn leads to."""
    facet, rng, turns = host.of(game), np.random.default_rng(SEED), Turns(host.of(game))
    starts = jumper_boards(facet)

    def run() -> float:
        seconds = processor_seconds(lambda: [turns.random(row, rng) for row in starts])
        return len(starts) / seconds

    return run


class Turns:
    """The positions that whole turns of a player lead to."""

    def __init__(self, facet: Facet, room: int = 1 << 14) -> None:
        self.kernel = host.specialise(random_games, facet)
        self.rows, self.ends, self.work = facet.rows(room), facet.rows(room), facet.work()
        self.seen = np.zeros(2 * room, np.int64)

    def random(self, row: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """One of them, each with the same probability, however many turns lead there."""
        count = self.kernel.turn_ends(row, self.rows, self.ends, self.work)
        if count < 0:
            raise ValueError(f"more than {len(self.ends)} turns in one position")
        return self.ends[rng.integers(self.kernel.drop_repeated(self.ends, count, self.seen))].copy()


def make(game: Any, kind: str, depth: int, options: Any) -> Searcher:
    chosen = searchers.find(kind).options(**options)
    evaluator = evaluators.default(host.of(game), limited=False)
    return Searcher(game, kind, chosen, budget=Budget(depth=depth), evaluator=evaluator)


def first_rows(facet: Facet) -> list[np.ndarray]:
    row = facet.rows()
    facet.init(row)
    return [row]


def jumper_boards(facet: Facet, number: int = BOARDS, seed: int = SEED) -> list[np.ndarray]:
    """Boards after some random turns."""
    rng, turns, work = np.random.default_rng(seed), Turns(facet), facet.work()
    boards: list[np.ndarray] = []
    while len(boards) < number:
        row = first_rows(facet)[0]
        for _ in range(rng.integers(*FILLED)):
            if facet.actor(row, work) >= 0:
                row = turns.random(row, rng)
        if facet.actor(row, work) >= 0:
            boards.append(row)
    return boards
