"""A state with the rules' answers about it, computed in one compiled call."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from boardrl.game import Game


class Position(NamedTuple):
    """What the rules say about a state; arrays are numpy's."""

    state: Any
    actor: Any  # [] a seat, CHANCE or TERMINAL
    legal: Any  # [A] bool
    chance: Any  # [C] probabilities
    returns: Any  # [P]


def first(game: Game[Any]) -> Position:
    """The position in which a game begins."""
    return jax.device_get(_first(game))


def of_state(game: Game[Any], state: Any) -> Position:
    """The position of a state."""
    return jax.device_get(_of_state(game, state))


def after(game: Game[Any], position: Position, move: int) -> Position:
    """The position after an action or an outcome, which must be allowed."""
    return jax.device_get(_after(game, position.state, np.int32(move)))


@functools.partial(jax.jit, static_argnames="game")
def _first(game: Game[Any]) -> Position:
    return _look(game, jax.tree.map(jnp.asarray, game.init()))


@functools.partial(jax.jit, static_argnames="game")
def _of_state(game: Game[Any], state: Any) -> Position:
    return _look(game, jax.tree.map(jnp.asarray, state))


@functools.partial(jax.jit, static_argnames="game")
def _after(game: Game[Any], state: Any, move: Array) -> Position:
    return _look(game, game.step(state, move))


def _look(game: Game[Any], state: Any) -> Position:
    return Position(state, game.actor(state), game.legal(state), game.chance(state), game.returns(state))
