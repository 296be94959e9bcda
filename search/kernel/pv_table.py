"""The triangular table of principal variations: from each ply the best line's length, then successors' numbers."""

from __future__ import annotations

from boardrl.host.compile_options import compiled


@compiled
def put_first(pv, ply, number):
    """Makes successor `number`, followed by the line of the next ply, the line of this ply."""
    length = pv[ply + 1, 0]
    pv[ply, 1] = number
    for place in range(1, length + 1):
        pv[ply, place + 1] = pv[ply + 1, place]
    pv[ply, 0] = length + 1
