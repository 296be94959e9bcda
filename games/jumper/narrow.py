"""Boards up to 8×8 on the host: one 64-bit word per colour, whole turns as successors; rows as in row.py."""

from __future__ import annotations

import numba
import numpy as np

from games.jumper.bits import (
    HEADER,
    NOT_FOUND,
    TRUNCATED,
    Int,
    Word,
    begin_chains,
    fill_slot,
    mix,
    popcount,
    slot_row,
    work_words,
)
from games.jumper.row import actor_of, chain_bit, size_of, turn_ended
from games.jumper.rules import NO_CHAIN

WORDS = 4
NUM_FEATURES = 4
WHITE, BLACK, EMPTY, REST = range(WORDS)
# A chain fills a cell with every hop, and a cell on the stack adds at most eight more.
STACK = 2 * 8 * 64
WORK_WORDS = work_words(1 << 12, stack=STACK, note=1)
ONE, ZERO = np.uint64(1), np.uint64(0)
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
FROM_LEFT = np.uint64(0x3F3F3F3F3F3F3F3F)  # columns with two more columns to their right on an 8×8 board
FROM_RIGHT = np.uint64(0xFCFCFCFCFCFCFCFC)
SHIFTS = (np.uint64(1), np.uint64(7), np.uint64(8), np.uint64(9))
UP_COLUMNS = (FROM_LEFT, FROM_RIGHT, ALL, FROM_LEFT)  # towards higher bits: right, down-left, down, down-right
INNER = FROM_LEFT << np.uint64(1)
BOTH_SIDES = (INNER, INNER, ALL, INNER)  # columns with a cell on both sides
DOWN_COLUMNS = (FROM_RIGHT, FROM_LEFT, ALL, FROM_RIGHT)  # towards lower bits, the opposite directions


@numba.njit(cache=True, nogil=True)
def successors(row: np.ndarray, buffer: np.ndarray, work: np.ndarray) -> Int:
    """Writes every distinct position after one turn into buffer[:count] and returns count.

    Jumps come before places; a single hop over an own piece equals the place on its landing. In the middle of a chain
    the successors are the ways to end it, beginning with an immediate stop. A buffer of at least 64 rows always holds
    all places; if the buffer or the workspace cannot hold all jumps, the rest is dropped and work[TRUNCATED]
    incremented. A workspace larger than WORK_WORDS holds more chains.
    """
    empty, seat = row[EMPTY], np.int64(row[REST] & ONE)
    mine, theirs = row[seat], row[1 - seat]
    rest = turn_ended(row[REST])
    limit = buffer.shape[0] - popcount(empty)
    count = 0
    pending = HEADER  # the end of the stack
    if chain_bit(row[REST]) != NO_CHAIN:
        write(buffer, 0, seat, rest, mine, theirs, empty)
        work[pending] = ONE << np.uint64(chain_bit(row[REST]))
        work[pending + 1] = ZERO
        return follow(buffer, work, 1, pending + 2, buffer.shape[0], seat)

    # 1. Hops over enemies, all directions at once; no two of them give the same board.
    held = mine | theirs
    over_own = can_hop = ZERO
    for way in range(4):
        shift, twice = SHIFTS[way], SHIFTS[way] + SHIFTS[way]
        columns = UP_COLUMNS[way]
        can_hop |= (held >> shift) & (empty >> twice) & columns
        jumped = (mine & columns) << shift
        landings = empty & (jumped << shift)
        over_own |= landings & (mine << shift)
        landings &= theirs << shift
        while landings:
            landing = landings & (ZERO - landings)
            landings ^= landing
            if count < limit:
                write(buffer, count, seat, rest, mine | landing, theirs ^ (landing >> shift), empty ^ landing)
                count += 1
            else:
                work[TRUNCATED] += ONE
        columns = DOWN_COLUMNS[way]
        can_hop |= (held << shift) & (empty << twice) & columns
        jumped = (mine & columns) >> shift
        landings = empty & (jumped >> shift)
        over_own |= landings & (mine >> shift)
        landings &= theirs >> shift
        while landings:
            landing = landings & (ZERO - landings)
            landings ^= landing
            if count < limit:
                write(buffer, count, seat, rest, mine | landing, theirs ^ (landing << shift), empty ^ landing)
                count += 1
            else:
                work[TRUNCATED] += ONE

    # 2. Chains: a first hop can continue only where a hop was already possible before it. Hops over own pieces that may
    # continue are written now, once per landing, and omitted from the places.
    if can_hop:
        for first in range(count):
            landing = buffer[first, seat] ^ mine
            if landing & can_hop:
                work[pending] = landing
                work[pending + 1] = np.uint64(first)
                pending += 2
        go_on = over_own & can_hop
        empty_left = empty ^ go_on
        while go_on:
            landing = go_on & (ZERO - go_on)
            go_on ^= landing
            write(buffer, count, seat, rest, mine | landing, theirs, empty ^ landing)
            work[pending] = landing
            work[pending + 1] = np.uint64(count)
            pending += 2
            count += 1
            limit += 1
        if pending > HEADER:
            count = follow(buffer, work, count, pending, limit, seat)
    else:
        empty_left = empty

    # 3. Places.
    while empty_left:
        cell_bit = empty_left & (ZERO - empty_left)
        empty_left ^= cell_bit
        write(buffer, count, seat, rest, mine | cell_bit, theirs, empty ^ cell_bit)
        count += 1
    return count


@numba.njit(cache=True, nogil=True)
def follow(buffer: np.ndarray, work: np.ndarray, count: Int, pending: Int, limit: Int, seat: Int) -> Int:
    """Follows the chains on the stack, and returns the new number of rows.

    Different hops, or the same hops in another order, may lead to the same board. A row's note holds the cells from
    which it was followed, so that each pair of board and cell is followed only once.
    """
    room = begin_chains(work, STACK, 1)
    notes = HEADER + STACK
    table = notes + room
    first = count
    while pending > HEADER:
        pending -= 2
        start = work[pending]
        source = np.int64(work[pending + 1])
        mine, theirs, empty = buffer[source, seat], buffer[source, 1 - seat], buffer[source, EMPTY]
        rest = buffer[source, REST]
        held = mine | theirs
        for way in range(8):
            shift = SHIFTS[way & 3]
            if way < 4:
                jumped = (start & UP_COLUMNS[way]) << shift
                landing = ((jumped & held) << shift) & empty
            else:
                jumped = (start & DOWN_COLUMNS[way & 3]) >> shift
                landing = ((jumped & held) >> shift) & empty
            if not landing:
                continue
            mine_after, theirs_after = mine | landing, theirs & ~jumped
            at = np.int64(mix(mix(ZERO, mine_after), theirs_after) & np.uint64(2 * room - 1))
            found = slot_row(work, table + at)
            while found != NOT_FOUND and (buffer[found, seat] != mine_after or buffer[found, 1 - seat] != theirs_after):
                at = (at + 1) & (2 * room - 1)
                found = slot_row(work, table + at)
            if found == NOT_FOUND:
                if count >= min(limit, first + room):
                    work[TRUNCATED] += ONE
                    continue
                found = count
                write(buffer, found, seat, rest, mine_after, theirs_after, empty ^ landing)
                fill_slot(work, table + at, found)
                work[notes + found - first] = ZERO
                count += 1
            if work[notes + found - first] & landing:
                continue
            work[notes + found - first] |= landing
            work[pending] = landing
            work[pending + 1] = np.uint64(found)
            pending += 2
    return count


@numba.njit(cache=True, nogil=True)
def write(
    buffer: np.ndarray,
    at: Int,
    seat: Int,
    rest: Word,
    mine: Word,
    theirs: Word,
    empty: Word,
) -> None:
    """Writes a position in which the pieces of `seat` are `mine`."""
    buffer[at, seat] = mine
    buffer[at, 1 - seat] = theirs
    buffer[at, EMPTY] = empty
    buffer[at, REST] = rest


@numba.njit(cache=True, nogil=True)
def actor(row: np.ndarray, work: np.ndarray) -> Int:
    """The seat to act, CHANCE or TERMINAL."""
    return actor_of(row[REST], popcount(row[EMPTY]))


@numba.njit(cache=True, nogil=True)
def returns(row: np.ndarray, out: np.ndarray, work: np.ndarray) -> None:
    """Writes the return of each player into out [2]."""
    lead = np.int64(0) if row[EMPTY] else popcount(row[WHITE]) - popcount(row[BLACK])
    out[0] = np.sign(lead)
    out[1] = -out[0]


@numba.njit(cache=True, nogil=True)
def key(row: np.ndarray) -> Word:
    """A hash of the whole position."""
    return mix(mix(mix(mix(ZERO, row[WHITE]), row[BLACK]), row[EMPTY]), row[REST])


@numba.njit(cache=True, nogil=True)
def counts(mine: Word, theirs: Word, empty: Word) -> tuple[Int, Int, Int]:
    """Pieces, safe pieces and jumpable axes of `mine`, as features.py defines them."""
    enterable = empty | theirs
    unsafe = ZERO
    axes = 0
    for way in range(4):
        # A bit that wraps around the end of a row comes from an edge column, where no piece has cells on both sides.
        shift = SHIFTS[way]
        sides = (empty << shift) & (enterable >> shift) | (empty >> shift) & (enterable << shift)
        jumpable = mine & sides & BOTH_SIDES[way]
        axes += popcount(jumpable)
        unsafe |= jumpable
    return popcount(mine), popcount(mine & ~unsafe), axes


@numba.njit(cache=True, nogil=True)
def features(row: np.ndarray, seat: Int, out: np.ndarray, work: np.ndarray) -> None:
    """Writes the features of features.py into out [4]."""
    mine, theirs, empty = row[seat], row[1 - seat], row[EMPTY]
    pieces, safe, axes = counts(mine, theirs, empty)
    other_pieces, other_safe, other_axes = counts(theirs, mine, empty)
    cells = size_of(row[REST]) * size_of(row[REST])
    out[0] = (pieces - other_pieces) / cells
    out[1] = (safe - other_safe) / cells
    out[2] = (axes - other_axes) / (4 * cells)
    out[3] = (cells - popcount(empty)) / cells
