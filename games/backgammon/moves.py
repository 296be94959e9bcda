"""Which checker moves a player has with one die, and which of them the rules allow for two dice.

Everything is in the mover's view: [25] places from its ace point to the bar. Arrays of booleans become words of bits
on the host, so that the moves of all places are found together.
"""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array

from boardrl.game import one_hot
from games.backgammon.board import BAR, FACES, HOME, PLACES, POINTS

OUTSIDE = np.arange(PLACES) >= HOME
ON_BAR = np.arange(PLACES) == BAR
# [face - 1, place]: whether that face bears off a checker from there, and whether exactly.
BEARS_OFF = np.arange(PLACES)[None] < np.arange(1, FACES + 1)[:, None]
EXACTLY = np.arange(PLACES)[None] == np.arange(FACES)[:, None]
ABOVE = np.triu(np.ones((HOME, HOME), bool), 1)  # [place, other]: the other is the higher one


class Position(NamedTuple):
    """What the mover's moves depend on."""

    own: Array  # [25] bool: places with own checkers
    single: Array  # [25] bool: those with exactly one
    open: Array  # [24] bool: points that the opponent does not hold
    blot: Array  # [24] bool: points with one opposing checker
    on_bar: Array  # [] int8: own checkers on the bar
    outside: Array  # [] int32: own checkers outside the home board


class Moves(NamedTuple):
    """What the mover may do, by the die that it uses first."""

    high: Array  # [25] bool
    low: Array  # [25] bool; none where both dice are alike or only one is left
    both: Array  # [] bool: two different dice can both be played, so that the other follows


def position(own: Array, other: Array) -> Position:
    """The position of [25] the mover's checkers and [25] the opponent's, each in its own view."""
    facing = other[:POINTS][::-1]
    outside = jnp.where(jnp.asarray(OUTSIDE), own, 0).sum(dtype=jnp.int32)
    return Position(own > 0, own == 1, facing < 2, facing == 1, own[BAR], outside)


def allowed(at: Position, high: Array, low: Array) -> Moves:
    """The moves that the rules allow: both dice must be played if that is possible, else the higher if possible.

    `low` is 0 if only one die is left, and equal to `high` after a double, of which any move leaves as many moves as
    any other: the order in which checkers move by one and the same number does not matter. Of two different dice the
    lower comes first only where that may lead to other positions.
    """
    two = (low > 0) & (low != high)
    by_high, by_low = with_one_die(at, high), with_one_die(at, low) & two
    first_high, first_low = by_high & followed(at, high, low), by_low & followed(at, low, high)
    both = two & (first_high | first_low).any()
    return Moves(
        jnp.where(both, first_high, by_high),
        jnp.where(both, first_low & differs(at, high, low), by_low & ~by_high.any()),
        both,
    )


def with_one_die(at: Position, die: Array) -> Array:
    """[25] the places that a checker can leave by this die alone."""
    runs = at.own & reaching(at.open, die)
    highest = jnp.concatenate([~(ABOVE & at.own[None, :HOME]).any(1), jnp.zeros(PLACES - HOME, bool)])
    off = at.own & by_face(BEARS_OFF, die) & (by_face(EXACTLY, die) | highest)
    return jnp.where(at.on_bar > 0, runs & ON_BAR, runs | (off & (at.outside == 0)))


def followed(at: Position, first: Array, second: Array) -> Array:
    """[25] whether a checker that leaves by the die `first` leaves a move for the die `second`, or wins the game.

    The positions after the moves are not made: what matters of them depends on the place that is left, if by its only
    checker, and on the place that is reached.
    """
    can_run = reaching(at.open, second)
    runs = some(at, at.own & can_run & ~ON_BAR) | reaching(can_run[:POINTS], first)
    # Bearing off: from the die's own point, or if nothing stands above it.
    not_off, exactly = ~by_face(BEARS_OFF, second), by_face(EXACTLY, second)
    on_point = some(at, at.own & exactly) | reaching(exactly[:POINTS], first)
    above = some(at, at.own & not_off) | reaching(not_off[:POINTS], first)
    off = brings_home(at, first) & (on_point | ~above)
    return jnp.where(at.on_bar > 1, can_run[BAR], runs | off)


def differs(at: Position, high: Array, low: Array) -> Array:
    """[25] moves by the lower die that may lead to positions to which no move by the higher die first does.

    Two checkers can move in either order, unless the first comes in from the bar or enables the other to bear off. One
    checker that moves by both dice gets there either way, if it can stop on both points and hits nobody on them.
    """
    stops = reaching(at.open, high) & ~reaching(at.blot, high) & ~reaching(at.blot, low)
    goes_on = reaching(reaching(at.open, high)[:POINTS], low)
    comes_in = ON_BAR & (at.on_bar == 1)
    return comes_in | brings_home(at, low) | (goes_on & ~stops & (at.on_bar == 0))


def some(at: Position, places: Array) -> Array:
    """[25] whether some of these [25] places still has a checker after one has left the place of the index."""
    count = places.sum(dtype=jnp.int32)
    return (count > 1) | ((count == 1) & ~(places & at.single))


def brings_home(at: Position, die: Array) -> Array:
    """[25] whether no checker is outside the home board after one has moved from there by a die."""
    comes = OUTSIDE & reaching(jnp.asarray(~OUTSIDE[:POINTS]), die)
    return (at.outside == 0) | ((at.outside == 1) & comes)


def reaching(points: Array, die: Array) -> Array:
    """[25] the places from which a die leads to one of [24] points."""
    shifted = [jnp.concatenate([jnp.zeros(face, bool), points[: PLACES - face]]) for face in range(1, FACES + 1)]
    return by_face(jnp.stack(shifted), die)


def by_face(table: Array | np.ndarray, die: Array) -> Array:
    """[25] the row of [6, 25] booleans of a die; nothing for die 0."""
    return (jnp.asarray(table) & one_hot(die - 1, FACES)[:, None]).any(0)
