"""The games that a way of playing needs, from results whose spread is known."""

import numpy as np
import pytest

from boardrl.game import Spec
from boardrl.matches.records import Played
from launch.papers import arena

SPEC = Spec("two", 2, 1, 2, (1,), max_steps=1)


def played(**more):
    """Player 0 wins two of four games."""
    returns = np.array([[1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, 1.0]])
    seating = np.tile([0, 1], (4, 1))
    return Played(returns, seating, np.zeros(4, bool), np.arange(4, dtype=np.uint64), np.ones(4, int), **more)


def test_games_for_one_point_follow_from_the_spread():
    plain = played()
    # The variance of 1, 1, 0, 0 is 1/3.
    assert arena.games_needed(arena._wins(plain, SPEC), plain) == pytest.approx(195.9964**2 / 3)
    pairs = played(group=np.array([0, 0, 1, 1]))  # 1 and 0: variance 1/2 of a pair
    assert arena.games_needed(arena._wins(pairs, SPEC), pairs) == pytest.approx(195.9964**2)
    level = played(group=np.array([0, 1, 0, 1]))  # both pairs are 1/2
    assert arena.games_needed(arena._wins(level, SPEC), level) == 0
    lucky = played(luck=np.array([[1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, 1.0]]))
    assert arena._wins(lucky, SPEC).tolist() == [0.5, 0.5, 0.5, 0.5]


def test_cells_tell_the_ratio_to_plain():
    cells = arena._cells("row", [("plain", 100.0, 90.0, 110.0), ("both", 10.0, 8.0, 12.0)])
    assert [(cell.what, cell.ours) for cell in cells] == [("plain", 100.0), ("both", 10.0), ("both: times fewer", 10.0)]
    assert (cells[-1].low, cells[-1].high) == (pytest.approx(100 / 12), pytest.approx(12.5))
