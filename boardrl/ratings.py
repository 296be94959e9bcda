"""Ratings on the Elo scale from games of pairs."""

from __future__ import annotations

import math
from typing import NamedTuple

import choix
import numpy as np

MEAN = 1500.0  # the mean rating of those who are rated together; only differences mean anything
SCALE = 400 / math.log(10)  # 400 points more: ten times as likely to win
NUM_RESAMPLES = 500


class Rating(NamedTuple):
    """A rating with its 95 % bootstrap interval."""

    rating: float
    low: float
    high: float


def rate(wins: np.ndarray, draws: np.ndarray, *, seed: int) -> list[Rating]:
    """Bradley-Terry ratings of K players: i beats j with probability 1 / (1 + 10^((r_j - r_i) / 400)).

    A draw is half a win for each. To every pair that met, half a win each way is added (Jeffreys' prior), so that
    who never lost has a finite rating. The intervals come from the Bayesian bootstrap over games (Rubin 1981):
    the same games, the added halves too, with random weights. They are of ratings whose mean is held at 1500.

    Args:
      wins: [K, K] games that row won against column.
      draws: [K, K] games that row drew against column, symmetric.
    """
    met = wins + wins.T + draws > 0
    wins = wins + 0.5 * met
    ratings = _fit(wins + draws / 2, start=np.full(len(wins), MEAN))
    rng = np.random.default_rng(seed)
    resampled = [_fit(_reweigh(wins, draws, rng), start=ratings) for _ in range(NUM_RESAMPLES)]
    low, high = np.percentile(resampled, [2.5, 97.5], axis=0)
    return [Rating(*map(float, row)) for row in zip(ratings, low, high, strict=True)]


def _fit(points: np.ndarray, *, start: np.ndarray) -> np.ndarray:
    """[K] ratings of maximum likelihood for [K, K] points (wins and half the draws) of row against column."""
    strengths = choix.ilsr_pairwise_dense(points, initial_params=(start - MEAN) / SCALE, max_iter=10_000)
    return MEAN + SCALE * (strengths - strengths.mean())


def _reweigh(wins: np.ndarray, draws: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """[K, K] points with every game counted by a weight from the exponential distribution.

    The weights of n games add up to a gamma variate of shape n.
    """
    drawn = np.triu(rng.gamma(draws), 1)
    return rng.gamma(wins) + (drawn + drawn.T) / 2
