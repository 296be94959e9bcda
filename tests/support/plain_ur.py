"""The Royal Game of Ur a second time: Finkel's rules on bit masks, and the chance to win of every position.

    python tests/support/plain_ur.py --pieces=5

A position is seen by the player who throws: its pieces home and squares, and those of the other; the rest is in hand.
Pieces that are home never come back, so that positions are solved by how many are, the most first.
"""

from __future__ import annotations

import argparse
import functools

import numba
import numpy as np

ODDS = np.array([1, 4, 6, 4, 1]) / 16
SHARED, SAFE = 0b00111111110000, 0b00000010000000
ROSETTE = 0b10000010001000
MASKS = np.array(sorted(range(1 << 14), key=lambda mask: (mask.bit_count(), mask)))
RANK = np.argsort(MASKS)  # of a mask among all, those with few pieces first
COUNT = np.array([mask.bit_count() for mask in range(1 << 14)])


@numba.njit(cache=True)
def sweep(own, other, ended, pieces, home, their_home):
    """Chances of one pair of home counts from the newest of what follows; returns the largest change.

    own [m, o]: who throws has mask m, the other o. other: with the roles exchanged. ended: after one more came home.
    """
    largest = 0.0
    for i in range(own.shape[0]):
        mine = MASKS[i]
        for j in range(own.shape[1]):
            theirs = MASKS[j]
            if mine & theirs & SHARED:
                continue
            passed = 1 - other[j, i]
            chance = ODDS[0] * passed
            for roll in range(1, 5):
                best = -1.0
                for place in range(15):
                    if place == 0:
                        if home + COUNT[mine] == pieces:
                            continue
                        left = mine
                    else:
                        if not mine >> (place - 1) & 1:
                            continue
                        left = mine ^ (1 << (place - 1))
                    if place + roll > 15:
                        continue
                    if place + roll == 15:
                        best = max(best, 1.0 if home + 1 == pieces else 1 - ended[j, RANK[left]])
                        continue
                    end = 1 << (place + roll - 1)
                    if mine & end or theirs & end & SAFE:
                        continue
                    hit = RANK[theirs & ~end] if end & SHARED else j
                    after = RANK[left | end]
                    best = max(best, own[after, hit] if end & ROSETTE else 1 - other[hit, after])
                chance += ODDS[roll] * (passed if best < 0 else best)
            largest = max(largest, abs(chance - own[i, j]))
            own[i, j] = chance
    return largest


@functools.cache
def solve(pieces: int, *, dtype: type = np.float64, tolerance: float = 1e-13, keep: int = 99, tell: bool = False):
    """{(home, their home): [m, o] chances}, of the last `keep` sums of home counts; tells how far it is."""
    sizes = [int((pieces - home >= COUNT).sum()) for home in range(pieces)]
    tables: dict[tuple[int, int], np.ndarray] = {}
    for total in range(2 * pieces - 2, -1, -1):
        for home in range(pieces):
            their_home = total - home
            if not home <= their_home < pieces:
                continue
            pair = [(home, their_home), (their_home, home)]
            for a, b in pair:
                tables[a, b] = np.full((sizes[a], sizes[b]), 0.5, dtype)
            nothing = np.zeros((1, 1), dtype)
            while (
                max(
                    sweep(tables[a, b], tables[b, a], tables.get((b, a + 1), nothing), pieces, a, b)
                    for a, b in pair[: 1 + (home != their_home)]
                )
                > tolerance
            ):
                pass
            if tell:
                print(f"home {home} and {their_home} solved", flush=True)
        for old in [key for key in tables if sum(key) > total + keep - 1]:
            del tables[old]
    return tables


def chance(tables, mine: tuple[int, str], theirs: tuple[int, str]) -> float:
    """Of who throws; a side is its pieces home and its squares, like (5, '.x.....x......')."""
    masks = [sum(1 << n for n, mark in enumerate(side) if mark == "x") for _, side in (mine, theirs)]
    return float(tables[mine[0], theirs[0]][RANK[masks[0]], RANK[masks[1]]])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pieces", type=int, default=5, help="7 takes more than an hour, 5 three minutes")
    chances = solve(parser.parse_args().pieces, dtype=np.float32, tolerance=1e-6, keep=2, tell=True)
    empty = (0, "." * 14)
    print(f"who throws first wins {chance(chances, empty, empty):.4%}")
