"""Ratings on the Elo scale from games of any number of players."""

from __future__ import annotations

import math
import statistics
from typing import NamedTuple

import numpy as np

from boardrl.matches.intervals import CONFIDENCE
from boardrl.tournaments.finishing_orders import Choices, Finishes

MEAN = 1500.0  # the mean rating of all players rated together; only differences have a meaning
SCALE = 400 / math.log(10)  # 400 points: odds of 10 to 1
MAX_STEPS = 200  # iterations of Newton's method
LONGEST = 1.0  # longest Newton step, in units of SCALE: far from the optimum a full step overshoots
CLOSE = 1e-9  # a shorter Newton step ends the iteration
NEAR = 1e-4  # the same for profiles: the remaining error, about its square, is invisible in a rating


class Rating(NamedTuple):
    """A rating with its 95 % interval."""

    rating: float
    low: float
    high: float


def rate(finishes: Finishes) -> list[Rating]:
    """Plackett-Luce ratings of K players: among the remaining, i is the best with probability 10^(r_i / 400) / Σ.

    For two players this is the Bradley-Terry model: i beats j with probability 1 / (1 + 10^((r_j - r_i) / 400)).
    `Finishes` defines how ties count. The likelihood is multiplied by Jeffreys' prior, which removes most of the bias
    of maximum likelihood and gives a finite rating to a player who won or lost all games (Firth 1993; for choices
    among several, Bull et al. 2002). For two players the prior is half a win each way; for more it is about K - 1 games
    in total rather than a fixed number for every pair, which would pull strong and weak players together.

    The intervals come from the profile likelihood: the values for which twice the loss in log-likelihood, with all
    other ratings refitted, is at most the χ² quantile (Heinze and Schemper 2002), scaled by the dispersion of the games
    relative to the model. They hold for ratings whose mean is fixed at 1500.
    `python -m launch.dev.measure_ratings` measures how often they contain the true rating.

    Args:
      finishes: games that connect every player to every other.
    """
    choices = finishes.choices()
    model = _Model(choices, finishes.num_players)
    strengths, prior = _fit(model)
    model = _Model(choices._replace(wins=choices.wins + prior), finishes.num_players)
    inverse = _inverse(model.derivatives(strengths).information)
    dispersion = np.diag(inverse @ _spread(finishes, model, strengths) @ inverse) / np.diag(inverse)  # [K]
    quantile = statistics.NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    rated = []
    for player, strength in enumerate(strengths):
        loss = quantile**2 * dispersion[player] / 2
        step = quantile * math.sqrt(dispersion[player] * inverse[player, player])
        ends = [_Profile(model, strengths, player).end(way * step, loss=loss) for way in (-1, 1)]
        rated.append(Rating(*(float(MEAN + SCALE * end) for end in (strength, *ends))))
    return rated


class _Derivatives(NamedTuple):
    """The log-likelihood at some strengths, and its derivatives."""

    log_likelihood: float
    gradient: np.ndarray  # [K]
    information: np.ndarray  # [K, K] information on each pair's difference: Σ n p_i p_j, 0 on the diagonal


class _Model:
    """The Plackett-Luce likelihood of a set of choices."""

    def __init__(self, choices: Choices, num_players: int) -> None:
        self.entrants, self.wins, self.num_players = choices.entrants, choices.wins, num_players
        self.games = self.wins.sum(axis=1)  # [M]
        size = num_players + 1
        self._pairs = self.entrants[:, :, None] * size + self.entrants[:, None, :]  # [M, S, S]

    def probabilities(self, strengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """[M, S] probability of each choice, and its logarithm."""
        own = np.append(strengths, -np.inf)[self.entrants]
        own = own - own.max(axis=1, keepdims=True)
        logarithms = own - np.log(np.exp(own).sum(axis=1, keepdims=True))
        return np.exp(logarithms), logarithms

    def derivatives(self, strengths: np.ndarray) -> _Derivatives:
        probabilities, logarithms = self.probabilities(strengths)
        likelihood = float((self.wins * np.where(self.wins > 0, logarithms, 0.0)).sum())
        gradient = np.bincount(
            self.entrants.ravel(),
            (self.wins - self.games[:, None] * probabilities).ravel(),
            minlength=self.num_players + 1,
        )
        return _Derivatives(likelihood, gradient[: self.num_players], self._by_pair(self.games, probabilities))

    def _by_pair(self, games: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
        size = self.num_players + 1
        products = (games[:, None] * probabilities)[:, :, None] * probabilities[:, None, :]
        found = np.bincount(self._pairs.ravel(), products.ravel(), minlength=size * size).reshape(size, size)
        found = found[: self.num_players, : self.num_players]
        np.fill_diagonal(found, 0.0)
        return found

    def prior(self, strengths: np.ndarray, inverse: np.ndarray) -> np.ndarray:
        """[M, S] pseudo-wins that are equivalent to Jeffreys' prior.

        The derivative of ½ log |I| with respect to the strength of a is ½ Σ n p_a (q_a - q̄) with
        q_a = (e_a - p)ᵀ V (e_a - p), V the covariance of the strengths. It equals that of ½ n p_a (q_a + q̄) wins: for a
        pair, half of n p (1 - p) Var(θ_i - θ_j) games for each player.
        """
        probabilities, _ = self.probabilities(strengths)
        covariance = np.pad(inverse, (0, 1))[self.entrants[:, :, None], self.entrants[:, None, :]]
        with_mean = np.einsum("mab,mb->ma", covariance, probabilities)
        spread = (
            np.einsum("maa->ma", covariance) - 2 * with_mean + (with_mean * probabilities).sum(axis=1, keepdims=True)
        )
        mean = (probabilities * spread).sum(axis=1, keepdims=True)
        return 0.5 * self.games[:, None] * probabilities * (spread + mean)


def _fit(model: _Model) -> tuple[np.ndarray, np.ndarray]:
    """([K] strengths of mean 0, [M, S] pseudo-wins of the prior)."""
    strengths, prior = np.zeros(model.num_players), np.zeros_like(model.wins)
    for _ in range(MAX_STEPS):
        prior = model.prior(strengths, _inverse(model.derivatives(strengths).information))
        seen = _Model(Choices(model.entrants, model.wins + prior), model.num_players).derivatives(strengths)
        step = _inverse(seen.information) @ seen.gradient
        strengths = strengths + _shortened(step)
        if np.abs(step).max() < CLOSE:
            break
    return strengths - strengths.mean(), prior


def _spread(finishes: Finishes, model: _Model, strengths: np.ndarray) -> np.ndarray:
    """[K, K] covariance of the gradient: p_i p_j for each choice, minus the correction for ties."""
    return _laplacian(np.maximum(model.derivatives(strengths).information - finishes.shared(), 0.0))


class _Profile:
    """Profile log-likelihood of one player's strength, with the others refitted; the mean of all strengths is 0."""

    def __init__(self, model: _Model, strengths: np.ndarray, player: int) -> None:
        self.model, self.player = model, player
        self.top = model.derivatives(strengths)
        self.near, self.seen = strengths, self.top  # fitted to the previous strength

    def end(self, step: float, *, loss: float) -> float:
        """The strength, in the step's direction, at which the log-likelihood is `loss` below its maximum.

        Uses Newton's method on the square root of the loss, which is almost linear.
        """
        start, wanted = self.near[self.player], math.sqrt(loss)
        strength = start + step
        for _ in range(MAX_STEPS):
            self.fit(strength)
            root = math.sqrt(max(self.top.log_likelihood - self.seen.log_likelihood, 0.0))
            others = (self.seen.gradient.sum() - self.seen.gradient[self.player]) / (len(self.near) - 1)
            slope = (others - self.seen.gradient[self.player]) / (2 * root)  # d root / d strength
            move = (wanted - root) / slope
            strength += math.copysign(min(abs(move), LONGEST), move)
            if abs(move) < NEAR:
                break
        return strength

    def fit(self, strength: float) -> None:
        """Newton's method with two constraints: this player's strength, and the mean of all."""
        count = len(self.near)
        own = _inverse(self.seen.information)[self.player]
        self.near = self.near + (strength - self.near[self.player]) * own / own[self.player]
        self.seen = self.model.derivatives(self.near)
        system = np.zeros((count + 2, count + 2))
        system[count:, :count] = np.ones(count), np.arange(count) == self.player
        system[:count, count:] = system[count:, :count].T
        for _ in range(MAX_STEPS if count > 2 else 0):
            system[:count, :count] = _laplacian(self.seen.information)
            step = np.linalg.solve(system, np.append(self.seen.gradient, [0.0, 0.0]))[:count]
            self.near = self.near + _shortened(step)
            self.seen = self.model.derivatives(self.near)
            if np.abs(step).max() < NEAR:
                break


def _laplacian(weights: np.ndarray) -> np.ndarray:
    """[K, K] information on the strengths, from the information on pairwise differences."""
    return np.diag(weights.sum(axis=1)) - weights


def _inverse(weights: np.ndarray) -> np.ndarray:
    """[K, K] pseudo-inverse of the Laplacian of a connected graph: covariance of strengths whose mean is fixed at 0."""
    count = len(weights)
    scale = weights.sum() / count  # added along the constant vector, which the Laplacian maps to 0
    return np.linalg.inv(_laplacian(weights) + scale / count) - 1 / (scale * count)


def _shortened(step: np.ndarray) -> np.ndarray:
    return step * min(1.0, LONGEST / max(float(np.abs(step).max()), CLOSE))
