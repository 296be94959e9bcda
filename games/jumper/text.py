"""Boards and moves as text, in the formats that players of this game use."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from boardrl.errors import UserError
from games.jumper.rules import DEAD, DIRECTIONS, EMPTY, NO_CHAIN, WHITE, Rules, State, of_board

LETTERS = "-WBX"  # EMPTY, WHITE, BLACK, DEAD
SIDES = "WB"
NAMES = ("empty", "white", "black", "dead")


def to_text(game: Rules, state: State) -> str:
    """The size, the rows, and a line for the side to move: `W`, or `W 2 3` with the cell of an unfinished chain."""
    board = np.asarray(state.board)
    side = [SIDES[int(state.turn)]]
    if int(state.chain) != NO_CHAIN:
        side += map(str, divmod(int(state.chain), game.size))
    return "\n".join([*board_lines(board, game.size), " ".join(side)])


def from_text(game: Rules, text: str) -> State:
    """The state of a text; without a last line White is to move."""
    board, rest = read_board(text)
    size = len(board)
    if size != game.size:
        raise UserError(f"a board of size {size} does not fit jumper:size={game.size}; use jumper:size={size}")
    turn, chain = _read_side(game, rest, board)
    return of_board(jnp.array(board.reshape(-1), jnp.int8), jnp.int32(turn), jnp.int32(chain))


def board_lines(board: np.ndarray, size: int) -> list[str]:
    """The size, then the rows."""
    rows = board.reshape(size, size)
    return [str(size), *(" ".join(LETTERS[cell] for cell in row) for row in rows)]


def read_board(text: str) -> tuple[np.ndarray, list[str]]:
    """[size, size] int8 board of the first lines of a text, and the lines that follow."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        raise UserError("an empty text is not a board; expected a line with its size, then its rows")
    if not lines[0].isdecimal() or int(lines[0]) < 3:
        raise UserError(f"bad first line {lines[0]!r} of a board: expected its size, 3 or more")
    size = int(lines[0])
    if len(lines) <= size:
        raise UserError(f"row {len(lines) - 1} of the board is missing; expected {size} rows after the size")
    board = np.zeros((size, size), np.int8)
    for row, line in enumerate(lines[1 : size + 1]):
        cells = line.upper().split()
        if len(cells) != size or not all(len(cell) == 1 and cell in LETTERS for cell in cells):
            raise UserError(f"bad row {row} of the board, {line!r}: expected {size} of - W B X with spaces between")
        board[row] = [LETTERS.index(cell) for cell in cells]
    return board, lines[size + 1 :]


def _read_side(game: Rules, lines: Sequence[str], board: np.ndarray) -> tuple[int, int]:
    """The seat and the chain's cell from the lines after a board."""
    size = game.size
    if len(lines) > 1:
        raise UserError(f"unexpected line {lines[1]!r} after the board; expected at most one line, the side to move")
    side, *cell = lines[0].upper().split() if lines else ["W"]
    if side not in ("W", "B") or len(cell) not in (0, 2):
        raise UserError(f"bad line {lines[0]!r} after the board: expected W or B, or like 'W 2 3' within a chain")
    turn = SIDES.index(side)
    if not cell:
        return turn, NO_CHAIN
    row, column = _read_cells(" ".join(cell), size)[0]
    at = size * row + column
    if board[row, column] != WHITE + turn or not _can_hop(game, board.reshape(-1))[at]:
        raise UserError(f"no chain of {side} can continue from {row} {column}; expected a piece of {side} that can hop")
    return turn, at


def read_turn(game: Rules, state: State, text: str) -> list[int]:
    """The actions of a whole turn: `r c` places, `r1 c1 r2 c2 …` hops from the first cell to each next.

    Within a chain the first cell is the chain's last cell so far; that cell alone means stop.
    """
    cells = [game.size * row + column for row, column in _read_cells(text, game.size)]
    board, mover, chain = np.array(state.board), WHITE + int(state.turn), int(state.chain)
    if not (board == EMPTY).any():
        raise UserError(f"bad move {text!r}: the game is over, no cell is empty")
    if chain != NO_CHAIN and cells[0] != chain:
        raise UserError(f"bad move {text!r}: the unfinished chain continues from {_name(game, chain)}")
    if len(cells) == 1 and chain == NO_CHAIN:
        if board[cells[0]] != EMPTY:
            raise UserError(f"bad move {text!r}: cell {_name(game, cells[0])} is {NAMES[board[cells[0]]]}, not empty")
        return cells
    if board[cells[0]] != mover:
        raise UserError(
            f"bad move {text!r}: it starts from {_name(game, cells[0])}, which is {NAMES[board[cells[0]]]}; "
            f"expected a {NAMES[mover]} piece"
        )
    actions = []
    for number, (start, landing) in enumerate(itertools.pairwise(cells), 1):
        hop = f"bad move {text!r}: hop {number}, {_name(game, start)} to {_name(game, landing)},"
        down, right = np.subtract(divmod(landing, game.size), divmod(start, game.size))
        if (down / 2, right / 2) not in DIRECTIONS:
            raise UserError(f"{hop} is not two cells straight or diagonal")
        if board[landing] != EMPTY:
            raise UserError(f"{hop} lands on a cell that is {NAMES[board[landing]]}, not empty")
        jumped = (start + landing) // 2
        if board[jumped] in (EMPTY, DEAD):
            raise UserError(f"{hop} jumps a cell that is {NAMES[board[jumped]]}; expected a white or black piece")
        board[jumped] = mover if board[jumped] == mover else DEAD
        board[landing] = mover
        direction = DIRECTIONS.index((down // 2, right // 2))
        actions.append(game.num_cells * (1 + direction) + start)
    if _can_hop(game, board)[cells[-1]]:
        actions.append(game.stop)
    return actions


def turn_text(game: Rules, actions: Sequence[int]) -> str:
    """A turn's actions in the move format; a stop by itself is `stop`."""
    cells: list[int] = []
    for action in actions:
        kind, cell = divmod(int(action), game.num_cells)
        if kind == 0:
            cells = [cell]
        elif action != game.stop:
            row, column = DIRECTIONS[kind - 1]
            cells = [*(cells or [cell]), cell + 2 * (game.size * row + column)]
    return " ".join(_name(game, cell) for cell in cells) or "stop"


def move_text(game: Rules, state: State, move: int) -> str:
    """Describes an action, or an outcome of the random deal."""
    if int(move) == game.stop:
        return "stops"
    hops = int(move) >= game.num_cells
    cells = turn_text(game, [int(move)]).split()
    deed = f"hops {' '.join(cells[:2])} to {' '.join(cells[2:])}" if hops else f"places {' '.join(cells)}"
    dealt = int((np.asarray(state.board) != EMPTY).sum()) < game.num_dealt
    return f"dealt: {NAMES[WHITE + int(state.turn)]} {deed}" if dealt else deed


@functools.partial(jax.jit, static_argnames="game")
def _can_hop(game: Rules, board: Array) -> Array:
    """[size²] bool: whether a piece on the cell could hop on this board [size²]."""
    return game.can_hop(of_board(board, jnp.int32(0), jnp.int32(NO_CHAIN)))


def _read_cells(text: str, size: int) -> list[tuple[int, int]]:
    numbers = text.split()
    if not numbers or len(numbers) % 2 or not all(map(str.isdecimal, numbers)):
        raise UserError(f"bad move {text!r}: expected like '2 3' to place or '0 0 2 2' to jump")
    if max(map(int, numbers)) >= size:
        raise UserError(f"bad move {text!r}: expected rows and columns from 0 to {size - 1}")
    values = list(map(int, numbers))
    return list(zip(values[::2], values[1::2], strict=True))


def _name(game: Rules, cell: int) -> str:
    return "{} {}".format(*divmod(cell, game.size))
