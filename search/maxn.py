"""Maxⁿ for any number of players, with or without dice (Luckhardt and Irani 1986): each player maximises its own value.

A kernel (`boardrl.host.template`), with the depth of `search.expectimax`. Every value is a vector over players. Where
several moves are equally good to the actor, the other players' values are the mean over these moves, as in
`boardrl.exact.solve`. Nothing is pruned, as the other players' values depend on every move.
"""

from __future__ import annotations

import numpy as np

from boardrl.game import CHANCE, TERMINAL
from boardrl.host.compile_options import compiled, inner
from boardrl.host.slots import NUM_OUTCOMES, NUM_PLAYERS, ROOM, WORDS, actor, chance, returns, settle, successors
from search.declaration import Declaration
from search.evaluators.slots import evaluate_all, prepare_all
from search.kernel.addresses import PV, ROWS, SCORES, SCRATCH, WEIGHTS, WORK, block, matrix, vector
from search.kernel.control_block import CUTS, OVERFLOWS, STOPPED, count
from search.kernel.pv_table import put_first
from search.searcher import Searcher

ODDS, VALUES = 0, 1  # columns of the scores: an outcome's probability; the first player's value
TIE = 1e-9  # moves that differ by less are equally good


@compiled
def search(control, depth, alpha, beta):
    """The values of the position in rows[0], left in scores[0, VALUES:]; no window is used."""
    # Every call of `visit` has the same types, or Numba's cache would give code that crashes (numba issue 6061).
    visit(block(control), np.int64(0), np.int64(1), np.int64(depth), np.int64(0))
    return 0.0


@inner
def visit(control, at, top, depth, ply):
    """Writes the values of rows[at] into scores[at, VALUES:]; rows from `top` on are free."""
    rows, work = matrix(control, ROWS, WORDS, np.uint64), vector(control, WORK, np.uint64)
    scores, pv = (
        matrix(control, SCORES, VALUES + NUM_PLAYERS, np.float64),
        matrix(control, PV, control[PV + 2], np.int32),
    )
    weights, scratch = vector(control, WEIGHTS, np.float32), vector(control, SCRATCH, np.float32)

    # 1. Leaves.
    count(control)
    pv[ply, 0] = 0
    if control[STOPPED]:
        return
    who = np.int64(actor(rows[at], work))
    if who == TERMINAL:
        returns(rows[at], scratch, work)
        for player in range(NUM_PLAYERS):
            scores[at, VALUES + player] = scratch[player]
        return
    if depth <= 0 or top + max(ROOM, NUM_OUTCOMES) > rows.shape[0] or ply + 1 >= pv.shape[0]:
        control[CUTS] += 1
        control[OVERFLOWS] += depth > 0
        evaluate_all(rows, at, scores[at, VALUES:], weights, scratch, work)
        return

    # 2. Generate the outcomes or moves.
    free = top
    if who == CHANCE:
        chance(rows[at], scratch, work)
        for outcome in range(NUM_OUTCOMES):
            if scratch[outcome] > 0:
                scores[free, ODDS] = scratch[outcome]
                settle(rows[at], outcome, rows[free], work)
                free += 1
    else:
        free += successors(rows[at], rows[top:], work)

    # 3. Search them; the line is that of the best move so far.
    if depth <= 1:
        prepare_all(rows, top, free - top, weights, scratch, work)
    best = -np.inf
    for child in range(top, free):
        after = np.int64(actor(rows[child], work))
        left = depth - (after == CHANCE if who == CHANCE else after != who)
        visit(control, child, free, left, ply + 1)
        if control[STOPPED]:
            return
        if who >= 0 and scores[child, VALUES + who] > best + TIE:
            best = scores[child, VALUES + who]
            put_first(pv, ply, child - top)

    # 4. The mean over the outcomes, or over the best moves.
    if who >= 0:
        for child in range(top, free):
            best = max(best, scores[child, VALUES + who])
    total = 0.0
    for player in range(NUM_PLAYERS):
        scores[at, VALUES + player] = 0.0
    for child in range(top, free):
        weight = scores[child, ODDS] if who == CHANCE else np.float64(scores[child, VALUES + who] >= best - TIE)
        total += weight
        for player in range(NUM_PLAYERS):
            scores[at, VALUES + player] += weight * scores[child, VALUES + player]
    if who >= 0:
        for player in range(NUM_PLAYERS):
            scores[at, VALUES + player] /= total
        scores[at, VALUES + who] = best


MAXN = Declaration(
    name="maxn",
    kernel=__name__,
    searcher=Searcher,
    score_columns=lambda spec: VALUES + spec.num_players,
    values_column=VALUES,
)
