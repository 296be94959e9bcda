"""The windows of Negascout and of alpha-beta, by hand."""

import numpy as np
import pytest

from search import negascout
from search.kernel import full_window

ABOVE = np.nextafter(0.25, np.inf)  # no number lies between it and 0.25


@pytest.mark.parametrize(
    ("number", "floor", "high"),
    [
        (0, 0.25, 1.0),  # the first move is searched in the full window
        (1, 0.25, ABOVE),  # the others in a null window
        (1, -np.inf, 1.0),  # unless there is no value to beat
    ],
)
def test_the_first_window(number, floor, high):
    assert negascout.first_beta.py_func(number, floor, 1.0) == high
    assert full_window.first_beta.py_func(number, floor, 1.0) == 1.0


@pytest.mark.parametrize(
    ("value", "high", "again"),
    [
        (0.25, ABOVE, False),  # not better than the best so far
        (0.5, ABOVE, True),  # better, by how much is not known
        (1.0, ABOVE, False),  # a cutoff, however much better it is
        (0.5, 1.0, False),  # exact in the full window
    ],
)
def test_re_search(value, high, again):
    assert negascout.needs_research.py_func(value, 0.25, high, 1.0) == again
    assert not full_window.needs_research.py_func(value, 0.25, high, 1.0)
