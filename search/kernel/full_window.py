"""Alpha-beta's windows: every move is searched once, in the full window (fills `search.kernel.window_slots`)."""

from __future__ import annotations

from boardrl.host.compile_options import compiled


@compiled
def first_beta(number, floor, beta):
    return beta


@compiled
def needs_research(value, floor, high, beta):
    return False
