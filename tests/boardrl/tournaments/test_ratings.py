"""Ratings with known answers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from boardrl.tournaments import ratings
from boardrl.tournaments.finishing_orders import Finishes
from boardrl.tournaments.ratings import Rating


def rate(wins, draws):
    return ratings.rate(Finishes.of_pairs(wins, draws))


def test_64_percent_is_100_points():
    no_draws = np.zeros((2, 2))
    first, second = rate(np.array([[0, 6400], [3600, 0]]), no_draws)
    gap = 400 * math.log10(6400.5 / 3600.5)  # half a win each way is added
    assert first.rating - second.rating == pytest.approx(gap, abs=1e-6)
    assert gap == pytest.approx(99.95, abs=0.02)
    assert first.rating + second.rating == pytest.approx(3000)
    # The gap of two ratings has the standard error 400 / ln 10 / √(n p q), each rating half of it.
    reach = 1.96 * 400 / math.log(10) / math.sqrt(10_000 * 0.64 * 0.36) / 2
    for player in (first, second):
        assert player.high - player.rating == pytest.approx(reach, rel=0.15)
        assert player.rating - player.low == pytest.approx(reach, rel=0.15)


def test_draws_are_half_wins_but_surer():
    with_draws = rate(np.array([[0, 2800], [0, 0]]), np.array([[0, 7200], [7200, 0]]))
    without = rate(np.array([[0, 6400], [3600, 0]]), np.zeros((2, 2)))
    assert with_draws[0].rating == pytest.approx(without[0].rating, abs=1e-6)
    assert with_draws[0].high - with_draws[0].low < 0.7 * (without[0].high - without[0].low)


def test_three_players_in_line():
    # Odds of 4 from one to the next, and of 16 over both: one set of ratings explains all.
    wins = np.array([[0, 8000, 9600 / 1.02], [2000, 0, 8000], [600 / 1.02, 2000, 0]])
    top, middle, low = rate(wins, np.zeros((3, 3)))
    step = 400 * math.log10(4)
    assert top.rating - middle.rating == pytest.approx(step, abs=0.5)
    assert middle.rating - low.rating == pytest.approx(step, abs=0.5)
    assert top.rating + middle.rating + low.rating == pytest.approx(4500)


def test_undefeated_stays_finite():
    best, worst = rate(np.array([[0, 100], [0, 0]]), np.zeros((2, 2)))
    assert best.rating - worst.rating == pytest.approx(400 * math.log10(100.5 / 0.5), abs=1e-6)
    assert best.low < best.rating < best.high < 4000


def test_many_strong_and_weak_players_are_not_drawn_together():
    """Half a win each way for every pair would give a gap of 2,457 between the ends, not 2,672."""
    step = 400 * math.log10(9)
    true = 1500 + step * np.arange(3.5, -4, -1)
    expected = 1 / (1 + 10 ** ((true[None, :] - true[:, None]) / 400))
    rated = rate(200 * (expected - np.eye(8) / 2), np.zeros((8, 8)))
    assert rated[0].rating - rated[7].rating == pytest.approx(7 * step, abs=25)
    assert all(player.low < one < player.high for player, one in zip(rated, true, strict=True))


def test_interval_ends_are_where_the_likelihood_has_fallen_by_the_quantile():
    # Two players, 30 : 10 and half a win each way: 2 (l(θ̂) - l(θ)) = 1.96², l(θ) = 30.5 ln p + 10.5 ln (1 - p).
    first, second = rate(np.array([[0, 30], [10, 0]]), np.zeros((2, 2)))

    def likelihood(gap):
        share = 1 / (1 + 10 ** (-gap / 400))
        return 30.5 * math.log(share) + 10.5 * math.log(1 - share)

    top = likelihood(first.rating - second.rating)
    for end in (first.low, first.high):
        assert 2 * (top - likelihood(2 * (end - 1500))) == pytest.approx(1.959964**2, rel=1e-3)
    assert first.high - first.rating > first.rating - first.low  # towards a certain win it is less sure


@pytest.mark.parametrize("games", [1, 1000, 1_000_000])
def test_everybody_wins_all_games_against_the_weaker(games):
    wins = np.triu(np.full((5, 5), float(games)), 1)
    rated = rate(wins, np.zeros((5, 5)))
    values = [player.rating for player in rated]
    assert values == sorted(values, reverse=True)
    assert all(math.isfinite(end) for player in rated for end in player)
    assert all(player.low < player.rating < player.high for player in rated)


def test_all_drawn_and_a_single_game():
    for player in rate(np.zeros((2, 2)), np.array([[0, 10], [10, 0]])):
        assert player.rating == pytest.approx(1500)
        assert 10 < player.high - player.rating < 100
    winner, loser = rate(np.array([[0, 1], [0, 0]]), np.zeros((2, 2)))
    assert winner.rating - loser.rating == pytest.approx(400 * math.log10(3), abs=1e-4)  # 1.5 : 0.5
    assert isinstance(winner, Rating)
