"""Comparison of a paper's number with ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import scipy.special

from boardrl.matches import intervals


class Cell(NamedTuple):
    """A measured number with its 95 % interval, and the numbers that it is compared with."""

    row: str  # the lineup or setting
    what: str  # the player or quantity
    unit: str
    ours: float
    low: float
    high: float
    paper: float | None = None  # as printed
    paper_error: float = 0.0  # its ±, if the paper gives one
    expected: float | None = None  # from an earlier simulation of the same rules
    tolerance: float = 0.0  # accepted distance from the expected number

    def verdict(self) -> str:
        """A short text: whether the number agrees with the paper's."""
        words = []
        if self.paper is not None:
            overlap = self.low <= self.paper + self.paper_error and self.high >= self.paper - self.paper_error
            words.append("intervals overlap" if overlap else f"{self.ours - self.paper:+.2f} to the paper")
        if self.expected is not None:
            far = abs(self.ours - self.expected)
            words.append("as expected" if far <= self.tolerance else f"{far:.2f} off, expected ≤ {self.tolerance}")
        return "; ".join(words)


class Item(NamedTuple):
    """A table or a figure of a paper."""

    title: str
    games: int  # games per row, unless the user gives another number
    run: Callable[[int, int], Sequence[Cell]]  # (games, seed); slow rows show their own progress bar
    notes: Sequence[str] = ()  # remarks that a reader needs to judge the numbers
    unit: str = "games a row"  # unit of `games`
    quick: int = 2_000  # games of a quick run


def share(count: int, games: int) -> tuple[float, float, float]:
    """(%, low, high) of a number of games."""
    low, high = intervals.wilson(count, games)
    return 100 * count / games, 100 * low, 100 * high


def mean(values: np.ndarray) -> tuple[float, float, float]:
    """(mean, low, high) of at least two values, by Student's t, because few values do not determine the spread well."""
    quantile = scipy.special.stdtrit(len(values) - 1, (1 + intervals.CONFIDENCE) / 2)
    middle, reach = float(values.mean()), float(quantile * values.std(ddof=1) / np.sqrt(len(values)))
    return middle, middle - reach, middle + reach
