"""Who sits where while a learner plays."""

import jax.numpy as jnp
import numpy as np
import pytest

from algorithms.learning import seats
from boardrl import registry
from boardrl.play.players import make


def test_opponents_sit_in_every_seat_in_turn():
    np.testing.assert_array_equal(seats.seating(4, 4, 2), [[1, 2, 0, 0], [0, 1, 2, 0], [0, 0, 1, 2], [2, 0, 0, 1]])
    np.testing.assert_array_equal(seats.seating(2, 4, 2, rotate=False), [[1, 2, 0, 0], [1, 2, 0, 0]])


@pytest.mark.parametrize(("number", "rolls"), [(0, True), (1, False), (2, None)])
def test_opponents_of_kernels_are_told_apart_by_number(number, rolls):
    """One rolls on at a total of 5 of its turn, the other holds; a number that nobody has likes both alike."""
    game = registry.make("pig:target=30")
    opponents = [make(text, game).policy.apply for text in ("hold(total=20)", "hold(total=2)")]
    state = game.init()._replace(total=jnp.int32(5), rolling=jnp.bool_(False))
    logits = np.asarray(seats.opponent_logits(game, opponents)(state, jnp.int32(number)))
    assert (logits[0] > logits[1], logits[0] == logits[1]) == (rolls is True, rolls is None)
