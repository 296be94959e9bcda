"""Rewards as data: named events of a game and the reward of each, like `release=0.25,knock=0.15,win=1,lose=-1`.

Every game has win, draw and lose, counted at the step that ends it, and points, which are what the step added to the
returns. A game may offer more as `events`. Compiled code takes rewards as arguments: new values compile nothing anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from boardrl import optional, options, registry
from boardrl.errors import UserError
from boardrl.game import TERMINAL, Game, one_hot

Event = Callable[[Game[Any], Any, Any, Array], Array]  # (game, before, after, player) -> [] how often it happened


def win(game: Game[Any], before: Any, after: Any, player: Array) -> Array:
    """[] 1 where the step ended the game and nobody else got as much."""
    standing = _standing(game, after, player)
    return _ends(game, before, after) * (standing == 1).astype(jnp.float32)


def draw(game: Game[Any], before: Any, after: Any, player: Array) -> Array:
    """[] 1 where the step ended the game and others got as much, but nobody more."""
    standing = _standing(game, after, player)
    return _ends(game, before, after) * (standing > 1).astype(jnp.float32)


def lose(game: Game[Any], before: Any, after: Any, player: Array) -> Array:
    """[] 1 where the step ended the game and somebody got more."""
    return _ends(game, before, after) * (_standing(game, after, player) == 0).astype(jnp.float32)


def points(game: Game[Any], before: Any, after: Any, player: Array) -> Array:
    """[] what the step added to the player's return."""
    here = one_hot(player, game.spec.num_players)
    return jnp.where(here, game.returns(after) - game.returns(before), 0.0).sum()


GENERAL: dict[str, Event] = {"win": win, "draw": draw, "lose": lose, "points": points}


def events(game: Game[Any]) -> dict[str, Event]:
    """All that can be rewarded in a game, by name."""
    own: Mapping[str, Event] = optional.events(game)
    return {**GENERAL, **own}


def parse(text: str, game: Game[Any]) -> dict[str, float]:
    """The worth of each event that a text like `win=1,lose=-1` names."""
    known = events(game)
    for part in options.split(text):
        if (name := part.partition("=")[0].strip()) not in known:
            raise UserError(
                f"unknown reward {name!r}; {registry.describe(game)} can reward {', '.join(known)}, as in win=1,lose=-1"
            )
    return options.parse(text, [options.Option(name, float, 0.0) for name in known], "rewards")


def of_step(game: Game[Any], names: Iterable[str], worth: Array, before: Any, after: Any) -> Array:
    """[P] float32: r_p = Σ_e worth_e · count_e(p), what each player gets for one step of anybody's, or of the dice."""
    return (counts(game, names, before, after) * worth[None]).sum(1)


def counts(game: Game[Any], names: Iterable[str], before: Any, after: Any) -> Array:
    """[P, E] float32: how often each event happened to each player in one step."""
    known, seats = events(game), jnp.arange(game.spec.num_players, dtype=jnp.int32)

    def count(player: Array) -> Array:
        found = [known[name](game, before, after, player) for name in names]
        return jnp.stack(found) if found else jnp.zeros(0, jnp.float32)

    return jax.vmap(count)(seats)


def _ends(game: Game[Any], before: Any, after: Any) -> Array:
    """[] float32: whether this step ended the game."""
    return ((game.actor(before) != TERMINAL) & (game.actor(after) == TERMINAL)).astype(jnp.float32)


def _standing(game: Game[Any], state: Any, player: Array) -> Array:
    """[] int32: how many share the top with the player, itself included; 0 if somebody is above."""
    returns = game.returns(state)
    here = one_hot(player, game.spec.num_players)
    mine = jnp.where(here, returns, 0.0).sum()
    equal = (returns == mine).sum(dtype=jnp.int32)
    return jnp.where((returns > mine).any(), 0, equal)


def reward_unit(largest: Array) -> Array:
    """[] what rewards are divided by before the net learns them: the largest total of a game, if that is less than 1.

    The values of a fresh net differ by some tenths between actions, and much smaller rewards would be lost in them.
    Larger ones need no division, as measured on returns of up to 10,000. Decisions do not depend on it.
    """
    return jnp.where(largest > 0, jnp.minimum(largest, 1.0), 1.0)
