"""A kernel for the tests that uses another kernel's functions."""

from host_kernel import count
from numba import njit

SCALE = 2


@njit(cache=True)
def won_by_the_first(row):
    return count(row)[1]


@njit(cache=True)
def scaled(number):
    return SCALE * number
