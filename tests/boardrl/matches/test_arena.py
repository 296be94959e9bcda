"""Matches: exact counts in games whose results are known, exact probabilities in random play."""

from __future__ import annotations

import dataclasses
import functools
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tiny_games import Coin, Fixed

from boardrl.errors import UserError
from boardrl.matches import arena, intervals
from boardrl.play import rollout
from boardrl.play.players import Player, make_lineup
from boardrl.play.policy import Policy, Uniform
from boardrl.system import machine
from games.pig import Pig
from games.tic_tac_toe import TicTacToe

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


@functools.cache
def random_result(board: tuple[int, ...] = (0,) * 9, turn: int = 1) -> np.ndarray:
    """(first wins, draw, second wins): exact probabilities of random tic-tac-toe, by plain enumeration."""
    for mark, result in ((1, (1, 0, 0)), (2, (0, 0, 1))):
        if any(all(board[cell] == mark for cell in line) for line in LINES):
            return np.array(result, float)
    free = [cell for cell in range(9) if board[cell] == 0]
    if not free:
        return np.array([0.0, 1.0, 0.0])
    after = [random_result((*board[:cell], turn, *board[cell + 1 :]), 3 - turn) for cell in free]
    return np.mean(after, axis=0)


def randoms(game):
    return [Player("random", Policy(Uniform(game))) for _ in range(game.spec.num_players)]


def test_random_tic_tac_toe_has_its_exact_probabilities():
    game = TicTacToe()
    match = arena.match(game, randoms(game), num_games=20_000, seed=1)
    first, draw, second = random_result()
    assert (round(first, 4), round(draw, 4)) == (0.5849, 0.1270)
    for exact, count in [
        (first, sum(score.seats[0].wins for score in match.players)),
        (second, sum(score.seats[1].wins for score in match.players)),
        (draw, match.players[0].draws),
    ]:
        low, high = intervals.wilson(count, match.num_games, confidence=0.999)
        assert low < exact < high
    for score in match.players:  # the first seat wins twice as often, but equal players win equally often
        low, high = intervals.wilson(score.wins, score.games, confidence=0.999)
        assert low < (first + second) / 2 < high


def test_short_games_are_not_favoured():
    # To take the first 1500 games that end would give seat 0 nearly all of them.
    game = Coin(heads=0.5, delay=60)
    match = arena.match(game, randoms(game), num_games=1500, seed=1)
    wins = sum(score.seats[0].wins for score in match.players)
    low, high = intervals.wilson(wins, 1500, confidence=0.999)
    assert low < 0.5 < high


def test_places_points_and_seats_are_counted():
    game = Fixed((2.0, 1.0, 1.0, 0.0))
    match = arena.match(game, randoms(game), num_games=40, seed=0)
    assert match.cut == 0
    for score in match.players:
        assert (score.games, score.wins, score.draws, score.losses) == (40, 10, 0, 30)
        assert score.places == (10, 20, 0, 10)  # the two in the middle share place 2
        assert score.points == 1.0
        assert [seat.games for seat in score.seats] == [10, 10, 10, 10]
        assert [seat.win_rate for seat in score.seats] == [1.0, 0.0, 0.0, 0.0]
        # Nothing is left to chance: the same game ten times for each of four seatings.
        assert (score.low, score.high) == intervals.wilson(1, 4)
        assert (score.seats[1].low, score.seats[1].high) == intervals.wilson(0, 1)


def test_a_shared_best_is_a_draw():
    game = Fixed((1.0, 1.0, 0.0))
    for score in arena.match(game, randoms(game), num_games=9, seed=0).players:
        assert (score.wins, score.draws, score.losses, score.places) == (0, 6, 3, (6, 0, 3))


@pytest.mark.parametrize("num_games", [2, 41, 3001])
def test_odd_games_are_spread_over_the_seats(num_games):
    game = Fixed((2.0, 1.0, 1.0, 0.0))
    match = arena.match(game, randoms(game), num_games=num_games, seed=0)
    assert sum(score.wins for score in match.players) == num_games
    for score in match.players:
        assert score.games == num_games
        counts = [seat.games for seat in score.seats]
        assert sum(counts) == num_games
        assert max(counts) - min(counts) <= 1


def test_sums_agree():
    game = Pig(players=3, target=10)
    match = arena.match(game, make_lineup("hold,random,hold(total=5)", game), num_games=1001, seed=3)
    assert sum(score.points for score in match.players) == pytest.approx(0, abs=1e-6)
    assert sum(score.wins for score in match.players) == 1001  # pig has one winner
    for score in match.players:
        assert sum(score.places) == score.wins + score.draws + score.losses == score.games == 1001
        assert sum(seat.wins for seat in score.seats) == score.wins
        assert score.points == pytest.approx((score.wins - score.losses / 2) / 1001, abs=1e-6)


def test_order_skill_and_seed():
    game = Pig(target=30)
    lineup = make_lineup("random,hold", game)
    match = arena.match(game, lineup, num_games=1000, seed=4)
    assert [score.name for score in match.players] == ["random", "hold"]
    assert match.players[1].low > 0.75
    assert all(seat.low > 0.7 for seat in match.players[1].seats)
    assert match == arena.match(game, lineup, num_games=1000, seed=4)
    assert match != arena.match(game, lineup, num_games=1000, seed=5)


def test_games_without_end_are_cut_and_counted():
    game = Coin(heads=0.0, max_steps=7)
    match = arena.match(game, randoms(game), num_games=10, seed=0)
    assert match.cut == 10
    for score in match.players:  # nobody was ahead when they were cut
        assert (score.wins, score.draws, score.losses, score.win_rate, score.places) == (0, 10, 0, 0.0, (10, 0))
        assert [(seat.games, seat.wins) for seat in score.seats] == [(5, 0), (5, 0)]


@dataclasses.dataclass(frozen=True)
class Leaning:
    """Logits from parameters; counts how often it is built into compiled code."""

    built: ClassVar[list[str]] = []
    name: str

    def __call__(self, params, state):
        self.built.append(self.name)
        return params


def test_new_parameters_compile_nothing_and_copies_are_evaluated_once():
    game = Pig(players=4, target=10)

    def lineup(lean):
        rolling = [Player("b", Policy(Leaning("b"), jnp.array([lean, 0.0]))) for _ in range(3)]
        return [Player("a", Policy(Leaning("a"), jnp.array([0.0, lean]))), *rolling]

    Leaning.built.clear()
    arena.match(game, lineup(2.0), num_games=64, seed=0)
    assert sorted(set(Leaning.built)) == ["a", "b"]
    assert Leaning.built.count("a") == Leaning.built.count("b")  # not three times as often
    built, compiled = len(Leaning.built), rollout.play._cache_size()
    arena.match(game, lineup(-3.0), num_games=64, seed=1)
    arena.match(game, lineup(1.0), num_games=60, seed=1)  # a little fewer games: the same number of lanes
    assert (len(Leaning.built), rollout.play._cache_size()) == (built, compiled)


def test_an_opening_at_random_makes_games_differ_and_then_the_players_decide():
    game = TicTacToe()
    lineup = make_lineup("perfect,perfect", game)

    def decided(opening):
        return 1 - arena.match(game, lineup, num_games=512, seed=1, opening=opening).players[0].draws / 512

    assert decided(0) == 0.0
    assert abs(decided(2) - 48 / 72) < 0.07  # of the 72 openings of two moves 48 are lost for one side
    assert abs(decided(9) - (1 - random_result()[1])) < 0.05  # nothing is left to decide


def test_the_bar_hears_of_every_game():
    class Bar:
        heard: ClassVar[list[int]] = []

        def update(self, done, note=""):
            self.heard.append(done)

        def restart(self, done):
            raise AssertionError("nothing was there before")

    game = Fixed((2.0, 1.0, 1.0, 0.0))
    arena.match(game, randoms(game), num_games=3001, seed=0, bar=Bar())
    assert Bar.heard[-1] == 3001
    assert Bar.heard == sorted(Bar.heard)


@pytest.mark.parametrize(
    ("players", "games", "seed", "message"),
    [
        (3, 10, 0, r"fixed is played by 2, but 3 players were given"),
        (2, 0, 0, r"games=0 .* at least 1"),
        (2, 10, -1, r"seed=-1 .* 0 to 4294967295"),
        (2, 10, 2**32, r"seed=4294967296 .* 0 to 4294967295"),
    ],
)
def test_mistakes(players, games, seed, message):
    game = Fixed((1.0, 0.0))
    player = Player("random", Policy(Uniform(game)))
    with pytest.raises(UserError, match=message):
        arena.match(game, [player] * players, num_games=games, seed=seed)


def test_every_call_on_the_device_has_dice_of_its_own(monkeypatch):
    game, keys = Pig(target=60), []
    play = rollout.play

    def watched(game, policies, seats, lanes, key, **more):
        keys.append(tuple(jax.random.key_data(key).tolist()))
        return play(game, policies, seats, lanes, key, **more)

    monkeypatch.setattr(rollout, "play", watched)
    monkeypatch.setattr(machine, "require_for", lambda *_, **more: None)  # which would compile it
    for seed in (0, 1):
        arena.match(game, make_lineup("hold,random", game), num_games=4, seed=seed)
    assert len(keys) > 4
    assert len(set(keys)) == len(keys)
