"""A control variate: a value net of the games of given players, by which matches between them are told without luck.

`--opponents` play, and nobody else does. The net learns what each seat will get after a decision and before the dice.
All outcomes of a roll are enumerated, so that targets are free of the luck of the dice: from the end of a game back,

    G_t = Σ_c p_c v(s_c) + λ (G_{t+1} − v(s_{c_t})),

with s_c the position after outcome c of the roll at t and what its player then chooses, c_t the outcome that fell, v
the net and G at the end the returns. With λ = 1, G_t is the result less all luck to come: unbiased, with a fraction of
the variance of the result. What is left of the results of a match is the sum of the net's errors Σ_c p_c v(s_c) − v(s),
which these targets teach it to make small (White and Bowling 2009; Burch et al. 2018, AIVAT).
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax import Array

from algorithms.learning import optimizers, schedules
from algorithms.self_play import sparse_layer, valued_games, windows
from algorithms.self_play.valued_games import Positions
from algorithms.settings import checks
from boardrl import options
from boardrl.config import setting
from boardrl.errors import UserError
from boardrl.game import Game
from boardrl.lowering.ir import LoweringError
from boardrl.matches import luck
from boardrl.play.policy import Greedy, Policy
from boardrl.values import nets, return_scale

ON_HOST = True  # `update` calls compiled functions
SCHEDULE = {"log_every": 1, "evaluate_games": 400, "final_games": 2000}


@dataclasses.dataclass(frozen=True)
class Config:
    games: int = setting(30_000, "train until this many games have ended")
    opponents: str = setting("", "the players whose games are valued, like runs/a,runs/b; they take the seats in turn")
    batch: int = setting(200, "games between two rounds of learning")
    minibatch: int = setting(256, "positions of one step of the optimizer")
    hidden: tuple[int, ...] = setting((64, 32), "units of the hidden layers")
    activation: nets.Activation = setting("relu", "activation function of the hidden layers")
    decay: float = setting(0.9, "λ, reached from 1 after half of the games: 0 learns from the next roll alone")
    learning_rate: float = setting(2e-3, "learning rate of Adam at the start, lowered linearly to 0 over --games")
    opening: int = setting(0, "steps at the start of each game in which all decisions are random")


class TrainState(NamedTuple):
    params: Any
    optimizer_state: Any
    seen: return_scale.Range  # of the returns of all games so far
    key: Array  # raw key data
    games: Array  # [] int32: ended so far
    updates: Array  # [] int32


def check(config: Config, game: Game[Any]) -> None:
    """Refuses settings that make no sense, in one sentence."""
    checks.check_fractions(config, ("decay", "learning_rate"))
    checks.check_counts(config, ("games", "batch", "minibatch"))
    checks.check_hidden(config.hidden)
    checks.check_opening(config)
    luck.check_chance(game)
    count = len(options.split(config.opponents))
    if not 1 <= count <= game.spec.num_players:
        raise UserError(
            f"--opponents={config.opponents!r} names {count} players; expected 1 to {game.spec.num_players}, whose "
            "games are valued"
        )


def games_per_update(config: Config) -> int:
    return config.batch


def value_net(config: Config, game: Game[Any]) -> nets.ValueNet:
    return nets.ValueNet(game, nets.MLP(config.hidden, game.spec.num_players, config.activation))


@functools.partial(jax.jit, static_argnames=("config", "game"))
def init(config: Config, game: Game[Any], key: Array) -> TrainState:
    key_net, key_play = jax.random.split(key)
    params = value_net(config, game).init(key_net)
    return TrainState(
        params=params,
        optimizer_state=optimizers.init("adam", params),
        seen=return_scale.nothing_seen(game.spec),
        key=jax.random.key_data(key_play),
        games=jnp.int32(0),
        updates=jnp.int32(0),
    )


def update(
    config: Config, game: Game[Any], opponents: tuple[Policy, ...], state: TrainState
) -> tuple[TrainState, dict[str, Array]]:
    """Plays a batch of games, then takes steps of the optimizer over all their positions in random order."""
    params = scaled_params(game, state)
    try:
        games = valued_games.make(value_net(config, game), params, opponents)
    except LoweringError as error:
        raise UserError(
            f"--algo=control_variate plays in compiled code, which does not work here: {error}; choose other players"
        ) from None
    seed = windows.seed_of(state.key)
    numbers = np.array(schedules.game_numbers(int(state.games), config.batch, config.games), np.int64)
    positions = games.play(
        numbers,
        seed,
        decay=float(schedules.annealed(1.0, config.decay, state.games, max(config.games // 2, 1))),
        opening=config.opening,
    )
    seen = return_scale.widened(state.seen, jnp.asarray(positions.results), jnp.ones(len(numbers), bool))
    learned, optimizer_state, mean_loss = learn(config, game, state, positions, np.random.default_rng(seed))
    key_next = jax.random.fold_in(jax.random.wrap_key_data(state.key), 0)
    state = TrainState(
        learned, optimizer_state, seen, jax.random.key_data(key_next), state.games + len(numbers), state.updates + 1
    )
    metrics = {"loss": mean_loss, "td_error": jnp.float32(positions.error)}
    return state, {**metrics, "positions": jnp.float32(len(positions.viewer))}


def learn(
    config: Config, game: Game[Any], state: TrainState, positions: Positions, rng: np.random.Generator
) -> tuple[Any, Any, Array]:
    """(params, optimizer state, mean loss) after one step for each minibatch of positions in random order."""
    net, params, optimizer_state = value_net(config, game), state.params, state.optimizer_state
    scale = return_scale.scale_of(game.spec, state.seen)
    wanted = np.asarray(nets.from_returns(game.spec, scale.invert(jnp.asarray(positions.target))))
    rate = config.learning_rate * schedules.remaining(state.games, config.games)
    order, losses = rng.permutation(len(wanted)), []
    for some in np.split(order, range(config.minibatch, len(order), config.minibatch)):
        # A last one that is smaller would be compiled anew for every size.
        some = np.resize(some, min(config.minibatch, len(order)))
        inputs = jax.tree.map(lambda leaf, some=some: leaf[some], positions.inputs)
        given = sparse_layer.outputs(params, inputs) if isinstance(inputs, nets.Sparse) else inputs
        found, gradient, slope = gradient_of(net, params, given, positions.viewer[some], wanted[some])
        if isinstance(inputs, nets.Sparse):
            gradient = sparse_layer.with_gradient(params, gradient, inputs, slope)
        params, optimizer_state = _step(params, optimizer_state, gradient, rate)
        losses.append(found)
    return params, optimizer_state, jnp.stack(losses).mean()


def loss(net: nets.ValueNet, params: Any, inputs: Any, viewer: Array, wanted: Array) -> Array:
    """Mean of ½ Σ_i (s_i − p_i)², with s the targets as shares of the range of returns and p the net's."""
    logits = jax.vmap(net.logits, (None, 0, 0))(params, inputs, viewer)
    return optax.l2_loss(jax.vmap(net.shares)(logits), wanted).sum(-1).mean()


@functools.partial(jax.jit, static_argnames="net")
def gradient_of(net: nets.ValueNet, params: Any, inputs: Any, viewer: Array, wanted: Array) -> tuple[Array, Any, Any]:
    """The loss, its gradient, and that of the inputs where they are the first layer's outputs."""
    if isinstance(inputs, nets.FirstOutputs):
        found, (gradient, slope) = jax.value_and_grad(loss, (1, 2))(net, params, inputs, viewer, wanted)
        return found, gradient, slope
    found, gradient = jax.value_and_grad(loss, 1)(net, params, inputs, viewer, wanted)
    return found, gradient, ()


@functools.partial(jax.jit, donate_argnums=(1, 2))
def _step(params: Any, optimizer_state: Any, gradient: Any, rate: Array) -> tuple[Any, Any]:
    return optimizers.step("adam", params, optimizer_state, gradient, rate=rate)


def policy(config: Config, game: Game[Any], state: TrainState) -> Policy:
    """The greedy player by the values."""
    return Policy(Greedy(game, nets.Scaled(value_net(config, game))), scaled_params(game, state))


@functools.partial(jax.jit, static_argnames="game")
def scaled_params(game: Game[Any], state: TrainState) -> nets.ScaledParams:
    """The net's parameters, and the range of returns that its outputs are shares of."""
    return nets.ScaledParams(state.params, return_scale.scale_of(game.spec, state.seen))
