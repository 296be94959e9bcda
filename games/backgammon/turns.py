"""Whole turns: every position that a roll can lead to, and the actions that lead there."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from boardrl import host
from games.backgammon import text


class Turn(NamedTuple):
    """One way to play a roll."""

    actions: tuple[int, ...]
    positions: tuple[str, ...]  # as text, before each action
    state: Any  # at the end of the turn, with NumPy arrays


def turns(game: Any, state: Any) -> dict[bytes, Turn]:
    """The different positions at the end of the actor's turn, by their checkers' bytes, each with one way there."""
    facet = host.of(game)
    work, seat = facet.work(), int(state.turn)
    found: dict[bytes, Turn] = {}
    seen = set()
    waiting: list[Turn] = [Turn((), (), state)]
    while waiting:
        actions, positions, before = waiting.pop()
        row, here = facet.row(before), (*positions, text.to_text(game, before))
        for action in facet.actions(row).tolist():
            after = facet.rows()
            facet.step(row, action, after, work)
            if after.tobytes() not in seen:
                seen.add(after.tobytes())
                turn = Turn((*actions, action), here, facet.state(after))
                if facet.actor(after, work) == seat:
                    waiting.append(turn)
                else:
                    found[np.asarray(turn.state.checkers).tobytes()] = turn
    return found
