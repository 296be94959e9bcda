"""Which games of a match are observations of their own, and which only repeat others.

Games that differ by what was drawn at random (dice, a choice between several possible actions, an opening) are
independent observations, also where two of them happen to be the same: to leave out one of two equal games of random
play would favour long games, of which fewer are equal. Where nothing is drawn, a game says nothing that its first copy
has not said: all copies are one observation, however many were played.

Whether a host player's random numbers had any effect cannot be seen from one game. They count as drawn if the games of
the same seating differ; if all are the same, they are one observation.
"""

from __future__ import annotations

import numpy as np

SEATING = np.uint64(0x9E3779B97F4A7C15)  # odd: multiples of it differ in their highest bits too


def courses(seating: np.ndarray, moves: np.ndarray) -> np.ndarray:
    """[N] uint64: hashes of whole games, of which who sat where is a part.

    Args:
      seating: [N] int: the same number for the same players in the same seats.
      moves: [N] uint64: hashes of the games' moves.
    """
    return moves ^ ((seating.astype(np.uint64) + np.uint64(1)) * SEATING)


def copies(seating: np.ndarray, course: np.ndarray, drawn: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """[N] int: how many games, with this one, are the same observation as it; 1 for one of its own.

    Args:
      seating: [N] int: as in `courses`.
      course: [N] uint64: from `courses`.
      drawn: [N] bool: a move was drawn at random where others were possible.
      asked: [N] bool: a host player took random numbers.
    """
    single = drawn.copy()
    if asked.any():
        for one in np.unique(seating):
            mine = seating == one
            if len(np.unique(course[mine])) > 1:
                single |= mine & asked
    found = np.ones(len(course), int)
    _, group, counts = np.unique(course[~single], return_inverse=True, return_counts=True)
    found[~single] = counts[group]
    return found


def effective(copies: np.ndarray) -> float:
    """How many independent observations a mean over N games rests on: N² / Σ n² with n copies of each (Kish 1965).

    N where all are single, and at most the number of different observations.
    """
    return len(copies) ** 2 / float(copies.sum()) if len(copies) else 0.0
