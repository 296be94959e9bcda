"""Ratings on the Elo scale from games of pairs."""

from __future__ import annotations

import math
import statistics
from typing import NamedTuple

import numpy as np
import scipy.optimize

from boardrl.intervals import CONFIDENCE

MEAN = 1500.0  # the mean rating of those who are rated together; only differences mean anything
SCALE = 400 / math.log(10)  # 400 points more: ten times as likely to win
MAX_STEPS = 200  # of Newton's method
LONGEST = 1.0  # step of Newton's method, in units of SCALE: far from the optimum a full one overshoots
CLOSE = 1e-9  # a step so short ends it


class Rating(NamedTuple):
    """A rating with its 95 % interval."""

    rating: float
    low: float
    high: float


def rate(wins: np.ndarray, draws: np.ndarray) -> list[Rating]:
    """Bradley-Terry ratings of K players: i beats j with probability 1 / (1 + 10^((r_j - r_i) / 400)).

    A draw is half a win for each. The likelihood is multiplied by Jeffreys' prior, which takes away most of the bias
    of maximum likelihood and gives a finite rating to a player who won or lost all games (Firth 1993). For two players
    the prior is half a win each way; for more it is K - 1 games in all, and not so much for every pair, which would
    draw strong and weak players together.

    The intervals are those of the profile likelihood: values for which twice the loss in log-likelihood, all other
    ratings fitted anew, is at most the quantile of χ² (Heinze and Schemper 2002), scaled by how much less games vary
    that may be drawn. They are of ratings whose mean is held at 1500. `python -m launch.measure_ratings` measures how
    often they contain the true rating.

    Args:
      wins: [K, K] games that row won against column; games that repeat others may be counted in part.
      draws: [K, K] games that row drew against column, symmetric. Every player is connected to every other by games.
    """
    strengths, prior = _fit(wins + draws / 2)
    points = wins + draws / 2 + prior / 2
    information = _information(points, strengths)
    inverse = _inverse(information)
    # A game's points vary by p(1 - p), less a quarter of the chance of a draw.
    spread = np.maximum(information - draws / 4, 0.0)
    dispersion = np.diag(inverse @ _laplacian(spread) @ inverse) / np.diag(inverse)  # [K]
    quantile = statistics.NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    rated = []
    for player, strength in enumerate(strengths):
        profile = _Profile(points, strengths, player, loss=quantile**2 * dispersion[player] / 2)
        step = quantile * math.sqrt(dispersion[player] * inverse[player, player])
        ends = (strength, profile.end(strength, -step), profile.end(strength, step))
        rated.append(Rating(*(float(MEAN + SCALE * end) for end in ends)))
    return rated


def _fit(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """([K] strengths of mean 0, [K, K] games that the prior counts as, half of them won by each).

    Firth (1993) for a logistic model: a pair's n games count as h more, h = n p (1 - p) Var(θ_i - θ_j), half of them
    won by each side.
    """
    games = points + points.T
    strengths, prior = np.zeros(len(points)), np.zeros_like(points)
    for _ in range(MAX_STEPS):
        information = _information(points, strengths)
        inverse = _inverse(information)
        variances = np.diag(inverse)
        prior = information * (variances[:, None] + variances[None, :] - 2 * inverse)
        with_prior = points + prior / 2
        gradient = (with_prior - (games + prior) * _chances(strengths)).sum(axis=1)
        step = _inverse(_information(with_prior, strengths)) @ gradient
        strengths = strengths + _shortened(step)
        if np.abs(step).max() < CLOSE:
            break
    return strengths - strengths.mean(), prior


class _Profile:
    """Log-likelihood by one player's strength, the others fitted to it; the mean of all strengths is 0."""

    def __init__(self, points: np.ndarray, strengths: np.ndarray, player: int, *, loss: float) -> None:
        self.points, self.games, self.start, self.player = points, points + points.T, strengths, player
        self.allowed = _log_likelihood(points, strengths) - loss

    def end(self, strength: float, step: float) -> float:
        """The strength in the step's direction at which the likelihood is as low as allowed."""
        while self.margin(strength + step) > 0:
            step *= 2
        return float(scipy.optimize.brentq(self.margin, strength, strength + step, xtol=1e-6))

    def margin(self, strength: float) -> float:
        """How far the best log-likelihood with this strength lies above what is allowed."""
        return _log_likelihood(self.points, self.fitted(strength)) - self.allowed

    def fitted(self, strength: float) -> np.ndarray:
        """[K] strengths of the greatest likelihood among those with this one: Newton's method with two constraints."""
        count = len(self.start)
        mine = np.arange(count) == self.player
        strengths = self.start + (strength - self.start[self.player]) * np.where(mine, 1.0, -1 / (count - 1))
        system = np.zeros((count + 2, count + 2))
        system[count:, :count] = np.ones(count), mine
        system[:count, count:] = system[count:, :count].T
        for _ in range(MAX_STEPS if count > 2 else 0):
            system[:count, :count] = _laplacian(_information(self.points, strengths))
            gradient = (self.points - self.games * _chances(strengths)).sum(axis=1)
            step = np.linalg.solve(system, np.append(gradient, [0.0, 0.0]))[:count]
            strengths = strengths + _shortened(step)
            if np.abs(step).max() < CLOSE:
                break
        return strengths


def _chances(strengths: np.ndarray) -> np.ndarray:
    """[K, K] probability that row beats column."""
    return 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))


def _information(points: np.ndarray, strengths: np.ndarray) -> np.ndarray:
    """[K, K] Fisher information of each pair's games on the difference of its strengths: n p (1 - p)."""
    chances = _chances(strengths)
    return (points + points.T) * chances * chances.T


def _log_likelihood(points: np.ndarray, strengths: np.ndarray) -> float:
    return float(-(points * np.logaddexp(0.0, strengths[None, :] - strengths[:, None])).sum())


def _laplacian(weights: np.ndarray) -> np.ndarray:
    """[K, K] information on the strengths, from that on differences of pairs."""
    return np.diag(weights.sum(axis=1)) - weights


def _inverse(weights: np.ndarray) -> np.ndarray:
    """[K, K] pseudo-inverse of the Laplacian of a connected graph: covariance of strengths whose mean is held at 0."""
    count = len(weights)
    scale = weights.sum() / count  # of the constant direction, in which the Laplacian is 0
    return np.linalg.inv(_laplacian(weights) + scale / count) - 1 / (scale * count)


def _shortened(step: np.ndarray) -> np.ndarray:
    return step * min(1.0, LONGEST / max(float(np.abs(step).max()), CLOSE))
