"""Tournaments: fair seats, everybody meets everybody, ratings in the right order."""

from __future__ import annotations

import numpy as np
import pytest
from arena_bots import Careful
from tiny_games import Coin, Fixed

from boardrl.errors import UserError
from boardrl.matches import intervals
from boardrl.matches.records import Played
from boardrl.play.players import Bot, Player, make_lineup
from boardrl.play.policy import Policy, Uniform
from boardrl.tournaments import ratings, tournament
from games.pig import Pig
from games.tic_tac_toe import TicTacToe


def even(game, names):
    return [Player(name, Policy(Uniform(game))) for name in names]


@pytest.mark.parametrize(
    ("gets", "names"), [((1.0, 0.0), "ab"), ((2.0, 1.0, 0.0), "abcdefg"), ((2.0, 0.0, 0.0, 1.0), "abc")]
)
def test_seats_that_decide_everything_leave_all_players_equal(gets, names):
    game = Fixed(gets)  # seat 0 wins
    result = tournament.play(game, even(game, names), games=12, seed=0)
    assert [player.rating for player in result.players] == pytest.approx([1500] * len(names), abs=1e-6)
    assert len({player.points for player in result.players}) == 1
    assert all(player.games >= 12 for player in result.players)


def test_a_shared_best_return_is_a_draw():
    game = Fixed((1.0, 1.0))
    (pair,) = tournament.play(game, even(game, "ab"), games=4, seed=0).pairs
    assert (pair.draws, pair.score, pair.win_rate) == (4, 0.5, 0.0)


def test_cut_games_are_counted():
    game = Coin(heads=0.0, max_steps=7)
    found = tournament.play(game, even(game, "ab"), games=10, seed=0)
    assert found.cut == 10
    assert [player.cut for player in found.players] == [10, 10]


def test_tic_tac_toe_is_ranked():
    game = TicTacToe()
    heard = []

    class Bar:
        def update(self, done, note=""):
            heard.append(done)

        def restart(self, done):
            raise AssertionError("nothing was there before")

        def rest(self, first):
            assert first == 0
            return self

    lineup = make_lineup("random,perfect,greedy", game)
    result = tournament.play(game, lineup, games=400, seed=1, bar=Bar())
    assert heard[-1] == result.num_games == 600
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
    assert perfect.points == pytest.approx(2 * perfect.score - 1)  # a win is 1 point, a loss -1
    assert [player.games for player in result.players] == [400, 400, 400]
    assert sum(player.rating for player in result.players) == pytest.approx(3 * ratings.MEAN)


def test_host_players_and_policies_play_one_tournament():
    game = Pig(players=3, target=10)
    lineup = [
        *make_lineup("random,hold(total=6),hold(total=2)", game),
        Player("careful", host=Bot(Careful, {"total": 6})),
    ]
    result = tournament.play(game, lineup, games=18, seed=3, processes=1)
    assert [player.games for player in result.players] == [18] * 4
    assert result.num_games == 24
    assert {pair.games for pair in result.pairs} == {12}
    total = sum(player.points * player.games for player in result.players)
    assert total == pytest.approx(0, abs=1e-4)  # what one wins the others lose
    assert tournament.play(game, lineup, games=18, seed=3, processes=1) == result
    assert tournament.play(game, lineup, games=18, seed=4, processes=1) != result


def played(seating, returns):
    count = len(seating)
    return Played(
        np.array(returns, np.float32),
        np.array(seating),
        np.zeros(count, bool),
        np.arange(count, dtype=np.uint64),
        np.ones(count, int),
    )


def test_who_has_not_met_the_others_has_no_rating():
    players = even(Fixed((1.0, 0.0)), "abcdef")
    result = tournament.rank(players, played([[0, 1], [1, 2], [3, 4]], [[1, 0], [1, 0], [1, 0]]))
    rated = [np.isfinite(player.low) for player in result.players]
    assert rated == [True, True, True, False, False, False]
    assert [player.games for player in result.players] == [1, 2, 1, 1, 1, 0]
    assert sum(player.rating for player in result.players[:3]) == pytest.approx(4500)
    assert tournament.rank(players, None).num_games == 0


def test_of_several_seats_of_a_player_the_best_counts():
    result = tournament.rank(even(Fixed((1.0, 0.0)), "ab"), played([[0, 1, 0, 1]] * 2, [[3, 2, 0, 1], [1, 3, 2, 0]]))
    (pair,) = result.pairs
    assert (pair.wins, pair.losses) == (1, 1)
    assert [player.points for player in result.players] == [1.5, 1.5]


def test_one_player_is_too_few():
    game = TicTacToe()
    with pytest.raises(UserError, match="a tournament needs at least 2 players, but 1 were given"):
        tournament.play(game, make_lineup("random", game), games=10, seed=0)
    with pytest.raises(UserError, match="games=0 is too few for a tournament"):
        tournament.play(game, make_lineup("random,random", game), games=0, seed=0)
