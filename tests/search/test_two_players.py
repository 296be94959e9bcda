"""Minimax, alpha-beta and Negascout return what a plain minimax returns, whatever their options."""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from reference_search import TicTacToe, minimax, random_positions

from boardrl import host, registry
from boardrl.game import TERMINAL
from search import evaluators, searchers
from search.budget import Budget
from search.searcher import Searcher

FLAGS = ("table", "killers", "history", "reverse", "deepening", "symmetry")
COMBINATIONS = [("minimax", {"deepening": False}), ("minimax", {"deepening": True})] + [
    (kind, {**dict(zip(FLAGS, flags, strict=True)), "aspiration": aspiration})
    for kind in ("alphabeta", "negascout")
    for flags in itertools.product((False, True), repeat=len(FLAGS))
    for aspiration in (0.0, 0.05)
]
WEIGHT = 0.7


def searcher(game: Any, kind: str, options: dict[str, Any], *, weights: Any = (), depth: int = 0) -> Searcher:
    facet = host.of(game)
    evaluator = evaluators.linear(facet, weights) if weights else evaluators.none(facet)
    budget = Budget(kilobytes=512, depth=depth)
    return Searcher(game, kind, searchers.find(kind).options(**options), budget=budget, evaluator=evaluator)


def values(search: Searcher, states: Any) -> np.ndarray:
    """[N, P]"""
    return np.stack([search.search_row(row).value for row in search.facet.row(states)])


@pytest.mark.parametrize(
    ("kind", "positions"),
    [
        ("minimax", random_positions(TicTacToe(), 3000, after=3, seed=0)),
        ("alphabeta", random_positions(TicTacToe(), 3000, after=1, seed=1)),
        ("negascout", random_positions(TicTacToe(), 3000, seed=2)),
    ],
)
def test_thousands_of_positions_of_tic_tac_toe_are_solved(kind: str, positions: list[Any]) -> None:
    value = minimax(TicTacToe())
    search = searcher(registry.make("tic_tac_toe"), kind, {})
    want = [value(position, 9) for position in positions]
    np.testing.assert_array_equal(values(search, TicTacToe().states(positions))[:, 0], want)


@pytest.mark.parametrize(("kind", "options"), COMBINATIONS)
def test_no_option_changes_a_value_of_tic_tac_toe(kind: str, options: dict[str, Any]) -> None:
    for depth in (3, 9):
        states, want = tic_tac_toe_values(depth)
        search = searcher(registry.make("tic_tac_toe"), kind, options, depth=depth)
        np.testing.assert_array_equal(values(search, states)[:, 0], want)


@functools.cache
def tic_tac_toe_values(depth: int) -> tuple[Any, list[float]]:
    positions = random_positions(TicTacToe(), 30, after=2, seed=depth)
    value = minimax(TicTacToe())
    return TicTacToe().states(positions), [value(position, depth) for position in positions]


def test_tic_tac_toe_is_a_draw_and_its_whole_tree_has_549946_nodes() -> None:
    game = registry.make("tic_tac_toe")
    result = searcher(game, "minimax", {"deepening": False}).search(game.init())
    assert (result.value.tolist(), result.nodes, result.exact) == ([0.0, 0.0], 549946, True)
    assert len(result.line) == 10


def test_a_search_that_stops_short_is_not_exact_and_values_the_game_as_it_stands() -> None:
    game = registry.make("tic_tac_toe")
    for kind in ("minimax", "alphabeta", "negascout"):
        result = searcher(game, kind, {}, depth=3).search(game.init())
        assert (result.value.tolist(), result.depth, result.exact) == ([0.0, 0.0], 3, False)


@pytest.mark.parametrize("kind", ["minimax", "alphabeta", "negascout", "expectimax", "maxn"])
def test_the_line_itself_leads_to_what_the_value_rests_on(kind: str) -> None:
    """Without a table no line ends early, and `complete` has nothing to add."""
    game: Any = registry.make("tic_tac_toe")
    options = {} if kind in ("minimax", "maxn") else {"table": False}
    search = searcher(game, kind, options, depth=6)
    for text, value in (
        ("... ... ... 0", 0.0),
        ("XO. ... ... 0", 1.0),
        ("X.. .O. ..X 1", 0.0),
        ("XOX OXO ... 1", -1.0),
    ):
        state = game.from_text(text)
        line = search.search(state).line
        states = [search.facet.state(row) for row in line]
        steps = [int(np.sum(after.board != before.board)) for before, after in itertools.pairwise(states)]
        assert steps == [1] * (len(line) - 1)
        assert len(steps) == 6 or int(game.actor(states[-1])) == TERMINAL
        assert game.returns(states[-1])[int(state.turn)] == value


def test_a_value_outside_the_aspiration_window_is_searched_again() -> None:
    """A kernel that only bounds what lies outside its window: the side that failed is opened, the other stays."""
    search = searcher(registry.make("tic_tac_toe"), "alphabeta", {"aspiration": 0.1}, depth=2)
    windows: list[tuple[float, float]] = []

    class Kernel:
        value = 0.0

        def search(self, control: Any, depth: int, low: float, high: float) -> float:
            windows.append((low, high))
            return min(max(self.value, low), high)

    search.search(search.game.init())  # so that no limit of a search before is in force
    search._module = kernel = Kernel()
    for value, wanted in (
        (0.55, [(0.4, 0.6)]),
        (0.9, [(0.4, 0.6), (0.4, np.inf)]),
        (-0.3, [(0.4, 0.6), (-np.inf, 0.6)]),
        (0.6, [(0.4, 0.6), (0.4, np.inf)]),  # at the edge it is a bound
    ):
        kernel.value = value
        windows.clear()
        assert search._search_to(2, 0.5) == value
        np.testing.assert_allclose(windows, wanted)
    windows.clear()
    assert search._search_to(2, None) == kernel.value  # nothing is expected of the first depth
    assert windows == [(-np.inf, np.inf)]


@pytest.mark.parametrize("kind", ["negascout", "expectimax"])
def test_what_the_table_gives_is_as_exact_as_what_was_stored(kind: str) -> None:
    """The second search finds every successor in the table: a value of depth 3 is no more certain for that."""
    game = registry.make("tic_tac_toe")
    search = searcher(game, kind, {"table": True}, depth=3)
    first, second = (search.search(game.init()) for _ in range(2))
    assert second.nodes < first.nodes
    assert (first.exact, second.exact) == (False, False)
    search = searcher(game, kind, {"table": True})
    first, second = (search.search(game.init()) for _ in range(2))
    assert second.nodes < first.nodes
    assert (first.exact, second.exact) == (True, True)


CELLS = (0.31, -0.17, 0.23, 0.11, 0.41, -0.07, 0.19, 0.05, 0.29)  # what a mark there is worth


def marks_weighed(params: Any, state: Any, player: Any) -> Any:
    """[P] a real number for every position."""
    marks = jnp.where(state.board == 1, 1.0, jnp.where(state.board == 2, -1.0, 0.0))
    value = jnp.tanh((params * marks).sum())
    return jnp.stack([value, -value])


def plain_marks_weighed(position: Any) -> float:
    signs = {0: 0.0, 1: 1.0, 2: -1.0}
    return math.tanh(sum(weight * signs[mark] for weight, mark in zip(CELLS, position[0], strict=True)))


@functools.cache
def real_values(depth: int) -> tuple[list[Any], list[float]]:
    positions = random_positions(TicTacToe(), 30, seed=depth)
    value = minimax(TicTacToe(), plain_marks_weighed)
    return positions, [value(position, depth) for position in positions]


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("alphabeta", {}),
        ("alphabeta", {"table": True, "aspiration": 0.02}),
        ("negascout", {}),
        ("negascout", {"table": False}),
        ("expectimax", {"table": True}),
    ],
)
def test_real_values_are_those_of_plain_minimax(kind: str, options: dict[str, Any]) -> None:
    """Where all leaves differ, a wrong window or bound shows; results of games, of which there are three, hide it."""
    game = registry.make("tic_tac_toe")
    facet = host.of(game)
    evaluator = evaluators.net(facet, marks_weighed, np.array(CELLS, np.float32), batched=False)
    for depth in (2, 4):
        positions, want = real_values(depth)
        chosen, budget = searchers.find(kind).options(**options), Budget(kilobytes=512, depth=depth)
        search = Searcher(game, kind, chosen, budget=budget, evaluator=evaluator)
        for _ in range(2):  # the second time with what the table has kept
            np.testing.assert_allclose(values(search, TicTacToe().states(positions))[:, 0], want, atol=1e-6)
