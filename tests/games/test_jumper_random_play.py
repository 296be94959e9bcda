"""Random play on 6×6 has the figures of the rules' source: branching, and how often each side wins."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from boardrl import host
from games.jumper import Jumper, paths
from games.jumper.bits import popcount
from games.jumper.narrow import BLACK, WHITE, successors

count, play = paths.count, paths.play
NO_CELL = paths.NO_CELL


@numba.njit
def by_paths(size, num_games, seed):  # type: ignore[no-untyped-def]
    """Wins of White, wins of Black, turns, and moves to choose from, with paths drawn evenly."""
    np.random.seed(seed)  # noqa: NPY002 (Numba)
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
    return white, black, turns, choices


@numba.njit
def by_boards(first, buffer, work, num_games, seed):  # type: ignore[no-untyped-def]
    """The same with distinct boards drawn evenly."""
    np.random.seed(seed)  # noqa: NPY002 (Numba)
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
    return white, black, turns, choices


def test_random_play_over_paths() -> None:
    """26.2 moves a turn; White 50.8 %, Black 41.2 %, draws 8.0 % in a sample of unknown size.

    Over 100,000 games here 26.20; 50.7 %, 42.1 %, 7.2 %, so that the sample had a few thousand games at most.
    """
    games = 10_000
    white, black, turns, choices = by_paths(6, games, 1)
    assert choices / turns == pytest.approx(26.2, abs=0.1)
    assert white / games == pytest.approx(0.508, abs=0.015)
    assert black / games == pytest.approx(0.412, abs=0.015)
    assert 1 - (white + black) / games == pytest.approx(0.080, abs=0.015)


def test_random_play_over_distinct_boards() -> None:
    game = Jumper(6)
    facet = host.of(game)
    games = 10_000
    white, black, turns, choices = by_boards(facet.row(game.init()), facet.rows(4096), facet.work(), games, 1)
    assert choices / turns == pytest.approx(24.1, abs=0.1)
    assert white / games == pytest.approx(0.512, abs=0.012)  # as measured here over 100,000 games
    assert black / games == pytest.approx(0.419, abs=0.012)
