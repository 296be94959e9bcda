"""Tic-tac-toe: two players, three in a row wins."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from boardrl.drawing import Circle, Drawing, Part, Polygon, Rect, Shape
from boardrl.errors import UserError
from boardrl.game import TERMINAL, Deterministic, Spec, one_hot, select

MARKS = ".XO"  # empty, seat 0, seat 1
SQUARE = np.arange(9).reshape(3, 3)
# [8, 9]: the cell that each cell of the mirrored board shows, for each symmetry; the first is the identity.
SYMMETRIES = np.stack([np.rot90(flip, turns).ravel() for flip in (SQUARE, SQUARE.T) for turns in range(4)])

STROKE = ((-0.34, -0.24), (-0.24, -0.34), (0.34, 0.24), (0.24, 0.34))  # of a cross


class State(NamedTuple):
    crosses: Array  # [9] bool: the marks of seat 0
    noughts: Array  # [9] bool: the marks of seat 1
    turn: Array  # [] int32: the seat to move
    winner: Array  # [] int32: a seat, or -1

    @property
    def board(self) -> Array:
        """[9] int8: 0 empty, 1 seat 0, 2 seat 1."""
        return self.crosses.astype(np.int8) + 2 * self.noughts.astype(np.int8)

    def sides(self, player: Array) -> tuple[Array, Array]:
        """[9] bool: the player's marks, and the opponent's."""
        first = player == 0
        return jnp.where(first, self.crosses, self.noughts), jnp.where(first, self.noughts, self.crosses)


def of_board(board: Any, turn: Any, winner: Any) -> State:
    """The state of a board, [..., 9] of 0, 1 and 2."""
    return State(board == 1, board == 2, turn, winner)


@dataclasses.dataclass(frozen=True)
class TicTacToe(Deterministic):
    """Cells and actions:  0 1 2 / 3 4 5 / 6 7 8."""

    lanes_last = True

    @property
    def spec(self) -> Spec:
        return Spec("tic_tac_toe", num_players=2, num_actions=9, num_outcomes=0, obs_shape=(27,), max_steps=9)

    def init(self) -> State:
        return State(jnp.zeros(9, jnp.bool_), jnp.zeros(9, jnp.bool_), jnp.int32(0), jnp.int32(-1))

    def actor(self, state: State) -> Array:
        return jnp.where(self._over(state), TERMINAL, state.turn)

    def legal(self, state: State) -> Array:
        return ~(state.crosses | state.noughts) & ~self._over(state)

    def step(self, state: State, move: Array) -> State:
        marked, first = one_hot(move, 9), state.turn == 0
        crosses, noughts = state.crosses | (marked & first), state.noughts | (marked & ~first)
        winner = jnp.where(three_in_a_row(jnp.where(first, crosses, noughts)), state.turn, -1)
        return select(self._over(state), state, State(crosses, noughts, 1 - state.turn, winner))

    def returns(self, state: State) -> Array:
        won = one_hot(state.winner, 2)
        return jnp.where(state.winner >= 0, jnp.where(won, 1.0, -1.0), 0.0).astype(jnp.float32)

    def observe(self, state: State, player: Array) -> Array:
        """Three planes: my marks, the opponent's, and ones if it is my turn."""
        my_turn = jnp.broadcast_to(state.turn == player, 9)
        return jnp.concatenate([*state.sides(player), my_turn]).astype(jnp.float32)

    def open_lines(self, state: State, player: Array) -> Array:
        """[P] in [-1, 1]: the lines that a player can still fill minus those of the opponent, over 8."""
        for_0, for_1 = num_lines(~state.noughts), num_lines(~state.crosses)
        return jnp.stack([for_0 - for_1, for_1 - for_0]).astype(jnp.float32) / 8

    values = {"lines": open_lines}

    def rotate(self, state: State) -> State:
        winner = jnp.where(state.winner < 0, -1, 1 - state.winner)
        return State(state.noughts, state.crosses, 1 - state.turn, winner)

    num_symmetries = 8

    def symmetric(self, state: State, number: Array) -> State:
        shown = jnp.asarray(SYMMETRIES)[number]
        return state._replace(crosses=state.crosses[shown], noughts=state.noughts[shown])

    def to_text(self, state: State) -> str:
        """Three rows and the seat to move: 'X.. .O. ... 0'."""
        marks = "".join(MARKS[int(cell)] for cell in state.board)
        return f"{marks[:3]} {marks[3:6]} {marks[6:]} {int(state.turn)}"

    def from_text(self, text: str) -> State:
        *rows, turn = text.split() or [""]
        marks = "".join(rows)
        if [len(row) for row in rows] != [3, 3, 3] or set(marks) - set(MARKS) or turn not in ("0", "1"):
            raise UserError(f"bad position {text!r}: expected three rows of {MARKS} and a seat, like 'X.. .O. ... 0'")
        board = jnp.array([MARKS.index(mark) for mark in marks], jnp.int8)
        won = [bool(three_in_a_row(board == mark)) for mark in (1, 2)]
        if all(won):
            raise UserError(f"bad position {text!r}: only one seat can have three in a row")
        return of_board(board, jnp.int32(int(turn)), jnp.int32(won.index(True) if any(won) else -1))

    def draw(self, state: State) -> Drawing:
        """Nine cells, a cross of blue and rings of orange."""
        squares = [(Rect(cell % 3, cell // 3, 1, 1, "#fffdf8", "#8a8577"),) for cell in range(9)]
        cells = [Part("cell", f"c{cell}", square, _name(cell)) for cell, square in enumerate(squares)]
        pieces: list[Shape] = []
        for cell, mark in enumerate(state.board.tolist()):
            x, y = cell % 3 + 0.5, cell // 3 + 0.5
            if mark == 1:
                pieces += [Polygon(tuple((x + s * dx, y + dy) for dx, dy in STROKE), "#0b5a94") for s in (1, -1)]
            elif mark == 2:
                pieces += [Circle(x, y, 0.32, "#c8501a"), Circle(x, y, 0.2, "#fffdf8")]
        return Drawing(3, 3, cells, pieces)

    def clicks(self, state: State, action: int) -> list[str]:
        return [f"c{action}"]

    def _over(self, state: State) -> Array:
        return (state.winner >= 0) | (state.crosses | state.noughts).all()


def three_in_a_row(mine: Array) -> Array:
    """[] bool: whether a [9] bool mask holds a row, a column or a diagonal."""
    square = mine.reshape(3, 3)
    return square.all(0).any() | square.all(1).any() | mine[0:9:4].all() | mine[2:7:2].all()


def num_lines(mine: Array) -> Array:
    """[] int32: the number of rows, columns and diagonals in a [9] bool mask."""
    square = mine.reshape(3, 3)
    diagonals = jnp.stack([mine[0:9:4].all(), mine[2:7:2].all()])
    return jnp.concatenate([square.all(0), square.all(1), diagonals]).sum()


def _name(cell: int) -> str:
    return f"row {cell // 3 + 1}, column {cell % 3 + 1}"
