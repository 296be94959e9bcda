"""Counting whole turns, for perft: by their paths, or by the distinct boards that they lead to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from boardrl import host
from boardrl.errors import UserError
from boardrl.game import CHANCE
from games.jumper import bits, paths, row, wide
from games.jumper.rules import NO_CHAIN, WHITE, Rules, State

ROOM = 1 << 15  # distinct boards after one turn

Tick = Callable[[int, int], None]  # first turns done, and how many there are


def count(game: Rules, state: State, depth: int, *, distinct: bool, tick: Tick) -> int:
    """Sequences of `depth` turns; a finished game is one sequence."""
    if int(game.actor(state)) == CHANCE:
        raise UserError(f"jumper:density={game.density} begins with chance, not turns; give a --position or no density")
    if not distinct:
        return _by_paths(game, state, depth, tick)
    if game.size > row.WIDE_SIZE:
        raise UserError(
            f"distinct boards of jumper:size={game.size} cannot be counted; expected a size up to {row.WIDE_SIZE}"
        )
    return _by_boards(game, state, depth, tick)


def _by_paths(game: Rules, state: State, depth: int, tick: Tick) -> int:
    """Plays each first turn and counts what follows it."""
    board, mover = np.array(state.board, np.int8), WHITE + int(state.turn)
    total, chain = 0, np.int64(state.chain)
    if chain != NO_CHAIN:  # stopping is one of the turns
        total = paths.count(board, game.size, 3 - mover, paths.NO_CELL, depth - 1)
    elif not (board == 0).any():
        return 1
    first_turns = paths.count(board, game.size, mover, chain, 1)
    for number in range(first_turns):
        after = board.copy()
        paths.play(after, game.size, mover, chain, number)
        total += paths.count(after, game.size, 3 - mover, paths.NO_CELL, depth - 1)
        tick(number + 1, first_turns)
    return total


def _by_boards(game: Rules, state: State, depth: int, tick: Tick) -> int:
    facet: Any = host.of(game)
    buffers = [facet.rows(ROOM) for _ in range(depth)]
    work = np.zeros(bits.work_words(ROOM, stack=wide.STACK, note=wide.PART), np.uint64)  # for either width

    def below(position: np.ndarray, left: int) -> int:
        found = facet.module.successors(position, buffers[left - 1], work)
        if work[bits.TRUNCATED]:
            raise UserError(f"a position {depth - left} turns on has over {ROOM} distinct turns; expected fewer")
        if left == 1 or found == 0:
            return max(found, 1)
        total = 0
        for number, after in enumerate(buffers[left - 1][:found]):
            total += below(after, left - 1)
            if left == depth:
                tick(number + 1, found)
        return total

    return below(facet.row(state), depth)
