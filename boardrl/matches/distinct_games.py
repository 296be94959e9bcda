"""Effective sample size of a match: which games are independent observations, and which repeat others.

Games with random draws (dice, a choice between several possible actions, an opening) are independent observations, even
where two of them happen to be equal: dropping one of two equal random games would favour long games, which are rarely
equal. A deterministic game adds nothing to its first copy: all copies together are one observation.

One game does not show whether a host player's random numbers had any effect. They count as random draws if the games of
the same seating differ; if all are equal, those games are one observation.
"""

from __future__ import annotations

import numpy as np

SEATING = np.uint64(0x9E3779B97F4A7C15)  # odd: multiples of it differ in their highest bits too


def courses(seating: np.ndarray, moves: np.ndarray) -> np.ndarray:
    """[N] uint64: hashes of whole games, seating included.

    Args:
      seating: [N] int: equal for the same players in the same seats.
      moves: [N] uint64: hashes of the games' moves.
    """
    return moves ^ ((seating.astype(np.uint64) + np.uint64(1)) * SEATING)


def copies(seating: np.ndarray, course: np.ndarray, drawn: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """[N] int: the number of games, this one included, that form one observation with it; 1 if it is independent.

    Args:
      seating: [N] int: as in `courses`.
      course: [N] uint64: from `courses`.
      drawn: [N] bool: a move was drawn at random from several possible ones.
      asked: [N] bool: a host player used random numbers.
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
    """Effective sample size of a mean over N games: N² / Σ n² with n copies of each observation (Kish 1965).

    N if all games are independent; never more than the number of different observations.
    """
    return len(copies) ** 2 / float(copies.sum()) if len(copies) else 0.0
