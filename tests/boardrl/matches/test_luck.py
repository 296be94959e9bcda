"""Luck taken out: a hand-computed game, exact values that leave decisions alone, no bias whatever the values."""

from __future__ import annotations

import dataclasses
import functools
import math
import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tiny_games import Coin, Fixed

from boardrl.errors import UserError
from boardrl.exact import solve
from boardrl.matches import arena, luck, observations
from boardrl.matches.luck import Control
from boardrl.play.players import Player, make_lineup
from boardrl.play.policy import Policy, Uniform
from games.ludo import Ludo
from games.pig import Pig
from games.tic_tac_toe import TicTacToe

PIG = Pig(target=20)
LUDO = Ludo(players=2, pieces=2, ring=8, column=1)


@dataclasses.dataclass(frozen=True)
class Noise:
    """Values that mean nothing: a fixed random projection of what is observed."""

    game: Any

    def __call__(self, params: Any, state: Any, player: Any) -> Any:
        return jnp.tanh(params @ self.game.observe(state, player))


def noise(game: Any, size: float = 3.0) -> Control:
    shape = (game.spec.num_players, math.prod(game.spec.obs_shape))
    return Control("noise", Noise(game), size * jax.random.normal(jax.random.key(5), shape))


def test_luck_of_an_outcome_by_hand():
    values = jnp.array([[1.0, -1.0], [0.0, 0.0], [-2.0, 4.0]])
    chance = jnp.array([0.5, 0.25, 0.25])
    found = [luck.of_outcome(values, chance, jnp.int32(outcome)).tolist() for outcome in range(3)]
    assert found == [[1.0, -1.5], [0.0, -0.5], [-2.0, 3.5]]  # the mean value is 0 for one and 0.5 for the other


def test_values_after_outcomes_are_those_of_the_best_action():
    """At the die of pig a decision is worth the better of rolling on and holding; a 1 passes the turn."""
    solution = solve.solve(PIG)
    rows = np.flatnonzero(solution.graph.actor == -1)[::37]
    states = jax.tree.map(lambda leaf: jnp.asarray(leaf[rows]), solution.states())
    exact = luck.exact(PIG)
    for at_decisions in (True, False):
        look = functools.partial(luck.after_outcomes, PIG, exact.value, exact.params, at_decisions=at_decisions)
        found = jax.jit(jax.vmap(look, (0, None)))(states, jnp.int32(0))
        wanted = solution.values[solution.graph.child[rows]]
        np.testing.assert_allclose(found.values, wanted, atol=1e-6)
    np.testing.assert_array_equal(found.viewer, states.turn)  # the seat that a roll lets decide


@pytest.mark.parametrize("game", [PIG, LUDO])
def test_with_exact_values_the_variance_comes_from_decisions_alone(game):
    """result − luck is the game's value in games of perfect players, and less by what others' decisions lose."""
    value = solve.solve(game).values[0]
    lineup = make_lineup("random,perfect", game)
    control = luck.make("exact", game)
    rotations = np.array([[0, 1], [1, 0], [1, 1]])  # the last of them twice the perfect player
    played = arena.play(game, lineup, rotations, num_games=384, seed=2, control=control)
    assert played.luck is not None
    adjusted = played.returns - played.luck
    perfect = (played.seating == 1).all(1)
    np.testing.assert_allclose(adjusted[perfect], np.broadcast_to(value, (128, 2)), atol=1e-4)
    assert played.returns[perfect].std() > 0.9
    mine = observations.of_player(0, played)
    seat = (played.seating == 0).argmax(1)
    lost = (value[seat] - (mine.returns - mine.luck))[~perfect]
    assert lost.min() > -1e-4  # nobody does better than the value of the game but by luck
    assert lost.max() > 0.05


@pytest.mark.parametrize("game", [LUDO, Pig(players=3, target=10)])
def test_a_value_function_that_means_nothing_does_not_bias(game):
    """The mean luck of many games is 0 within its error, by values that make the variance larger."""
    names = ["hold(total=5)" if game.spec.name == "pig" else "random"] + ["random"] * (game.spec.num_players - 1)
    match = arena.match(game, make_lineup(",".join(names), game), num_games=4096, seed=3, control=noise(game))
    for score in match.players:
        adjusted = score.adjusted
        assert adjusted is not None
        assert adjusted.factor < 1
        error = (adjusted.points_high - adjusted.points_low) / 2 / 1.96
        assert abs(adjusted.points - score.points) < 3.5 * error
        assert abs(adjusted.points - score.points) > 1e-6
        assert abs(adjusted.win_rate - score.win_rate) < 3.5 * (adjusted.high - adjusted.low) / 2 / 1.96


def test_the_luck_of_host_matches_is_that_of_the_same_moves():
    """A game's luck told move by move by the definition, from the replay of a match on the host."""
    solution = solve.solve(PIG)
    control = luck.make("exact", PIG)
    from boardrl.matches import host_match

    players = [Player("a", host=_Rolls()), *make_lineup("hold(total=6)", PIG)]
    for index in range(3):
        made: list[Any] = []
        result = host_match.play_game(PIG, players, seed=4, index=index, watch=made.append, control=control)
        total = np.zeros(2)
        for step in made:
            if step.actor == -1:
                row = int(solution.index(step.before))
                children = solution.graph.child[row]
                total += solution.values[children[step.move]] - solution.values[children].mean(0)
        np.testing.assert_allclose(result.luck, total, atol=1e-4)
    match = arena.match(PIG, players, num_games=20, seed=4, control=control)
    assert match.players[0].adjusted is not None
    assert match.players[0].adjusted.factor > 1


class _Rolls:
    """Rolls three times, then holds."""

    def reset(self) -> None:
        self.rolls = 0

    def choose(self, game: Any, state: Any, rng: np.random.Generator) -> int:
        self.rolls = 0 if state.total == 0 else self.rolls + 1
        return 1 if state.total > 0 and self.rolls % 3 == 2 else 0


def test_a_cut_game_keeps_its_luck():
    game = Coin(heads=0.25, max_steps=3)
    players = [Player("random", Policy(Uniform(game)))] * 2
    control = Control("coin", _Heads(game), (), at_decisions=True)
    played = arena.play(game, players, np.array([[0, 1]]), num_games=512, seed=1, control=control)
    assert played.luck is not None
    # Heads is worth 1 and another toss 0: the luck is 0.75 of heads, and −0.25 of every tails.
    wanted = np.where(played.cut, -0.75, 0.0)
    for tosses in range(3):
        wanted = np.where(
            ~played.cut & np.isclose(played.luck[:, 0], 0.75 - 0.25 * tosses), 0.75 - 0.25 * tosses, wanted
        )
    np.testing.assert_allclose(played.luck[:, 0], wanted, atol=1e-6)
    assert {round(float(x), 2) for x in played.luck[:, 0]} == {0.75, 0.5, 0.25, -0.75}


@dataclasses.dataclass(frozen=True)
class _Heads:
    game: Any

    def __call__(self, params: Any, state: Any, player: Any) -> Any:
        return jnp.zeros(2)


@pytest.mark.parametrize(
    ("game", "text", "says"),
    [
        (TicTacToe(), "exact", "tic_tac_toe leaves nothing to dice, so that there is no luck to take out"),
        (PIG, "exat", "control='exat' is neither a run nor a value of pig (did you mean 'exact'?)"),
        (Ludo(), "bets", "expected a run directory, a file of launch.export or one of exact, best"),
        (Fixed((1.0, 0.0)), "exact", "fixed leaves nothing to dice"),
    ],
)
def test_mistakes_are_one_sentence(game, text, says):
    with pytest.raises(UserError, match=re.escape(says)):
        luck.make(text, game)


def test_chance_too_large_to_enumerate_is_refused(monkeypatch):
    monkeypatch.setattr(luck, "MOST_OUTCOMES", 5)
    with pytest.raises(UserError, match="pig has 6 outcomes of a chance node, too many to enumerate"):
        luck.make("exact", PIG)
