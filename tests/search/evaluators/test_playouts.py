"""Playouts: means over random games, against exact expectations; and what a game is searched with by default."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from jax import Array
from reference_search import OnRows, random_positions

from boardrl import host, registry
from boardrl.errors import UserError
from boardrl.game import TERMINAL
from boardrl.play import players
from games.tic_tac_toe import State, TicTacToe
from search import evaluators, searchers
from search.budget import Budget

GAMES = 4000


def random_play(plain: OnRows) -> Any:
    """A function of a position: [P] expected returns when all play at random."""

    @functools.cache
    def value(position: bytes) -> np.ndarray:
        if plain.actor(position) == TERMINAL:
            return np.array(plain.returns(position), np.float64)
        return np.mean([value(after) for after in plain.moves(position)], 0)

    return value


def test_the_mean_is_that_of_random_play() -> None:
    game = registry.make("tic_tac_toe")
    facet = host.of(game)
    plain = OnRows(facet)
    value = random_play(plain)
    searcher = searchers.make(
        game, "minimax", budget=Budget(depth=1), evaluator=evaluators.playouts(facet, games=GAMES)
    )
    for position in [plain.first, *random_positions(plain, 6, after=2, seed=1)]:
        got = searcher.evaluate(plain.row(position))
        np.testing.assert_allclose(got, value(position), atol=4 / GAMES**0.5)
        assert got[0] == -got[1]


def test_dice_fall_by_their_odds_and_each_player_gets_its_own() -> None:
    """Whoever rolls a 1 loses the turn: with three players the shares are far from even, near the end of the game."""
    game: Any = registry.make("pig:players=3,target=8")
    facet = host.of(game)
    plain = OnRows(facet)
    evaluator = evaluators.playouts(facet, games=GAMES)
    searcher = searchers.make(game, "maxn", budget=Budget(depth=1), evaluator=evaluator)
    position = plain.first
    for move in (0, 4, 1, 0, 5):  # roll, a 5, hold, roll, a 6
        position = plain.moves(position)[move]
    draws = np.random.default_rng(0)
    totals = np.zeros(3)
    for _ in range(GAMES):
        at = position
        while plain.actor(at) != TERMINAL:
            moves = plain.moves(at)
            at = moves[draws.integers(len(moves))]
        totals += plain.returns(at)
    # Two samples of the same size: each has a standard deviation of at most 1 a game.
    np.testing.assert_allclose(searcher.evaluate(plain.row(position)), totals / GAMES, atol=5 / GAMES**0.5)
    assert np.ptp(totals / GAMES) > 0.3


def test_a_position_has_one_value_and_every_seat_sees_it() -> None:
    game = registry.make("connect_four")
    facet = host.of(game)
    evaluator = evaluators.playouts(facet, games=5)
    searcher = searchers.make(game, "alphabeta", budget=Budget(depth=1), evaluator=evaluator)
    plain = OnRows(facet)
    memory = searcher.memory
    for position in random_positions(plain, 10, seed=0):
        values = searcher.evaluate(plain.row(position))
        memory.rows[0] = plain.row(position)
        for seat in range(2):
            again = evaluator.module.evaluate(memory.rows, 0, seat, memory.weights, memory.scratch, memory.work)
            assert again == values[seat] == np.float32(values[seat])


@dataclasses.dataclass(frozen=True)
class Unweighted(TicTacToe):
    """Features without weights of their own."""

    def features(self, state: State, player: Array) -> Array:
        return jnp.zeros(1, jnp.float32)


def test_without_weights_a_search_is_never_blind() -> None:
    game = Unweighted()
    result = searchers.make(game, "negascout", budget=Budget(depth=2)).search(game.init())
    assert result.evaluation == "playouts(games=8)"
    assert result.value[0] > 0  # whoever begins is better off, by random play as well
    assert "valued by playouts(games=8)" in str(result)


def test_a_search_to_the_end_needs_no_evaluation() -> None:
    game = registry.make("tic_tac_toe")
    result = searchers.make(game, "negascout", budget=Budget()).search(game.init())
    assert (result.evaluation, result.exact) == ("none", True)
    assert str(result).startswith("value +0 +0 (exact), line ")


@pytest.mark.parametrize(
    ("text", "name"),
    {
        "playouts(games=3)": "playouts(games=3)",
        "playouts": "playouts(games=8)",
        "none": "none",
        "features": "features",
    }.items(),
)
def test_evaluations_by_text(text: str, name: str) -> None:
    facet = host.of(registry.make("jumper:size=4"))
    assert evaluators.of_text(text, facet).name == name


@pytest.mark.parametrize(
    ("text", "words"),
    {
        "evaluation=playout": "unknown evaluation 'playout' .did you mean 'playouts'",
        "evaluation=playouts(games=0)": "games=0 is not a number of playouts; expected 1 to",
        "evaluation=features": "tic_tac_toe offers no feature_weights; give weights=…, or evaluation=playouts",
        "evaluation=none,weights=1": "evaluation=none has no use for weights",
    }.items(),
)
def test_mistakes_are_named(text: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        players.make(f"alphabeta(depth=1,{text})", registry.make("tic_tac_toe"))
