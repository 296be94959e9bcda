"""Budgets: what is given is never exceeded, and what is too little is refused with the least that would do."""

from __future__ import annotations

import dataclasses
import re
import time
from typing import Any

import numpy as np
import pytest
from reference_search import TicTacToe as PlainTicTacToe
from reference_search import minimax, random_positions

from boardrl import host, registry
from boardrl.errors import UserError
from boardrl.game import Spec
from games.pig import Pig
from games.tic_tac_toe import TicTacToe
from search import evaluators, searchers
from search.budget import MOST_COUNT, MOST_MS, Budget, GameClock
from search.kernel import control_block
from search.searcher import Searcher

DEEPENING = [name for name in searchers.names() if not searchers.find(name).samples]


def searcher(kind: str, budget: Budget, game: str = "tic_tac_toe") -> Searcher:
    made = registry.make(game)
    return Searcher(made, kind, budget=budget, evaluator=evaluators.none(host.of(made)))


@pytest.mark.parametrize("kind", ["minimax", "alphabeta", "negascout"])
@pytest.mark.parametrize("nodes", [1, 7, 100, 5000])
def test_no_more_nodes_are_visited_than_allowed_and_there_is_always_a_move(kind: str, nodes: int) -> None:
    search = searcher(kind, Budget(nodes=nodes))
    result = search.search(search.game.init())
    assert result.nodes <= nodes
    assert len(result.line) >= 2
    assert not result.exact or kind == "negascout"


def test_time_is_kept_to_within_the_scheduler_s_doing() -> None:
    search = searcher("minimax", Budget(ms=5))
    cpu, results = time.thread_time(), []
    for _ in range(5):
        results.append(search.search(search.game.init()))
    spent = time.thread_time() - cpu
    assert not any(result.exact for result in results)  # a whole tree takes longer than that
    assert spent < 5 * 0.015  # by the processor's clock: a busy machine does not count
    assert results[0].depth >= 3


def test_slow_evaluations_are_polled_more_often() -> None:
    control = np.zeros(control_block.WORDS, np.int64)
    control_block.start(control, 0, 0)
    control[control_block.NODES] = 1000
    control[control_block.LAST_POLL] -= 10_000_000  # ten milliseconds ago: 100 nodes a millisecond
    control_block.poll(control)
    assert 1 <= control[control_block.NEXT_POLL] - 1000 <= 11


def test_a_search_that_has_to_wait_for_others_ends_earlier() -> None:
    control = np.zeros(control_block.WORDS, np.int64)
    control_block.start(control, 0, time.monotonic_ns() + 50_000_000)
    control[control_block.LAST_POLL] -= 40_000_000  # forty milliseconds in the hands of others
    control[control_block.NODES] = 1
    control_block.poll(control)
    assert control[control_block.STOPPED] == 0  # less than half of the time is gone
    control[control_block.BEGAN] -= 30_000_000
    control[control_block.DEADLINE] -= 30_000_000
    control_block.poll(control)
    assert control[control_block.STOPPED] == 1


def test_a_slow_evaluation_is_no_wait() -> None:
    """The processor's clock tells the search's own work from time in the hands of others."""
    control = np.zeros(control_block.WORDS, np.int64)
    stalls = []
    while 0 not in stalls and len(stalls) < 50:  # on a busy machine this test has to wait for a core too
        control_block.start(control, 0, time.monotonic_ns() + 50_000_000)
        control[control_block.STALL] = 0
        control[control_block.LAST_POLL] -= 40_000_000  # forty milliseconds ...
        control[control_block.WORKED] -= 40_000_000  # ... of work
        control[control_block.NODES] = 1
        control_block.poll(control)
        stalls.append(control[control_block.STALL])
    assert 0 in stalls, stalls
    control_block.poll(control)
    control[control_block.LAST_POLL] -= 40_000_000
    control_block.poll(control)
    assert control[control_block.STALL] > 39_000_000


def test_work_after_the_deadline_is_told() -> None:
    control = np.zeros(control_block.WORDS, np.int64)
    control_block.start(control, 0, time.monotonic_ns() - 1)
    began = control[control_block.WORKED]
    while time.thread_time_ns() < began + 3_000_000:
        pass
    control_block.poll(control)
    assert control[control_block.STOPPED] == 1
    assert control[control_block.WORKED] == began  # as of the last look in time
    control_block.start(control, 0, time.monotonic_ns() + 10**9)
    control_block.poll(control)
    assert control[control_block.WORKED] >= began + 3_000_000
    assert control[control_block.WORKED] <= time.thread_time_ns()


@pytest.mark.parametrize("kind", DEEPENING)
@pytest.mark.parametrize("kilobytes", [40, 64, 300, 5000])
def test_memory_is_never_over_budget(kind: str, kilobytes: int) -> None:
    search = searcher(kind, Budget(kilobytes=kilobytes, depth=3))
    result = search.search(search.game.init())
    assert result.bytes == sum(array.nbytes for array in search.memory)
    assert result.bytes <= 1024 * kilobytes
    assert result.overflows == 0
    assert result.depth == 3


@pytest.mark.parametrize("kind", DEEPENING)
def test_too_little_memory_is_refused_with_the_least_that_would_do(kind: str) -> None:
    with pytest.raises(UserError, match="too little") as caught:
        searcher(kind, Budget(kilobytes=1, depth=4))
    least = int(re.findall(r"at least (\d+)", str(caught.value))[0])
    search = searcher(kind, Budget(kilobytes=least, depth=4))
    assert search.search(search.game.init()).overflows == 0
    with pytest.raises(UserError, match="too little"):
        searcher(kind, Budget(kilobytes=least - 1, depth=4))


@pytest.mark.parametrize(("kind", "game"), [("expectimax", "pig:target=30"), ("maxn", "pig:players=3,target=30")])
def test_the_least_memory_is_enough_where_there_are_dice(kind: str, game: str) -> None:
    """A turn is an action and a throw of the dice: two plies."""
    with pytest.raises(UserError, match=f"too little for {kind} to depth 4 in pig; give at least") as caught:
        searcher(kind, Budget(kilobytes=1, depth=4), game)
    least = int(re.findall(r"at least (\d+)", str(caught.value))[0])
    search, ample = (searcher(kind, Budget(kilobytes=size, depth=4), game) for size in (least, 4096))
    row, work = search.facet.rows(), search.facet.work()
    search.facet.init(row)
    rolled = search.facet.rows()
    search.facet.step(row, 0, rolled, work)
    for start in (row, rolled):  # before an action, and before the dice
        result = search.search_row(start)
        assert (result.overflows, result.depth) == (0, 4)
        np.testing.assert_allclose(result.value, ample.search_row(start).value, atol=1e-6)  # float32 in the table


@pytest.mark.parametrize("kind", ["alphabeta", "negascout"])
def test_what_was_cut_short_for_want_of_memory_is_not_remembered(kind: str) -> None:
    """A search that overflows, then those of positions near the end, which have memory enough."""
    game: Any = registry.make("tic_tac_toe")
    options = searchers.find(kind).options(table=True)
    search = Searcher(game, kind, options, budget=Budget(kilobytes=36), evaluator=evaluators.none(host.of(game)))
    first = search.search(game.init())
    assert first.overflows > 0
    assert not first.exact
    assert first.depth == len(search.memory.pv) - 1  # deeper ones were cut short
    plain = PlainTicTacToe()
    value = minimax(plain)
    positions = random_positions(plain, 60, after=9 - first.depth, seed=4)
    for position, row in zip(positions, search.facet.row(plain.states(positions)), strict=True):
        result = search.search_row(row)
        assert (result.overflows, result.exact) == (0, True)
        assert result.value[0] == value(position, 9)


@pytest.mark.parametrize("kind", searchers.names())
@pytest.mark.parametrize(("kilobytes", "needs"), [(99999999999, "93.1 TB"), (10**17, "90,949.5 PB")])
def test_more_memory_than_the_machine_has_is_refused(kind: str, kilobytes: int, needs: str) -> None:
    """Whether or not the searcher would have a use for it."""
    game = registry.make("pig")
    with pytest.raises(UserError, match=rf"kilobytes={kilobytes} needs {needs} of memory, and .* are free; give fewer"):
        searchers.make(
            game if kind in searchers.fitting(game) else TicTacToe(), kind, budget=Budget(kilobytes=kilobytes)
        )


def test_a_clock_divides_a_game_s_time_over_its_moves() -> None:
    game_clock = GameClock(1000.0, 5)
    shares = []
    for _ in range(5):
        shares.append(game_clock.share())
        game_clock.spend(shares[-1])
    assert sum(shares) <= 1000.0
    assert min(shares) > 150
    assert GameClock(1000.0, 10_000).share() > 40  # a long game does not starve its first moves
    game_clock.spend(2000.0)
    assert game_clock.share() == 0.0


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("ms", -1.0, r"0 \(no limit\) to 1e\+12"),
        ("ms", float("inf"), r"0 \(no limit\) to 1e\+12"),
        ("ms", float("nan"), r"0 \(no limit\) to 1e\+12"),
        ("ms", 1e300, r"0 \(no limit\) to 1e\+12"),
        ("game_ms", float("inf"), r"0 \(no limit\) to 1e\+12"),
        ("nodes", -5, r"0 \(no limit\) to 1e\+18"),
        ("nodes", 10**19, r"0 \(no limit\) to 1e\+18"),
        ("depth", -1, r"0 \(no limit\) to 1e\+18"),
        ("depth", 10**19, r"0 \(no limit\) to 1e\+18"),
        ("kilobytes", 0, r"1 to 1e\+18"),
        ("kilobytes", 10**19, r"1 to 1e\+18"),
    ],
)
def test_what_is_no_budget_is_refused(field: str, value: float, expected: str) -> None:
    with pytest.raises(UserError, match=rf"^{field}={re.escape(str(value))} is no valid budget; expected {expected}$"):
        Budget(**{field: value})


@pytest.mark.parametrize(
    ("kind", "budget"),
    [
        ("negascout", Budget(ms=MOST_MS, nodes=MOST_COUNT, depth=MOST_COUNT, kilobytes=4096)),
        ("mcts", Budget(ms=MOST_MS, nodes=100, depth=MOST_COUNT, kilobytes=4096)),
    ],
)
def test_the_largest_budget_is_one(kind: str, budget: Budget) -> None:
    search = searchers.make(TicTacToe(), kind, budget=budget)
    result = search.search(search.game.init())
    assert result.exact if kind == "negascout" else result.nodes == 100


@pytest.mark.parametrize("width", [-1.0, float("inf"), float("nan")])
def test_what_is_no_window_is_refused(width: float) -> None:
    """A search with a window of NaN would never end."""
    with pytest.raises(UserError, match=f"aspiration={width} is not the width of a window"):
        searchers.find("negascout").options(aspiration=width)


@pytest.mark.parametrize(
    ("game", "kind", "words"),
    [
        ("pig:players=3", "alphabeta", "has 3; use maxn, mcts or paranoid"),
        ("pig", "negascout", "dice of pig; use expectimax"),
        ("pig:players=4", "expectimax", "has 4; use maxn, mcts or paranoid"),
    ],
)
def test_a_game_that_does_not_fit_is_refused_with_what_does(game: str, kind: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        searcher(kind, Budget(depth=1), game)


@dataclasses.dataclass(frozen=True)
class Summed(Pig):
    """Pig whose returns are said to add up to something else."""

    total: float | None = None

    @property
    def spec(self) -> Spec:
        return dataclasses.replace(super().spec, return_sum=self.total)


@dataclasses.dataclass(frozen=True)
class SummedTicTacToe(TicTacToe):
    total: float | None = None

    @property
    def spec(self) -> Spec:
        return dataclasses.replace(super().spec, return_sum=self.total)


KINDS_OF_GAMES = [
    TicTacToe(),
    SummedTicTacToe(),
    SummedTicTacToe(total=1.0),
    *(Pig(players=players) for players in (2, 3)),
    *(Summed(players=players, total=total) for players in (2, 3) for total in (None, 1.0)),
]


@pytest.mark.parametrize("game", KINDS_OF_GAMES, ids=repr)
def test_what_is_suggested_plays_the_game(game: Any) -> None:
    accepted, suggestions = [], []
    for name in searchers.names():
        try:
            searchers.refuse(name, game)
            accepted.append(name)
        except UserError as error:
            suggestions.append(re.split(", | or ", str(error).rpartition("; use ")[2]))
    assert suggestions == [accepted] * len(suggestions)
    assert "maxn" in accepted


def test_dice_that_come_as_a_surprise_are_not_suggested_away() -> None:
    """A search may meet dice where `has_dice` has seen none, as in a game that only deals."""
    names = str(searchers.dice_met("alphabeta", TicTacToe())).rpartition("; use ")[2]
    assert re.split(", | or ", names) == ["expectimax", "maxn", "mcts", "paranoid"]


def test_a_game_that_only_deals_at_random_is_searched_after_the_deal() -> None:
    game = registry.make("jumper:size=4,density=0.5")
    search = Searcher(game, "alphabeta", budget=Budget(depth=2))
    with pytest.raises(UserError, match="dice"):
        search.search(game.init())
