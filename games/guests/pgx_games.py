"""The games of pgx that the adapter serves, one class each."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from jax import Array

from boardrl.errors import UserError
from games.guests.pgx_adapter import Adapter

BYTE, SHORT = np.dtype(np.int8), np.dtype(np.int16)


@dataclasses.dataclass(frozen=True)
class TicTacToe(Adapter):
    """Three in a row wins."""

    env_id, max_steps = "tic_tac_toe", 9
    narrow = {"board": BYTE}


@dataclasses.dataclass(frozen=True)
class ConnectFour(Adapter):
    """Four in a row win."""

    env_id, max_steps = "connect_four", 42
    narrow = {"board": BYTE}


@dataclasses.dataclass(frozen=True)
class Othello(Adapter):
    """Othello; a player who cannot move passes by action 64."""

    env_id = "othello"
    max_steps = 60 + 60 + 2  # a pass before each disc at most, and two at the end
    narrow = {"board": BYTE}

    def color(self, state: Any) -> Array:
        return state._x.turn


@dataclasses.dataclass(frozen=True)
class Hex(Adapter):
    """Hex on 11×11 cells; the second player may swap at the first move, by action 121."""

    env_id, max_steps = "hex", 122
    narrow = {"board": SHORT}


@dataclasses.dataclass(frozen=True)
class Go9(Adapter):
    """Go on 9×9 points by Tromp-Taylor rules; whoever repeats a position loses."""

    komi: float = 7.5

    env_id, max_steps = "go_9x9", 162
    size = 9
    narrow = {"board": SHORT, "board_history": BYTE}

    def __post_init__(self) -> None:
        if not -400 < self.komi < 400:
            raise UserError(f"komi={self.komi} is no komi of {self.env_id}; expected a number of points like 7.5")
        super().__post_init__()

    def make_env(self) -> Any:
        from pgx.go import Go

        return Go(size=self.size, komi=self.komi)


@dataclasses.dataclass(frozen=True)
class Go19(Go9):
    """Go on 19×19 points."""

    env_id, max_steps = "go_19x19", 722
    size = 19


@dataclasses.dataclass(frozen=True)
class Chess(Adapter):
    """Chess, with AlphaZero's 64 × 73 actions from the mover's view; a draw after 512 moves."""

    env_id, max_steps = "chess", 512
    narrow = {"board": BYTE, "board_history": BYTE}


@dataclasses.dataclass(frozen=True)
class GardnerChess(Adapter):
    """Chess on 5×5 squares without castling and double steps; a draw after 256 moves."""

    env_id, max_steps = "gardner_chess", 256
    narrow = {"board": BYTE, "board_history": BYTE, "possible_piece_positions": BYTE}

    def color(self, state: Any) -> Array:
        return state._turn


@dataclasses.dataclass(frozen=True)
class AnimalShogi(Adapter):
    """Animal shogi (dobutsu shogi) on 3×4 squares; a draw after 256 moves or at the third repetition."""

    env_id, max_steps = "animal_shogi", 256
    narrow = {"board": BYTE, "board_history": BYTE, "hand": BYTE, "hand_history": BYTE}

    def color(self, state: Any) -> Array:
        return state._turn


@dataclasses.dataclass(frozen=True)
class Shogi(Adapter):
    """Shogi, with the 27 × 81 actions of dlshogi; a draw after 512 moves."""

    env_id, max_steps = "shogi", 512
    narrow = {"board": BYTE, "hand": BYTE, "cache_m2b": BYTE, "cache_king": BYTE}
