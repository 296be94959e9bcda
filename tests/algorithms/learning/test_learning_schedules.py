"""Schedules over the games of a training."""

import jax.numpy as jnp
import pytest

from algorithms.learning import schedules


def test_annealing_is_a_straight_line_that_stops():
    at = [float(schedules.annealed(0.9, 0.1, jnp.int32(games), 100)) for games in (0, 50, 100, 300)]
    assert at == pytest.approx([0.9, 0.5, 0.1, 0.1])


def test_what_remains_falls_to_zero_and_stays_there():
    assert [float(schedules.remaining(jnp.int32(games), 100)) for games in (0, 25, 100, 130)] == [1.0, 0.75, 0.0, 0.0]


@pytest.mark.parametrize(("done", "numbers"), [(0, range(40)), (80, range(80, 100)), (100, range(100, 140))])
def test_the_last_update_plays_the_games_that_are_left(done, numbers):
    assert schedules.game_numbers(done, 40, 100) == numbers
