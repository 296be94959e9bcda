"""Search of Jumper: all options, hop by hop, and plain minimax by whole turns give the same values."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import jax
import numpy as np
import pytest
from reference_search import Jumper, minimax, random_positions

from boardrl import host, registry
from games.jumper.rules import of_board
from search import evaluators, searchers
from search.budget import Budget
from search.searcher import Searcher

WEIGHT = 0.7
WEIGHTS = (WEIGHT, 0.0, 0.0, 0.0)  # the lead in pieces alone: easily written once more
FLAGS = ("table", "killers", "history", "symmetry", "deepening")


def searcher(size: int, kind: str, depth: int, *, weights: Any = (), **options: Any) -> Searcher:
    game = registry.make(f"jumper:size={size}")
    facet = host.of(game)
    evaluator = evaluators.linear(facet, weights) if weights else evaluators.none(facet)
    chosen = searchers.find(kind).options(**options)
    return Searcher(game, kind, chosen, budget=Budget(kilobytes=2048, depth=depth), evaluator=evaluator)


def first_values(search: Searcher, states: Any) -> list[float]:
    return [float(search.search_row(row).value[0]) for row in search.facet.row(states)]


@functools.cache
def solved(size: int, after: int, number: int) -> tuple[Any, list[float]]:
    plain = Jumper(size)
    positions = random_positions(plain, number, after=after, seed=size)
    value = minimax(plain)
    return plain.states(positions), [value(position, size * size) for position in positions]


@pytest.mark.parametrize(("size", "after", "number"), [(3, 2, 1000), (4, 11, 1000)])
@pytest.mark.parametrize("kind", ["minimax", "alphabeta", "negascout"])
def test_positions_are_solved(kind: str, size: int, after: int, number: int) -> None:
    states, want = solved(size, after, number)
    assert first_values(searcher(size, kind, 0), states) == want


@pytest.mark.parametrize("flags", list(itertools.product((False, True), repeat=len(FLAGS))))
@pytest.mark.parametrize("kind", ["alphabeta", "negascout"])
def test_no_option_changes_a_value(kind: str, flags: tuple[bool, ...]) -> None:
    options = dict(zip(FLAGS, flags, strict=True))
    states, want = solved(3, 2, 1000)
    some = jax.tree.map(lambda leaf: leaf[:40], states)
    assert first_values(searcher(3, kind, 0, **options), some) == want[:40]


@pytest.mark.parametrize("kind", ["minimax", "alphabeta", "negascout"])
def test_evaluated_positions_at_every_depth(kind: str) -> None:
    plain = Jumper(4)
    positions = random_positions(plain, 25, after=4, seed=0)
    value = minimax(plain, lambda position: plain.lead(position, WEIGHT))
    for depth in (1, 2, 3):
        got = first_values(searcher(4, kind, depth, weights=WEIGHTS), plain.states(positions))
        np.testing.assert_allclose(got, [value(position, depth) for position in positions], atol=1e-6)


def test_larger_boards_at_every_depth() -> None:
    plain = Jumper(6)
    positions = random_positions(plain, 8, after=6, seed=5)
    states = plain.states(positions)
    value = minimax(plain, lambda position: plain.lead(position, WEIGHT))
    for depth in (1, 2):
        got = first_values(searcher(6, "negascout", depth, weights=WEIGHTS), states)
        np.testing.assert_allclose(got, [value(position, depth) for position in positions], atol=1e-6)
    weights = (0.4, 0.6, 0.1, 0.0)
    for depth in (1, 2, 3, 4):
        got = first_values(searcher(6, "negascout", depth, weights=weights), states)
        kind = "minimax" if depth < 4 else "alphabeta"
        other = first_values(searcher(6, kind, depth, weights=weights, deepening=False), states)
        np.testing.assert_allclose(got, other, atol=1e-6)


def test_each_searcher_visits_no_more_nodes_than_the_plainer_one() -> None:
    plain = Jumper(6)
    states = plain.states(random_positions(plain, 10, after=8, seed=6))
    nodes = []
    for kind, options in (("minimax", {}), ("alphabeta", {}), ("negascout", {})):
        search = searcher(6, kind, 3, weights=(0.4, 0.6, 0.0, 0.0), deepening=False, **options)
        nodes.append(sum(search.search_row(row).nodes for row in search.facet.row(states)))
    assert nodes[2] <= nodes[1] < nodes[0]


@pytest.mark.parametrize("size", [3, 5, 8, 9])
def test_mirror_images_on_the_host_are_those_of_the_rules(size: int) -> None:
    game = registry.make(f"jumper:size={size}")
    facet = host.of(game)
    rng = np.random.default_rng(size)
    states = of_board(
        rng.integers(0, 4, (20, size * size)),
        rng.integers(0, 2, 20).astype(np.int32),
        rng.integers(-1, size * size, 20).astype(np.int32),
    )
    out, work = facet.rows(), facet.work()
    image = jax.jit(jax.vmap(game.symmetric, (0, None)))
    for number in range(8):
        want = facet.row(jax.device_get(image(states, np.int32(number))))
        for row, mirrored in zip(facet.row(states), want, strict=True):
            facet.symmetric(row, number, out, work)
            np.testing.assert_array_equal(out, mirrored)


@pytest.mark.parametrize(("size", "value"), [(3, 1.0)])
def test_the_empty_board_is_solved(size: int, value: float) -> None:
    search = searcher(size, "negascout", 0, symmetry=True)
    result = search.complete(search.search(search.game.init()))
    assert (result.value.tolist(), result.exact) == ([value, -value], True)
    assert search.facet.actor(result.line[-1], search.facet.work()) < 0  # the line goes to the end
    assert minimax(Jumper(size))(Jumper(size).first, size * size) == value
