"""Alpha-beta for zero-sum games of two players without dice.

A kernel (`boardrl.host.template`): `search.searcher` calls `search` of a copy compiled for one game and evaluator.
`search.negascout` is this kernel with other windows.

Depth counts turns: a player's further action in the same turn, as along a chain of hops, costs none. Each value is
to who acts; it changes sign only where the turn passes to the other player. Values below or above the window are
bounds (fail-soft).
"""

from __future__ import annotations

import dataclasses

import numpy as np

from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.game import CHANCE
from boardrl.host.compile_options import compiled, inner
from boardrl.host.masks import next_set, num_set
from boardrl.host.slots import LAZY, MASK_WORDS, ROOM, WORDS, act, actor, legal, successors
from search.declaration import Declaration, Deepening
from search.evaluators.slots import BATCHED, prepare
from search.kernel.addresses import (
    HISTORY,
    KILLERS,
    PV,
    ROWS,
    SCORES,
    SCRATCH,
    TABLE,
    WEIGHTS,
    WORK,
    block,
    matrix,
    vector,
)
from search.kernel.control_block import AGE, CHANCE_MET, CUTS, OPTIONS, OVERFLOWS, STOPPED, VIEW, count
from search.kernel.key_slots import position_key
from search.kernel.move_ordering import DONE, HISTORY_SIZE, KILLERS_A_PLY, best_left, note_cutoff, score, signature
from search.kernel.nodes import leaf_value
from search.kernel.pv_table import put_first
from search.kernel.transposition_table import (
    EXACT,
    LOWER,
    NO_MOVE,
    UPPER,
    answers,
    bound_of,
    find,
    is_complete,
    move_of,
    store,
    value_of,
)
from search.kernel.window_slots import first_beta, needs_research
from search.searcher import Searcher

USE_TABLE, USE_KILLERS, USE_HISTORY, REVERSE = (OPTIONS + n for n in range(4))

NO_MASK = np.zeros(1, np.uint64)


@compiled
def search(control, depth, alpha, beta):
    """The value of the position in rows[0] to who acts there."""
    me = actor(matrix(control, ROWS, WORDS, np.uint64)[0], vector(control, WORK, np.uint64))
    # Every call of `visit` has the same types, or Numba's cache would give code that crashes (numba issue 6061).
    return visit(block(control), np.int64(0), np.int64(1), np.int64(depth), alpha, beta, np.int64(me), np.int64(0))


@inner
def visit(control, at, top, depth, alpha, beta, me, ply):
    """The value of a decision of `me` in rows[at]; rows from `top` on are free."""
    rows, work = matrix(control, ROWS, WORDS, np.uint64), vector(control, WORK, np.uint64)
    pv = matrix(control, PV, control[PV + 2], np.int32)
    weights, scratch = vector(control, WEIGHTS, np.float32), vector(control, SCRATCH, np.float32)
    table, scores = matrix(control, TABLE, 2, np.uint64), matrix(control, SCORES, 1, np.float64)
    killers = matrix(control, KILLERS, KILLERS_A_PLY, np.int32)
    history = matrix(control, HISTORY, HISTORY_SIZE, np.int32)

    # 1. Count the node, and return if a limit is reached.
    count(control)
    pv[ply, 0] = 0
    if control[STOPPED]:
        return 0.0
    cuts_before, overflows_before = control[CUTS], control[OVERFLOWS]

    # 2. Probe the table.
    use_table = control[USE_TABLE] != 0
    position, table_move = np.uint64(0), NO_MOVE
    if use_table:
        position = position_key(rows, at, top, control, work)
        entry = find(table, position)
        table_move = move_of(entry)
        if ply > 0 and answers(entry, depth):
            known, bound = value_of(entry), bound_of(entry)
            if bound == EXACT or (bound == LOWER and known >= beta) or (bound == UPPER and known <= alpha):
                control[CUTS] += not is_complete(entry)
                return known

    # 3. Where to move, and in which order. One turn above the leaves nothing is ordered and many nodes are cut off by
    # their first move, so that a game whose moves are expensive makes them one by one there.
    lazy = LAZY and not BATCHED and depth <= 1 and not control[REVERSE]
    mask, action = NO_MASK, np.int64(-1)
    if lazy:
        mask = np.empty(MASK_WORDS, np.uint64)  # memory of its own, as evaluations and further actions use `work`
        legal(rows[at], mask, work)
        num_moves = num_set(mask, MASK_WORDS)
    else:
        num_moves = int(successors(rows[at], rows[top:], work))
    ordered = depth > 1 and (use_table or control[USE_KILLERS] or control[USE_HISTORY])
    if ordered:
        for child in range(top, top + num_moves):
            move = signature(rows[at], rows[child])
            scores[child, 0] = score(
                move, table_move, killers, history, ply, me, control[USE_KILLERS], control[USE_HISTORY]
            )

    # 4. Search them.
    free = top + num_moves
    full = free + ROOM > rows.shape[0] or ply + 2 >= pv.shape[0]
    if not lazy and (depth <= 1 or full):
        prepare(rows, top, num_moves, control[VIEW], weights, scratch, work)
    best, best_child = -np.inf, top
    floor = alpha
    for number in range(num_moves):
        child = top + number
        if ordered:
            child = best_left(scores, top, num_moves)
            scores[child, 0] = DONE
        elif control[REVERSE]:
            child = top + num_moves - 1 - number
        if lazy:
            action = np.int64(next_set(mask, MASK_WORDS, action + 1))
            act(rows[at], action, rows[child], work)
        who = np.int64(actor(rows[child], work))
        left = depth - (who != me)
        if who < 0 or left <= 0 or full:
            count(control)
            control[CHANCE_MET] += who == CHANCE
            value = leaf_value(control, child, who, left, me)
            pv[ply + 1, 0] = 0
        else:
            low, high = floor, first_beta(number, floor, beta)
            while True:
                if who == me:
                    value = visit(control, child, free, left, low, high, who, ply + 1)
                else:
                    value = -visit(control, child, free, left, -high, -low, who, ply + 1)
                if not needs_research(value, floor, high, beta):
                    break
                low, high = np.nextafter(value, -np.inf), beta  # it is at least this
        if control[STOPPED]:
            return 0.0
        if value > best:
            best, best_child = value, child
            if value > alpha or ply == 0:
                put_first(pv, ply, child - top)
            floor = max(floor, value)
            if value >= beta:
                break

    # 5. Store the result.
    if use_table or control[USE_KILLERS] or control[USE_HISTORY]:
        move = signature(rows[at], rows[best_child])
        if best >= beta:
            note_cutoff(move, killers, history, ply, me, depth)
        if use_table and control[OVERFLOWS] == overflows_before:
            bound = LOWER if best >= beta else EXACT if best > alpha else UPPER
            store(table, position, best, move, depth, control[CUTS] == cuts_before, bound, control[AGE])
    return best


@dataclasses.dataclass(frozen=True)
class Options(Deepening):
    table: bool = setting(False, "remember positions")
    killers: bool = setting(False, "try moves early that refuted others at the same distance from the root")
    history: bool = setting(False, "try moves early that refuted others anywhere")
    symmetry: bool = setting(False, "let the table know mirror images as one position")
    aspiration: float = setting(0.0, "half the width of the window about the last depth's value; 0: none")
    reverse: bool = setting(False, "without ordering: try moves from the last to the first")

    def __post_init__(self) -> None:
        if not 0 <= self.aspiration < float("inf"):
            raise UserError(f"aspiration={self.aspiration} is not the width of a window; expected 0 (none) or more")


def flags(options: Options) -> tuple[int, ...]:
    """The options in the order of USE_TABLE, …, REVERSE."""
    return (options.table, options.killers, options.history, options.reverse)


ALPHABETA = Declaration(
    name="alphabeta",
    kernel=__name__,
    searcher=Searcher,
    options=Options,
    flags=flags,
    slots={"search.kernel.window_slots": "search.kernel.full_window"},
    score_columns=lambda spec: 1,  # for the order of the moves
    num_players=2,
    returns="zero_sum",
    dice=False,
    to_actor=True,
)
