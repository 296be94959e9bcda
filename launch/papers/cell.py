"""One number of a paper beside ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import scipy.stats

from boardrl.matches import intervals


class Cell(NamedTuple):
    """A measured number with its 95 % interval, and what it is held against."""

    row: str  # the lineup, the setting
    what: str  # whose number
    unit: str
    ours: float
    low: float
    high: float
    paper: float | None = None  # as printed
    paper_error: float = 0.0  # its ±, where the paper gives one
    expected: float | None = None  # found by an earlier simulation of the same rules
    tolerance: float = 0.0  # how far from the expected number is still as expected

    def verdict(self) -> str:
        """Whether the number is the paper's, in words."""
        words = []
        if self.paper is not None:
            overlap = self.low <= self.paper + self.paper_error and self.high >= self.paper - self.paper_error
            words.append("intervals overlap" if overlap else f"{self.ours - self.paper:+.2f} to the paper")
        if self.expected is not None:
            far = abs(self.ours - self.expected)
            words.append("as expected" if far <= self.tolerance else f"{far:.2f} off, expected ≤ {self.tolerance}")
        return "; ".join(words)


class Item(NamedTuple):
    """A table or a figure."""

    title: str
    games: int  # a row, unless the user wants another number
    run: Callable[[int, int], Sequence[Cell]]  # (games, seed); rows that take long show a bar of their own
    notes: Sequence[str] = ()  # what a reader must know to judge the numbers
    unit: str = "games a row"  # of `games`
    quick: int = 2_000  # games for a first look


def share(count: int, games: int) -> tuple[float, float, float]:
    """(%, low, high) of so many games."""
    low, high = intervals.wilson(count, games)
    return 100 * count / games, 100 * low, 100 * high


def mean(values: np.ndarray) -> tuple[float, float, float]:
    """(mean, low, high) of at least two values, by Student's t: of few values the spread itself is hardly known."""
    quantile = scipy.stats.t.ppf((1 + intervals.CONFIDENCE) / 2, len(values) - 1)
    middle, reach = float(values.mean()), float(quantile * values.std(ddof=1) / np.sqrt(len(values)))
    return middle, middle - reach, middle + reach
