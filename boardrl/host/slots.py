"""Slots of a game's compiled rules: what a kernel imports, as in `from boardrl.host.slots import actor, legal, step`.

Filled by `host.specialise(kernel, facet)` (`boardrl.host.template`) with the module of the game's facet, which
`host.of(game)` lowers from the rules in JAX, or takes from the game where it brings a hand-written one.

A position is a row: a contiguous vector of WORDS 64-bit words. `work` is scratch memory of WORK_WORDS words, one
for each thread. Nothing is allocated and no size is checked. No output may share memory with an input.
"""

from __future__ import annotations

from typing import Any

WORDS = 1  # of a row
WORK_WORDS = 1  # of a workspace
NUM_PLAYERS = 1  # P
NUM_ACTIONS = 1  # A
MASK_WORDS = 1  # of what `legal` writes
NUM_OUTCOMES = 0  # C
MAX_STEPS = 1
OBS_SIZE = 1  # numbers in an observation
NUM_FEATURES = 0  # F
NUM_SYMMETRIES = 1  # of the board, the identity included
ROOM = 1  # rows that a buffer of `successors` must have at least
LAZY = False  # whether `legal`, and `act` for each action that is wanted, cost less than `successors` where few are


def init(row: Any) -> None:
    """Writes the first state."""
    raise NotImplementedError("a slot, filled by boardrl.host.facet")


def actor(row: Any, work: Any) -> int:
    """The seat to act, CHANCE or TERMINAL."""
    raise NotImplementedError("a slot, filled by boardrl.host.facet")


def legal(row: Any, mask: Any, work: Any) -> None:
    """Writes [MASK_WORDS] uint64: what the actor may do, a bit an action (boardrl.host.masks reads them)."""
    raise NotImplementedError("a slot, filled by boardrl.host.facet")


def chance(row: Any, probs: Any, work: Any) -> None:
    """Writes [C] float32: probabilities of the outcomes."""
    raise NotImplementedError("a slot, filled by boardrl.host.facet")


def step(row: Any, move: Any, out: Any, work: Any) -> None:
    """Writes the state after an action or an outcome into another row."""
    raise NotImplementedError("a slot, filled by boardrl.host.facet")


def act(row: Any, move: Any, out: Any, work: Any) -> None:
    """What `step` does at a decision."""
    raise NotImplementedError("a slot, filled by boardrl.host.facet")


def settle(row: Any, move: Any, out: Any, work: Any) -> None:
    """What `step` does at a chance node."""
    raise NotImplementedError("a slot, filled by boardrl.host.facet")


def successors(row: Any, buffer: Any, work: Any) -> int:
    """Writes the rows after each legal action into the first rows of [M, WORDS], M ≥ ROOM, and returns how many.

    They come in the order of the actions, those of the game's `tried_first` before the others.
    """
    raise NotImplementedError("a slot, filled by boardrl.host.facet")


def symmetric(row: Any, number: int, out: Any, work: Any) -> None:
    """Writes the mirror image of that number, 0 being the row itself; only of games that offer `symmetric`."""
    raise NotImplementedError("a slot, filled by boardrl.host.facet")


def returns(row: Any, out: Any, work: Any) -> None:
    """Writes [P] float32: what each player has got so far."""
    raise NotImplementedError("a slot, filled by boardrl.host.facet")


def observe(row: Any, player: int, out: Any, work: Any) -> None:
    """Writes [OBS_SIZE] float32: the state as a player sees it."""
    raise NotImplementedError("a slot, filled by boardrl.host.facet")


def features(row: Any, player: int, out: Any, work: Any) -> None:
    """Writes [F] float32: what a linear evaluation weighs; only of games that offer `features`."""
    raise NotImplementedError("a slot, filled by boardrl.host.facet")


def key(row: Any) -> int:
    """64 well-mixed bits, the same for equal states."""
    raise NotImplementedError("a slot, filled by boardrl.host.facet")
