"""Plain minimax for zero-sum games of two players without dice: every position is visited.

A kernel (`boardrl.host.template`) with the same meaning of depth and values as `search.alphabeta`.
"""

from __future__ import annotations

import numpy as np

from boardrl.game import CHANCE
from boardrl.host.compile_options import compiled, inner
from boardrl.host.slots import ROOM, WORDS, actor, successors
from search.declaration import Declaration
from search.evaluators.slots import prepare
from search.kernel.addresses import PV, ROWS, SCRATCH, WEIGHTS, WORK, block, matrix, vector
from search.kernel.control_block import CHANCE_MET, STOPPED, VIEW, count
from search.kernel.nodes import leaf_value
from search.kernel.pv_table import put_first
from search.searcher import Searcher


@compiled
def search(control, depth, alpha, beta):
    """The value of the position in rows[0] to who acts there; the window is not used."""
    me = actor(matrix(control, ROWS, WORDS, np.uint64)[0], vector(control, WORK, np.uint64))
    # Every call of `visit` has the same types, or Numba's cache would give code that crashes (numba issue 6061).
    return visit(block(control), np.int64(0), np.int64(1), np.int64(depth), np.int64(me), np.int64(0))


@inner
def visit(control, at, top, depth, me, ply):
    """The value of a decision of `me` in rows[at]; rows from `top` on are free."""
    rows, work = matrix(control, ROWS, WORDS, np.uint64), vector(control, WORK, np.uint64)
    pv = matrix(control, PV, control[PV + 2], np.int32)
    weights, scratch = vector(control, WEIGHTS, np.float32), vector(control, SCRATCH, np.float32)
    count(control)
    pv[ply, 0] = 0
    if control[STOPPED]:
        return 0.0
    num_moves = successors(rows[at], rows[top:], work)
    free = top + num_moves
    full = free + ROOM > rows.shape[0] or ply + 2 >= pv.shape[0]
    if depth <= 1 or full:
        prepare(rows, top, num_moves, control[VIEW], weights, scratch, work)
    best = -np.inf
    for child in range(top, free):
        who = np.int64(actor(rows[child], work))
        left = depth - (who != me)
        if who < 0 or left <= 0 or full:
            count(control)
            control[CHANCE_MET] += who == CHANCE
            value = leaf_value(control, child, who, left, me)
            pv[ply + 1, 0] = 0
        else:
            value = visit(control, child, free, left, who, ply + 1)
            if who != me:
                value = -value
        if control[STOPPED]:
            return 0.0
        if value > best:
            best = value
            put_first(pv, ply, child - top)
    return best


MINIMAX = Declaration(
    name="minimax",
    kernel=__name__,
    searcher=Searcher,
    num_players=2,
    returns="zero_sum",
    dice=False,
    to_actor=True,
)
