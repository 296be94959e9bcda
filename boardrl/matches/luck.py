"""Luck: how much of a game's result the dice decided, by a value function, and the result without it.

At a chance node s with outcomes c of probability p_c, the luck of the outcome that fell is, for each player,

    luck(s, c) = v(s_c) − Σ_c' p_c' v(s_c'),

and the adjusted result is the result − Σ luck over the game's chance nodes. The mean of luck(s, ·) is 0 whatever v is,
so that the adjusted result has the mean of the plain one; the better v is, the smaller its variance (White and Bowling
2009, "Learning a value analysis tool for agent evaluation"; the chance nodes of AIVAT: Burch et al. 2018). With the
exact values of perfect players only their decisions, and not the dice, make results of perfect players differ.

A decision after an outcome is worth its best afterstate, or the mean over what the player who decides would do, where
that is known (`boardrl.matches.compiled`); then what the player drew is luck too. All that is left of the adjusted
result is v(start) and, for each roll, Σ_c p_c v(s_c) − v(s), which is 0 for the exact values of the very players.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import pathlib
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from boardrl import optional, registry
from boardrl.errors import UserError, did_you_mean
from boardrl.exact import solve
from boardrl.exact.state_graph import Lookup, find
from boardrl.game import Game, acting, one_hot, select, settling
from boardrl.matches.compiled.turn_luck import TurnValues
from boardrl.play import players
from boardrl.play.players import NamedValue, Player
from boardrl.play.policy import Value, afterstate_value
from boardrl.play.rollout import Tally
from boardrl.play.whole_turns import WholeTurns
from boardrl.runs import learned
from boardrl.values import net_file

EXACT = "exact"  # the control by the values of the solved game
MOST_OUTCOMES = 4096  # of a chance node that is enumerated


class Luck(NamedTuple):
    """The luck of a game so far."""

    total: Array  # [P] float32
    viewer: Array  # [] int32: the seat that last had the dice


class Control(NamedTuple):
    """A value function that tells luck from skill."""

    name: str
    value: Value
    params: Any
    at_decisions: bool = False  # whether it values decisions too; else they are worth their best afterstate
    text: str = ""  # how another process makes the same
    turns: TurnValues | None = None  # for values of positions at the end of turns alone

    def by_whole_turns(self, game: Game[Any]) -> Control:
        """The same control, by which a roll is worth what the best whole turn after it leads to."""
        return self._replace(turns=TurnValues(game, self.value, self.params))

    def tally(self, game: Game[Any]) -> Tally:
        if self.turns is not None:
            return Tally(SumOfTurnLuck(game, self.turns), ())
        return Tally(SumOfLuck(game, self.value, self.at_decisions), self.params)


@dataclasses.dataclass(frozen=True)
class SumOfLuck:
    """Adds up the luck of a game's chance nodes: the function of a `rollout.Tally`."""

    game: Game[Any]
    value: Value
    at_decisions: bool = False

    def __call__(self, params: Any, state: Any, outcome: Array, so_far: Luck) -> Luck:
        found = after_outcomes(self.game, self.value, params, state, so_far.viewer, at_decisions=self.at_decisions)
        return Luck(so_far.total + of_outcome(found.values, self.game.chance(state), outcome), found.viewer)


@dataclasses.dataclass(frozen=True)
class SumOfTurnLuck:
    """As `SumOfLuck`, by the values of positions at the end of turns."""

    game: Game[Any]
    values: TurnValues

    def __call__(self, params: Any, state: Any, outcome: Array, so_far: Luck) -> Luck:
        values, viewer = self.values(state, so_far.viewer)
        return Luck(so_far.total + of_outcome(values, self.game.chance(state), outcome), viewer)


def none_yet(game: Game[Any]) -> Luck:
    """The luck of a game that has just begun."""
    return Luck(jnp.zeros(game.spec.num_players, jnp.float32), jnp.int32(0))


def of_outcome(values: Array, chance: Array, outcome: Array) -> Array:
    """[P] luck of an outcome: v(s_c) − Σ p v, from [C, P] values after every outcome and [C] probabilities."""
    fell = one_hot(outcome, chance.shape[0]).astype(jnp.float32)
    return (jnp.expand_dims(fell - chance / chance.sum(), 1) * values).sum(0)


class AfterOutcomes(NamedTuple):
    values: Array  # [C, P]; zeros where the probability is 0
    viewer: Array  # [] int32: the seat whose dice they are


def after_outcomes(
    game: Game[Any],
    value: Value,
    params: Any,
    state: Any,
    viewer: Array,
    *,
    at_decisions: bool = False,
    choices: Array | None = None,
) -> AfterOutcomes:
    """The value of a chance node's successors: of a decision, its best afterstate's; of an end, its returns.

    Nets learn from afterstates, as the player who has just moved sees them. A successor in which nobody decides, as
    after a roll that lets nobody move, is seen by the player whom most other rolls would have let move.

    Args:
      viewer: [] who sees a successor where no roll lets anybody move.
      at_decisions: whether `value` is right at decisions too, and is asked there.
      choices: [C, A] probabilities of what the player who then decides does after each outcome, over which the mean is
        taken; without them the action that is best by `value` counts.
    """
    outcomes = jnp.arange(game.spec.num_outcomes, dtype=jnp.int32)
    actions = jnp.arange(1 if at_decisions else game.spec.num_actions, dtype=jnp.int32)
    # Held apart, as a compiler would otherwise take each step anew for everything that is read off it.
    rolled = jax.lax.optimization_barrier(jax.vmap(settling(game), (None, 0))(state, outcomes))
    actor = jax.vmap(game.actor)(rolled)
    seats = jnp.arange(game.spec.num_players, dtype=actor.dtype)
    likely = jnp.where(jnp.expand_dims(seats, 1) == jnp.expand_dims(actor, 0), game.chance(state)[None], 0.0).sum(1)
    viewer = jnp.where(likely.max() > 0, jnp.argmax(likely).astype(viewer.dtype), viewer)
    decides = (actor >= 0) & (not at_decisions)

    def follow(rolled: Any, decides: Array, action: Array) -> Any:
        """The afterstate of a decision; where there is none, the state itself."""
        return rolled if at_decisions else select(decides, acting(game)(rolled, action), rolled)

    after = jax.vmap(jax.vmap(follow, (None, None, 0)), (0, 0, None))(rolled, decides, actions)  # [C, A]
    player = jnp.repeat(jnp.where(decides, actor, viewer).astype(jnp.int32), len(actions))
    look = side_by_side(functools.partial(afterstate_value, game, value))
    values = look(params, jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), after), player)
    values = values.reshape(len(outcomes), len(actions), -1)  # [C, A, P]

    def best(values: Array, legal: Array, decides: Array, actor: Array, choice: Array | None) -> Array:
        """[P] values of the action that the actor likes best, or chooses."""
        mine = jnp.where(one_hot(actor, values.shape[1])[None], values, 0.0).sum(1)
        action = jnp.where(decides, jnp.argmax(jnp.where(legal, mine, -jnp.inf)), 0)
        weights = one_hot(action, values.shape[0]).astype(values.dtype)
        if choice is not None:
            weights = jnp.where(decides, choice, weights)
        return jnp.where(jnp.expand_dims(weights > 0, 1), jnp.expand_dims(weights, 1) * values, 0.0).sum(0)

    legal = jax.vmap(game.legal)(rolled)[:, : len(actions)]
    found = jax.vmap(best)(values, legal, decides, jnp.maximum(actor, 0), choices)
    return AfterOutcomes(jnp.where(jnp.expand_dims(game.chance(state) > 0, 1), found, 0.0), viewer)


def side_by_side(look: Callable[[Any, Any, Array], Array]) -> Callable[[Any, Any, Array], Array]:
    """From `look(params, state, player)` a function of (params, [N] states, [N] players).

    Under vmap all states of all games are one batch, valued in a branch, which XLA on a CPU does not look into: it
    would compute the states anew for everything that is read off them, and take twice as long.
    """

    @jax.custom_batching.custom_vmap
    def at_all(params: Any, states: Any, players: Array) -> Array:
        every = functools.partial(jax.vmap(look, (None, 0, 0)), params)
        shape = jax.eval_shape(every, states, players)
        return jax.lax.cond(
            (players >= 0).any(), every, lambda *_: jnp.zeros(shape.shape, shape.dtype), states, players
        )

    @at_all.def_vmap
    def batched(size: int, in_batched: Any, params: Any, states: Any, players: Array) -> tuple[Array, bool]:
        if any(jax.tree.leaves(in_batched[0])):
            axes = jax.tree.map(lambda has: 0 if has else None, tuple(in_batched))
            return jax.vmap(jax.vmap(look, (None, 0, 0)), axes)(params, states, players), True

        def flat(has: bool, leaf: Array) -> Array:
            leaf = leaf if has else jnp.broadcast_to(leaf, (size, *leaf.shape))
            return leaf.reshape(-1, *leaf.shape[2:])

        found = at_all(params, *jax.tree.map(flat, tuple(in_batched[1:]), (states, players)))
        return found.reshape(size, -1, *found.shape[1:]), True

    return at_all


# --- controls by name -------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class ExactValue:
    """The values of a solved game, at every state."""

    game: Game[Any]

    def __call__(self, params: ExactParams, state: Any, player: Array) -> Array:
        return params.values[find(params.lookup, state)]


class ExactParams(NamedTuple):
    lookup: Lookup
    values: Array  # [N, P] float32


def exact(game: Game[Any]) -> Control:
    """The values of a game small enough to solve."""
    solution = solve.solve(game)  # type: ignore[arg-type]
    params = ExactParams(solution.lookup, jnp.asarray(solution.values, jnp.float32))
    return Control(EXACT, ExactValue(game), params, at_decisions=True, text=EXACT)


def of_player(player: Player) -> Control | None:
    """The value function that a player chooses its moves by, where it has one."""
    value = getattr(player.policy.apply, "value", None) if player.policy else None
    return Control(player.name, value, player.policy.params, text=player.text) if value and player.policy else None


def make(text: str, game: Game[Any]) -> Control:
    """The control of a text: `exact`, a value that the game offers, a run, a checkpoint or a file of launch.export."""
    check_chance(game)
    return value_of(text, game)


def value_of(text: str, game: Game[Any]) -> Control:
    """The value function of a text as in `make`, of a game without dice too."""
    text = text.strip()
    offered = optional.values(game)
    if text == EXACT:
        return exact(game)
    if text in offered:
        return Control(text, NamedValue(game, text), (), text=text)
    if not text or not os.path.exists(text):
        known = [EXACT, *offered]
        raise UserError(
            f"control={text!r} is neither a run nor a value of {game.spec.name}{did_you_mean(text, known)}; "
            f"expected a run directory, a file of launch.export or one of {', '.join(known)}"
        )
    path = pathlib.Path(text)
    if path.is_file():
        net, params = net_file.load(path, game)
        control = Control(text, net, jax.tree.map(jnp.asarray, params), text=text)
        return control.by_whole_turns(game) if net_file.by_whole_turns(path) else control
    found = learned.load_run(path)
    if found.game != game:
        both = f"{registry.describe(found.game)}, not {registry.describe(game)}"
        raise UserError(f"control={text!r} learned the values of {both}; choose that game or another control")
    policy = players.fit(found, game, f"control={text!r}").policy
    value = getattr(policy.apply, "value", None)
    if value is None:
        raise UserError(f"control={text!r} holds no value net of {registry.describe(game)}; choose another run")
    control = Control(text, value, policy.params, text=str(found.path))
    return control.by_whole_turns(game) if isinstance(found.host, WholeTurns) else control


def check_chance(game: Game[Any]) -> None:
    """Raises UserError for a game whose chance nodes are none, or too large to enumerate."""
    outcomes = game.spec.num_outcomes
    if not outcomes:
        raise UserError(f"{game.spec.name} leaves nothing to dice, so that there is no luck to take out")
    if outcomes > MOST_OUTCOMES:
        raise UserError(
            f"{game.spec.name} has {outcomes:,} outcomes of a chance node, too many to enumerate for the luck of each "
            f"roll; expected at most {MOST_OUTCOMES:,}"
        )
