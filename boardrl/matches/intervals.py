"""Confidence intervals of proportions."""

from __future__ import annotations

import math
import statistics
from typing import NamedTuple

CONFIDENCE = 0.95


class Interval(NamedTuple):
    low: float
    high: float


def wilson(successes: float, trials: float, *, confidence: float = CONFIDENCE) -> Interval:
    """Wilson score interval of a proportion (Wilson 1927): accurate near 0 and 1, unlike p ± z √(p(1-p)/n).

    (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n), with z the normal quantile of the confidence.
    """
    if trials == 0:
        return Interval(0.0, 1.0)
    z = statistics.NormalDist().inv_cdf((1 + confidence) / 2)
    share, z2 = successes / trials, z * z / trials
    middle = share + z2 / 2
    reach = z * math.sqrt(share * (1 - share) / trials + z2 / (4 * trials))
    # At a proportion of 0 or 1 one end is exactly 0 or 1; rounding must not move it.
    low = 0.0 if successes == 0 else (middle - reach) / (1 + z2)
    high = 1.0 if successes == trials else (middle + reach) / (1 + z2)
    return Interval(low, high)


def of_games(wins: int, games: int, effective: float) -> Interval:
    """Wilson interval of a win rate over games some of which repeat others.

    Args:
      effective: the number of independent observations among the games (boardrl.matches.distinct_games).
    """
    # Without repeats, use the counts themselves, free of rounding.
    return wilson(wins, games) if effective == games else wilson(wins / games * effective, effective)
