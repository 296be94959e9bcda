"""Properties of every state: small traced functions of a node, each named after its promise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import Array

from boardrl import optional
from boardrl.game import CHANCE, TERMINAL, Game
from boardrl.testing.node import TOLERANCE, Node, Verdict, close, look, same
from boardrl.testing.report import name_of


def actor_in_range(game: Game[Any], node: Node) -> Verdict:
    """The actor is a seat, TERMINAL, or CHANCE in a game that has outcomes."""
    seat = (node.actor >= 0) & (node.actor < game.spec.num_players)
    return Verdict(True, seat | (node.actor == TERMINAL) | ((node.actor == CHANCE) & (game.spec.num_outcomes > 0)))


def decision_has_legal_action(game: Game[Any], node: Node) -> Verdict:
    """Where a seat acts, at least one action is legal."""
    return Verdict(node.actor >= 0, node.legal.any())


def no_legal_action_elsewhere(game: Game[Any], node: Node) -> Verdict:
    """Where no seat acts, no action is legal."""
    return Verdict(node.actor < 0, ~node.legal.any())


def chance_sums_to_one(game: Game[Any], node: Node) -> Verdict:
    """At a chance node the probabilities are not negative and sum to 1."""
    return Verdict(node.actor == CHANCE, (node.chance >= 0).all() & (jnp.abs(node.chance.sum() - 1) < TOLERANCE))


def no_chance_elsewhere(game: Game[Any], node: Node) -> Verdict:
    """Where chance does not act, every outcome has probability 0."""
    return Verdict(node.actor != CHANCE, (node.chance == 0).all())


def returns_zero_until_the_end(game: Game[Any], node: Node) -> Verdict:
    """All returns are 0 until the game is over, unless the spec sets `running_returns`."""
    under_way = False if game.spec.running_returns else node.actor != TERMINAL
    return Verdict(under_way, (node.returns == 0).all())


def returns_in_bounds(game: Game[Any], node: Node) -> Verdict:
    """Final (or running) returns lie between the spec's `min_return` and `max_return`."""
    counts = True if game.spec.running_returns else node.actor == TERMINAL
    low, high = game.spec.min_return - _slack(game), game.spec.max_return + _slack(game)
    return Verdict(counts, ((node.returns >= low) & (node.returns <= high)).all())


def returns_sum_as_promised(game: Game[Any], node: Node) -> Verdict:
    """The returns of a finished game add up to the spec's `return_sum`."""
    if game.spec.return_sum is None:
        return Verdict(False, True)
    return Verdict(node.actor == TERMINAL, jnp.abs(node.returns.sum() - game.spec.return_sum) < _slack(game))


def returns_settle_at_the_end(game: Game[Any], node: Node) -> Verdict:
    """The returns of a finished game no longer change."""
    return Verdict(node.actor == TERMINAL, same(node.returns, game.returns(node.after)))


def terminal_absorbs(game: Game[Any], node: Node) -> Verdict:
    """No move changes a terminal state."""
    return Verdict(node.actor == TERMINAL, same(node.state, node.after))


def observation_bounded(game: Game[Any], node: Node) -> Verdict:
    """Every player's observation is finite and lies in [-1, 1]."""
    return Verdict(True, ((node.observations >= -1) & (node.observations <= 1)).all())


def act_is_step(game: Game[Any], node: Node) -> Verdict:
    """At a decision `act`, if the game has it, equals `step`."""
    if (act := optional.act(game)) is None:
        return Verdict(False, True)
    return Verdict(node.actor >= 0, same(act(node.state, node.move), node.after))


def settle_is_step(game: Game[Any], node: Node) -> Verdict:
    """At a chance node `settle`, if the game has it, equals `step`."""
    if (settle := optional.settle(game)) is None:
        return Verdict(False, True)
    return Verdict(node.actor == CHANCE, same(settle(node.state, node.move), node.after))


def strategies_allow_a_legal_action(game: Game[Any], node: Node) -> Verdict:
    """At a decision every scripted strategy's logits are below infinity and allow a legal action."""
    if not node.logits:
        return Verdict(False, True)

    def allows(logits: Array) -> Array:
        return jnp.isfinite(jnp.where(node.legal, logits, -jnp.inf).max())  # NaN and infinity win a maximum

    return Verdict(node.actor >= 0, jnp.stack([allows(logits) for logits in node.logits.values()]).all())


def rotation_shifts_actor(game: Game[Any], node: Node, turned: Node) -> Verdict:
    """`rotate` moves the actor to the next seat; CHANCE and TERMINAL stay."""
    shifted = jnp.where(node.actor >= 0, (node.actor + 1) % game.spec.num_players, node.actor)
    return Verdict(True, shifted == turned.actor)


def rotation_keeps_moves(game: Game[Any], node: Node, turned: Node) -> Verdict:
    """`rotate` keeps the legal actions and the probabilities of outcomes."""
    return Verdict(True, close((node.legal, node.chance), (turned.legal, turned.chance)))


def rotation_rolls_returns(game: Game[Any], node: Node, turned: Node) -> Verdict:
    """`rotate` gives each seat the returns of the previous seat."""
    return Verdict(True, close(jnp.roll(node.returns, 1), turned.returns))


def rotation_moves_observations(game: Game[Any], node: Node, turned: Node) -> Verdict:
    """`rotate` gives each seat the observation of the previous seat."""
    return Verdict(True, close(jnp.roll(node.observations, 1, axis=0), turned.observations))


def rotation_commutes_with_step(game: Game[Any], node: Node, turned: Node) -> Verdict:
    """`rotate` commutes with `step`."""
    return Verdict(True, close(game.rotate(node.after), turned.after))  # type: ignore[attr-defined]


def rotation_comes_round(game: Game[Any], node: Node, turned: Node) -> Verdict:
    """P rotations give the original state."""
    state = node.state
    for _ in range(game.spec.num_players):
        state = game.rotate(state)  # type: ignore[attr-defined]
    return Verdict(True, same(node.state, state))


def _slack(game: Game[Any]) -> float:
    """Rounding tolerance of a sum of returns, in proportion to their largest magnitude."""
    return TOLERANCE * max(1.0, abs(game.spec.min_return), abs(game.spec.max_return))


OF_A_NODE: tuple[Callable[[Game[Any], Node], Verdict], ...] = (
    actor_in_range,
    decision_has_legal_action,
    no_legal_action_elsewhere,
    chance_sums_to_one,
    no_chance_elsewhere,
    returns_zero_until_the_end,
    returns_in_bounds,
    returns_sum_as_promised,
    returns_settle_at_the_end,
    terminal_absorbs,
    observation_bounded,
    act_is_step,
    settle_is_step,
    strategies_allow_a_legal_action,
)
UNDER_ROTATION: tuple[Callable[[Game[Any], Node, Node], Verdict], ...] = (
    rotation_shifts_actor,
    rotation_keeps_moves,
    rotation_rolls_returns,
    rotation_moves_observations,
    rotation_commutes_with_step,
    rotation_comes_round,
)
AT_EVERY_STATE: tuple[Callable[..., Verdict], ...] = (*OF_A_NODE, *UNDER_ROTATION)


def verdicts(game: Game[Any], node: Node) -> dict[str, Verdict]:
    """The verdict of each property of the table on one node."""
    found = {name_of(check): check(game, node) for check in OF_A_NODE}
    if node.rotated is None:
        found |= {name_of(check): Verdict(False, True) for check in UNDER_ROTATION}
    else:
        turned = look(game, node.rotated, node.move, batch_players=True)
        found |= {name_of(check): check(game, node, turned) for check in UNDER_ROTATION}
    return jax.tree.map(jnp.asarray, found)
