"""The board of Ludo: the positions of starts, globes and stars, for boards of any size.

The ring has four quarters of ring/4 squares each; seat p starts at the first square of quarter p, and with two
players seat 1 starts in the opposite quarter 2. In each quarter, counted from its first square:

    0                     start square, one of the globes, also in the quarter of an absent player
    (8 * quarter) // 13   neutral globe
    (s * quarter) // 13   star, with s the flag `first_star`
    quarter - 2           star; for the player who starts in the next quarter, the last square of the lap

so that the ring of 52 has globes at 0 and 8 and stars at s and 11 of each quarter. Rings of fewer than 24 squares
have no room for them and keep the start squares only.

A *place* is the position of a piece counted along its owner's path: 0 the base, 1 the start square, then along the
track and the home column up to `goal`.
"""

from __future__ import annotations

from typing import NamedTuple

from games.ludo.flags import Flags

BASE = 0
START = 1
SMALLEST_WITH_STARS = 24


class Board(NamedTuple):
    """Constants of one game's board, all plain integers."""

    ring: int  # number of squares of the ring
    gap: int  # squares from one player's start to the next one's
    track: int  # the last place on the ring, so that places 1 to track are ring squares
    goal: int  # the last place
    # Places, equal for all players because all quarters are equal.
    neutral_globes: tuple[int, ...]
    start_globes: tuple[int, ...]
    near_stars: tuple[int, ...]
    far_stars: tuple[int, ...]  # the last one leads to the goal

    @property
    def gate(self) -> int:
        """The first place after the track."""
        return self.track + 1

    @property
    def near_jump(self) -> int:
        """Squares from a near star to the next far star."""
        return self.far_stars[0] - self.near_stars[0]

    @property
    def far_jump(self) -> int:
        """Squares from a far star to the next near star."""
        return self.ring // 4 - self.near_jump


def build(flags: Flags, *, players: int, ring: int, column: int) -> Board:
    """The board for these rules; a full lap has one more place on the ring, then the player's start square again."""
    quarter = ring // 4
    quarters = range(0, ring, quarter)
    roomy = ring >= SMALLEST_WITH_STARS
    starry = roomy and flags.stars != "none"
    track = ring - 1 if flags.lap == "short" else ring
    return Board(
        ring=ring,
        gap=ring // 2 if players == 2 else quarter,
        track=track,
        goal=track + column + (1 if flags.lap == "short" else 2),
        neutral_globes=tuple(START + q + 8 * quarter // 13 for q in quarters) if roomy else (),
        start_globes=tuple(START + q for q in quarters),
        near_stars=tuple(START + q + flags.first_star * quarter // 13 for q in quarters) if starry else (),
        far_stars=tuple(START + q + quarter - 2 for q in quarters) if starry else (),
    )
