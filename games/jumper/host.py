"""Jumper's hand-written host facet: bitboards in place of the lowered JAX rules."""

from __future__ import annotations

import functools

from boardrl.host import Handwritten
from games.jumper import narrow, narrow_extended, narrow_facet, row, text, wide, wide_facet
from games.jumper.rules import Rules


def facet(game: Rules) -> Handwritten | None:
    """The facet for boards up to 16×16; None for larger ones, which use lowered rules."""
    if game.size > row.WIDE_SIZE:
        return None
    narrow_board = game.size <= row.NARROW_SIZE
    sets = {"brunton2013": narrow, "extended": narrow_extended} if narrow_board else {"brunton2013": wide}
    return Handwritten(
        kernel=narrow_facet if narrow_board else wide_facet,
        constants={"SIZE": game.size, "NUM_DEALT": game.num_dealt},
        pack=functools.partial(row.pack, game),
        unpack=functools.partial(row.unpack, game),
        turn_of=functools.partial(text.actions_between, game),
        feature_sets=sets,
    )
