"""Ataxx: pieces clone to a neighbouring cell or jump two cells, and convert adjacent enemies; most pieces win."""

from __future__ import annotations

import dataclasses
import functools
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array
from rich.text import Text

from boardrl.errors import UserError
from boardrl.game import TERMINAL, Deterministic, Spec, one_hot, select

MARKS = "xo"  # seat 0, seat 1


class State(NamedTuple):
    pieces: Array  # [P, N] bool: each seat's cells, row by row from the top
    turn: Array  # [] int32: the seat to move, or TERMINAL


class Tables(NamedTuple):
    """Constants of a board: neighbourhoods of cells, and the actions."""

    near: np.ndarray  # [N, N] bool: 1 apart, diagonals included
    reach: np.ndarray  # [N, N] bool: 1 or 2 apart
    source: np.ndarray  # [A] the cell that an action leaves; N for a clone
    target: np.ndarray  # [A] the cell that it fills


@functools.cache
def tables(size: int) -> Tables:
    """Actions: first N clones, one per target; then all jumps, by source and target."""
    row, column = np.divmod(np.arange(size * size), size)
    apart = np.maximum(abs(row[:, None] - row), abs(column[:, None] - column))
    source, target = np.nonzero(apart == 2)
    stays = np.full(size * size, size * size)
    return Tables(
        near=apart == 1,
        reach=(apart == 1) | (apart == 2),
        source=np.append(stays, source).astype(np.int32),
        target=np.append(np.arange(size * size), target).astype(np.int32),
    )


@dataclasses.dataclass(frozen=True)
class Ataxx(Deterministic):
    """Action c < N clones onto cell c from any adjacent piece; the others are jumps, in the order of `tables`.

    A player who cannot move is skipped. The game ends when neither can move, as on a full board, or when a colour has
    no pieces left. Pieces can jump back and forth forever; a game stopped at `max_steps` has no winner.
    """

    size: int = 7

    def __post_init__(self) -> None:
        if not 3 <= self.size <= 8:
            raise UserError(f"size={self.size} does not fit ataxx: expected 3 to 8")

    @property
    def spec(self) -> Spec:
        return Spec(
            "ataxx",
            num_players=2,
            num_actions=len(tables(self.size).target),
            num_outcomes=0,
            obs_shape=(self.size, self.size, 3),
            max_steps=10 * self.size * self.size,  # random games take about 4 per cell, none seen took 7
        )

    def init(self) -> State:
        pieces = np.zeros((2, self.size, self.size), bool)
        pieces[0, [0, -1], [0, -1]] = pieces[1, [0, -1], [-1, 0]] = True  # the corners, one colour on each diagonal
        return State(jnp.asarray(pieces.reshape(2, -1)), jnp.int32(0))

    def actor(self, state: State) -> Array:
        return state.turn

    def legal(self, state: State) -> Array:
        near, _, source, target = tables(self.size)
        mine, _ = self._sides(state)
        empty = ~state.pieces.any(0)
        clones = (jnp.asarray(near) & mine[None]).any(1) & empty
        jumps = mine[source[len(near) :]] & empty[target[len(near) :]]
        return jnp.concatenate([clones, jumps]) & (state.turn != TERMINAL)

    def step(self, state: State, move: Array) -> State:
        cells = self.size * self.size
        source, target = (jnp.asarray(table)[move] for table in tables(self.size)[2:])
        touched = jnp.asarray(tables(self.size).near)[target]
        mine, theirs = self._sides(state)
        mine = (mine & ~one_hot(source, cells)) | one_hot(target, cells) | (theirs & touched)
        theirs &= ~touched
        pieces = jnp.where(state.turn == 0, jnp.stack([mine, theirs]), jnp.stack([theirs, mine]))
        return select(state.turn == TERMINAL, state, State(pieces, self._next(pieces, 1 - state.turn)))

    def returns(self, state: State) -> Array:
        lead = jnp.sign(self._lead(state)).astype(jnp.float32)
        return jnp.where(state.turn == TERMINAL, jnp.stack([lead, -lead]), 0.0)

    def observe(self, state: State, player: Array) -> Array:
        """[size, size, 3] planes: my pieces, the opponent's, and ones if it is my turn."""
        mine, theirs = self._sides(state._replace(turn=player))
        my_turn = jnp.broadcast_to(state.turn == player, mine.shape)
        return jnp.stack([mine, theirs, my_turn], -1).reshape(self.spec.obs_shape).astype(jnp.float32)

    # Pieces, and empty cells that a colour could clone onto, own minus opponent's, over all cells; whose turn it is.
    feature_names = ("pieces", "room", "turn")
    feature_weights = (4.0, 0.5, 0.1)

    def features(self, state: State, player: Array) -> Array:
        empty = ~state.pieces.any(0)
        touching = (jnp.asarray(tables(self.size).near)[None] & state.pieces[:, None]).any(2) & empty[None]
        room = touching[0].sum(dtype=jnp.int32) - touching[1].sum(dtype=jnp.int32)
        lead = jnp.stack([self._lead(state), room]).astype(jnp.float32) / (self.size * self.size)
        turn = jnp.where(state.turn == TERMINAL, 0.0, jnp.where(state.turn == 0, 1.0, -1.0)).astype(jnp.float32)
        return jnp.where(player == 0, 1.0, -1.0).astype(jnp.float32) * jnp.append(lead, turn)

    def rotate(self, state: State) -> State:
        return State(state.pieces[::-1], jnp.where(state.turn == TERMINAL, TERMINAL, 1 - state.turn))

    num_symmetries = 8

    def symmetric(self, state: State, number: Array) -> State:
        square = np.arange(self.size * self.size).reshape(self.size, self.size)
        images = [np.rot90(flip, turns).ravel() for flip in (square, square.T) for turns in range(4)]
        return state._replace(pieces=state.pieces[:, jnp.asarray(np.stack(images))[number]])

    def to_text(self, state: State) -> str:
        """Rows from the top, runs of empty cells as numbers, the side to move: 'x5o/7/7/7/7/7/o5x x'; '-' if over."""
        rows = ["".join(row) for row in self._marks(state)]
        for run in range(self.size, 0, -1):
            rows = [row.replace("." * run, str(run)) for row in rows]
        return "/".join(rows) + " " + (MARKS[int(state.turn)] if int(state.turn) >= 0 else "-")

    def from_text(self, text: str) -> State:
        board, turn = text.split() if len(text.split()) == 2 else ("", "")
        marks = "".join("." * int(mark) if mark in "12345678" else mark for mark in board)
        if [len(row) for row in marks.split("/")] != [self.size] * self.size or set(marks) - set(MARKS + "./"):
            raise UserError(
                f"bad position {text!r}: expected {self.size} rows of {self.size} cells and who moves, like "
                f"{self.to_text(self.init())!r}"
            )
        pieces = jnp.array([[mark == seat for mark in marks if mark != "/"] for seat in MARKS])
        mover = int(self._next(pieces, jnp.int32(MARKS.find(turn) if turn in MARKS else 0)))
        if turn != ("-" if mover == TERMINAL else MARKS[mover]):
            raise UserError(f"bad position {text!r}: {turn!r} does not move there; expected x, o or, at the end, -")
        return State(pieces, jnp.int32(mover))

    def move_text(self, state: State, move: Array) -> str:
        """The target of a clone, 'g2'; source and target of a jump, 'g1e1'. Columns are letters, rows count upwards."""
        cells = [int(table[move]) for table in tables(self.size)[2:]]
        names = [f"{chr(ord('a') + cell % self.size)}{self.size - cell // self.size}" for cell in cells]
        return "".join(names) if cells[0] < self.size * self.size else names[1]

    def show(self, state: State) -> Text:
        """The board with the names of its rows and columns."""
        rows = [f"{self.size - number} {' '.join(row)}" for number, row in enumerate(self._marks(state))]
        return Text("\n".join([*rows, "  " + " ".join("abcdefgh"[: self.size])]))

    def _marks(self, state: State) -> list[list[str]]:
        """The board as rows of x, o and dots."""
        marks = np.where(state.pieces[0], MARKS[0], np.where(state.pieces[1], MARKS[1], "."))
        return marks.reshape(self.size, self.size).tolist()

    def _sides(self, state: State) -> tuple[Array, Array]:
        """[N] bool: the pieces of the player to move, and the opponent's."""
        first, (one, other) = state.turn == 0, state.pieces
        return jnp.where(first, one, other), jnp.where(first, other, one)

    def _lead(self, state: State) -> Array:
        """[] int32: pieces of seat 0 minus pieces of seat 1."""
        return state.pieces[0].sum(dtype=jnp.int32) - state.pieces[1].sum(dtype=jnp.int32)

    def _next(self, pieces: Array, seat: Array) -> Array:
        """[] int32: the seat that moves next if it is that seat's turn, or TERMINAL."""
        empty = ~pieces.any(0)
        can = ((jnp.asarray(tables(self.size).reach)[None] & pieces[:, None]).any(2) & empty[None]).any(1)
        mover = jnp.where(jnp.where(seat == 0, can[0], can[1]), seat, 1 - seat)
        return jnp.where(can.any() & pieces.any(1).all(), mover, TERMINAL)
