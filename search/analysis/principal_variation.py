"""Leaves of the principal variation: the positions whose values a search has backed up.

Without dice that is one position, the end of the best line: the value is that of the evaluator, or the returns if the
game is over there. At dice the best line branches: the value is the mean over the outcomes' lines.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from boardrl.game import CHANCE, TERMINAL
from search.result import Result
from search.searcher import Searcher


class Leaf(NamedTuple):
    row: np.ndarray
    share: float  # its probability if all play their best moves


def leaves(searcher: Searcher, result: Result) -> list[Leaf]:
    """The leaves whose mean is the result's value to the seat that searched; it must be the searcher's last result.

    A best line may end early, where the table knew the value: the rest of it is then searched from there, to the depth
    that is left, which finds the same value again. Of several moves that are equally good in maxⁿ the first is
    followed.
    """
    return list(_below(searcher, result.line, result.depth, 1.0))


def _below(searcher: Searcher, line: list[np.ndarray], depth: int, share: float) -> Iterator[Leaf]:
    facet, work = searcher.facet, searcher.memory.work
    actors = [int(facet.actor(row, work)) for row in line]
    depth -= sum(one != other for one, other in itertools.pairwise(actors))
    row, who = line[-1], actors[-1]
    if who == TERMINAL or depth <= 0:
        yield Leaf(row, share)
    elif who == CHANCE:
        odds = np.zeros(facet.game.spec.num_outcomes, np.float32)
        facet.chance(row, odds, work)
        for outcome in np.flatnonzero(odds):
            after = facet.rows()
            facet.step(row, int(outcome), after, work)
            again = facet.actor(after, work) == CHANCE  # dice after dice cost a turn
            yield from _below(searcher, [after], depth - again, share * float(odds[outcome]))
    else:
        yield from _below(searcher, searcher.again(row, depth).line, depth, share)
