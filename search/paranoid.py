"""Paranoid search (Sturtevant and Korf 2000): expectimax as if all other players played together against one.

It is the kernel of `search.expectimax`, for any number of players.
"""

from __future__ import annotations

import dataclasses

from search import expectimax

PARANOID = dataclasses.replace(expectimax.EXPECTIMAX, name="paranoid", num_players=None)
