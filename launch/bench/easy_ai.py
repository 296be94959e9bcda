"""Tic-tac-toe and connect four for easyAI, in the style of its examples, with a counter of visited positions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from easyAI import TwoPlayerGame

LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))
ROWS, COLUMNS = 6, 7


class Counted(TwoPlayerGame):
    """Counts every move as a visited position; supports unmaking moves, so that Negamax need not copy the game."""

    def __init__(self, players: Sequence[Any]) -> None:
        self.players = players
        self.current_player = 1
        self.count = [0]

    def ttentry(self) -> Any:
        raise NotImplementedError("no table is used")


class TicTacToe(Counted):
    def __init__(self, players: Sequence[Any]) -> None:
        super().__init__(players)
        self.board = [0] * 9

    def possible_moves(self) -> list[int]:
        return [cell for cell in range(9) if self.board[cell] == 0]

    def make_move(self, move: int) -> None:
        self.count[0] += 1
        self.board[move] = self.current_player

    def unmake_move(self, move: int) -> None:
        self.board[move] = 0

    def lose(self) -> bool:
        return any(all(self.board[cell] == self.opponent_index for cell in line) for line in LINES)

    def is_over(self) -> bool:
        return not self.possible_moves() or self.lose()

    def scoring(self) -> int:
        return -100 if self.lose() else 0


class ConnectFour(Counted):
    def __init__(self, players: Sequence[Any]) -> None:
        super().__init__(players)
        self.board = np.zeros((ROWS, COLUMNS), int)

    def possible_moves(self) -> list[int]:
        return [column for column in range(COLUMNS) if self.board[0, column] == 0]

    def make_move(self, column: int) -> None:
        self.count[0] += 1
        self.board[np.flatnonzero(self.board[:, column] == 0)[-1], column] = self.current_player

    def unmake_move(self, column: int) -> None:
        self.board[np.flatnonzero(self.board[:, column])[0], column] = 0

    def lose(self) -> bool:
        return four_in_a_row(self.board == self.opponent_index)

    def is_over(self) -> bool:
        return bool(self.board.all()) or self.lose()

    def scoring(self) -> int:
        return -100 if self.lose() else 0


def four_in_a_row(mine: np.ndarray) -> bool:
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        height, width = ROWS - 3 * down, COLUMNS - 3 * abs(right)
        start = 3 * (right < 0)
        runs = [mine[n * down : n * down + height, start + n * right : start + n * right + width] for n in range(4)]
        if np.logical_and.reduce(runs).any():
            return True
    return False


GAMES = {"tic_tac_toe": TicTacToe, "connect_four": ConnectFour}
