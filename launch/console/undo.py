"""A game whose decisions are recorded, so that humans can undo theirs.

Undo replays the game from its start with the remaining decisions. Dice and players' random numbers depend only on the
seed and on how many were drawn before, so they repeat. A host player keeps its memory, such as a transposition table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from boardrl.game import Game, State
from boardrl.matches import host_match
from boardrl.play.players import HostPlayer, Player


class TakeBack(Exception):
    """Raised by a human's `choose`: go back to the last decision of a human."""


class Decision(NamedTuple):
    seat: int
    action: int
    random: Any  # state of the seat's random stream afterwards
    steps: int  # steps of the game before it, including the dice


class Record:
    """The decisions of host players so far.

    Args:
      humans: seats whose decisions can be undone.
      steps: returns the number of steps of the current game.
    """

    def __init__(self, humans: Sequence[int], steps: Callable[[], int]) -> None:
        self.decisions: list[Decision] = []
        self._humans, self._steps = humans, steps
        self._next = 0  # index of the next decision of the current game

    def can_take_back(self) -> bool:
        return any(decision.seat in self._humans for decision in self.decisions)

    def take_back(self) -> int:
        """Removes all decisions from the last one of a human on; returns the number of steps before it."""
        place = max(place for place, decision in enumerate(self.decisions) if decision.seat in self._humans)
        steps = self.decisions[place].steps
        del self.decisions[place:]
        self._next = 0
        return steps

    def decide(self, seat: int, host: HostPlayer, game: Game[Any], state: Any, rng: np.random.Generator) -> int:
        """The recorded decision, or else the player's new one."""
        if self._next == len(self.decisions):
            steps, action = self._steps(), host.choose(game, state, rng)
            self.decisions.append(Decision(seat, action, rng.bit_generator.state, steps))
        decision = self.decisions[self._next]
        rng.bit_generator.state = decision.random
        self._next += 1
        return decision.action


class Recorded:
    """A host player whose decisions are recorded."""

    def __init__(self, record: Record, seat: int, host: HostPlayer) -> None:
        self._record, self._seat, self._host = record, seat, host

    def reset(self) -> None:
        if not self._record.decisions:
            self._host.reset()

    def choose(self, game: Game[State], state: State, rng: np.random.Generator) -> int:
        return self._record.decide(self._seat, self._host, game, state, rng)


def play(
    game: Game[Any],
    seated: Sequence[Player],
    record: Record,
    *,
    seed: int,
    watch: host_match.Watch,
    restart: Callable[[int], None],
) -> host_match.Result:
    """Plays one game like `host_match.play_game`; calls `restart(steps)` when it goes back to that many steps.

    After that, `watch` is called for all steps of the game again.
    """
    recorded = [
        Player(player.name, host=Recorded(record, seat, player.host)) if player.host else player
        for seat, player in enumerate(seated)
    ]
    while True:
        try:
            return host_match.play_game(game, recorded, seed=seed, index=0, watch=watch)
        except TakeBack:
            restart(record.take_back())
