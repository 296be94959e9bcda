"""Schedules: counts of seats and of meetings."""

from __future__ import annotations

import numpy as np
import pytest

from boardrl.tournaments import schedules


def seats(plan):
    """[P, K] how often each player has each seat."""
    return np.array([np.bincount(column, minlength=plan.num_players) for column in plan.arrangements.T])


def meetings(plan):
    return plan.meetings()[~np.eye(plan.num_players, dtype=bool)]


@pytest.mark.parametrize("num_seats", [2, 3, 4])
@pytest.mark.parametrize("num_players", [2, 3, 5, 9, 18, 41])
@pytest.mark.parametrize("games", [1, 30, 100])
def test_everybody_has_every_seat_equally_often(num_players, num_seats, games):
    plan = schedules.schedule(num_players, num_seats, games=games, most=2048)
    assert (seats(plan) == seats(plan)[0, 0]).all()
    assert (plan.games_of() == plan.games_of()[0]).all()
    assert games <= plan.games_of()[0] <= 2 * games + 24
    met = meetings(plan)
    assert met.max() - met.min() <= 3 * plan.repeats
    if games > 1:
        assert met.min() > 0 or num_players == 41
    if num_players >= num_seats:
        assert all(len(set(row)) == num_seats for row in plan.arrangements.tolist())


@pytest.mark.parametrize(
    ("num_players", "num_seats", "games", "met"),
    [
        (2, 2, 1000, 1000),
        (3, 2, 1000, 500),
        (10, 2, 90, 10),  # all pairs, both ways round
        (7, 3, 3, 1),  # the Fano plane
        (13, 4, 4, 1),  # the projective plane of order 3
        (5, 4, 16, 12),
        (6, 4, 240, 144),  # all 60 blocks
    ],
)
def test_balanced_where_that_is_possible(num_players, num_seats, games, met):
    plan = schedules.schedule(num_players, num_seats, games=games, most=2048)
    assert set(meetings(plan).tolist()) == {met}
    assert set(plan.games_of().tolist()) == {games}


@pytest.mark.parametrize(("num_players", "num_seats"), [(4, 2), (11, 4), (24, 4), (8, 8), (20, 3)])
def test_the_first_block_connects_all(num_players, num_seats):
    plan = schedules.schedule(num_players, num_seats, games=1, most=2048)
    group = np.arange(num_players)
    for row in plan.arrangements:
        for player in row:
            group[group == group[player]] = group[row[0]]
    assert len(set(group.tolist())) == 1


def test_fewer_players_than_seats_share_them():
    plan = schedules.schedule(3, 4, games=36, most=2048)
    counts = np.array([np.bincount(row, minlength=3) for row in plan.arrangements])
    assert sorted(set(counts.ravel().tolist())) == [1, 2]
    assert len(np.unique(plan.arrangements, axis=0)) == 36  # all ways to seat them


def test_arrangements_repeat_beyond_the_limit():
    plan = schedules.schedule(20, 4, games=1000, most=400)
    assert len(plan.arrangements) <= 400
    assert plan.num_games == len(plan.arrangements) * plan.repeats
    assert plan.games_of()[0] >= 1000
    np.testing.assert_array_equal(plan.arrangements, schedules.schedule(20, 4, games=1000, most=400).arrangements)
