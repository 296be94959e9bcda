"""The playoff after an evolution: rounds of equally many games, each by the better half of the round before.

Successive halving (Karnin, Koren and Somekh 2013): those who might be the best play most of the games, while the same
number of games spread over all members leaves the choice to luck.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from algorithms.genomes import breeding

Points = Callable[[np.ndarray, int, int], np.ndarray]  # (members, games, number of the round) -> [M] points a game


def num_rounds(num_members: int) -> int:
    """How often members can be halved, rounded up, until one is left; a single member plays one."""
    return max((num_members - 1).bit_length(), 1)


def fitness(num_members: int, num_games: int, points: Points, finalists: np.ndarray | None = None) -> np.ndarray:
    """[M] mean points a game over all rounds of a member; one who leaves is never above those who stay.

    Members who are no finalists do not play, and are below all who do; None: all members play.
    """
    stay = np.arange(num_members) if finalists is None else finalists
    rounds = num_rounds(len(stay))
    each = num_games // rounds
    total, weight = np.zeros(num_members), np.zeros(num_members)
    rest = []
    for number in range(rounds):
        rest.append(stay)
        share = 1 / len(stay)  # of a round's games that each of them plays
        total[stay] += share * points(stay, each, number)[stay]
        weight[stay] += share
        stay = stay[breeding.ranked(total[stay] / weight[stay])][: -(-len(stay) // 2)]
        stay.sort()
    found = np.divide(total, weight, out=np.full(num_members, np.inf), where=weight > 0)
    for members in reversed(rest):
        leave = np.setdiff1d(members, stay)
        found[leave] = np.minimum(found[leave], found[stay].min())
        stay = members
    found[weight == 0] = np.nextafter(np.float32(found[stay].min()), np.float32(-np.inf))
    return found
