"""Properties of a game as a whole, before any move: its spec, its options and its types."""

from __future__ import annotations

import copy
import dataclasses
import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from boardrl import entry_points, optional, options, registry
from boardrl.errors import UserError, closest
from boardrl.game import Game, Spec
from boardrl.testing.features import features_as_declared
from boardrl.testing.node import difference, look, type_difference, type_text
from boardrl.testing.report import Broken, one_line

NEARLY = 0.75  # similarity of two names from which one may be a slip of the other: strategy and strategies

EAGER_STEPS = 6  # moves made twice without jit
PROTOCOL = ("init", "actor", "legal", "chance", "step", "returns", "observe")


def spec_is_sane(game: Game[Any]) -> None:
    """The spec has a snake_case name, possible sizes, and a return range that allows `return_sum`."""
    spec = game.spec
    if not isinstance(spec, Spec):
        raise Broken(f"spec is {type(spec).__name__}, expected boardrl.game.Spec")
    if not (isinstance(spec.name, str) and re.fullmatch(r"[a-z][a-z0-9_]*", spec.name)):
        raise Broken(f"spec.name is {spec.name!r}, expected snake_case")
    for field, least in (("num_players", 1), ("num_actions", 1), ("num_outcomes", 0), ("max_steps", 1)):
        value = getattr(spec, field)
        if not _is_int(value) or value < least:
            raise Broken(f"spec.{field} is {value!r}, expected an integer of at least {least}")
    if not (isinstance(spec.obs_shape, tuple) and all(_is_int(size) and size > 0 for size in spec.obs_shape)):
        raise Broken(f"spec.obs_shape is {spec.obs_shape!r}, expected a tuple of positive integers")
    low, high, total, players = spec.min_return, spec.max_return, spec.return_sum, spec.num_players
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise Broken(f"returns lie between {low!r} and {high!r}, expected two finite numbers in order")
    if total is not None and not low * players - 1e-6 <= total <= high * players + 1e-6:
        raise Broken(f"spec.return_sum is {total!r}, out of reach of {players} returns in [{low}, {high}]")
    if game.spec != spec:
        raise Broken(f"spec changes between two reads, from {spec} to {game.spec}")


def game_is_a_value(game: Game[Any]) -> None:
    """A game is a frozen dataclass that equals its copy and the game made from its description."""
    made = getattr(type(game), "__dataclass_params__", None)
    if made is None:
        raise Broken(f"{type(game).__name__} is not a dataclass; compiled code is cached by a game's options")
    if not made.frozen:
        raise Broken(f"{type(game).__name__} is a dataclass that is not frozen; write @dataclass(frozen=True)")
    try:
        number = hash(game)
    except TypeError as error:
        raise Broken(f"hash(game) raised {one_line(error)}") from error
    same: Any = game  # a dataclass, as was just seen
    twins = {"copy.copy(game)": copy.copy(game), "dataclasses.replace(game)": dataclasses.replace(same)}
    try:
        text = registry.describe(game)
        given = options.parse(text.partition(":")[2], options.of_dataclass(type(game)), text)
        twins[f"the game made from {text!r}"] = type(game)(**given)
    except (UserError, TypeError) as error:
        raise Broken(f"its options cannot be written and read back: {error}") from error
    for name, twin in twins.items():
        if twin != game:
            raise Broken(f"{name} is not equal to the game; two games with the same options must be")
        if hash(twin) != number:
            raise Broken(f"{name} and the game have different hashes; games with the same options must have one")
    place = f"{type(game).__module__}:{type(game).__qualname__}"
    names = {point.name for point in entry_points.of(registry.GAMES.name) if point.value == place}
    if names and game.spec.name not in names:
        raise Broken(f"it is registered as {' and '.join(sorted(names))} but spec.name is {game.spec.name!r}")


def members_run(game: Game[Any]) -> None:
    """The game has every member of the protocol, and each can be called on the first state."""
    missing = [name for name in PROTOCOL if not callable(getattr(game, name, None))]
    if missing:
        raise Broken(f"it has no {' and no '.join(missing)}")
    if (optional.to_text(game) is None) != (optional.from_text(game) is None):
        raise Broken("it has one of to_text and from_text; expected both or neither")
    for name, member in {"init": Member(game.init, ()), **members(game)}.items():
        _call(f"{name} raised", member.function, *member.arguments)


def near_misses(game: Game[Any]) -> tuple[str, ...]:
    """A sentence for each public member that is nearly called like an optional one, and so is never used."""
    options_of_game = getattr(type(game), "__dataclass_fields__", {})
    known = {"spec", *PROTOCOL, *optional.MEMBERS, *options_of_game}
    found = []
    for name in dir(type(game)):
        near = closest(name, optional.MEMBERS, cutoff=NEARLY)
        if name not in known and not name.startswith("_") and near is not None and not hasattr(game, near):
            found.append(
                f"{type(game).__name__}.{name} is nearly called {near}, an optional member for "
                f"{optional.MEMBERS[near]} that the game does not have; rename it if that was meant"
            )
    return tuple(found)


def members_trace_under_jit(game: Game[Any]) -> None:
    """Each member can be traced by jax.jit: no branch in Python depends on a state."""
    for name, member in members(game).items():
        _call(f"under jax.jit {name} raised", jax.eval_shape, member.function, *member.arguments)


def members_trace_under_vmap(game: Game[Any]) -> None:
    """Each member can be batched by jax.vmap."""
    for name, member in members(game).items():
        batch = jax.tree.map(lambda leaf: jnp.asarray(leaf)[None], member.arguments)
        _call(f"under jax.vmap {name} raised", jax.eval_shape, jax.vmap(member.function), *batch)


def outputs_as_declared(game: Game[Any]) -> None:
    """Each member returns an array of the declared shape and dtype."""
    for name, member in members(game).items():
        if member.shape is None:
            continue
        (leaf, *more) = jax.tree.leaves(jax.eval_shape(member.function, *member.arguments)) or [None]
        wanted = f"{member.dtype}{list(member.shape)}"
        if leaf is None or more:
            raise Broken(f"{name} returns {1 + len(more) if leaf else 'no'} arrays, expected one {wanted}")
        if (leaf.shape, leaf.dtype) != (member.shape, jnp.dtype(member.dtype)):
            raise Broken(f"{name} returns {type_text(leaf)}, expected {wanted}")


def types_are_stable(game: Game[Any]) -> None:
    """A state keeps its structure, shapes, dtypes and strong types from `init` through every function."""
    state = game.init()
    first = jax.eval_shape(game.init)
    for path, leaf in jax.tree_util.tree_leaves_with_path(first):
        if leaf.weak_type:
            raise Broken(f"init gives a weakly typed {jax.tree_util.keystr(path)}; name its dtype, like jnp.int32(0)")
    changed = type_difference(state, first, ("from init", "from init under jax.jit"))
    for name, member in members(game).items():
        if member.keeps_state:
            after = jax.eval_shape(member.function, *member.arguments)
            changed = changed or type_difference(state, after, ("from init", f"from {name}"))
    if changed:
        raise Broken(changed)


def members_are_pure(game: Game[Any]) -> None:
    """Each member is pure: called twice it gives the same result, and it neither changes nor stores its input."""
    state = game.init()
    for _ in range(EAGER_STEPS):
        before = jax.tree.map(np.array, state)
        move = _first_move(game, state)
        first, second = (_call("a member raised", look, game, state, move) for _ in range(2))
        changed = difference(first, second, ("at first", "the second time"))
        changed = changed or difference(before, state, ("before", "after the members were called"))
        if changed:
            raise Broken(changed)
        state = first.after
    with jax.checking_leaks():
        _call("a value is kept beyond its call:", jax.eval_shape, lambda s, m: look(game, s, m), state, move)


class Member(NamedTuple):
    """A function of the game, example arguments, and its declared return type."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    dtype: str = ""
    shape: tuple[int, ...] | None = None
    keeps_state: bool = False


def members(game: Game[Any]) -> dict[str, Member]:
    """All functions of a state that the game has."""
    spec, state, zero = game.spec, game.init(), jnp.int32(0)
    table = {
        "actor": Member(game.actor, (state,), "int32", ()),
        "legal": Member(game.legal, (state,), "bool", (spec.num_actions,)),
        "chance": Member(game.chance, (state,), "float32", (spec.num_outcomes,)),
        "step": Member(game.step, (state, zero), keeps_state=True),
        "returns": Member(game.returns, (state,), "float32", (spec.num_players,)),
        "observe": Member(game.observe, (state, zero), "float32", spec.obs_shape),
    }
    if (rotate := optional.rotate(game)) is not None:
        table["rotate"] = Member(rotate, (state,), keeps_state=True)
    for name, script in optional.strategies(game).items():
        bound = _bind(script, game)
        table[f"strategy {name!r}"] = Member(bound, (state,), "float32", (spec.num_actions,))
    for name, event in optional.events(game).items():
        table[f"event {name!r}"] = Member(_bind(event, game), (state, state, zero), "float32", ())
    return table


def _first_move(game: Game[Any], state: Any) -> Array:
    """[] int32: the first legal action or possible outcome; 0 if there is none."""
    for possible in (np.asarray(game.legal(state)), np.asarray(game.chance(state)) > 0):
        if possible.any():
            return jnp.int32(int(possible.argmax()))
    return jnp.int32(0)


def _bind(function: Callable[..., Any], game: Game[Any]) -> Callable[..., Any]:
    return lambda *arguments: function(game, *arguments)


def _call(complaint: str, function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except Exception as error:
        raise Broken(f"{complaint} {one_line(error)}") from error


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


DECLARED: tuple[Callable[[Game[Any]], None], ...] = (
    spec_is_sane,
    game_is_a_value,
    members_run,
    members_trace_under_jit,
    members_trace_under_vmap,
    outputs_as_declared,
    types_are_stable,
    members_are_pure,
    features_as_declared,
)
