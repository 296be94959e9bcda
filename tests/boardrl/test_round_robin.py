"""Round robins: fair seats, every pair, ratings in the right order."""

from __future__ import annotations

import itertools

import pytest
from tiny_games import Coin, Fixed

from boardrl import arena, intervals, ratings, round_robin
from boardrl.errors import UserError
from boardrl.players import Player, make_lineup
from boardrl.policy import Policy, Uniform
from games.tic_tac_toe import TicTacToe


@pytest.mark.parametrize("gets", [(1.0, 0.0), (2.0, 1.0, 0.0), (2.0, 0.0, 0.0, 1.0)])
def test_both_sit_alike(gets):
    game = Fixed(gets)  # seat 0 wins
    first, second = (Player(name, Policy(Uniform(game))) for name in "ab")
    result = round_robin.play(game, [first, second], num_games=10, seed=0)
    (pair,) = result.pairs
    assert (pair.games, pair.wins, pair.draws, pair.losses, pair.score) == (10, 5, 0, 5, 0.5)
    assert [player.rating for player in result.players] == pytest.approx([1500, 1500])


def test_a_shared_best_return_is_a_draw():
    game = Fixed((1.0, 1.0, 0.0))
    result = round_robin.play(game, [Player(name, Policy(Uniform(game))) for name in "ab"], num_games=4, seed=0)
    assert (result.pairs[0].draws, result.pairs[0].score) == (4, 0.5)


def test_cut_games_are_counted():
    game = Coin(heads=0.0, max_steps=7)
    players = [Player("random", Policy(Uniform(game))) for _ in range(2)]
    pair = round_robin.play(game, players, num_games=10, seed=0).pairs[0]
    assert (pair.cut, pair.wins, pair.draws, pair.losses, pair.win_rate, pair.score) == (10, 0, 10, 0, 0.0, 0.5)


def test_tic_tac_toe_is_ranked():
    game = TicTacToe()
    heard = []

    class Bar:
        def update(self, done, note=""):
            heard.append(done)

        def restart(self, done):
            raise AssertionError("nothing was there before")

    lineup = make_lineup("random,perfect,greedy", game)
    result = round_robin.play(game, lineup, num_games=200, seed=1, bar=Bar())
    assert heard[-1] == 600
    assert heard == sorted(heard)
    assert [(pair.first, pair.second) for pair in result.pairs] == [(0, 1), (0, 2), (1, 2)]
    for pair in result.pairs:
        assert pair.wins + pair.draws + pair.losses == pair.games == 200
        assert (pair.low, pair.high) == intervals.wilson(pair.wins, 200)
        assert pair.score == (pair.wins + pair.draws / 2) / 200
    assert result.pairs[0].wins == 0  # nobody beats perfect play
    random, perfect, greedy = result.players
    assert perfect.low > greedy.high
    assert greedy.low > random.high
    assert perfect.score == pytest.approx((1 - result.pairs[0].score + result.pairs[2].score) / 2)
    assert [player.games for player in result.players] == [400, 400, 400]
    assert sum(player.rating for player in result.players) == pytest.approx(3 * ratings.MEAN)
    # The first pair alone gives the same games again: they depend on the seed and the pair.
    assert round_robin.play(game, lineup[:2], num_games=200, seed=1).pairs[0] == result.pairs[0]


def test_every_pair_has_its_own_dice(monkeypatch):
    played, play = [], arena.play
    monkeypatch.setattr(arena, "play", lambda *args, **more: played.append(more["seed"]) or play(*args, **more))
    game = Fixed((1.0, 0.0))
    round_robin.play(game, [Player(name, Policy(Uniform(game))) for name in "abc"], num_games=2, seed=5)
    assert played == [round_robin._seed(5, *pair) for pair in ((0, 1), (0, 2), (1, 2))]
    seeds = {round_robin._seed(5, *pair) for pair in itertools.combinations(range(6), 2)}
    assert len(seeds) == 15
    assert round_robin._seed(6, 0, 1) not in seeds


def test_one_player_is_too_few():
    game = TicTacToe()
    with pytest.raises(UserError, match="a round robin needs at least 2 players, but 1 were given"):
        round_robin.play(game, make_lineup("random", game), num_games=10, seed=0)
