"""Connect four: two players drop pieces into columns; four in a row win, horizontally, vertically or diagonally."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from boardrl.errors import UserError
from boardrl.game import TERMINAL, Deterministic, Spec, one_hot, select

MARKS = ".XO"  # empty, seat 0, seat 1
IN_A_ROW = 4
STEPS = ((0, 1), (1, 0), (1, 1), (1, -1))  # (row, column) directions of a line


class State(NamedTuple):
    first: Array  # [rows, columns] bool, the top row first: the pieces of seat 0
    second: Array  # [rows, columns] bool: the pieces of seat 1
    turn: Array  # [] int32: the seat to move
    winner: Array  # [] int32: a seat, or -1

    @property
    def board(self) -> Array:
        """[rows, columns] int8: 0 empty, 1 seat 0, 2 seat 1."""
        return self.first.astype(np.int8) + 2 * self.second.astype(np.int8)

    def sides(self, player: Array) -> tuple[Array, Array]:
        """[rows, columns] bool: the player's pieces, and the opponent's."""
        mine_first = player == 0
        return jnp.where(mine_first, self.first, self.second), jnp.where(mine_first, self.second, self.first)


def of_board(board: Any, turn: Any, winner: Any) -> State:
    """The state of a board, [..., rows, columns] of 0, 1 and 2."""
    return State(board == 1, board == 2, turn, winner)


@dataclasses.dataclass(frozen=True)
class ConnectFour(Deterministic):
    """Action c drops a piece into column c."""

    rows: int = 6
    columns: int = 7

    def __post_init__(self) -> None:
        if not (4 <= self.rows <= 12 and 4 <= self.columns <= 12):
            raise UserError(f"rows={self.rows},columns={self.columns} does not fit connect_four: expected 4 to 12 each")

    @property
    def spec(self) -> Spec:
        cells = self.rows * self.columns
        return Spec(
            "connect_four",
            num_players=2,
            num_actions=self.columns,
            num_outcomes=0,
            obs_shape=(self.rows, self.columns, 3),
            max_steps=cells,
        )

    def init(self) -> State:
        nothing = jnp.zeros((self.rows, self.columns), jnp.bool_)
        return State(nothing, nothing, jnp.int32(0), jnp.int32(-1))

    def actor(self, state: State) -> Array:
        return jnp.where(self._over(state), TERMINAL, state.turn)

    def legal(self, state: State) -> Array:
        return ~(state.first | state.second)[0] & ~self._over(state)

    def step(self, state: State, move: Array) -> State:
        filled, first = state.first | state.second, state.turn == 0
        floor = jnp.concatenate([filled[1:], jnp.ones((1, self.columns), jnp.bool_)])  # whether the cell below is full
        landing = floor & ~filled & one_hot(move, self.columns)[None]
        ours, theirs = state.first | (landing & first), state.second | (landing & ~first)
        winner = jnp.where(four_in_a_row(jnp.where(first, ours, theirs)), state.turn, -1)
        return select(self._over(state), state, State(ours, theirs, 1 - state.turn, winner))

    def returns(self, state: State) -> Array:
        won = one_hot(state.winner, 2)
        return jnp.where(state.winner >= 0, jnp.where(won, 1.0, -1.0), 0.0).astype(jnp.float32)

    def observe(self, state: State, player: Array) -> Array:
        """[rows, columns, 3] planes: my pieces, the opponent's, and ones if it is my turn."""
        my_turn = jnp.broadcast_to(state.turn == player, state.first.shape)
        return jnp.stack([*state.sides(player), my_turn], -1).astype(jnp.float32)

    def rotate(self, state: State) -> State:
        winner = jnp.where(state.winner < 0, -1, 1 - state.winner)
        return State(state.second, state.first, 1 - state.turn, winner)

    num_symmetries = 2

    def symmetric(self, state: State, number: Array) -> State:
        planes = (jnp.where(number == 0, plane, plane[:, ::-1]) for plane in (state.first, state.second))
        return State(next(planes), next(planes), state.turn, state.winner)

    def to_text(self, state: State) -> str:
        """The rows from the top and the seat to move."""
        rows = ["".join(MARKS[int(cell)] for cell in row) for row in state.board]
        return " ".join([*rows, str(int(state.turn))])

    def from_text(self, text: str) -> State:
        *rows, turn = text.split() or [""]
        fits = len(rows) == self.rows and all(len(row) == self.columns for row in rows)
        if not fits or set("".join(rows)) - set(MARKS) or turn not in ("0", "1"):
            raise UserError(
                f"bad position {text!r}: expected {self.rows} rows of {self.columns} of {MARKS}, the top one first, "
                "and a seat"
            )
        board = jnp.array([[MARKS.index(mark) for mark in row] for row in rows], jnp.int8)
        if bool(((board[:-1] != 0) & (board[1:] == 0)).any()):
            raise UserError(f"bad position {text!r}: a piece hangs in the air; expected columns filled from below")
        won = [bool(four_in_a_row(board == mark)) for mark in (1, 2)]
        return of_board(board, jnp.int32(int(turn)), jnp.int32(won.index(True) if any(won) else -1))

    def _over(self, state: State) -> Array:
        return (state.winner >= 0) | (state.first | state.second)[0].all()


def four_in_a_row(mine: Array) -> Array:
    """[] bool: whether a [rows, columns] bool mask holds four in a row."""
    found = jnp.array(False)
    rows, columns = mine.shape
    for down, right in STEPS:
        height, width = rows - (IN_A_ROW - 1) * down, columns - (IN_A_ROW - 1) * abs(right)
        start = (IN_A_ROW - 1) * (right < 0)
        run = jnp.ones((height, width), jnp.bool_)
        for n in range(IN_A_ROW):
            run &= mine[n * down : n * down + height, start + n * right : start + n * right + width]
        found |= run.any()
    return found
