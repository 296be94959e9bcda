"""The features of extended.py for boards up to 8×8, on rows as in row.py."""

from __future__ import annotations

import numba
import numpy as np

from games.jumper.bits import Int, Word, popcount
from games.jumper.narrow import BOTH_SIDES, DOWN_COLUMNS, EMPTY, ONE, REST, SHIFTS, UP_COLUMNS, ZERO
from games.jumper.row import size_of

NUM_COUNTS = 12
NUM_FEATURES = 2 * NUM_COUNTS + 5
FIRST_COLUMN = np.uint64(0x0101010101010101)
FIRST_ROW = np.uint64(0xFF)


@numba.njit(cache=True, nogil=True)
def features(row: np.ndarray, seat: Int, out: np.ndarray, work: np.ndarray) -> None:
    """Writes the features of extended.py into out [29]."""
    mine, theirs, empty = row[seat], row[1 - seat], row[EMPTY]
    size = size_of(row[REST])
    cells = np.float32(size * size)
    axes = attacked_axes = own_hops = 0
    my_open = their_open = my_attacked = their_attacked = ZERO  # cells or pieces, along any axis
    for way in range(4):
        # A bit that wraps around the end of a row comes from an edge column, where no cell has others on both sides.
        shift, inside = SHIFTS[way], BOTH_SIDES[way]
        empty_one, empty_two = empty << shift, empty >> shift
        mine_one, mine_two = mine << shift, mine >> shift
        theirs_one, theirs_two = theirs << shift, theirs >> shift
        both = empty_one & empty_two
        by_them = (empty_one & theirs_two | empty_two & theirs_one) & inside
        by_me = (empty_one & mine_two | empty_two & mine_one) & inside
        open_to_them, open_to_me = both & inside | by_them, both & inside | by_me
        axes += popcount(mine & open_to_them) - popcount(theirs & open_to_me)
        attacked_axes += popcount(mine & by_them) - popcount(theirs & by_me)
        own_hops += popcount(mine & by_me) - popcount(theirs & by_them)
        my_open |= open_to_them
        their_open |= open_to_me
        my_attacked |= mine & by_them
        their_attacked |= theirs & by_me

    last = np.uint64(size - 1)
    top, left = FIRST_ROW, FIRST_COLUMN
    bottom, right = top << (last << np.uint64(3)), left << last
    corner = (top | bottom) & (left | right)
    edge = (top | bottom | left | right) & ~corner
    inner_top, inner_left = top << np.uint64(8), left << ONE
    inner_bottom, inner_right = bottom >> np.uint64(8), right >> ONE
    second = (inner_top | inner_bottom | inner_left | inner_right) & ~(edge | corner)

    out[0] = (popcount(mine) - popcount(theirs)) / cells
    out[1] = (popcount(mine & ~my_open) - popcount(theirs & ~their_open)) / cells
    out[2] = axes / (4 * cells)
    out[3] = attacked_axes / (4 * cells)
    num_mine, num_theirs = popcount(my_attacked), popcount(their_attacked)
    out[4] = (num_mine - num_theirs) / cells
    out[5] = lead(mine, theirs, corner) / cells
    out[6] = lead(mine, theirs, edge) / cells
    out[7] = lead(mine, theirs, second) / cells
    out[8] = (popcount(empty & ~my_open) - popcount(empty & ~their_open)) / cells
    out[9] = own_hops / (4 * cells)
    held = mine | theirs
    my_landings, their_landings = landings(mine, held, empty), landings(theirs, held, empty)
    my_chains, their_chains = landings(my_landings, held, empty), landings(their_landings, held, empty)
    out[10] = (popcount(my_landings) - popcount(their_landings)) / cells
    out[11] = (popcount(my_chains) - popcount(their_chains)) / cells
    num_empty = popcount(empty)
    for number in range(NUM_COUNTS):
        out[NUM_COUNTS + number] = out[number] * (num_empty / cells)

    moves = np.int64(row[REST] & ONE) == seat
    attacked, chains, sign = (num_theirs, my_chains, 1) if moves else (num_mine, their_chains, -1)
    rest = 2 * NUM_COUNTS
    out[rest] = sign * min(attacked, 1) / 8
    out[rest + 1] = sign * attacked / cells
    out[rest + 2] = sign * popcount(chains) / cells
    out[rest + 3] = sign / 8
    out[rest + 4] = out[rest + 3] if num_empty % 2 == 1 else -out[rest + 3]


@numba.njit(cache=True, nogil=True)
def landings(starts: Word, held: Word, empty: Word) -> Word:
    """Empty cells that a hop from one of these cells over any piece leads to."""
    found = ZERO
    for way in range(4):
        shift = SHIFTS[way]
        found |= ((starts & UP_COLUMNS[way]) << shift & held) << shift
        found |= ((starts & DOWN_COLUMNS[way]) >> shift & held) >> shift
    return found & empty


@numba.njit(cache=True, nogil=True)
def lead(mine: Word, theirs: Word, where: Word) -> Int:
    """The number of my pieces minus theirs among the cells `where`."""
    return popcount(mine & where) - popcount(theirs & where)
