"""The range of returns that results span: numbers by hand, and nothing changed where they fill the declared one."""

import jax.numpy as jnp
import numpy as np
import pytest

from boardrl.game import Spec
from boardrl.values import return_scale
from boardrl.values.return_scale import Range


def spec_of(**changes):
    return Spec("some", 3, 2, 0, (1,), max_steps=9, **changes)


POINTS = spec_of(min_return=0, max_return=100, return_sum=None)
SHARES = spec_of(min_return=-2, max_return=10, return_sum=6)  # 12 to share beside -2 for each
WINS = spec_of(min_return=-1 / 2, max_return=1)
THIRDS = Spec("thirds", 4, 2, 0, (1,), max_steps=9, min_return=-1 / 3)


def seen_in(spec, *games):
    """The range after some games, of which each has a window of its own with another that has not ended."""
    seen = return_scale.nothing_seen(spec)
    for returns in games:
        both = jnp.array([returns, [999.0] * len(returns)], jnp.float32)
        seen = return_scale.widened(seen, both, jnp.array([True, False]))
    return seen


def test_the_range_holds_every_result():
    assert seen_in(POINTS, [3, 5, 4], [8, 4, 4]) == (3, 8)
    parts = [seen_in(POINTS, game) for game in ([3, 5, 4], [8, 4, 4])]
    assert return_scale.joined(*parts, return_scale.nothing_seen(POINTS)) == (3, 8)
    # Where all games of a window have ended, what was seen before still counts.
    before = Range(jnp.float32(2), jnp.float32(9))
    assert return_scale.widened(before, jnp.array([[3.0, 5.0, 4.0]]), jnp.array([True])) == (2, 9)


def test_points_are_mapped_to_the_range_that_they_span():
    scale = return_scale.scale_of(POINTS, Range(jnp.float32(2), jnp.float32(12)))
    np.testing.assert_allclose(scale.apply(jnp.array([0.0, 50, 100])), [2, 7, 12], rtol=1e-6)
    np.testing.assert_allclose(scale.invert(jnp.array([2.0, 7, 12])), [0, 50, 100], rtol=1e-6)


def test_shares_of_a_fixed_sum_still_add_up():
    """Nobody had less than 1, so that 3 are shared beside 1 for each: a quarter of 12."""
    scale = return_scale.scale_of(SHARES, seen_in(SHARES, [1, 2, 3]))
    np.testing.assert_allclose(scale.factor, 3 / 12)
    np.testing.assert_allclose(scale.apply(jnp.array([-2.0, 10, 1])), [1, 4, 1.75])
    assert float(scale.apply(jnp.array([-2.0, 10, -2])).sum()) == 6


@pytest.mark.parametrize(
    ("spec", "games"),
    [
        (POINTS, []),  # nothing is known
        (POINTS, [[0, 100, 3]]),
        (POINTS, [[7, 7, 7]]),  # all alike: no range
        (SHARES, [[2, 2, 2]]),
        (WINS, [[0, 0, 0]]),  # a draw
        (WINS, [[0, 0, 0], [-0.5, 1, -0.5]]),
        (WINS, [[-0.5, 0.25, 0.25]]),
        (THIRDS, [[-1 / 3, -1 / 3, -1 / 3, 1]]),
    ],
)
def test_nothing_changes_where_results_fill_the_range_or_say_nothing(spec, games):
    scale = return_scale.scale_of(spec, seen_in(spec, *games))
    assert scale == (0, 1)
    values = jnp.linspace(spec.min_return, spec.max_return, 1001)
    np.testing.assert_array_equal(scale.apply(values), values)
    np.testing.assert_array_equal(scale.invert(values), values)
