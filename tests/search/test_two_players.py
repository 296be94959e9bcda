"""Minimax, alpha-beta and Negascout return what a plain minimax returns, whatever their options."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
import pytest
from plain import TicTacToe, minimax, random_positions

from boardrl import host, registry
from search import evaluators, kinds
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
    return Searcher(game, kind, kinds.find(kind).options(**options), budget=budget, evaluator=evaluator, facet=facet)


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
