"""Alpha-beta's windows: every move is searched once, in the full window (fills `search.kernel.window_slots`)."""

from __future__ import annotations

import numba


@numba.njit(cache=True, nogil=True)
def first_beta(number, floor, beta):
    return beta


@numba.njit(cache=True, nogil=True)
def needs_research(value, floor, high, beta):
    return False
