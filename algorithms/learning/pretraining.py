"""Pretraining of an action-value net: recorded games of a named player, and a fit to what its decisions brought."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from algorithms.learning import experience, q_net, rewards, transitions
from algorithms.learning.q_net import QNet
from algorithms.learning.transitions import Transition
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.play import players, rollout
from boardrl.play.policy import Policy


class Record(NamedTuple):
    """Decisions of a player in recorded games, and what they brought in the end."""

    state: Any  # [N] states
    action: Array  # [N] int32
    outcome: Array  # [N] float32: discounted sum of the player's rewards until the end of the game
    valid: Array  # [N] bool


def check(config: Any, game: Game[Any]) -> None:
    """Refuses players that cannot be recorded."""
    if config.pretrain_from:
        _players(config, game)


def pretrain(config: Any, net: QNet, params: Any, key: Array) -> tuple[Any, Array]:
    """The net fitted to recorded games, and [] the largest outcome, positive or negative, of a decision in them.

    Args:
      config: of `algorithms.dqn`; its `pretrain_…` settings are meant for here.
    """
    key_record, key_fit = jax.random.split(key)
    player, *opponents = _players(config, net.game)
    games = record(
        *(net.game, player, opponents, rewards.parse(config.rewards, net.game), key_record),
        num_games=config.pretrain_games,
        discount=config.discount,
    )
    largest = jnp.where(games.valid, jnp.abs(games.outcome), 0.0).max()
    games = games._replace(outcome=games.outcome / rewards.reward_unit(largest))
    fitted = fit(
        *(net, params, games, key_fit),
        epochs=config.pretrain_epochs,
        batch=config.pretrain_batch,
        learning_rate=config.pretrain_learning_rate,
    )
    return fitted, largest


def _players(config: Any, game: Game[Any]) -> list[Policy]:
    """The player to record, then the opponents that it meets."""
    policies = []
    for player in [players.make(config.pretrain_from, game), *players.make_lineup(config.opponents, game)]:
        if player.policy is None:
            raise UserError(f"games of {player.name!r} cannot be recorded, as it plays on the host; use another player")
        policies.append(player.policy)
    return policies


def record(
    game: Game[Any],
    player: Policy,
    opponents: Sequence[Policy],
    worth: dict[str, float],
    key: Array,
    *,
    num_games: int,
    discount: float,
) -> Record:
    """Whole games of a player in the seats that learn, and of opponents in theirs.

    Args:
      worth: of the events that are rewarded, see algorithms.learning.rewards.
    """

    def decide(state: Any, uniform: Array) -> experience.Decision:
        action = rollout.choose(game, player.apply(player.params, state), state, uniform[1])
        return experience.Decision(action, action, state)

    def turn(carry: tuple[Any, ...]) -> tuple[Any, ...]:
        index, lanes, over, slots, key = carry
        key, key_turn = jax.random.split(key)
        lanes, slot = experience.play(game, decide, opponents, worth, lanes, key_turn, num_turns=1)
        slot = slot._replace(player=jnp.where(over[None], transitions.NOBODY, slot.player))
        slots = jax.tree.map(lambda all_, one: jax.lax.dynamic_update_index_in_dim(all_, one[0], index, 0), slots, slot)
        return index + 1, lanes, over | slot.ended[0], slots, key

    blank = jax.tree.map(lambda leaf: leaf[0], transitions.no_pending(game, game.init(), num_games))
    blank = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (game.spec.max_steps, *leaf.shape)), blank)
    first = (jnp.int32(0), rollout.start(game, num_games), jnp.zeros(num_games, bool), blank, key)
    *_, slots, _ = jax.lax.while_loop(lambda carry: ~carry[2].all(), turn, first)
    link = transitions.links(slots, discount=discount)
    outcome = transitions.outcomes(link)
    flat = jax.tree.map(
        lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), Record(slots.memo, slots.choice, outcome, link.known)
    )
    order = jnp.argsort(~flat.valid, stable=True)
    return jax.tree.map(lambda leaf: leaf[order], flat)


def fit(net: QNet, params: Any, games: Record, key: Array, *, epochs: int, batch: int, learning_rate: float) -> Any:
    """The net after epochs of plain gradient steps towards the outcomes of recorded decisions."""
    number = games.valid.sum(dtype=jnp.int32)

    def error(params: Any, drawn: Record) -> Array:
        nothing = jnp.zeros_like(drawn.outcome)
        decisions = Transition(drawn.state, drawn.action, nothing, nothing, drawn.state)
        return 0.5 * jnp.mean((drawn.outcome - q_net.chosen_values(net, params, decisions)) ** 2)

    def step(index: Array, params: Any) -> Any:
        drawn = jax.random.randint(jax.random.fold_in(key, index), (batch,), 0, number)
        gradient = jax.grad(error)(params, jax.tree.map(lambda leaf: leaf[drawn], games))
        return jax.tree.map(lambda p, g: p - learning_rate * g, params, gradient)

    # An epoch is as many steps as it takes to see each decision once on average; drawn, as sorting would cost more.
    steps = epochs * -(-number // batch)
    return jax.lax.fori_loop(0, steps, step, params)
