"""Host players for the tests, as a user would write them."""

from __future__ import annotations

import dataclasses
import os
import signal
import time
from typing import Any

import numpy as np


class Careful:
    """Pig's `hold`, on the host."""

    def __init__(self, *, total: int = 20) -> None:
        self.total = total

    def choose(self, game: Any, state: Any, rng: np.random.Generator) -> int:
        assert isinstance(state.scores, np.ndarray)
        enough = state.total >= self.total or state.scores[state.turn] + state.total >= game.target
        return 1 if enough else 0


@dataclasses.dataclass
class Moody:
    """Tic-tac-toe: after `patience` moves it takes the last free cell."""

    patience: int = 2
    moves: int = 0

    def choose(self, game: Any, state: Any, rng: np.random.Generator) -> int:
        self.moves += 1
        free = np.flatnonzero(state.board == 0)
        return int(free[-1] if self.moves > self.patience else rng.choice(free))


@dataclasses.dataclass
class Slow:
    """Takes its time, and then any legal action."""

    ms: float = 20.0

    def choose(self, game: Any, state: Any, rng: np.random.Generator) -> int:
        time.sleep(self.ms / 1e3)
        return int(rng.choice(np.flatnonzero(game.legal(state))))


class Cheat:
    def choose(self, game: Any, state: Any, rng: np.random.Generator) -> int:
        return 99


class Dying:
    def choose(self, game: Any, state: Any, rng: np.random.Generator) -> int:
        os._exit(3)


@dataclasses.dataclass
class Mortal:
    """Kills its process the first time that anybody is asked; later it plays on."""

    marker: str = ""  # a file that says that it was asked

    def choose(self, game: Any, state: Any, rng: np.random.Generator) -> int:
        try:
            os.close(os.open(self.marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return int(rng.choice(np.flatnonzero(game.legal(state))))
        os.kill(os.getpid(), signal.SIGKILL)
        return 0


class Stubborn:
    """Thinks for hours in one call of C that never gives up Python's lock."""

    def choose(self, game: Any, state: Any, rng: np.random.Generator) -> int:
        return sum(range(10**13))


class Failing:
    def choose(self, game: Any, state: Any, rng: np.random.Generator) -> int:
        raise RuntimeError("a bug of the user's")


class Mute:
    pass


def careful(game: Any, state: Any, rng: np.random.Generator, total: int = 20, *, daring: bool = False) -> int:
    """Careful as a function."""
    return 0 if daring else Careful(total=total).choose(game, state, rng)


def wrong(state: Any, rng: np.random.Generator) -> int:
    return 0


MORE = {"first": lambda text, game: None}  # a kind of players that another package registers as well


def wavering(game: Any, state: Any, rng: np.random.Generator) -> int:
    """Plays at random, on the host."""
    return int(rng.choice(np.flatnonzero(game.legal(state))))
