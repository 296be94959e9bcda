"""Exact values against independent solutions in plain Python."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tiny_games import Coin

from boardrl.errors import UserError
from boardrl.exact import solve
from boardrl.matches import arena
from boardrl.play.players import make_lineup
from games.pig import Pig
from games.tic_tac_toe import TicTacToe


def test_tic_tac_toe_is_a_draw():
    game = TicTacToe()
    solution = solve.solve(game)
    assert solution.num_states == 5478
    assert solution.values[0].tolist() == [0.0, 0.0]
    assert solution.optimal[0].all()  # every first move draws
    assert (solution.values.sum(axis=1) == 0).all()
    won = game.from_text("XX. .OO ... 0")
    assert solution.values[solution.index(won)].tolist() == [1.0, -1.0]
    assert jax.tree.leaves(solution.states())[0].shape == (5478, 9)


def test_perfect_play_never_loses():
    game = TicTacToe()
    assert arena.match(game, make_lineup("perfect,perfect", game), num_games=500, seed=0).players[0].draws == 500
    perfect, random = arena.match(game, make_lineup("perfect,random", game), num_games=1000, seed=1).players
    assert perfect.losses == random.wins == 0
    assert perfect.win_rate > 0.8


def pig_values(players: int, target: int) -> dict[tuple, np.ndarray]:
    """[P] values of all (scores, total, turn) in which a player decides, by sweeps in plain Python."""
    lost = -1 / (players - 1)
    nodes = [
        (scores, total, turn)
        for scores in itertools.product(range(target), repeat=players)
        for turn in range(players)
        for total in range(target - scores[turn] + 1)
    ]
    nodes.reverse()  # high scores first: what follows is mostly known
    values = {node: np.zeros(players) for node in nodes}

    def held(scores, total, turn):
        scores = (*scores[:turn], scores[turn] + total, *scores[turn + 1 :])
        if scores[turn] >= target:
            return np.where(np.arange(players) == turn, 1.0, lost)
        return values[scores, 0, (turn + 1) % players]

    def rolled(scores, total, turn):
        faces = [values[scores, min(total + face, target - scores[turn]), turn] for face in range(2, 7)]
        return (values[scores, 0, (turn + 1) % players] + sum(faces)) / 6

    while True:
        moved = 0.0
        for node in nodes:
            new = rolled(*node)
            if node[1] > 0:
                new = max(new, held(*node), key=lambda value: value[node[2]])
            moved = max(moved, np.abs(new - values[node]).max())
            values[node] = new
        if moved < 1e-10:
            return values


@pytest.mark.parametrize(("players", "target"), [(2, 11), (3, 5)])
def test_pig_agrees_with_plain_value_iteration(players, target):
    game = Pig(players=players, target=target)
    solution = solve.solve(game)
    states = solution.states()
    expected = pig_values(players, target)
    deciding = (~states.rolling & (states.scores < target).all(axis=1)).nonzero()[0]
    assert len(deciding) > 100
    for row in deciding:
        node = (tuple(states.scores[row].tolist()), int(states.total[row]), int(states.turn[row]))
        assert solution.values[row] == pytest.approx(expected[node], abs=1e-6)
    assert solution.values[0] == pytest.approx(expected[(0,) * players, 0, 0], abs=1e-6)
    assert solution.values.sum(axis=1) == pytest.approx(np.zeros(solution.num_states), abs=1e-9)


def test_best_pig_beats_random():
    game = Pig(players=3, target=10)
    perfect, *others = arena.match(game, make_lineup("perfect,random,random", game), num_games=3000, seed=0).players
    assert perfect.low > 0.4 > max(other.high for other in others)
    solution = solve.solve(game)
    assert solution.values[0, 0] > solution.values[0, 1] > solution.values[0, 2]  # to begin is an advantage


def test_cycles_are_followed_to_their_end():
    solution = solve.solve(Coin(heads=0.25))  # tails: the same toss again
    assert solution.values[0] == pytest.approx([1.0, -1.0], abs=1e-11)
    solution = solve.solve(Coin(heads=0.25, delay=4))
    assert solution.values[0] == pytest.approx([-0.5, 0.5], abs=1e-12)
    assert solve.solve(Coin(heads=0.0)).values[0].tolist() == [0.0, 0.0]  # for ever: scored as it stands


def test_what_does_not_settle_is_refused():
    with pytest.raises(UserError, match="the values of coin:heads=1e-06 do not converge within 10,000 sweeps"):
        solve.solve(Coin(heads=1e-6))


def test_off_the_solved_path_any_legal_action_will_do():
    game = TicTacToe()
    policy = solve.perfect(game)
    foreign = game.init()._replace(turn=jnp.int32(1))  # seat 0 always begins
    assert solve.solve(game).index(foreign) == -1
    assert not np.isfinite(policy.apply(policy.params, foreign)).any()


def test_solutions_are_kept():
    assert solve.perfect(TicTacToe()) is solve.perfect(TicTacToe())
