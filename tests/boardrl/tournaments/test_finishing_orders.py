"""Finishing orders as choices, by hand-counted sets; Plackett-Luce ratings with known answers."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from boardrl.tournaments import finishing_orders as finishes_
from boardrl.tournaments import ratings
from boardrl.tournaments.finishing_orders import Finishes


def of(num_players, seating, returns):
    return Finishes.of_returns(num_players, np.array(seating), np.array(returns, float), np.ones(len(seating)))


def counted(finishes):
    """{set of players: wins of each}"""
    choices = finishes.choices()
    return {
        tuple(row[row < finishes.num_players].tolist()): wins[row < finishes.num_players].tolist()
        for row, wins in zip(choices.entrants, choices.wins, strict=True)
    }


def test_an_order_is_one_choice_after_another():
    assert counted(of(4, [[2, 0, 3]], [[1, 5, 0]])) == {(0, 2, 3): [1, 0, 0], (2, 3): [1, 0]}


def test_nothing_is_known_of_those_who_share_the_last_place():
    assert counted(of(4, [[0, 1, 2, 3]], [[-1, 3, -1, -1]])) == {(0, 1, 2, 3): [0, 1, 0, 0]}


def test_a_draw_of_all_is_shared_by_all():
    assert counted(of(2, [[0, 1]], [[0, 0]])) == {(0, 1): [0.5, 0.5]}
    third, sixth = pytest.approx(1 / 3), pytest.approx(1 / 6)
    assert counted(of(3, [[0, 1, 2]], [[0, 0, 0]])) == {
        (0, 1, 2): [third] * 3,
        (0, 1): [sixth] * 2,
        (0, 2): [sixth] * 2,
        (1, 2): [sixth] * 2,
    }


def test_a_shared_place_is_the_mean_of_all_orders():
    # 0 and 1 before 2: half the time 0 is first and then 1 before 2.
    assert counted(of(3, [[0, 1, 2]], [[1, 1, 0]])) == {(0, 1, 2): [0.5, 0.5, 0], (1, 2): [0.5, 0], (0, 2): [0.5, 0]}


def test_a_player_against_itself_says_nothing():
    assert counted(of(2, [[0, 1, 0]], [[2, 3, 1]])) == {(0, 0, 1): [0, 0, 1]}


@pytest.mark.parametrize("base", [7, 2**40])
def test_equal_sets_are_added_up(base):
    rows = np.array([[3, 1], [0, 6], [3, 1], [0, 5]])
    found, number = finishes_._unique(rows, base)
    assert sorted(found.tolist()) == [[0, 5], [0, 6], [3, 1]]
    np.testing.assert_array_equal(found[number], rows)


@pytest.mark.parametrize("winner_only", [False, True])
def test_known_strengths_are_found(winner_only):
    """Three players of whom the first is best with odds of 4 : 2 : 1, in the exact frequencies of all orders."""
    odds, seating, returns, weights = np.array([4.0, 2.0, 1.0]), [], [], []
    for first, second, third in [(a, b, 3 - a - b) for a in range(3) for b in range(3) if a != b]:
        seating.append([first, second, third])
        returns.append([1, 0, 0] if winner_only else [2, 1, 0])
        weights.append(7e5 * odds[first] / 7 * odds[second] / (7 - odds[first]))
    finishes = Finishes.of_returns(3, np.array(seating), np.array(returns, float), np.array(weights))
    rated = ratings.rate(finishes)
    step = 400 * math.log10(2)
    assert rated[0].rating - rated[1].rating == pytest.approx(step, abs=0.01)
    assert rated[1].rating - rated[2].rating == pytest.approx(step, abs=0.01)


def test_the_prior_is_the_derivative_of_half_the_log_determinant():
    finishes = of(4, [[0, 1, 2], [1, 2, 3], [3, 0, 1], [2, 3, 0]], [[2, 1, 0], [1, 2, 0], [0, 1, 2], [1, 0, 2]])
    model = ratings._Model(finishes.choices(), 4)
    strengths = np.array([0.3, -0.1, 0.4, -0.6])

    def half_log_determinant(strengths):
        information = ratings._laplacian(model.derivatives(strengths).information)
        return 0.5 * np.linalg.slogdet(information[1:, 1:])[1]  # the mean is free: any minor will do

    wins = model.prior(strengths, ratings._inverse(model.derivatives(strengths).information))
    expected = wins.sum(axis=1)[:, None] * model.probabilities(strengths)[0]
    found = np.bincount(model.entrants.ravel(), (wins - expected).ravel(), minlength=5)[:4]
    steps = 1e-5 * np.eye(4)
    wanted = [(half_log_determinant(strengths + s) - half_log_determinant(strengths - s)) / 2e-5 for s in steps]
    np.testing.assert_allclose(found, wanted, atol=1e-7)


@pytest.mark.parametrize("winner_only", [False, True])
@pytest.mark.parametrize("games", [1, 50, 20_000])
def test_players_far_apart_have_finite_ratings(games, winner_only):
    """The lower number wins every game."""
    seating = np.array([[a, b, c, d] for a in range(6) for b in range(a) for c in range(b) for d in range(c)])
    returns = -seating.astype(float)
    if winner_only:
        returns = (returns == returns.max(axis=1, keepdims=True)).astype(float)
    rated = ratings.rate(Finishes.of_returns(6, seating, returns, np.full(len(seating), float(games))))
    values = [player.rating for player in rated]
    top = 3 if winner_only else 6  # of the last three none has ever won
    assert all(before > after for before, after in itertools.pairwise(values[:top]))
    assert all(math.isfinite(end) for player in rated for end in player)
    assert all(player.low < player.rating < player.high for player in rated)
