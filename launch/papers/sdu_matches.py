"""Matches as the two papers on the SDU's Ludo simulator played them: one player against three, and two against two."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from boardrl import arena, players, progress
from boardrl.players import Player
from games.ludo import Ludo
from launch.papers.cell import mean

GAME = "ludo:rules=sdu_java"
OPPONENT = "semismart"
MATCHES, MATCH_GAMES = 10, 1_000  # of two against two
Test = Callable[[np.ndarray, np.ndarray], float]  # t of the points of two players
PER = 10_000  # games that points are given for, of one against three


def opponent() -> Player:
    """SemiSmart, which the papers measured by."""
    return players.make(OPPONENT, Ludo(rules="sdu_java"))


def team(player: Player, other: Player, games: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """[MATCHES] points of two of a player, and of two of another who sit between them, in matches of some games."""
    with progress.track(f"two {player.name} against two {other.name}", MATCHES * games, "games") as bar:
        played = _play([player, other, player, other], MATCHES * games, seed, bar)
    mine = played.seating % 2 == 0
    sums = (np.where(here, played.returns, 0).sum(1).reshape(MATCHES, games).sum(1) for here in (mine, ~mine))
    first, second = (total.astype(np.float64) for total in sums)
    return first, second


def by_seat(player: Player, games: int, seed: int) -> np.ndarray:
    """[4, G] what a player got in each seat against three SemiSmart."""
    with progress.track(f"{player.name} against {OPPONENT}", 4 * games, "games") as bar:
        played = _play([player, *[opponent()] * 3], 4 * games, seed, bar)
    returns = played.returns.reshape(games, 4, 4)
    return np.stack([returns[:, seat, seat] for seat in range(4)])


def points(returns: np.ndarray) -> tuple[float, float, float]:
    """(points in 10,000 games, low, high)."""
    return mean(PER * returns.ravel().astype(np.float64))


def unpaired_t(first: np.ndarray, second: np.ndarray) -> float:
    """Of two samples: the difference of their means over its standard error."""
    error = np.sqrt(sum(sample.var(ddof=1) / len(sample) for sample in (first, second)))
    return float((first.mean() - second.mean()) / error)


def paired_t(first: np.ndarray, second: np.ndarray) -> float:
    """Of pairs: the mean of their differences over its standard error."""
    differences = first - second
    return float(differences.mean() / (differences.std(ddof=1) / np.sqrt(len(differences))))


def _play(seated: Sequence[Player], games: int, seed: int, bar: progress.Bar) -> arena.Played:
    """Games with the seats rotated: all move one seat on from game to game."""
    seats = np.arange(4)
    arrangements = (seats[None, :] - seats[:, None]) % 4
    return arena.play(Ludo(rules="sdu_java"), seated, arrangements, num_games=games, seed=seed, tick=bar.update)
