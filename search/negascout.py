"""Negascout (Reinefeld 1983): alpha-beta that expects the first move to be the best, and only proves it.

Every move but the first is searched with a null window just above alpha, which costs less: it tells whether the move is
better, but not by how much. A move that proves better is searched again, from the bound just found up to beta. The
window is empty in floating point: no number lies between alpha and its successor.

These functions fill `search.kernel.window_slots` in the kernel of `search.alphabeta`; they are all that Negascout adds
to it. Searching again is worth its cost with good move ordering, so that table, killers and history are on by default.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from boardrl.config import setting
from boardrl.host.compile_options import compiled
from search import alphabeta


@compiled
def first_beta(number, floor, beta):
    """The null window (floor, floor + ε), once there is a value to beat."""
    if number > 0 and floor > -np.inf:
        return np.nextafter(floor, np.inf)
    return beta


@compiled
def needs_research(value, floor, high, beta):
    """Whether a null window has failed high, and the value is not yet enough for a cutoff."""
    return high != beta and floor < value < beta


@dataclasses.dataclass(frozen=True)
class Options(alphabeta.Options):
    table: bool = setting(True, "remember positions")
    killers: bool = setting(True, "try moves early that refuted others at the same distance from the root")
    history: bool = setting(True, "try moves early that refuted others anywhere")


NEGASCOUT = dataclasses.replace(
    alphabeta.ALPHABETA,
    name="negascout",
    options=Options,
    slots={"search.kernel.window_slots": __name__},
)
