"""The games of pgx that the adapter serves, one class each."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from boardrl.errors import UserError
from games.guests.pgx_adapter import as_in_pgx
from games.guests.pgx_text import ChessMen, ShogiMen, SignedStones, Stones

BYTE, SHORT = np.dtype(np.int8), np.dtype(np.int16)


@dataclasses.dataclass(frozen=True)
class TicTacToe(Stones):
    """Three in a row wins."""

    env_id, max_steps = "tic_tac_toe", 9
    height, width = 3, 3
    narrow = {"board": BYTE}


@dataclasses.dataclass(frozen=True)
class ConnectFour(Stones):
    """Four in a row win."""

    env_id, max_steps = "connect_four", 42
    height, width = 6, 7
    narrow = {"board": BYTE}

    def move_text(self, state: Any, move: Any) -> str:
        """The letter of a column."""
        return self.letters[int(move)]


@dataclasses.dataclass(frozen=True)
class Othello(SignedStones):
    """Othello; a player who cannot move passes by action 64."""

    env_id = "othello"
    max_steps = 60 + 60 + 2  # a pass before each disc at most, and two at the end
    height, width, from_top, last_action = 8, 8, True, "pass"
    narrow = {"board": BYTE}

    def color(self, state: Any) -> Array:
        return state._x.turn


@dataclasses.dataclass(frozen=True)
class Hex(SignedStones):
    """Hex on 11×11 cells; x connects top and bottom; the second player may swap at the first move, by action 121."""

    env_id, max_steps = "hex", 122
    height, width, from_top, slant, last_action = 11, 11, True, 1, "swap"
    narrow = {"board": SHORT}


@dataclasses.dataclass(frozen=True)
class Go9(Stones):
    """Go on 9×9 points by Tromp-Taylor rules; whoever repeats a position loses."""

    komi: float = 7.5

    env_id, max_steps = "go_9x9", 162
    height, width, letters, last_action = 9, 9, "abcdefghjklmnopqrst", "pass"
    narrow = {"board": SHORT, "board_history": BYTE}

    def __post_init__(self) -> None:
        if not -400 < self.komi < 400:
            raise UserError(f"komi={self.komi} is no komi of {self.env_id}; expected a number of points like 7.5")
        super().__post_init__()

    def make_env(self) -> Any:
        from pgx.go import Go

        return Go(size=self.height, komi=self.komi)

    def owners(self, state: Any) -> np.ndarray:
        """Black's stones are positive, whoever moves."""
        sign = np.sign(np.asarray(state._x.board))
        return np.where(sign == 0, -1, np.where(sign > 0, 0, 1))


@dataclasses.dataclass(frozen=True)
class Go19(Go9):
    """Go on 19×19 points."""

    env_id, max_steps = "go_19x19", 722
    height, width = 19, 19


@dataclasses.dataclass(frozen=True)
class Chess(ChessMen):
    """Chess, with AlphaZero's 64 × 73 actions from the mover's view; a draw after 512 moves."""

    env_id, max_steps = "chess", 512
    size = 8
    narrow = {"board": BYTE, "board_history": BYTE}


@dataclasses.dataclass(frozen=True)
class GardnerChess(ChessMen):
    """Chess on 5×5 squares without castling and double steps; a draw after 256 moves."""

    env_id, max_steps = "gardner_chess", 256
    size = 5
    narrow = {"board": BYTE, "board_history": BYTE, "possible_piece_positions": BYTE}

    def color(self, state: Any) -> Array:
        return state._turn

    def board(self, state: Any) -> Array:
        return state._board

    def decoded(self, move: Any) -> Any:
        from pgx.gardner_chess import Action

        return Action._from_label(move)


@dataclasses.dataclass(frozen=True)
class AnimalShogi(ShogiMen):
    """Animal shogi (dobutsu shogi) on 3×4 squares; a draw after 256 moves or at the third repetition."""

    env_id, max_steps = "animal_shogi", 256
    height = 4
    pieces = ("C", "E", "G", "L", "H")  # chick, elephant, giraffe, lion, hen
    narrow = {"board": BYTE, "board_history": BYTE, "hand": BYTE, "hand_history": BYTE}

    def color(self, state: Any) -> Array:
        return state._turn

    def placed(self, state: Any) -> tuple[Array, Array]:
        return state._board, state._hand

    def decoded(self, state: Any, move: Any) -> tuple[int, int, bool]:
        from pgx.animal_shogi import Action

        with as_in_pgx():
            action = Action._from_label(jnp.int32(move))
        if action.is_drop:
            return -1 - int(action.drop_piece), int(action.to), False
        chick = int(state._board[int(action.from_)]) == 0
        return int(action.from_), int(action.to), chick and int(action.to) % self.height == 0


@dataclasses.dataclass(frozen=True)
class Shogi(ShogiMen):
    """Shogi, with the 27 × 81 actions of dlshogi; a draw after 512 moves."""

    env_id, max_steps = "shogi", 512
    height = 9
    pieces = ("P", "L", "N", "S", "B", "R", "G", "K", "+P", "+L", "+N", "+S", "+B", "+R")
    narrow = {"board": BYTE, "hand": BYTE, "cache_m2b": BYTE, "cache_king": BYTE}
