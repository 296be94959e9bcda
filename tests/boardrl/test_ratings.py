"""Ratings with known answers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from boardrl.ratings import Rating, rate


def test_64_percent_is_100_points():
    no_draws = np.zeros((2, 2))
    first, second = rate(np.array([[0, 6400], [3600, 0]]), no_draws, seed=0)
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
    with_draws = rate(np.array([[0, 2800], [0, 0]]), np.array([[0, 7200], [7200, 0]]), seed=0)
    without = rate(np.array([[0, 6400], [3600, 0]]), np.zeros((2, 2)), seed=0)
    assert with_draws[0].rating == pytest.approx(without[0].rating, abs=1e-6)
    assert with_draws[0].high - with_draws[0].low < 0.7 * (without[0].high - without[0].low)


def test_three_players_in_line():
    # Odds of 4 from one to the next, and of 16 over both: one set of ratings explains all.
    wins = np.array([[0, 8000, 9600 / 1.02], [2000, 0, 8000], [600 / 1.02, 2000, 0]])
    top, middle, low = rate(wins, np.zeros((3, 3)), seed=1)
    step = 400 * math.log10(4)
    assert top.rating - middle.rating == pytest.approx(step, abs=0.5)
    assert middle.rating - low.rating == pytest.approx(step, abs=0.5)
    assert top.rating + middle.rating + low.rating == pytest.approx(4500)


def test_undefeated_stays_finite():
    best, worst = rate(np.array([[0, 100], [0, 0]]), np.zeros((2, 2)), seed=0)
    assert best.rating - worst.rating == pytest.approx(400 * math.log10(100.5 / 0.5), abs=1e-6)
    assert best.low < best.rating < best.high < 4000


def test_intervals_cover_the_truth():
    strengths = np.array([200.0, 0.0, -200.0])
    odds = 1 / (1 + 10 ** ((strengths[None, :] - strengths[:, None]) / 400))
    covered, num_sets = 0, 15
    rng = np.random.default_rng(0)
    for seed in range(num_sets):
        won = np.triu(rng.binomial(100, odds), 1)
        wins = won + np.tril(100 - won.T, -1)
        rated = rate(wins, np.zeros((3, 3)), seed=seed)
        covered += sum(r.low <= 1500 + s <= r.high for r, s in zip(rated, strengths, strict=True))
    assert 0.84 <= covered / (3 * num_sets) < 1


def test_same_seed_same_intervals():
    wins, draws = np.array([[0, 5], [3, 0]]), np.array([[0, 2], [2, 0]])
    assert rate(wins, draws, seed=1) == rate(wins, draws, seed=1)
    assert rate(wins, draws, seed=1) != rate(wins, draws, seed=2)
    assert isinstance(rate(wins, draws, seed=1)[0], Rating)
