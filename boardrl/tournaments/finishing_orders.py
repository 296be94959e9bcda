"""Finishing orders of games as choices of the Plackett-Luce model: the best of all, then the best of the rest, ..."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np


class Choices(NamedTuple):
    """M sets of entrants, and how often each entrant was chosen as the best of its set.

    Player K is padding, for sets with fewer than S entrants.
    """

    entrants: np.ndarray  # [M, S] int: players
    wins: np.ndarray  # [M, S] float


class _Stage(NamedTuple):
    """A choice among the remaining players, in every game with the same ties."""

    left: tuple[int, ...]  # the remaining places in the finishing order
    num_tied: int  # the first `num_tied` of them share the choice evenly
    weight: float


class Games(NamedTuple):
    """Games with the same ties."""

    order: np.ndarray  # [N, P] int: players from the best to the worst
    ties: tuple[int, ...]  # number of players at each place, like (1, 1, 2)
    weights: np.ndarray  # [N] float: the number of observations that a game counts as


class Finishes:
    """Finishing orders of games between some of K players.

    Players are ordered by their returns. Tied players count as if they had finished in every possible order equally
    often: for two players a draw is half a win each. A tie for the last place is ignored unless all players share it:
    a game that ends with its first winner says nothing about the order of the others.
    """

    def __init__(self, num_players: int, games: Sequence[Games]) -> None:
        self.num_players, self.games = num_players, games

    @classmethod
    def of_returns(cls, num_players: int, seating: np.ndarray, returns: np.ndarray, weights: np.ndarray) -> Finishes:
        """From [N, P] seating, [N, P] returns by seat and [N] weights."""
        places = np.argsort(-returns, axis=1, kind="stable")
        order, sorted_ = np.take_along_axis(seating, places, 1), np.take_along_axis(returns, places, 1)
        ends = sorted_[:, 1:] != sorted_[:, :-1]  # [N, P - 1] where a player is not tied with the next
        kinds, kind = np.unique(ends, axis=0, return_inverse=True)
        found = []
        for number, pattern in enumerate(kinds):
            mine = kind.reshape(-1) == number
            bounds = [0, *(pattern.nonzero()[0] + 1).tolist(), returns.shape[1]]
            ties = tuple(int(size) for size in np.diff(bounds))
            found.append(Games(order[mine].astype(np.int64), ties, weights[mine].astype(np.float64)))
        return cls(num_players, found)

    @classmethod
    def of_pairs(cls, wins: np.ndarray, draws: np.ndarray) -> Finishes:
        """From [K, K] wins of the row player against the column player, and [K, K] symmetric draws."""
        won, drawn = np.argwhere(wins > 0), np.argwhere(np.triu(draws, 1) > 0)
        games = [Games(won, (1, 1), wins[tuple(won.T)]), Games(drawn, (2,), draws[tuple(drawn.T)])]
        return cls(len(wins), games)

    def choices(self) -> Choices:
        """All choices, summed over equal sets of entrants."""
        size = max((games.order.shape[1] for games in self.games), default=2)
        sets, wins = [np.zeros((0, size), np.int64)], [np.zeros((0, size))]
        for games, stage in self._stages():
            entrants = np.full((len(games.order), size), self.num_players)
            entrants[:, : len(stage.left)] = games.order[:, stage.left]
            won = np.zeros(entrants.shape)
            won[:, : stage.num_tied] = (games.weights * stage.weight / stage.num_tied)[:, None]
            by_number = np.argsort(entrants, axis=1, kind="stable")
            sets.append(np.take_along_axis(entrants, by_number, 1))
            wins.append(np.take_along_axis(won, by_number, 1))
        entrants, number = _unique(np.concatenate(sets), self.num_players + 1)
        cells = number[:, None] * size + np.arange(size)
        total = np.bincount(cells.ravel(), np.concatenate(wins).ravel(), minlength=entrants.size)
        matter = (entrants[:, 1:] != entrants[:, :1]) & (entrants[:, 1:] < self.num_players)  # two players at least
        kept = matter.any(axis=1)
        return Choices(entrants[kept], total.reshape(entrants.shape)[kept])

    def shared(self) -> np.ndarray:
        """[K, K] Σ y_i y_j over tied choices: the variance of their points falls short of p_i p_j by this much."""
        found = np.zeros((self.num_players, self.num_players))
        for games, stage in self._stages():
            share = games.weights * stage.weight / stage.num_tied**2
            for first, second in itertools.permutations(stage.left[: stage.num_tied], 2):
                np.add.at(found, (games.order[:, first], games.order[:, second]), share)
        return found

    def _stages(self) -> Iterator[tuple[Games, _Stage]]:
        for games in self.games:
            for stage in stages(games.ties):
                yield games, stage


def _unique(rows: np.ndarray, base: int) -> tuple[np.ndarray, np.ndarray]:
    """The unique rows of [N, S] numbers below the base, and [N] the index of each row among them."""
    if base ** rows.shape[1] < 2**63:  # each row as one number, which is many times faster
        _, first, number = np.unique(rows @ base ** np.arange(rows.shape[1]), return_index=True, return_inverse=True)
        return rows[first], number.reshape(-1)
    found, number = np.unique(rows, axis=0, return_inverse=True)
    return found, number.reshape(-1)


def stages(ties: tuple[int, ...]) -> list[_Stage]:
    """The choices of a game with the given ties.

    Averages over all orders of the m players tied for a place: after j of them, every set of m - j players is equally
    likely to remain, and each of these equally likely to be next.
    """
    found = []
    first, num_players = 0, sum(ties)
    for size in ties:
        if first + size == num_players and first > 0:
            break  # a tie for the last place says nothing, and one player alone is no choice
        behind = tuple(range(first + size, num_players))
        for gone in range(size):
            for left in itertools.combinations(range(first, first + size), size - gone):
                if len(left) + len(behind) > 1:
                    found.append(_Stage(left + behind, len(left), 1 / math.comb(size, gone)))
        first += size
    return found
