"""Boards up to 16×16 on the host: four 64-bit words per colour, whole turns as successors; rows as in row.py."""

from __future__ import annotations

import numba
import numpy as np

from games.jumper.bits import (
    HEADER,
    NOT_FOUND,
    SCRATCH,
    TRUNCATED,
    Int,
    Word,
    begin_chains,
    fill_slot,
    lowest,
    mix,
    popcount,
    slot_row,
    work_words,
)
from games.jumper.row import actor_of, chain_bit, size_of, turn_ended
from games.jumper.rules import NO_CHAIN

PART = 4  # words of one colour
WHITE, BLACK, EMPTY, REST = 0, 4, 8, 12
WORDS = 13
NUM_FEATURES = 4
STACK = 2 * 8 * 256  # as in narrow.py
WORK_WORDS = work_words(1 << 12, stack=STACK, note=PART)
OFF = -1  # no landing
ONE, ZERO = np.uint64(1), np.uint64(0)
ROWS = np.array([0, 1, 1, 1, 0, -1, -1, -1])
COLUMNS = np.array([1, -1, 0, 1, -1, 1, 0, -1])


@numba.njit(cache=True, nogil=True)
def successors(row: np.ndarray, buffer: np.ndarray, work: np.ndarray) -> Int:
    """As narrow.successors; a buffer of at least 256 rows always holds all places."""
    seat = np.int64(row[REST] & ONE)
    pending = HEADER
    if chain_bit(row[REST]) != NO_CHAIN:
        copy(row, buffer, 0)
        work[pending] = np.uint64(chain_bit(row[REST]))
        work[pending + 1] = ZERO
        return follow(buffer, work, 1, pending + 2, buffer.shape[0] - 1, seat)

    # 1. First hops. A hop over an own piece equals the place on its landing, which is marked in the scratch words.
    limit = buffer.shape[0]
    for word in range(PART):
        work[SCRATCH + word] = ZERO
        limit -= popcount(row[EMPTY + word])
    count = 0
    mine, theirs = PART * seat, PART * (1 - seat)
    for word in range(PART):
        pieces = row[mine + word]
        while pieces:
            cell = 64 * word + lowest(pieces)
            pieces &= pieces - ONE
            for way in range(8):
                landing = hop(row, cell, way)
                jumped = (cell + landing) >> 1
                if landing == OFF:
                    continue
                if not has(row, theirs, jumped):
                    work[SCRATCH + (landing >> 6)] |= bit(landing)
                elif count >= limit:
                    work[TRUNCATED] += ONE
                else:
                    copy(row, buffer, count)
                    land(buffer, count, seat, jumped, landing)
                    work[pending] = np.uint64(landing)
                    work[pending + 1] = np.uint64(count)
                    pending += 2
                    count += 1

    # 2. Chains, also from the places that equal a hop over an own piece.
    for word in range(PART):
        landings = work[SCRATCH + word]
        while landings:
            landing = 64 * word + lowest(landings)
            landings &= landings - ONE
            place(row, buffer, count, seat, landing)
            work[pending] = np.uint64(landing)
            work[pending + 1] = np.uint64(count)
            pending += 2
            count += 1
            limit += 1
    count = follow(buffer, work, count, pending, limit, seat)

    # 3. The other places.
    for word in range(PART):
        cells = row[EMPTY + word] & ~work[SCRATCH + word]
        while cells:
            place(row, buffer, count, seat, 64 * word + lowest(cells))
            cells &= cells - ONE
            count += 1
    return count


@numba.njit(cache=True, nogil=True)
def follow(buffer: np.ndarray, work: np.ndarray, count: Int, pending: Int, limit: Int, seat: Int) -> Int:
    """As narrow.follow; buffer[count] serves as scratch space, because a landing leaves room for its place."""
    room = begin_chains(work, STACK, PART)
    notes = HEADER + STACK
    table = notes + PART * room
    first = count
    while pending > HEADER:
        pending -= 2
        start, source = np.int64(work[pending]), np.int64(work[pending + 1])
        for way in range(8):
            landing = hop(buffer[source], start, way)
            if landing == OFF:
                continue
            buffer[count] = buffer[source]
            land(buffer, count, seat, (start + landing) >> 1, landing)
            mixed = ZERO
            for word in range(EMPTY):
                mixed = mix(mixed, buffer[count, word])
            at = np.int64(mixed & np.uint64(2 * room - 1))
            found = slot_row(work, table + at)
            while found != NOT_FOUND and not same(buffer, found, count):
                at = (at + 1) & (2 * room - 1)
                found = slot_row(work, table + at)
            if found == NOT_FOUND:
                if count >= min(limit, first + room):
                    work[TRUNCATED] += ONE
                    continue
                found = count
                fill_slot(work, table + at, found)
                for word in range(PART):
                    work[notes + PART * (found - first) + word] = ZERO
                count += 1
            note = notes + PART * (found - first) + (landing >> 6)
            if work[note] & bit(landing):
                continue
            work[note] |= bit(landing)
            work[pending] = np.uint64(landing)
            work[pending + 1] = np.uint64(found)
            pending += 2
    return count


@numba.njit(cache=True, nogil=True)
def hop(row: np.ndarray, cell: Int, way: Int) -> Int:
    """The landing of a hop from a cell, or OFF if there is none."""
    down, right = (cell >> 4) + 2 * ROWS[way], (cell & 15) + 2 * COLUMNS[way]
    if not (0 <= down < 16 and 0 <= right < 16):
        return OFF
    landing = 16 * down + right
    if not has(row, EMPTY, landing):
        return OFF
    jumped = (cell + landing) >> 1
    return landing if has(row, WHITE, jumped) or has(row, BLACK, jumped) else OFF


@numba.njit(cache=True, nogil=True)
def bit(cell: Int) -> Word:
    """The cell's bit in its word."""
    return ONE << np.uint64(cell & 63)


@numba.njit(cache=True, nogil=True)
def has(row: np.ndarray, part: Int, cell: Int) -> bool:
    """Whether a cell is in a part of the row: WHITE, BLACK or EMPTY."""
    return row[part + (cell >> 6)] & bit(cell) != ZERO


@numba.njit(cache=True, nogil=True)
def copy(row: np.ndarray, buffer: np.ndarray, at: Int) -> None:
    """Writes the same board with the turn ended."""
    for word in range(REST):
        buffer[at, word] = row[word]
    buffer[at, REST] = turn_ended(row[REST])


@numba.njit(cache=True, nogil=True)
def land(buffer: np.ndarray, at: Int, seat: Int, jumped: Int, landing: Int) -> None:
    """Makes a hop of `seat` on a row of the buffer."""
    buffer[at, PART * (1 - seat) + (jumped >> 6)] &= ~bit(jumped)
    buffer[at, PART * seat + (landing >> 6)] |= bit(landing)
    buffer[at, EMPTY + (landing >> 6)] &= ~bit(landing)


@numba.njit(cache=True, nogil=True)
def place(row: np.ndarray, buffer: np.ndarray, at: Int, seat: Int, cell: Int) -> None:
    """Writes the position after a place."""
    copy(row, buffer, at)
    land(buffer, at, seat, cell, cell)


@numba.njit(cache=True, nogil=True)
def same(buffer: np.ndarray, one: Int, other: Int) -> bool:
    """Whether two rows have the same pieces."""
    for word in range(EMPTY):  # noqa: SIM110 (Numba has no generators)
        if buffer[one, word] != buffer[other, word]:
            return False
    return True


@numba.njit(cache=True, nogil=True)
def cells_in(row: np.ndarray, part: Int) -> Int:
    """The number of cells in a part of the row."""
    total = 0
    for word in range(part, part + PART):
        total += popcount(row[word])
    return total


@numba.njit(cache=True, nogil=True)
def actor(row: np.ndarray, work: np.ndarray) -> Int:
    """The seat to act, CHANCE or TERMINAL."""
    return actor_of(row[REST], cells_in(row, EMPTY))


@numba.njit(cache=True, nogil=True)
def returns(row: np.ndarray, out: np.ndarray, work: np.ndarray) -> None:
    """Writes the return of each player into out [2]."""
    lead = 0 if cells_in(row, EMPTY) else cells_in(row, WHITE) - cells_in(row, BLACK)
    out[0] = np.sign(lead)
    out[1] = -out[0]


@numba.njit(cache=True, nogil=True)
def key(row: np.ndarray) -> Word:
    """A hash of the whole position."""
    value = ZERO
    for word in range(WORDS):
        value = mix(value, row[word])
    return value


@numba.njit(cache=True, nogil=True)
def counts(row: np.ndarray, seat: Int) -> tuple[Int, Int, Int]:
    """Pieces, safe pieces and jumpable axes of a seat, as features.py defines them."""
    pieces = safe = axes = 0
    for word in range(PART):
        left = row[PART * seat + word]
        while left:
            cell = 64 * word + lowest(left)
            left &= left - ONE
            open_axes = 0
            for way in range(4):
                open_axes += jumpable(row, seat, cell, way)
            pieces += 1
            safe += open_axes == 0
            axes += open_axes
    return pieces, safe, axes


@numba.njit(cache=True, nogil=True)
def jumpable(row: np.ndarray, seat: Int, cell: Int, way: Int) -> bool:
    """Whether the opponent can jump, now or later, the piece of `seat` on a cell along an axis."""
    down, right = cell >> 4, cell & 15
    step_down, step_right = ROWS[way], COLUMNS[way]
    if not (0 < down < 15 or step_down == 0) or not (0 < right < 15 or step_right == 0):
        return False
    one, other = cell + 16 * step_down + step_right, cell - 16 * step_down - step_right
    theirs = PART * (1 - seat)
    return (has(row, EMPTY, one) and (has(row, EMPTY, other) or has(row, theirs, other))) or (
        has(row, EMPTY, other) and has(row, theirs, one)
    )


@numba.njit(cache=True, nogil=True)
def features(row: np.ndarray, seat: Int, out: np.ndarray, work: np.ndarray) -> None:
    """Writes the features of features.py into out [4]."""
    pieces, safe, axes = counts(row, seat)
    other_pieces, other_safe, other_axes = counts(row, 1 - seat)
    cells = size_of(row[REST]) * size_of(row[REST])
    out[0] = (pieces - other_pieces) / cells
    out[1] = (safe - other_safe) / cells
    out[2] = (axes - other_axes) / (4 * cells)
    out[3] = (cells - cells_in(row, EMPTY)) / cells
