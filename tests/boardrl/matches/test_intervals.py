"""Wilson intervals against numbers worked out by hand."""

import pytest

from boardrl.matches.intervals import wilson


# z = 1.959964: for 8 of 10, (0.8 + 0.192073 ± 1.959964 √(0.016 + 0.0096036)) / 1.384146 = 0.716740 ± 0.226577.
@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        (8, 10, 0.490162, 0.943318),
        (1, 2, 0.094531, 0.905469),
        (0, 10, 0.0, 0.277533),  # z² / (n + z²)
        (10, 10, 0.722467, 1.0),
        (0, 0, 0.0, 1.0),
    ],
)
def test_hand_computed(successes, trials, low, high):
    assert wilson(successes, trials) == pytest.approx((low, high), abs=1e-6)


def test_ends_are_exact_at_0_and_1():
    assert wilson(0, 7).low == 0.0
    assert wilson(7, 7).high == 1.0


def test_more_confidence_is_wider():
    sure, surer = wilson(30, 100), wilson(30, 100, confidence=0.999)
    assert surer.low < sure.low < 0.3 < sure.high < surer.high
