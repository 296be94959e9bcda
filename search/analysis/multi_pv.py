"""The best moves of a position, each with its value and its best line (known from chess engines as multi-PV)."""

from __future__ import annotations

import collections
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from boardrl.errors import UserError
from boardrl.game import CHANCE, TERMINAL
from search.result import Result
from search.searcher import Searcher


class Move(NamedTuple):
    value: np.ndarray  # [P] float64 to each player
    line: list[np.ndarray]  # rows: the position searched, the one that the move leads to, what follows


class Ranking(NamedTuple):
    result: Result  # of the position
    moves: list[Move]  # from the best to the worst for the player to act


def best_moves(searcher: Searcher, state: Any, count: int) -> Ranking:
    """The `count` best moves, or all where there are fewer; the first is the one that a plain search finds.

    A move is a successor of the position. Every successor is searched with an open window to the depth of the search of
    the position itself (to the depth limit, if that search ended early with an exact value), so that all values are
    exact to that depth. All searches share one budget: where time or nodes may run out, the moves are ranked at every
    depth, and the ranking of the last finished depth counts. A searcher by simulations has searched all moves with the
    position: they are ranked by their visits.
    """
    began, row = time.monotonic_ns(), _root(searcher, state, count)
    if searcher.declaration.samples:
        return _simulated(searcher, row, count)
    every_depth = bool(searcher.budget.ms or searcher.budget.nodes)
    ranked = collections.deque(_deepen(searcher, row, every_depth=every_depth), maxlen=1)
    if ranked:
        return _finished(searcher, ranked[0], count, began)
    # Not even depth 1 was finished: all moves by their evaluation.
    view = int(searcher.facet.actor(row, searcher.memory.work))
    found = searcher.first_move(row, began)
    moves = [Move(searcher.evaluate(child), [row, child]) for child in _successors(searcher, row)]
    return _finished(searcher, Ranking(found, sorted(moves, key=lambda move: -move.value[view])), count, began)


def rankings(searcher: Searcher, state: Any, count: int, *, slice_ms: float) -> Iterator[Ranking]:
    """What `best_moves` finds at depth 1, 2, … while the budget lasts; of simulations, after every slice of time."""
    row = _root(searcher, state, count)
    if searcher.declaration.samples:
        left = searcher.budget.ms
        while left > 0:
            ranked = _simulated(searcher, row, count, ms=min(left, slice_ms))
            yield ranked
            if ranked.result.exact:
                return
            left -= slice_ms
        return
    for ranked in _deepen(searcher, row, every_depth=True):
        # Lines are not completed here, as that would begin another search.
        yield Ranking(ranked.result, ranked.moves[:count])


def _root(searcher: Searcher, state: Any, count: int) -> np.ndarray:
    """The row of a position whose moves can be ranked."""
    if count < 1:
        raise UserError(f"{count} is not a number of moves; expected at least 1")
    row = searcher.facet.row(state)
    view = int(searcher.facet.actor(row, searcher.memory.work))
    if view == TERMINAL:
        raise UserError("the game is over in this position; give one in which somebody is to move")
    if view == CHANCE:
        raise UserError("dice are to be thrown in this position, and it has no moves to rank; give one after a roll")
    return row


def _deepen(searcher: Searcher, row: np.ndarray, *, every_depth: bool) -> Iterator[Ranking]:
    """The rankings of all moves at every finished depth, or at the last one alone."""
    children, budget = _successors(searcher, row), searcher.budget
    view = int(searcher.facet.actor(row, searcher.memory.work))
    for found in searcher.deepen(row):
        depth = searcher.depth
        if every_depth or found.exact or depth == searcher.depth_limit:
            # An exact value ends the search of the position early, but not that of its other moves.
            whole = found.exact and budget.depth and not (budget.ms or budget.nodes)
            moves = _rank(searcher, row, children, found, view, searcher.depth_limit if whole else depth)
            if searcher.stopped:
                return
            yield Ranking(found, moves)


def _finished(searcher: Searcher, ranked: Ranking, count: int, began: int) -> Ranking:
    """The best `count` of the moves with whole lines, and all nodes and time since `began`."""
    result = searcher.total(ranked.result, began)
    return Ranking(result, [_complete(searcher, move, result) for move in ranked.moves[:count]])


def _simulated(searcher: Searcher, row: np.ndarray, count: int, *, ms: float | None = None) -> Ranking:
    """The moves that a searcher by simulations visited most often."""
    found = searcher.search_row(row, ms=ms)
    tried = sorted(searcher.root_moves(), key=lambda move: -move.visits)
    moves = [Move(move.value, [row, move.row]) for move in tried]
    for place, move in enumerate(moves):
        if len(found.line) > 1 and (move.line[1] == found.line[1]).all():  # what it would play comes first
            moves.insert(0, moves.pop(place)._replace(line=found.line))
            break
    return Ranking(found, moves[:count])


def _successors(searcher: Searcher, row: np.ndarray) -> list[np.ndarray]:
    """The rows that the player to act can move to, each once."""
    memory = searcher.memory
    number = searcher.facet.successors(row, memory.rows[1:], memory.work)
    return list({after.tobytes(): after.copy() for after in memory.rows[1 : 1 + number]}.values())


def _rank(
    searcher: Searcher, row: np.ndarray, children: list[np.ndarray], found: Result, view: int, depth: int
) -> list[Move]:
    """All moves to the depth of the result just found, its own move first; fewer if the searcher is stopped."""
    others = []
    for child in children:
        if searcher.stopped:
            break
        if (child != found.line[1]).any():
            others.append(_value(searcher, row, child, depth, view))
    # The sort is stable: moves of equal value stay in the game's order.
    return [Move(found.value, found.line), *sorted(others, key=lambda move: -move.value[view])]


def _value(searcher: Searcher, row: np.ndarray, child: np.ndarray, depth: int, view: int) -> Move:
    facet, work = searcher.facet, searcher.memory.work
    who = int(facet.actor(child, work))
    left = depth - (who != view)
    if who != TERMINAL and left > 0:
        below = searcher.search_within(child, left)
        return Move(below.value, [row, *below.line])
    values = np.zeros(searcher.game.spec.num_players, np.float32)
    if who == TERMINAL:
        facet.returns(child, values, work)
    else:
        values = searcher.evaluate(child)
    return Move(searcher.declaration.leaf_vector(values, view, searcher.game.spec), [row, child])


def _complete(searcher: Searcher, move: Move, result: Result) -> Move:
    """The move with its line completed, where the table had cut it short."""
    return move._replace(line=searcher.complete(result._replace(line=move.line)).line)
