"""Independent observations of a match: games, or groups of games with the same dice, and intervals of their means."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.special

from boardrl.matches.intervals import CONFIDENCE, Interval, wilson

if TYPE_CHECKING:
    from boardrl.game import Spec
    from boardrl.matches.records import Played


class Mean(NamedTuple):
    """A mean over independent observations."""

    mean: float
    low: float  # 95 % interval by Student's t
    high: float
    variance: float  # of one observation
    num: int  # of observations


class Adjusted(NamedTuple):
    """A player's results without luck."""

    control: str
    points: float  # mean adjusted return, with its 95 % interval
    points_low: float
    points_high: float
    win_rate: float  # win rate − mean luck · κ, with its 95 % interval
    low: float
    high: float
    factor: float  # variance of a plain observation of points ÷ that of an adjusted one


def mean(values: np.ndarray, *, confidence: float = CONFIDENCE) -> Mean:
    """x̄ ± t s / √n of [N] independent observations; of fewer than two nothing is known."""
    count = len(values)
    if count < 2:
        return Mean(float(values.mean()) if count else 0.0, -math.inf, math.inf, math.inf, count)
    middle, variance = float(values.mean(dtype=np.float64)), float(values.var(ddof=1, dtype=np.float64))
    reach = float(scipy.special.stdtrit(count - 1, (1 + confidence) / 2)) * math.sqrt(variance / count)
    return Mean(middle, middle - reach, middle + reach, variance, count)


def grouped(values: np.ndarray, group: np.ndarray | None) -> np.ndarray:
    """[G] mean of [N] values in each group; the values themselves without groups."""
    if group is None or not len(values):
        return values
    _, number = np.unique(group, return_inverse=True)
    return np.bincount(number, values.astype(np.float64)) / np.bincount(number)


def win_rate_interval(won: np.ndarray, group: np.ndarray) -> Interval:
    """Wilson interval of the win rate of [N] games in groups, for as many games as would be as certain.

    n = p (1 − p) / Var(p̂), with Var(p̂) from the spread of the groups' win rates (Kish 1965: the design effect), and no
    fewer than the groups where all are alike; scaled to Student's t, which matters for few groups.
    """
    rates = grouped(won, group)
    if len(rates) < 2:
        return Interval(0.0, 1.0)
    found, rate = mean(rates), float(won.mean())
    spread = found.variance / len(rates)
    if spread == 0.0 or rate in (0.0, 1.0):
        return wilson(rate * len(rates), len(rates))
    normal = float(scipy.special.ndtri((1 + CONFIDENCE) / 2))
    student = float(scipy.special.stdtrit(len(rates) - 1, (1 + CONFIDENCE) / 2))
    trials = rate * (1 - rate) / spread * (normal / student) ** 2
    return wilson(rate * trials, trials)


class PlayerGames(NamedTuple):
    """One player's games."""

    returns: np.ndarray  # [N]
    won: np.ndarray  # [N] bool: the sole best return
    share: np.ndarray  # [N] of the win: 1 of a win, 1/k of a best return that k share, else 0
    luck: np.ndarray | None  # [N]


def of_player(index: int, played: Played) -> PlayerGames:
    """The games as one of the players sees them."""
    seat = (played.seating == index).argmax(axis=1)
    row = np.arange(len(seat))
    mine = played.returns[row, seat]
    better = (played.returns > mine[:, None]).sum(axis=1)
    equal = (played.returns == mine[:, None]).sum(axis=1)
    share = np.where(better == 0, 1.0 / equal, 0.0)
    luck = None if played.luck is None else played.luck[row, seat].astype(np.float64)
    return PlayerGames(mine, (better == 0) & (equal == 1), share, luck)


def shares(games: PlayerGames, played: Played, spec: Spec) -> np.ndarray:
    """[G] the player's share of wins in each observation, without luck where that is known."""
    share = games.share if games.luck is None else games.share - games.luck * per_win(spec)
    return grouped(share, played.group)


def per_win(spec: Spec) -> float:
    """κ = 1 / (most − least return): luck in points times κ is luck in wins where the winner takes all.

    Elsewhere it is a control variate of the win rate all the same: its mean is 0.
    """
    return 1.0 / (spec.max_return - spec.min_return)


def adjusted(control: str, games: PlayerGames, played: Played, spec: Spec) -> Adjusted | None:
    """A player's results without luck; None where its luck is not known."""
    if games.luck is None:
        return None
    plain = mean(grouped(games.returns.astype(np.float64), played.group))
    points = mean(grouped(games.returns - games.luck, played.group))
    wins = mean(grouped(games.won - games.luck * per_win(spec), played.group))
    factor = plain.variance / points.variance if math.isfinite(points.variance) and points.variance > 0 else math.inf
    return Adjusted(control, points.mean, points.low, points.high, wins.mean, wins.low, wins.high, factor)
