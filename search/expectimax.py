"""Expectimax with Star1 and Star2: one player against the rest, with dice.

A kernel (`boardrl.host.template`). Every value is to the seat that searches (VIEW), which maximises where it acts; all
others minimise. A chance node is worth the mean over its outcomes.

Depth: an action that ends a turn costs one, dice thrown after it cost none, dice thrown after dice cost one. So
depth 1 values what each action leads to, before the dice.

Star1 (Ballard 1983): the outcomes of a chance node that are not yet searched lie between the lowest and the highest
return, so that a window on the mean gives a window on each outcome. Star2: one move is tried first after each outcome;
its value bounds the outcome from the side of who moves there, and narrower bounds make narrower windows.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.game import CHANCE, TERMINAL
from boardrl.host.compile_options import compiled, inner
from boardrl.host.slots import NUM_OUTCOMES, ROOM, WORDS, actor, chance, settle, successors
from search.declaration import Declaration, Deepening
from search.evaluators.slots import prepare
from search.kernel.addresses import PV, ROWS, SCORES, SCRATCH, TABLE, WEIGHTS, WORK, block, matrix, vector
from search.kernel.control_block import AGE, CUTS, OPTIONS, OVERFLOWS, STOPPED, VIEW, count
from search.kernel.key_slots import position_key
from search.kernel.move_ordering import signature
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
from search.searcher import Searcher

STAR, USE_TABLE = OPTIONS, OPTIONS + 1
LEAST = -1.0  # return of a player; declared below for each game
MOST = 1.0
ODDS, LOW, HIGH = 0, 1, 2  # columns of the scores: an outcome's probability and bounds of its value
COLUMNS = 3


@compiled
def search(control, depth, alpha, beta):
    """The value of the position in rows[0] to VIEW."""
    # Every call of `visit` has the same types, or Numba's cache would give code that crashes (numba issue 6061).
    return visit(block(control), np.int64(0), np.int64(1), np.int64(depth), alpha, beta, np.int64(0))


@inner
def visit(control, at, top, depth, alpha, beta, ply):
    """The value of rows[at]; rows from `top` on are free."""
    rows, work = matrix(control, ROWS, WORDS, np.uint64), vector(control, WORK, np.uint64)
    scores, pv = matrix(control, SCORES, COLUMNS, np.float64), matrix(control, PV, control[PV + 2], np.int32)
    weights, scratch = vector(control, WEIGHTS, np.float32), vector(control, SCRATCH, np.float32)
    table = matrix(control, TABLE, 2, np.uint64)

    # 1. Leaves.
    count(control)
    pv[ply, 0] = 0
    if control[STOPPED]:
        return 0.0
    who = np.int64(actor(rows[at], work))
    view = control[VIEW]
    full = top + max(ROOM, NUM_OUTCOMES) > rows.shape[0] or ply + 1 >= pv.shape[0]
    if who == TERMINAL or depth <= 0 or full:
        return leaf_value(control, at, who, depth, view)

    # 2. Probe the table.
    cuts_before, overflows_before = control[CUTS], control[OVERFLOWS]
    position, table_move = np.uint64(0), NO_MOVE
    if control[USE_TABLE]:
        position = position_key(rows, at, top, control, work)
        entry = find(table, position)
        table_move = move_of(entry)
        if ply > 0 and answers(entry, depth):
            known, bound = value_of(entry), bound_of(entry)
            if bound == EXACT or (bound == LOWER and known >= beta) or (bound == UPPER and known <= alpha):
                control[CUTS] += not is_complete(entry)
                return known

    best_move = NO_MOVE
    if who == CHANCE:
        # 3. Chance: the outcomes, and the bounds of each.
        chance(rows[at], scratch, work)
        num_rolls = 0
        for outcome in range(NUM_OUTCOMES):
            if scratch[outcome] > 0:
                scores[top + num_rolls, ODDS] = scratch[outcome]
                scores[top + num_rolls, LOW] = LEAST
                scores[top + num_rolls, HIGH] = MOST
                settle(rows[at], outcome, rows[top + num_rolls], work)
                num_rolls += 1
        free = top + num_rolls
        unknown_low = unknown_high = 0.0
        for child in range(top, free):
            unknown_low += scores[child, ODDS] * LEAST
            unknown_high += scores[child, ODDS] * MOST
        best, decided = 0.0, False
        if control[STAR] > 0 and (unknown_low >= beta or unknown_high <= alpha):
            best, decided = unknown_low if unknown_low >= beta else unknown_high, True

        # 4. Star2: one move after each outcome.
        if control[STAR] == 2 and depth > 1:
            for child in range(top, free):
                roller = np.int64(actor(rows[child], work))
                if roller < 0 or decided or free + 1 + ROOM > rows.shape[0]:
                    continue
                if beta > unknown_high if roller == view else alpha < unknown_low:
                    continue  # no bound from this side can decide
                odds = scores[child, ODDS]
                if successors(rows[child], rows[free : free + ROOM], work) < 1:
                    continue
                left = depth - (np.int64(actor(rows[free], work)) != roller)
                if roller == view:
                    enough = (beta - unknown_low) / odds + LEAST
                    value = visit(control, free, free + 1, left, LEAST, enough, ply + 1)
                    if value > LEAST:
                        unknown_low += odds * (value - scores[child, LOW])
                        scores[child, LOW] = value
                else:
                    enough = (alpha - unknown_high) / odds + MOST
                    value = visit(control, free, free + 1, left, enough, MOST, ply + 1)
                    if value < MOST:
                        unknown_high += odds * (value - scores[child, HIGH])
                        scores[child, HIGH] = value
                if control[STOPPED]:
                    return 0.0
                if unknown_low >= beta:
                    best, decided = unknown_low, True
                elif unknown_high <= alpha:
                    best, decided = unknown_high, True

        # 5. Star1: each outcome within the window that the mean leaves it.
        if not decided:
            if depth <= 1:
                prepare(rows, top, num_rolls, view, weights, scratch, work)
            for child in range(top, free):
                odds = scores[child, ODDS]
                unknown_low -= odds * scores[child, LOW]
                unknown_high -= odds * scores[child, HIGH]
                low, high = -np.inf, np.inf
                if control[STAR] > 0:
                    low, high = (alpha - best - unknown_high) / odds, (beta - best - unknown_low) / odds
                left = depth - (np.int64(actor(rows[child], work)) == CHANCE)
                value = visit(control, child, free, left, low, high, ply + 1)
                if control[STOPPED]:
                    return 0.0
                best += odds * value
                if value >= high:
                    best = max(best + unknown_low, beta)
                    break
                if value <= low:
                    best = min(best + unknown_high, alpha)
                    break
        pv[ply, 0] = 0  # a line ends at the dice
    else:
        # 6. A decision: alpha-beta, the table's move first.
        num_moves = successors(rows[at], rows[top:], work)
        free = top + num_moves
        first = top
        if table_move != NO_MOVE:
            for child in range(top, free):
                if signature(rows[at], rows[child]) == table_move:
                    first = child
                    break
        if depth <= 1:
            prepare(rows, top, num_moves, view, weights, scratch, work)
        sign = 1.0 if who == view else -1.0
        best, best_child = -sign * np.inf, first
        floor, ceiling = alpha, beta
        for number in range(num_moves):
            # The first comes out of its place, and those before it move up by one.
            child = first if number == 0 else top + number - (top + number <= first)
            left = depth - (np.int64(actor(rows[child], work)) != who)
            value = visit(control, child, free, left, floor, ceiling, ply + 1)
            if control[STOPPED]:
                return 0.0
            if sign * value > sign * best:
                best, best_child = value, child
                put_first(pv, ply, child - top)
                if who == view:
                    floor = max(floor, value)
                else:
                    ceiling = min(ceiling, value)
                if floor >= ceiling:
                    break
        if control[USE_TABLE]:
            best_move = signature(rows[at], rows[best_child])

    # 7. Store the result.
    if control[USE_TABLE] and control[OVERFLOWS] == overflows_before:
        bound = LOWER if best >= beta else UPPER if best <= alpha else EXACT
        store(table, position, best, best_move, depth, control[CUTS] == cuts_before, bound, control[AGE])
    return best


@dataclasses.dataclass(frozen=True)
class Options(Deepening):
    table: bool = setting(True, "remember positions")
    star: int = setting(1, "cutoffs at the dice: 0 none, 1 Star1, 2 Star2, which pays where moves are many")

    def __post_init__(self) -> None:
        if self.star not in (0, 1, 2):
            raise UserError(f"star={self.star} is not a way to prune at the dice; expected 0 (none), 1 or 2")


def flags(options: Options) -> tuple[int, ...]:
    """The options in the order of STAR, USE_TABLE."""
    return (options.star, options.table)


EXPECTIMAX = Declaration(
    name="expectimax",
    kernel=__name__,
    searcher=Searcher,
    options=Options,
    flags=flags,
    constants=lambda spec: {"LEAST": float(spec.min_return), "MOST": float(spec.max_return)},
    score_columns=lambda spec: COLUMNS,
    num_players=2,
    returns="fixed_sum",
)
