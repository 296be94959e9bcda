"""The matches of the two papers on the SDU's Ludo simulator: one player against three, and two against two."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from algorithms.genomes import matches
from boardrl.matches import arena
from boardrl.play import players
from boardrl.play.players import Player
from boardrl.runs import progress
from games.ludo import Ludo
from launch.papers.cell import mean

GAME = "ludo:rules=sdu_java"
OPPONENT = "semismart"
MATCHES, MATCH_GAMES = 10, 1_000  # of two against two
Test = Callable[[np.ndarray, np.ndarray], float]  # t statistic of the points of two players
PER = 10_000  # points of one against three are given per this many games


def opponent() -> Player:
    """SemiSmart, the papers' benchmark opponent."""
    return players.make(OPPONENT, Ludo(rules="sdu_java"))


def team(player: Player, other: Player, games: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """[MATCHES] points of two copies of a player and of two copies of another, in alternate seats."""
    with progress.track(f"two {player.name} against two {other.name}", MATCHES * games, "games") as bar:
        played = _play([player, other, player, other], MATCHES * games, seed, bar)
    mine = played.seating % 2 == 0
    sums = (np.where(here, played.returns, 0).sum(1).reshape(MATCHES, games).sum(1) for here in (mine, ~mine))
    first, second = (total.astype(np.float64) for total in sums)
    return first, second


def by_seat(player: Player, games: int, seed: int) -> np.ndarray:
    """[4, G] returns of a player in each seat against three SemiSmart."""
    with progress.track(f"{player.name} against {OPPONENT}", 4 * games, "games") as bar:
        played = _play([player, *[opponent()] * 3], 4 * games, seed, bar)
    returns = played.returns.reshape(games, 4, 4)
    return np.stack([returns[:, seat, seat] for seat in range(4)])


def by_seat_compiled(player: Player, games: int, seed: int) -> np.ndarray:
    """The same as `by_seat` in compiled code, many times faster for nets; the dice, and so the games, differ."""
    seating = np.where(np.arange(4)[None] == np.arange(4 * games)[:, None] % 4, 0, -1).astype(np.int32)
    return _play_compiled(player, opponent(), seating, seed).reshape(games, 4, 4).diagonal(axis1=1, axis2=2).T


def team_compiled(player: Player, other: Player, games: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The same as `team` in compiled code, against a scripted player."""
    seating = ((np.arange(4)[None] + np.arange(MATCHES * games)[:, None]) % 2).astype(np.int32) - 1
    returns = _play_compiled(player, other, seating, seed)
    sums = (np.where(here, returns, 0).sum(1).reshape(MATCHES, games).sum(1) for here in (seating >= 0, seating < 0))
    first, second = (total.astype(np.float64) for total in sums)
    return first, second


def points(returns: np.ndarray) -> tuple[float, float, float]:
    """(points in 10,000 games, low, high)."""
    return mean(PER * returns.ravel().astype(np.float64))


def unpaired_t(first: np.ndarray, second: np.ndarray) -> float:
    """Two-sample t: the difference of the means over its standard error."""
    error = np.sqrt(sum(sample.var(ddof=1) / len(sample) for sample in (first, second)))
    return float((first.mean() - second.mean()) / error)


def paired_t(first: np.ndarray, second: np.ndarray) -> float:
    """Paired t: the mean of the differences over its standard error."""
    differences = first - second
    return float(differences.mean() / (differences.std(ddof=1) / np.sqrt(len(differences))))


def _play_compiled(player: Player, other: Player, seating: np.ndarray, seed: int) -> np.ndarray:
    """[G, 4] returns with the player in the seats 0 and the other in the seats -1."""
    assert player.policy is not None
    assert other.policy is not None
    with progress.track(f"{player.name} against {other.name}", len(seating), "games") as bar:
        returns = matches.play(Ludo(rules="sdu_java"), [player.policy], [other.policy], seating, seed=seed)
        bar.update(len(seating))
    return returns


def _play(seated: Sequence[Player], games: int, seed: int, bar: progress.Bar) -> arena.Played:
    """Games with the seats rotated: all players move one seat further from game to game."""
    seats = np.arange(4)
    arrangements = (seats[None, :] - seats[:, None]) % 4
    return arena.play(Ludo(rules="sdu_java"), seated, arrangements, num_games=games, seed=seed, tick=bar.update)
