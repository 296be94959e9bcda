"""The turns of a searched line: consecutive actions of one player are one turn."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from boardrl import optional
from boardrl.host import Facet


class Turn(NamedTuple):
    """The actions of one player until another player, or chance, is next."""

    row: np.ndarray  # where it begins
    actions: list[int]


def turns(facet: Facet, line: Sequence[np.ndarray]) -> list[Turn]:
    """The turns of a line of rows, each of which is a successor of the one before."""
    work = facet.work()
    result: list[Turn] = []
    previous = None
    for row, after in itertools.pairwise(line):
        actor = int(facet.actor(row, work))
        if actor != previous:
            result.append(Turn(row, []))
        result[-1].actions.append(facet.action(row, after))
        previous = actor
    return result


def text(facet: Facet, line: Sequence[np.ndarray]) -> list[str]:
    """The turns in the game's own notation, of whole turns or of moves; else the numbers of the actions."""
    return [_name(facet, turn) for turn in turns(facet, line)]


def _name(facet: Facet, turn: Turn) -> str:
    game: Any = facet.game
    if optional.turn_to_text(game) is not None:
        return game.turn_to_text(facet.state(turn.row), turn.actions)
    if optional.move_text(game) is None:
        return " ".join(map(str, turn.actions))
    moves, row, work = [], turn.row, facet.work()
    for action in turn.actions:
        moves.append(game.move_text(facet.state(row), np.int32(action)))
        after = facet.rows()
        facet.step(row, action, after, work)
        row = after
    return " + ".join(moves)
