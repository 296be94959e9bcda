"""All answers of a game about one state, and a property's verdict on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from boardrl import optional
from boardrl.game import Game
from boardrl.testing.report import SHOWN, entry_text

TOLERANCE = 1e-5  # for float32 numbers computed in two ways, and for sums


class Node(NamedTuple):
    """One state, a move from it, and the answers of every member of the game; in JAX or, after play, in numpy."""

    state: Any
    move: Any  # [] int32
    actor: Any  # []
    legal: Any  # [A]
    chance: Any  # [C]
    returns: Any  # [P]
    observations: Any  # [P, *obs_shape], as each player sees the state
    logits: dict[str, Any]  # [A] of each scripted strategy
    after: Any  # the state after the move
    rotated: Any  # the state after `rotate`; None if the game has no `rotate`


class Verdict(NamedTuple):
    """Whether a property applies to a state, and whether it holds there."""

    applies: Any  # bool
    holds: Any  # bool


def look(game: Game[Any], state: Any, move: Any, *, batch_players: bool = False) -> Node:
    """Calls every member of a game on one state.

    Args:
      batch_players: observe by one `jax.vmap` over the players, which compiles faster than a loop.
    """
    rotate = optional.rotate(game)
    players = jnp.arange(game.spec.num_players)
    if batch_players:
        observations = jax.vmap(game.observe, (None, 0))(state, players)
    else:
        observations = jnp.stack([game.observe(state, player) for player in players])
    return Node(
        state=state,
        move=move,
        actor=game.actor(state),
        legal=game.legal(state),
        chance=game.chance(state),
        returns=game.returns(state),
        observations=observations,
        logits={name: script(game, state) for name, script in optional.strategies(game).items()},
        after=game.step(state, move),
        rotated=None if rotate is None else rotate(state),
    )


def same(one: Any, other: Any) -> Any:
    """[] bool: whether all leaves are equal bit for bit, except that -0 equals 0 and NaN equals NaN."""
    return _all_leaves(same_entries, one, other)


def same_entries(a: Any, b: Any) -> Any:
    """[...] bool: `same` by entry, for two arrays of one shape."""
    return (a == b) | ((a != a) & (b != b))


def close(one: Any, other: Any) -> Any:
    """[] bool: whether all leaves are equal, floats up to rounding: compilers may reorder their arithmetic."""
    return _all_leaves(close_entries, one, other)


def close_entries(a: Any, b: Any) -> Any:
    """[...] bool: `close` by entry, for two arrays of one shape."""
    if not jnp.issubdtype(a.dtype, jnp.floating):
        return a == b
    both_nan = (a != a) & (b != b)
    return (a == b) | both_nan | (abs(a - b) <= TOLERANCE * (1 + abs(b)))


def _all_leaves(alike: Callable[[Any, Any], Any], one: Any, other: Any) -> Any:
    """Uses operators only, so that numpy arrays are compared in numpy, without compilation."""
    holds: Any = True
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        holds = alike(a, b).all() & holds
    return holds


def difference(one: Any, other: Any, names: tuple[str, str], *, rounding: bool = False) -> str | None:
    """Describes the first difference of two trees in structure, shape, dtype or value; None if they are equal."""
    if (change := _structure_difference(one, other, names)) is not None:
        return change
    for (path, a), b in zip(jax.tree_util.tree_leaves_with_path(one), jax.tree.leaves(other), strict=True):
        x, y, place = np.asarray(a), np.asarray(b), jax.tree_util.keystr(path)
        if (x.shape, x.dtype) != (y.shape, y.dtype):
            return f"{place} is {x.dtype}{list(x.shape)} {names[0]} but {y.dtype}{list(y.shape)} {names[1]}"
        with np.errstate(invalid="ignore"):  # inf - inf
            alike = (close_entries if rounding else same_entries)(x, y)
        if not alike.all() and x.size > SHOWN:
            index = np.argwhere(~alike)[0].tolist()
            return f"{place} is {entry_text(x, index)} {names[0]} but {entry_text(y, index)} {names[1]}"
        if not alike.all():
            return f"{place} is {x.tolist()} {names[0]} but {y.tolist()} {names[1]}"
    return None


def type_difference(one: Any, other: Any, names: tuple[str, str]) -> str | None:
    """Describes the first difference of two trees in structure, shape, dtype or weak type; None if there is none."""
    first, second = types_of(one), types_of(other)
    if (change := _structure_difference(first, second, names)) is not None:
        return change
    for (path, a), b in zip(jax.tree_util.tree_leaves_with_path(first), jax.tree.leaves(second), strict=True):
        if (a.shape, a.dtype, a.weak_type) != (b.shape, b.dtype, b.weak_type):
            return f"{jax.tree_util.keystr(path)} is {type_text(a)} {names[0]} but {type_text(b)} {names[1]}"
    return None


def _structure_difference(one: Any, other: Any, names: tuple[str, str]) -> str | None:
    first: Any = jax.tree.structure(one)
    second: Any = jax.tree.structure(other)
    return None if first == second else f"the tree is {first} {names[0]} but {second} {names[1]}"


def types_of(tree: Any) -> Any:
    """The same tree with shape, dtype and weak type in place of each array."""
    return jax.eval_shape(lambda leaf: leaf, tree)


def type_text(leaf: Any) -> str:
    return f"{'weak ' if leaf.weak_type else ''}{leaf.dtype}{list(leaf.shape)}"
