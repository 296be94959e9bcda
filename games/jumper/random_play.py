"""Random games by whole turns, compiled: the figures that the rules are checked by, and a measure of speed."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from games.jumper.bits import Int, popcount
from games.jumper.narrow import BLACK, WHITE, successors
from games.jumper.paths import NO_CELL, count, play


class Tally(NamedTuple):
    """What happened in some games."""

    white: int  # games won by White
    black: int
    turns: int
    choices: int  # turns to choose from, over all turns


@numba.njit(cache=True, nogil=True)
def by_paths(size: Int, num_games: Int, seed: Int) -> Tally:
    """Games in which every path is as likely."""
    np.random.seed(seed)  # noqa: NPY002 (Numba's own generator)
    white = black = turns = choices = 0
    for _ in range(num_games):
        board = np.zeros(size * size, np.int8)
        mover = 1
        while (board == 0).any():
            moves = count(board, size, mover, NO_CELL, 1)
            play(board, size, mover, NO_CELL, np.random.randint(moves))  # noqa: NPY002
            turns, choices, mover = turns + 1, choices + moves, 3 - mover
        lead = (board == 1).sum() - (board == 2).sum()
        white += lead > 0
        black += lead < 0
    return Tally(white, black, turns, choices)


@numba.njit(cache=True, nogil=True)
def by_boards(first: np.ndarray, buffer: np.ndarray, work: np.ndarray, num_games: Int, seed: Int) -> Tally:
    """Games from a row of narrow.py in which every distinct board is as likely."""
    np.random.seed(seed)  # noqa: NPY002
    white = black = turns = choices = 0
    row = first.copy()
    for _ in range(num_games):
        row[:] = first
        moves = successors(row, buffer, work)
        while moves:
            turns, choices = turns + 1, choices + moves
            row[:] = buffer[np.random.randint(moves)]  # noqa: NPY002
            moves = successors(row, buffer, work)
        lead = popcount(row[WHITE]) - popcount(row[BLACK])
        white += lead > 0
        black += lead < 0
    return Tally(white, black, turns, choices)
