"""Tests that stop: a match goes on until its interval is narrow enough, or until one of two hypotheses is rejected.

Both look at the first player's share of the wins, a round of rotated seats at a time (a group, if its games share their
dice; without luck, if that is known). Equal players win 1/P each: the edge is the share less 1/P, in points of a
hundred.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import scipy.special

from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.matches import observations
from boardrl.matches.intervals import CONFIDENCE
from boardrl.matches.records import Decision, Played, Rule

LEAST = 30  # observations before which no test stops, as their variance is not known well enough
ERRORS = 0.05  # of each kind
POINTS = 100.0  # of a share of 1


@dataclasses.dataclass(frozen=True)
class Until:
    """Stops when the 95 % interval is no wider than ± `points`: x̄ ± t s / √n (Chow and Robbins 1965).

    The rule depends on the spread of the observations and not on their mean, so that the interval keeps its coverage as
    the width becomes small.
    """

    points: float

    def stop(self, values: np.ndarray) -> Decision | None:
        """The decision on [N] edges in points, if there is one."""
        count, mean, variance = _running(values)
        reach = scipy.special.stdtrit(np.maximum(count - 1, 1), (1 + CONFIDENCE) / 2) * np.sqrt(variance / count)
        at = _first((reach <= self.points) & (variance > 0))
        if at is None:
            return None
        text = f"the 95 % interval of the first player's edge, {mean[at]:+.2f} points, is ± {reach[at]:.2f}"
        return Decision(int(count[at]), text)


@dataclasses.dataclass(frozen=True)
class Sprt:
    """Decides between an edge of `low` and one of `high` points, wrong in 5 % of matches each.

    The likelihood ratio of two means of normal observations whose variance is estimated under each (the generalised
    SPRT: Wald 1945 for the bounds; Van den Bergh 2009, "A practical introduction to the GSPRT"):

        LLR = n/2 · ln((s² + (x̄ − low)²) / (s² + (x̄ − high)²)),

    with s² = Σ (x − x̄)² / n. The match ends when LLR ≥ ln((1 − β) / α) or LLR ≤ ln(β / (1 − α)), α = β = 0.05.
    """

    low: float
    high: float

    def stop(self, values: np.ndarray) -> Decision | None:
        """The decision on [N] edges in points, if there is one."""
        count, mean, _ = _running(values)
        ratio = self.log_likelihood_ratio(values)
        bound = math.log((1 - ERRORS) / ERRORS)
        at = _first(np.abs(ratio) >= bound)
        if at is None:
            return None
        better, than = (self.high, self.low) if ratio[at] > 0 else (self.low, self.high)
        text = f"an edge of {better:g} points is accepted and one of {than:g} rejected"
        return Decision(int(count[at]), f"{text}; the first player's edge is {mean[at]:+.2f} points so far")

    def log_likelihood_ratio(self, values: np.ndarray) -> np.ndarray:
        """[N] after each observation; 0 where all are equal."""
        count, mean, variance = _running(values)
        spread = variance * (count - 1) / count
        ratio = np.zeros(len(values))
        known = spread > 0
        high, low = ((spread + (mean - edge) ** 2)[known] for edge in (self.high, self.low))
        ratio[known] = count[known] / 2 * np.log(low / high)
        return ratio


Test = Until | Sprt


def rule(test: Test, game: Game[Any]) -> Rule:
    """The rule of a record: looks at the first player's edge."""
    spec = game.spec

    def look(played: Played) -> Decision | None:
        shares = observations.shares(observations.of_player(0, played), played, spec)
        return test.stop(POINTS * (shares - 1 / spec.num_players))

    return look


def parse(until: float, sprt: str) -> Test | None:
    """The test that two settings ask for, like 0.5 or `0,2`; 0 and an empty text for neither."""
    if until and sprt:
        raise UserError(f"--until={until:g} and --sprt={sprt} both say when to stop; leave one out")
    if until:
        if not 0 < until <= POINTS:
            raise UserError(f"--until={until:g} is no half width of an interval; expected points from 0 to 100")
        return Until(until)
    if sprt:
        try:
            low, high = map(float, sprt.split(","))
        except ValueError:
            low = high = 0.0
        if not -POINTS <= low < high <= POINTS:
            raise UserError(f"--sprt={sprt} is no pair of edges; expected two points, the smaller first, like 0,2")
        return Sprt(low, high)
    return None


def _running(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """[N] count, mean and variance (of one observation, unbiased) of the first 1, 2, … of the values."""
    count = np.arange(1, len(values) + 1)
    first = values[0] if len(values) else 0.0
    centred = values - first  # the sums of squares keep their digits
    mean = np.cumsum(centred) / count
    squares = np.maximum(np.cumsum(centred**2) - count * mean**2, 0.0)
    squares[squares < 1e-9 * count] = 0.0
    return count, mean + first, squares / np.maximum(count - 1, 1)


def _first(stops: np.ndarray) -> int | None:
    """The first true index from LEAST observations on."""
    found = stops[LEAST - 1 :].nonzero()[0]
    return int(found[0]) + LEAST - 1 if len(found) else None
