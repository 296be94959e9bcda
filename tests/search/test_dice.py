"""Expectimax, paranoid and maxⁿ return what a plain mean over the dice returns, at fixed depths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from reference_search import OnRows, Pig, expectation, random_positions
from tiny_games import Coin

from boardrl import host, registry
from search import evaluators, searchers
from search.analysis import principal_variation
from search.budget import Budget
from search.searcher import Searcher


def paranoid(view: int) -> Callable[[Any, int, list[np.ndarray]], np.ndarray]:
    """Everybody is for or against one player."""

    def combine(position: Any, who: int, below: list[np.ndarray]) -> np.ndarray:
        return (max if who == view else min)(below, key=lambda values: values[view])

    return combine


def maxn(position: Any, who: int, below: list[np.ndarray]) -> np.ndarray:
    best = max(values[who] for values in below)
    return np.mean([values for values in below if values[who] >= best - 1e-9], 0)


def searcher(game: Any, kind: str, depth: int, **options: Any) -> Searcher:
    facet = host.of(game)
    chosen = searchers.find(kind).options(**options)
    return Searcher(game, kind, chosen, budget=Budget(depth=depth, kilobytes=256), evaluator=evaluators.none(facet))


def near_the_end(plain: Pig, number: int, seed: int) -> list[Any]:
    """Positions from which a few turns may end the game."""
    rng, positions = np.random.default_rng(seed), []
    while len(positions) < number:
        scores = tuple(int(score) for score in rng.integers(plain.target - 12, plain.target, plain.players))
        seat = int(rng.integers(plain.players))
        total = int(rng.integers(0, plain.target - scores[seat] + 1))
        positions.append((scores, total, seat, bool(rng.integers(2))))
    return positions


@pytest.mark.parametrize(
    "options", [{"star": s, "table": t, "deepening": d} for s in range(3) for t in (False, True) for d in (False, True)]
)
def test_expectimax_of_two_players(options: dict[str, Any]) -> None:
    plain = Pig(2, 30)
    positions = near_the_end(plain, 40, 1) + random_positions(plain, 20, seed=0)
    for depth in (1, 2, 4):
        search = searcher(registry.make("pig:target=30"), "expectimax", depth, **options)
        for position, row in zip(positions, search.facet.row(plain.states(positions)), strict=True):
            view = max(plain.actor(position), 0)
            want = expectation_of(plain, view)(position, depth)
            np.testing.assert_allclose(search.search_row(row).value, want, atol=1e-6)


EXPECTATIONS: dict[Any, Any] = {}


def expectation_of(plain: Pig, view: int) -> Any:
    key = plain.players, plain.target, view
    if key not in EXPECTATIONS:
        EXPECTATIONS[key] = expectation(plain, paranoid(view))
    return EXPECTATIONS[key]


@pytest.mark.parametrize("star", [0, 1, 2])
def test_paranoid_of_three_players(star: int) -> None:
    plain = Pig(3, 30)
    positions = near_the_end(plain, 30, 2)
    for depth in (1, 3):
        search = searcher(registry.make("pig:players=3,target=30"), "paranoid", depth, star=star)
        for position, row in zip(positions, search.facet.row(plain.states(positions)), strict=True):
            view = max(plain.actor(position), 0)
            want = expectation_of(plain, view)(position, depth)[view]
            got = search.search_row(row).value
            np.testing.assert_allclose(got[view], want, atol=1e-6)
            np.testing.assert_allclose(got.sum(), 0.0, atol=1e-6)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_maxn(players: int) -> None:
    plain = Pig(players, 30)
    value = expectation(plain, maxn)
    positions = near_the_end(plain, 30, 3)
    for depth in (1, 3):
        search = searcher(registry.make(f"pig:players={players},target=30"), "maxn", depth)
        for position, row in zip(positions, search.facet.row(plain.states(positions)), strict=True):
            np.testing.assert_allclose(search.search_row(row).value, value(position, depth), atol=1e-6)


SLOPE = 0.11  # of the evaluation below


def lead(params: Any, state: Any, player: Any) -> Any:
    """[P] a real number for every position of two players: what is banked, and some of what is at stake."""
    at_stake = jnp.where(jnp.arange(2) == state.turn, state.total, 0)
    points = (2 * state.scores + at_stake).astype(jnp.float32) / 2
    return jnp.tanh(params * (points - points[::-1]))


def plain_lead(position: Any) -> np.ndarray:
    scores, total, seat, _ = position
    points = [score + total * (player == seat) / 2 for player, score in enumerate(scores)]
    return np.tanh(SLOPE * np.array([points[0] - points[1], points[1] - points[0]]))


@pytest.mark.parametrize("star", [1, 2])
def test_star_windows_keep_real_values(star: int) -> None:
    """Where all leaves differ, a wrong window of an outcome shows; the results of games, ±1, would hide it."""
    plain, game = Pig(2, 60), registry.make("pig:target=60")
    facet = host.of(game)
    evaluator = evaluators.net(facet, lead, np.full(2, SLOPE, np.float32), batched=False)
    positions = random_positions(plain, 40, seed=6)
    values = [expectation(plain, paranoid(view), plain_lead) for view in range(2)]
    for table in (False, True):
        options = searchers.find("expectimax").options(star=star, table=table)
        budget = Budget(depth=4, kilobytes=256)  # at depth 3 there is nothing yet that Star2 can cut off
        search = Searcher(game, "expectimax", options, budget=budget, evaluator=evaluator)
        for position, row in zip(positions, facet.row(plain.states(positions)), strict=True):
            view = max(plain.actor(position), 0)
            np.testing.assert_allclose(search.search_row(row).value, values[view](position, 4), atol=1e-5)


@pytest.mark.parametrize("kind", ["expectimax", "maxn"])
def test_uneven_dice_count_by_their_odds(kind: str) -> None:
    """Seat 0 wins with heads, and loses with tails after its only move."""
    game: Any = Coin(heads=0.25, delay=1)
    search = searcher(game, kind, 3)
    result = search.search(game.init())
    np.testing.assert_allclose(result.value, [-0.5, 0.5], atol=1e-6)
    found = principal_variation.leaves(search, result)
    assert sorted((int(search.facet.state(leaf.row).winner), leaf.share) for leaf in found) == [(0, 0.25), (1, 0.75)]


def test_star_cutoffs_save_nodes() -> None:
    plain = Pig(2, 30)
    rows = host.of(registry.make("pig:target=30")).row(plain.states(near_the_end(plain, 40, 4)))
    nodes = []
    for star in range(3):
        search = searcher(registry.make("pig:target=30"), "expectimax", 4, star=star, table=False, deepening=False)
        nodes.append(sum(search.search_row(row).nodes for row in rows))
    assert nodes[1] < nodes[0]
    assert nodes[2] < nodes[0]


def last_positions(plain: Any, games: int, number: int, seed: int) -> list[Any]:
    """The last positions of random games, from which a few turns may end them."""
    rng, positions = np.random.default_rng(seed), []
    for _ in range(games):
        game = [plain.first]
        while plain.over(game[-1]) is None:
            moves = plain.moves(game[-1])
            game.append(moves[rng.integers(len(moves))])
        positions += game[-number - 1 : -1]
    return positions


@pytest.mark.parametrize("kind", ["expectimax", "paranoid", "maxn"])
def test_small_ludo(kind: str) -> None:
    """Single and double sixes, knocks and passed turns are all met on so short a way."""
    players = 2 if kind == "expectimax" else 3
    game = registry.make(f"ludo:rules=sdu_java,ring=8,column=2,pieces=2,players={players}")
    plain = OnRows(host.of(game))
    positions = last_positions(plain, 5, 10, seed=5)
    values = {view: expectation(plain, maxn if kind == "maxn" else paranoid(view)) for view in range(players)}
    for depth in (1, 3):
        search = searcher(game, kind, depth)
        found = []
        for position in positions:
            view = max(plain.actor(position), 0)
            got, want = search.search_row(plain.row(position)).value, values[view](position, depth)
            if kind != "maxn":  # they look at one player's value
                got, want = got[view : view + 1], want[view : view + 1]
            np.testing.assert_allclose(got, want, atol=1e-6)
            found.append(got[0])
        assert len(set(np.round(found, 6))) >= 3  # many of them can be decided within the depth
