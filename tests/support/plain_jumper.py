"""Jumper written once more, as plainly as can be: what the fast versions are tested against.

A board is a tuple of rows; a turn is (path, board after it), where a path of one cell is a place.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

Board = tuple[tuple[int, ...], ...]
Turn = tuple[tuple[tuple[int, int], ...], Board]

EMPTY, WHITE, BLACK, DEAD = range(4)
STEPS = [(r, c) for r in (-1, 0, 1) for c in (-1, 0, 1) if (r, c) != (0, 0)]


def empty_board(size: int) -> Board:
    return ((EMPTY,) * size,) * size


def put(board: Board, cell: tuple[int, int], piece: int) -> Board:
    rows = [list(row) for row in board]
    rows[cell[0]][cell[1]] = piece
    return tuple(map(tuple, rows))


def hops(board: Board, mover: int, cell: tuple[int, int]) -> Iterator[tuple[tuple[int, int], Board]]:
    """Every landing from a cell, with the board after the hop."""
    size = len(board)
    for down, right in STEPS:
        middle = cell[0] + down, cell[1] + right
        end = cell[0] + 2 * down, cell[1] + 2 * right
        if not (0 <= end[0] < size and 0 <= end[1] < size) or board[end[0]][end[1]] != EMPTY:
            continue
        jumped = board[middle[0]][middle[1]]
        if jumped in (WHITE, BLACK):
            after = board if jumped == mover else put(board, middle, DEAD)
            yield end, put(after, end, mover)


def chains(board: Board, mover: int, path: tuple[tuple[int, int], ...]) -> Iterator[Turn]:
    """Every way to go on hopping from the end of a path, each prefix a turn of its own."""
    for end, after in hops(board, mover, path[-1]):
        yield (*path, end), after
        yield from chains(after, mover, (*path, end))


def jumps(board: Board, mover: int) -> Iterator[Turn]:
    for row, line in enumerate(board):
        for column, piece in enumerate(line):
            if piece == mover:
                yield from chains(board, mover, ((row, column),))


def places(board: Board, mover: int) -> Iterator[Turn]:
    for row, line in enumerate(board):
        for column, piece in enumerate(line):
            if piece == EMPTY:
                yield ((row, column),), put(board, (row, column), mover)


def turns(board: Board, mover: int) -> list[Turn]:
    return [*jumps(board, mover), *places(board, mover)]


def perft(board: Board, mover: int, depth: int, *, distinct: bool) -> int:
    """Sequences of `depth` turns by paths, or by the boards they lead to; a finished game counts 1."""
    after = [board for _, board in turns(board, mover)]
    if depth == 0 or not after:
        return 1
    return sum(perft(b, 3 - mover, depth - 1, distinct=distinct) for b in (set(after) if distinct else after))


def random_board(size: int, chooser: random.Random) -> Board:
    """Cells drawn apart from each other, with shares that differ from board to board."""
    weights = [chooser.random() ** 2 + 0.01 for _ in range(4)]
    return tuple(tuple(chooser.choices(range(4), weights, k=size)) for _ in range(size))
