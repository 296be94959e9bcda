"""Which games are observations of their own: by hand, and in matches whose repeats are known."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
from arena_bots import Careful
from tiny_games import Fixed

from boardrl.matches import arena, distinct_games, host_match, intervals
from boardrl.play.players import Bot, Player, make_lineup
from boardrl.play.policy import Policy, Uniform
from boardrl.tournaments import ratings, tournament
from boardrl.tournaments.finishing_orders import Finishes
from games.pig import Pig
from games.tic_tac_toe import TicTacToe

GAME = TicTacToe()
SEATS = np.array([0, 1, 0, 1])  # which of two seatings


def copies(seating, moves, drawn, asked):
    course = distinct_games.courses(seating, np.array(moves, np.uint64))
    return distinct_games.copies(seating, course, np.array(drawn, bool), np.array(asked, bool)).tolist()


@pytest.mark.parametrize(
    ("moves", "drawn", "asked", "expected"),
    [
        ([7, 8, 7, 8], [0, 0, 0, 0], [0, 0, 0, 0], [2, 2, 2, 2]),  # one game of each seating
        ([7, 7, 7, 7], [0, 0, 0, 0], [0, 0, 0, 0], [2, 2, 2, 2]),  # who sits where is part of a game
        ([7, 8, 9, 8], [0, 0, 0, 0], [0, 0, 0, 0], [1, 2, 1, 2]),  # as with a limit of time
        ([7, 8, 7, 8], [1, 1, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1]),  # equal by chance
        ([7, 8, 7, 8], [1, 0, 1, 0], [0, 0, 0, 0], [1, 2, 1, 2]),
        ([7, 8, 7, 8], [0, 0, 0, 0], [1, 1, 1, 1], [2, 2, 2, 2]),  # random numbers of no effect
        ([7, 8, 9, 8], [0, 0, 0, 0], [1, 1, 1, 1], [1, 2, 1, 2]),
    ],
)
def test_games_that_are_one_observation(moves, drawn, asked, expected):
    assert copies(SEATS, moves, drawn, asked) == expected


def test_random_numbers_count_where_games_differ():
    moves, same = [7, 7, 9, 7, 7, 7], np.zeros(6, int)
    assert copies(same, moves, [0] * 6, [1] * 6) == [1] * 6
    assert copies(same, moves, [0] * 6, [0] * 6) == [5, 5, 1, 5, 5, 5]


def test_effective_number_is_that_of_kish():
    assert distinct_games.effective(np.ones(50, int)) == 50
    assert distinct_games.effective(np.full(50, 50)) == 1
    assert distinct_games.effective(np.full(100, 50)) == 2
    # 50 single games, and 50 copies of one: 100² / (50 · 1² + 50²)
    assert distinct_games.effective(np.array([1] * 50 + [50] * 50)) == pytest.approx(10_000 / 2_550)
    assert distinct_games.effective(np.array([], int)) == 0


class First:
    """Takes the first free cell, and as many random numbers as it is told to."""

    def __init__(self, numbers: int = 0) -> None:
        self.numbers = numbers

    def reset(self) -> None:
        pass

    def choose(self, game, state, rng):
        rng.random(self.numbers)
        return int(np.flatnonzero(state.board == 0)[0])


@pytest.mark.parametrize("numbers", [0, 3])
def test_two_host_players_who_leave_nothing_to_chance_play_two_games(numbers):
    lineup = [Player("a", host=First(numbers)), Player("b", host=First())]
    match = arena.match(GAME, lineup, num_games=30, seed=0)
    assert (match.num_games, match.distinct, match.observations) == (30, 2, 2.0)
    for score in match.players:
        assert (score.games, score.wins, score.win_rate) == (30, 15, 0.5)  # whoever begins wins
        assert (score.low, score.high) == intervals.wilson(1, 2)
        assert (score.seats[0].low, score.seats[0].high) == intervals.wilson(1, 1)


def first_free(params, state):
    """A policy that does as First."""
    return jnp.where(jnp.arange(9) == jnp.argmax(state.board == 0), 0.0, -jnp.inf)


def test_two_policies_who_leave_nothing_to_chance_play_two_games():
    sure = [Player(name, Policy(first_free)) for name in "ab"]
    match = arena.match(GAME, sure, num_games=101, seed=0)
    assert match.distinct == 2
    assert match.observations == pytest.approx(101**2 / (51**2 + 50**2))
    host = [Player(name, host=First()) for name in "ab"]
    for one, other in zip(match.players, arena.match(GAME, host, num_games=101, seed=0).players, strict=True):
        assert one == other
    opened = arena.match(GAME, sure, num_games=100, seed=0, opening=1)
    assert opened.observations == 100
    assert opened.distinct <= 18
    assert (opened.players[0].low, opened.players[0].high) == intervals.wilson(opened.players[0].wins, 100)


def test_chance_repeats_games_and_takes_nothing_from_the_interval():
    for names in ("random,random", "random,perfect"):
        match = arena.match(GAME, make_lineup(names, GAME), num_games=2000, seed=1)
        assert match.distinct < match.observations == 2000
        assert (match.players[0].low, match.players[0].high) == intervals.wilson(match.players[0].wins, 2000)
    pig = Pig(target=20)
    assert arena.match(pig, make_lineup("hold,hold", pig), num_games=100, seed=0).observations == 100


def test_hashes_of_host_games_are_those_of_their_moves():
    """The same moves give the same hash, whoever makes them; other moves another."""
    lineup = make_lineup("random,random", GAME)
    by_moves: dict[tuple[int, ...], set[int]] = {}
    for index in range(40):
        steps: list[host_match.Made] = []
        result = host_match.play_game(GAME, lineup, seed=1, index=index, watch=steps.append)
        by_moves.setdefault(tuple(step.move for step in steps), set()).add(result.moves)
        assert result.drawn
        assert not result.asked
    hashes = [hashed for found in by_moves.values() for hashed in found]
    assert len(hashes) == len(set(hashes)) == len(by_moves)
    careful = [Player("bot", host=Bot(Careful, {})), make_lineup("hold", Pig(target=20))[0]]
    assert host_match.play_game(Pig(target=20), careful, seed=0, index=0).drawn  # by the dice


def test_ratings_rest_on_the_same_observations():
    lineup = [Player(name, host=First()) for name in "ab"]
    result = tournament.play(GAME, lineup, games=40, seed=0)
    (pair,) = result.pairs
    assert (pair.games, result.distinct, pair.observations, result.observations) == (40, 2, 2.0, 2.0)
    assert (pair.low, pair.high) == intervals.wilson(1, 2)
    rated = ratings.rate(Finishes.of_pairs(np.array([[0.0, 1.0], [1.0, 0.0]]), np.zeros((2, 2))))
    for player, one in zip(result.players, rated, strict=True):
        assert (player.rating, player.low, player.high) == pytest.approx(one)
    fixed = Fixed((1.0, 0.0))
    players = [Player("random", Policy(Uniform(fixed))) for _ in range(2)]
    assert tournament.play(fixed, players, games=40, seed=0).pairs[0].observations == 2.0
