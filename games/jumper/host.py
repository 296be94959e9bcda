"""Jumper's hand-written host facet: bitboards in place of what the rules in JAX lower to."""

from __future__ import annotations

import functools

from boardrl.host import Handwritten
from games.jumper import narrow_facet, row, wide_facet
from games.jumper.rules import Rules


def facet(game: Rules) -> Handwritten | None:
    """The facet for boards up to 16×16; larger ones are left to the lowering."""
    if game.size > row.WIDE_SIZE:
        return None
    return Handwritten(
        kernel=narrow_facet if game.size <= row.NARROW_SIZE else wide_facet,
        constants={"SIZE": game.size, "NUM_DEALT": game.num_dealt},
        pack=functools.partial(row.pack, game),
        unpack=functools.partial(row.unpack, game),
    )
