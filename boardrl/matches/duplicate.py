"""Duplicate dice: the games of a group have the same dice, and the players change seats within the group.

Game g of a match with R seatings is in group g // R. The k-th chance event of a game draws from a stream of random
numbers that depends on the seed, the group and k alone, whoever sits where. What one player's dice are worth in one
game, another gets in the next, so that the mean result of a group varies less than that of independent games; a group
is one observation. As duplicate bridge and, with rotated seats, poker have it (Waugh et al. 2009 compare such
estimators); the variance of a difference under common random numbers is that of Hammersley and Handscomb 1964.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.play.rollout import Dice

DICE = 2**32 - 1  # folded into a match's key for its dice; calls on the device count from 0 and never come so far


def check(game: Game[Any], *, opening: int) -> None:
    """Raises UserError if games of a group would have nothing in common but their seats."""
    if not game.spec.num_outcomes and not opening:
        raise UserError(
            f"{game.spec.name} has no dice that games could share; leave out duplicate, or give an opening to share"
        )


def whole_groups(num_games: int, num_seatings: int) -> int:
    """The number of games, rounded up to whole groups."""
    return -(-num_games // num_seatings) * num_seatings


def group_of(index: Any, num_seatings: int) -> Any:
    """The group of a game, or of an array of games."""
    return index // num_seatings


def key_of(key: Array) -> Array:
    """The key of the dice of a match."""
    return jax.random.fold_in(key, DICE)


def first_dice(num_lanes: int, num_seatings: int) -> Dice:
    """[B] the dice of each lane's first game; lane l plays the games l, l + B, l + 2 B, …"""
    group = jnp.asarray(group_of(np.arange(num_lanes), num_seatings), jnp.uint32)
    stride = jnp.full(num_lanes, num_lanes // num_seatings, jnp.uint32)
    return Dice(group, jnp.zeros(num_lanes, jnp.uint32), stride)


def host_streams(seed: int, group: int, num_players: int) -> tuple[np.random.Generator, np.random.Generator]:
    """The generators of a group's dice and of its random opening, for games played one at a time."""
    # A longer list than that of the streams of single games, so that none of them is the same.
    dice, opening = (np.random.default_rng([seed, group, stream, num_players]) for stream in (0, 1))
    return dice, opening
