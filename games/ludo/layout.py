"""Grid coordinates of the squares of a Ludo board, for pictures and for the terminal.

The board of 52 squares and columns of 5 is the usual cross of 15 × 15 cells. Any other board is a square ring with the
start squares at the corners, the columns along the diagonals and the bases outside the corners.
"""

from __future__ import annotations

from typing import NamedTuple

from games.ludo.board import BASE, START, Board

Cell = tuple[int, int]  # column, row
Point = tuple[float, float]  # x, y in a picture, where a cell is one unit wide
MARGIN = 3  # cells outside a square ring, where the bases are


class Layout(NamedTuple):
    size: int  # cells on a side
    ring: list[Cell]  # [ring] from the start of quarter 0
    column: list[list[Cell]]  # [4][column] of each quarter
    goal: list[Cell]  # [4]
    base: list[list[Cell]]  # [4][4]
    spots: list[list[Point]]  # [4][4] where pictures have the pieces of a base
    yards: list[Cell]  # [4] the upper left cells of the coloured corners; empty on a board without them

    def cell(self, board: Board, seat: int, piece: int, place: int) -> Cell:
        """Where a piece is drawn."""
        quarter = seat * board.gap // (board.ring // 4)
        if place == BASE:
            return self.base[quarter][piece]
        if place == board.goal:
            return self.goal[quarter]
        in_column = place - (board.goal - len(self.column[quarter]))
        if in_column >= 0:
            return self.column[quarter][in_column]
        return self.ring[(seat * board.gap + place - START) % board.ring]

    def point(self, board: Board, seat: int, piece: int, place: int) -> Point:
        """The middle of where a piece is drawn in a picture."""
        if place == BASE:
            return self.spots[seat * board.gap // (board.ring // 4)][piece]
        x, y = self.cell(board, seat, piece, place)
        return x + 0.5, y + 0.5


def make(board: Board, column: int) -> Layout:
    """The layout of a board with columns of that many squares."""
    cross = board.ring == 52 and column == 5
    return _cross() if cross else _square(board.ring // 4, column)


def _cross() -> Layout:
    arm = [*((x, 6) for x in range(1, 6)), *((6, y) for y in range(5, -1, -1)), (7, 0), (8, 0)]
    first_column = [(x, 7) for x in range(1, 6)]
    made = _turned(15, arm, first_column, (6, 7), [(2, 2), (3, 2), (2, 3), (3, 3)])
    yards = [(0, 0), (9, 0), (9, 9), (0, 9)]
    spots = [[(x + 3.0 + dx, y + 3.0 + dy) for dy in (-1, 1) for dx in (-1, 1)] for x, y in yards]
    return made._replace(yards=yards, spots=spots)


def _square(quarter: int, column: int) -> Layout:
    # Squares are spaced so that half a side has room for a column and the goal.
    spread = -(-2 * (column + 2) // quarter)
    side = spread * quarter
    edge = [(MARGIN + spread * step, MARGIN) for step in range(quarter)]
    diagonal = [(MARGIN + 1 + step, MARGIN + 1 + step) for step in range(column + 1)]
    return _turned(side + 1 + 2 * MARGIN, edge, diagonal[:-1], diagonal[-1], [(0, 0), (1, 0), (0, 1), (1, 1)])


def _turned(size: int, side: list[Cell], column: list[Cell], goal: Cell, base: list[Cell]) -> Layout:
    """A whole board from its first quarter, by three clockwise quarter turns."""
    ring: list[Cell] = []
    columns, goals, bases = [], [], []
    for _ in range(4):
        ring += side
        columns.append(column)
        goals.append(goal)
        bases.append(base)
        side, column, base = ([_turn(size, cell) for cell in cells] for cells in (side, column, base))
        goal = _turn(size, goal)
    spots = [[(x + 0.5, y + 0.5) for x, y in cells] for cells in bases]
    return Layout(size, ring, columns, goals, bases, spots, [])


def _turn(size: int, cell: Cell) -> Cell:
    column, row = cell
    return size - 1 - row, column
