"""Boards and moves of pgx's games as text: games of stones, of chess and of shogi."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np
from jax import Array
from rich.text import Text

from games.guests.pgx_adapter import Adapter, as_in_pgx

STONES = "xo."  # of the side that began, of the other; the last is an empty cell
PIECES = ".PNBRQK"  # of chess, by pgx's numbers; White's are positive


def board_text(rows: Sequence[Sequence[str]], names: Sequence[str], columns: Sequence[str], *, slant: int = 0) -> Text:
    """A board with the names of its rows and columns; each row begins `slant` places right of the one above."""
    cell, margin = max(map(len, columns)), max(map(len, names))
    lines = [
        " " * (slant * number) + f"{name:>{margin}} " + " ".join(f"{mark:>{cell}}" for mark in row)
        for number, (name, row) in enumerate(zip(names, rows, strict=True))
    ]
    return Text("\n".join([*lines, " " * (slant * len(rows) + margin + 1) + " ".join(columns)]))


class Stones(Adapter):
    """A game of stones on cells that pgx counts from the top left, row by row."""

    height: ClassVar[int]
    width: ClassVar[int]
    letters: ClassVar[str] = string.ascii_lowercase  # of the columns
    from_top: ClassVar[bool] = False  # whether row 1 is the top one
    slant: ClassVar[int] = 0
    last_action: ClassVar[str] = ""  # the name of the action after those of the cells

    def owners(self, state: Any) -> np.ndarray:
        """[cells]: 0 where the side that began has a stone, 1 for the other side, -1 for none."""
        return np.asarray(state._x.board)

    def move_text(self, state: Any, move: Any) -> str:
        """A cell, like 'd3', or the name of the action that places no stone."""
        if int(move) == self.height * self.width:
            return self.last_action
        row, column = divmod(int(move), self.width)
        return self.letters[column] + self.row_names()[row]

    def show(self, state: Any) -> Text:
        marks = [STONES[owner] for owner in self.owners(state).tolist()]
        rows = [marks[start : start + self.width] for start in range(0, len(marks), self.width)]
        return board_text(rows, self.row_names(), self.letters[: self.width], slant=self.slant)

    def row_names(self) -> list[str]:
        """The numbers of the rows, the top one first."""
        names = [str(number + 1) for number in range(self.height)]
        return names if self.from_top else names[::-1]


class SignedStones(Stones):
    """Stones that pgx marks by their sign: positive ones are the mover's."""

    def owners(self, state: Any) -> np.ndarray:
        sign = np.sign(np.asarray(state._x.board))
        mover = int(self.color(state))
        return np.where(sign == 0, -1, np.where(sign > 0, mover, 1 - mover))


class ChessMen(Adapter):
    """Chess on a square board that pgx counts from a1 upwards, column by column, turned to the mover's view."""

    size: ClassVar[int]

    def board(self, state: Any) -> Array:
        """[squares]: pieces from the mover's view, the opponent's negative."""
        return state._x.board

    def decoded(self, move: Any) -> Any:
        """pgx's Action of a number: `from_`, `to` and `underpromotion`."""
        from pgx._src.games.chess import Action

        return Action._from_label(move)

    def move_text(self, state: Any, move: Any) -> str:
        """As in UCI: the squares of the piece before and after, and what a pawn becomes, like 'e2e4' and 'b7a8n'."""
        with as_in_pgx():
            action = self.decoded(jnp.int32(move))
        start, end, black = int(action.from_), int(action.to), bool(self.color(state))
        becomes = ""
        if end % self.size == self.size - 1 and int(self.board(state)[start]) == PIECES.index("P"):
            becomes = "rbnq"[int(action.underpromotion)]  # -1 for a queen
        return self.square(start, black) + self.square(end, black) + becomes

    def square(self, number: int, black: bool) -> str:
        """The name of a square that the mover sees under a number."""
        column, row = divmod(number, self.size)
        return string.ascii_lowercase[column] + str(self.size - row if black else row + 1)

    def show(self, state: Any) -> Text:
        """White's pieces in capitals, White at the bottom."""
        board = np.asarray(self.board(state)).reshape(self.size, self.size).T  # the mover's first row first
        board = -board if bool(self.color(state)) else board[::-1]
        rows = [[PIECES[piece] if piece >= 0 else PIECES[-piece].lower() for piece in row] for row in board.tolist()]
        names = [str(number) for number in range(self.size, 0, -1)]
        return board_text(rows, names, string.ascii_lowercase[: self.size])


class ShogiMen(Adapter):
    """Shogi on a board that pgx counts from the top right downwards, column by column, turned to the mover's view."""

    height: ClassVar[int]
    pieces: ClassVar[tuple[str, ...]]  # by pgx's numbers; the opponent's follow in the same order

    def placed(self, state: Any) -> tuple[Array, Array]:
        """[squares], [2, kinds that can be dropped]: the board and the hands, from the mover's view."""
        return state._x.board, state._x.hand

    def decoded(self, state: Any, move: Any) -> tuple[int, int, bool]:
        """Where a move begins or, below 0, minus the number of the piece dropped, minus 1; where it ends; promotion."""
        from pgx._src.games.shogi import Action

        with as_in_pgx():
            action = Action._from_dlshogi_action(self.to_pgx(state)._x, jnp.int32(move))
        start = -1 - int(action.piece) if action.is_drop else int(action.from_)
        return start, int(action.to), bool(action.is_promotion)

    def move_text(self, state: Any, move: Any) -> str:
        """As in USI: '7g7f', '8h2b+' for a promotion, 'P*5e' for a drop; file 1 and rank a are at the top right."""
        start, end, promotes = self.decoded(state, move)
        second = bool(self.color(state))
        begin = f"{self.pieces[-1 - start]}*" if start < 0 else self.square(state, start, second)
        return begin + self.square(state, end, second) + "+" * promotes

    def square(self, state: Any, number: int, second: bool) -> str:
        """The name of a square that the mover sees under a number."""
        squares = self.placed(state)[0].shape[0]
        file, rank = divmod(squares - 1 - number if second else number, self.height)
        return str(file + 1) + string.ascii_lowercase[rank]

    def show(self, state: Any) -> Text:
        """Capitals for the side that began, at the bottom; below and above the board the pieces in hand."""
        board, hands = (np.asarray(part) for part in self.placed(state))
        kinds, second = len(self.pieces), bool(self.color(state))
        if second:
            board, hands = np.where(board < 0, -1, (board + kinds) % (2 * kinds))[::-1], hands[::-1]
        names = [*self.pieces, *(piece.lower() for piece in self.pieces), "."]
        rows = [[names[piece] for piece in row] for row in board.reshape(-1, self.height).T[:, ::-1].tolist()]
        width = max(map(len, self.pieces))
        columns = [f"{number:>{width}}" for number in range(len(rows[0]), 0, -1)]
        drawn = board_text(rows, string.ascii_lowercase[: self.height], columns)
        own, other = (
            "".join(piece * count for piece, count in zip(self.pieces, hand.tolist(), strict=False)) for hand in hands
        )
        return Text("\n").join([Text(f"in hand: {other.lower() or '-'}"), drawn, Text(f"in hand: {own or '-'}")])
