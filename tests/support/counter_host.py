"""A hand-written facet for the tests: the row is one number."""

from numba import njit

WORDS = 1
WORK_WORDS = 1
GOAL = 1


@njit(cache=True)
def actor(row, work):
    return -2 if row[0] >= GOAL else row[0] % 2


@njit(cache=True)
def step(row, move, out, work):
    out[0] = row[0] + move + 1
