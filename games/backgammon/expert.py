"""The encoding `expert`: Tesauro's units for the checkers, and what experts count in a position.

It is for positions at the end of a turn, as the player sees them who has just moved there; the dice are not shown.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from games.backgammon.board import BAR, CHECKERS, FACES, HOME, PLACES, POINTS, ROLLS
from games.backgammon.observe import side

AHEAD = 12  # points in front of the last checker that are looked at
OFF = np.array([1, 3, 5, 7, 9, 11, 13, 14], np.int8)  # checkers that are off at least
PIPS = np.arange(1, PLACES + 1, dtype=np.int32)


def expert(game: Any, state: Any, player: Array) -> Array:
    """[463] inputs of a net.

    The units of `observe` for both sides stand in one place while there is contact and in another in a race, so that
    the net has weights of its own for races. Then for each side: the direct shots that it has and the chance of a hit,
    the blocked points in front of its last checker, the opponent's home points if it is on the bar, and checkers that
    are off; and the pips of both.
    """
    mine, theirs = (jnp.where(player == seat, state.checkers[0], state.checkers[1]) for seat in (0, 1))
    race = _last(mine) + _last(theirs) < POINTS - 1
    units = jnp.concatenate([side(mine), side(theirs)])
    pips = jnp.stack([(jnp.asarray(PIPS) * checkers.astype(jnp.int32)).sum() for checkers in (mine, theirs)])
    counts = jnp.stack([pips[0], pips[1], pips[0] - pips[1]]).astype(jnp.float32) / 100
    return jnp.concatenate(
        [
            units * (1 - race.astype(jnp.float32)),
            units * race.astype(jnp.float32),
            _one_side(mine, theirs),
            _one_side(theirs, mine),
            counts,
        ]
    )


def _one_side(own: Array, other: Array) -> Array:
    """[34] what one side threatens and faces."""
    facing = other[:POINTS][::-1]
    shots, chance = _shots(own > 0, own[BAR] > 0, facing == 1, facing < 2)
    closed = (facing[POINTS - HOME :] >= 2).sum(dtype=jnp.int32)
    entering = (jnp.arange(HOME + 1, dtype=jnp.int32) == closed) & (own[BAR] > 0)
    off = CHECKERS - own.sum(dtype=jnp.int32) >= jnp.asarray(OFF, jnp.int32)
    flags = jnp.concatenate([shots, _ahead(own > 0, facing >= 2), entering, off])
    return jnp.concatenate([flags.astype(jnp.float32), chance[None]])


def _shots(own: Array, entering: Array, blot: Array, free: Array) -> tuple[Array, Array]:
    """[6] whether a blot can be hit by a single die, and the chance that a roll hits by one checker.

    Whoever is on the bar hits from there or not at all, which is nearly so.
    """
    own = own & (~entering | (jnp.arange(PLACES) == BAR))
    by = {die: _moved(own, die) for die in range(1, FACES + 1)}
    direct = {die: (by[die] & blot).any() for die in by}
    odds = []
    for high, low in ROLLS:
        hits = direct[high] | direct[low]
        if high == low:
            reached = by[high]
            for _ in range(3):
                reached = _moved(reached & free, high)
                hits |= (reached & blot).any()
        else:
            hits |= ((_moved(by[high] & free, low) | _moved(by[low] & free, high)) & blot).any()
        odds.append(jnp.where(hits, 1 if high == low else 2, 0))
    return jnp.stack(list(direct.values())), sum(odds).astype(jnp.float32) / 36  # type: ignore[union-attr]


def _moved(places: Array, die: int) -> Array:
    """[24] the points that a die leads to from some places."""
    return jnp.concatenate([places[die:], jnp.zeros(POINTS + die - len(places), bool)])


def _ahead(own: Array, blocked: Array) -> Array:
    """[12] whether the first, second, … point in front of the last checker is blocked."""
    behind = own  # a checker here or further back
    for step in (1, 2, 4, 8, 16):
        behind = behind | jnp.concatenate([behind[step:], jnp.zeros(step, bool)])
    last = own & ~jnp.concatenate([behind[1:], jnp.zeros(1, bool)])
    return jnp.stack([(_moved(last, distance) & blocked).any() for distance in range(1, AHEAD + 1)])


def _last(checkers: Array) -> Array:
    """[] int32: the highest place that has a checker, or −1."""
    return jnp.where(checkers > 0, jnp.arange(PLACES, dtype=jnp.int32), -1).max()
