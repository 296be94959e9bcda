"""Calls from Python of functions that are compiled for other compiled functions alone."""

from numba import njit


def from_python(function):
    """A compiled function with a wrapper for Python that does nothing but call another."""

    @njit
    def call(*arguments):
        return function(*arguments)

    return call
