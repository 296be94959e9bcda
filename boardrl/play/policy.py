"""Policies: one state in, logits over actions out; whoever plays many games samples from them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from boardrl import optional
from boardrl.game import TERMINAL, Game, acting, one_hot
from boardrl.play.legal_only import legal_only

Apply = Callable[[Any, Any], Array]  # (params, state) -> [A] logits
Value = Callable[[Any, Any, Array], Array]  # (params, state, player) -> [P] values, as that player sees the state
Utility = Literal["own", "margin"]  # what a move is chosen for: the actor's own value, or that less all others'


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Policy:
    """A pure function and its parameters: new parameters never compile anew.

    `apply` must be hashable and equal to its like (a module-level function or a frozen dataclass with
    `__call__`), as compiled code is found again by it. Illegal actions are masked by the caller.
    """

    apply: Apply = dataclasses.field(metadata={"static": True})
    params: Any = ()


@dataclasses.dataclass(frozen=True)
class Uniform:
    """Every legal action alike."""

    game: Game[Any]

    def __call__(self, params: Any, state: Any) -> Array:
        return jnp.zeros(self.game.spec.num_actions, jnp.float32)


@dataclasses.dataclass(frozen=True)
class Strategy:
    """A scripted player that a game offers under `strategies`."""

    game: Game[Any]
    name: str
    options: tuple[tuple[str, Any], ...] = ()

    def __call__(self, params: Any, state: Any) -> Array:
        return optional.strategies(self.game)[self.name](self.game, state, **dict(self.options))


@dataclasses.dataclass(frozen=True)
class Greedy:
    """The actions whose afterstates the actor values most; ties are left to chance."""

    game: Game[Any]
    value: Value
    utility: Utility = "own"

    def __call__(self, params: Any, state: Any) -> Array:
        values = action_values(self.game, self.value, params, state, self.utility)
        best = jnp.where(self.game.legal(state), values, -jnp.inf).max()
        return jnp.where(values >= best, 0.0, -jnp.inf)


@dataclasses.dataclass(frozen=True)
class WithinReturns:
    """A value function, cut to what a player can get as nets and features of ours are."""

    game: Game[Any]
    value: Value

    def __call__(self, params: Any, state: Any, player: Array) -> Array:
        """[P]"""
        return self.game.spec.within_returns(self.value(params, state, player))

    def for_host(self) -> WithinReturns:
        return dataclasses.replace(self, value=for_host(self.value))


Function = TypeVar("Function", bound=Callable[..., Any])


def for_host(function: Function) -> Function:
    """The same value function or policy as it is best lowered to scalar code, if it has a form for that."""
    return function.for_host() if hasattr(function, "for_host") else function


def afterstate_value(game: Game[Any], value: Value, params: Any, after: Any, player: Array) -> Array:
    """[P] value of a state that `player` has just moved to: its returns if the game is over there."""
    over = game.actor(after) == TERMINAL
    return jnp.where(over, game.returns(after), value(params, after, player))


def afterstates(game: Game[Any], state: Any) -> Any:
    """[A] states after each action of a decision; meaningless for illegal ones."""
    return jax.vmap(acting(game), (None, 0))(state, jnp.arange(game.spec.num_actions))


def afterstate_values(game: Game[Any], value: Value, params: Any, state: Any) -> Array:
    """[A, P] value of every legal action's afterstate; zeros for the others."""

    def look(params: Any, state: Any, action: Array) -> Array:
        # Held apart, as a compiler would otherwise take the step anew for each of the many things read off it.
        after = jax.lax.optimization_barrier(acting(game)(state, action))
        return afterstate_value(game, value, params, after, jnp.maximum(game.actor(state), 0))

    values: Array = legal_only(look)(params, state, game.legal(state))
    return values


def state_value(game: Game[Any], value: Value, params: Any, state: Any) -> Array:
    """[P] value of any state: a decision is worth its best afterstate, an end its returns, dice what `value` says."""
    player = jnp.maximum(game.actor(state), 0)
    values = afterstate_values(game, value, params, state)
    best = jnp.argmax(jnp.where(game.legal(state), values[:, player], -jnp.inf))
    return jnp.where(game.actor(state) >= 0, values[best], afterstate_value(game, value, params, state, player))


def utilities(utility: Utility, values: Array, actor: Array) -> Array:
    """[A] the actor's utility of each of [A, P] values: its own value, or that less all others'."""
    mine = jnp.where(one_hot(actor, values.shape[-1]), values, 0.0).sum(-1)
    return mine if utility == "own" else 2 * mine - values.sum(-1)


def action_values(game: Game[Any], value: Value, params: Any, state: Any, utility: Utility = "own") -> Array:
    """[A] what each action's afterstate is worth to the actor; meaningless for illegal ones."""
    return utilities(utility, afterstate_values(game, value, params, state), jnp.maximum(game.actor(state), 0))


def distinct(policies: Sequence[Policy]) -> tuple[tuple[Policy, ...], np.ndarray]:
    """The different policies, and for each policy its number among them: a copy need not be evaluated again."""
    found: list[Policy] = []
    numbers = []
    for policy in policies:
        number = next((n for n, other in enumerate(found) if _same(policy, other)), len(found))
        if number == len(found):
            found.append(Policy(policy.apply, jax.tree.map(jnp.asarray, policy.params)))
        numbers.append(number)
    return tuple(found), np.array(numbers, int)


def _same(policy: Policy, other: Policy) -> bool:
    leaves, structure = jax.tree.flatten(policy.params)
    other_leaves, other_structure = jax.tree.flatten(other.params)
    return (
        policy.apply == other.apply
        and structure == other_structure  # type: ignore[operator]
        and all(a is b or np.array_equal(a, b) for a, b in zip(leaves, other_leaves, strict=True))
    )
